"""`estimate_designed_groups`: shares of groups of items with weights, strata and clusters, and checks that count them."""

from dataclasses import replace
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.checks import LabelledCells, Report, check_counted
from headcount.designs import SurveyDesign
from headcount.exceptions import DataError
from headcount.intervals import estimate, why_no_interval
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import Posteriors, Quantifier
from headcount.stream.group_shares import GroupShares
from headcount.stream.verdicts import TOO_FEW

__all__ = ["estimate_designed_groups"]


def estimate_designed_groups(
    groups: GroupShares,
    quantifier: Quantifier,
    outputs: Outputs,
    codes: IntArray,
    design: SurveyDesign,
    cells: LabelledCells | None = None,
) -> GroupShares:
    """Return the shares of groups under a survey design, with checks that count clusters.

    Parameters
    ----------
    groups : GroupShares
        As if items were independent and of equal weight: names, sizes, settings.
    quantifier : fitted quantifier
    outputs : Outputs
        Of all items.
    codes : array of int, shape (n_items,)
        Group of each item, a position among those of ``groups``; -1 for none.
    design : SurveyDesign
        Of all items.
    cells : LabelledCells, optional
        What the check of scores goes by.
    """
    total = groups.total
    if total is not None:
        total = _of_groups(total, quantifier, outputs, np.where(codes >= 0, 0, -1), design, cells)
    return replace(_of_groups(groups, quantifier, outputs, codes, design, cells), total=total)


def _totals(codes: IntArray, n_groups: int, design: SurveyDesign) -> FloatArray | None:
    """Return how many items of the population each group stands for; None where neither weights nor a population say so."""
    if design.weights is None and design.population_size is None:
        return None
    weights = design.item_weights
    if design.weights is None and design.population_size is not None:
        drawn = np.bincount(design.item_strata, minlength=len(design.population_size))
        weights = (design.population_size / np.maximum(drawn, 1))[design.item_strata]
    known = codes >= 0
    return np.bincount(codes[known], weights[known], n_groups).astype(np.float64)


def _of_groups(
    groups: GroupShares,
    quantifier: Quantifier,
    outputs: Outputs,
    codes: IntArray,
    design: SurveyDesign,
    cells: LabelledCells | None,
) -> GroupShares:
    if reason := why_no_interval(quantifier):
        raise DataError(f"Weights, strata and clusters of new items are counted in intervals. {reason}")
    large = [g for g, verdict in enumerate(groups.verdicts) if verdict != TOO_FEW]
    if not large:
        return groups
    rows = [np.flatnonzero(codes == g) for g in large]
    samples = Samples.from_lists(rows, names=[groups.names[g] for g in large])
    estimand: Any = groups.estimand
    answer = estimate(quantifier, outputs, samples, level=groups.level, estimand=estimand, design=design)
    shares, low, high = groups.shares.copy(), groups.low.copy(), groups.high.copy()
    shares[large], low[large], high[large] = answer.shares, answer.low, answer.high
    changed: dict[str, Any] = {"shares": shares, "low": low, "high": high, "estimate": answer}
    changed["totals"] = _totals(codes, len(groups), design)
    if cells is not None and outputs.posteriors is not None:
        verdicts, advice, reports = list(groups.verdicts), list(groups.advice), list(groups.reports)
        checked = _checked(quantifier, outputs, samples, design, cells, answer.shares)
        for g, report in zip(large, checked, strict=True):
            verdicts[g], advice[g], reports[g] = report.verdict, report.advice, report
        changed |= {"verdicts": verdicts, "advice": advice, "reports": tuple(reports)}
    return replace(groups, **changed)


def _checked(
    quantifier: Quantifier,
    outputs: Outputs,
    samples: Samples,
    design: SurveyDesign,
    cells: LabelledCells,
    shares: Any,
) -> list[Report]:
    """Check the scores of each group with as many items as its clusters are worth."""
    P = Posteriors().vectors(outputs)
    one = Outputs(outputs.classes, outputs.n_items, P.argmax(axis=1), P)
    of_items = cells.representation.codes(one)
    weighted = samples if design.weights is None else samples.weighted(design.weights)
    counts, sums = (part.reduce(outputs, weighted).sums for part in (cells.representation, Posteriors()))
    effective = [len(rows) / cells.design_effect(of_items[rows], P[rows], design.take(rows)) for rows in samples]
    return check_counted(
        cells,
        counts,
        sums,
        shares,
        quantifier.classes_,
        adjusts=quantifier.adjusts_for_shift,
        quantifier=quantifier,
        effective=np.array(effective),
    )
