"""`estimate_groups`: from a tally to the shares of its groups, with intervals and checks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.checks import ItemFindings, Report, check_counted
from headcount.checks.verdict import Advice
from headcount.exceptions import DataError
from headcount.intervals import LEAST_GROUPS, borrow_strength, estimate, why_no_interval
from headcount.quantifiers import DensitiesQuantifier, Quantifier
from headcount.stream.designed_groups import DesignedGroups
from headcount.stream.group_shares import DrawnShares, GroupShares
from headcount.stream.groups import TOTAL, group_label
from headcount.stream.tally import Tally
from headcount.stream.verdicts import NOT_CHECKED, TOO_FEW

__all__ = ["check_assumption", "check_borrowing", "estimate_groups"]

_MOST_GROUPS_OF_ITEMS = 100
"""Groups up to which the items themselves are checked: that takes some tenths of a second for each."""


def estimate_groups(
    tally: Tally,
    *,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    assume: Literal["calibrated"] | None = None,
    min_items: int = 30,
    by: Sequence[str] = (),
    total: bool = False,
    labels: Sequence[str] | None = None,
    borrow: bool = False,
) -> GroupShares:
    """Estimate the shares of each group of a tally, with intervals where the method has them, and check them.

    Parameters
    ----------
    tally : Tally
    level, estimand, assume
        As in `headcount.estimate`.
    min_items : int, default=30
        A group of fewer items is reported as too small, without shares.
    by : sequence of str
        Titles of the columns that names are made of, if there are several.
    total : bool, default=False
        Whether the shares of all items together are estimated too, as without groups.
    labels : sequence of str, optional
        The groups to estimate, as they are shown; by default all.
    borrow : bool, default=False
        Whether shares drawn towards the other groups are given beside those of each group by itself (`borrow_strength`).
    """
    if tally.n_items == 0:
        raise DataError("There are no items to estimate the shares of.")
    quantifier, order = tally.recipe.quantifier, tally.in_order()
    if labels is not None:
        order = [row for row in order if group_label(tally.names[row]) in labels]
    check_assumption(quantifier, assume)
    if borrow:
        check_borrowing(quantifier, estimand, assume)
    names, n = [tally.names[row] for row in order], tally.n[order]
    design = None if tally.design is None else DesignedGroups(tally, order)
    large = np.flatnonzero(n >= min_items)
    rows = np.array(order)[large]
    if borrow and len(large) < LEAST_GROUPS:
        raise DataError(
            f"Strength is borrowed from at least {LEAST_GROUPS} groups of {min_items} items or more (--min-items); there "
            f"{'is one' if len(large) == 1 else f'are {len(large)}'}. Fewer do not tell how groups differ: omit --borrow-strength."
        )
    shares, low, high = (np.full((len(order), tally.recipe.k), np.nan) for _ in range(3))
    note = "" if assume else why_no_interval(quantifier)
    estimated = None
    if len(large):
        statistics: Any = tally.statistics(rows)
        if note:
            shares[large] = quantifier.solve(statistics)
        else:
            estimated = replace(
                estimate(
                    quantifier,
                    statistics,
                    level=level,
                    estimand=estimand,
                    assume=assume,
                    design=None if design is None else design.errors(large),
                ),
                names=tuple(names[g] for g in large),
            )
            shares[large], low[large], high[large] = estimated.shares, estimated.low, estimated.high
    verdicts, advice, reports = _checked(tally, large, rows, shares, len(order), min_items, n, design)
    return GroupShares(
        quantifier.classes_,
        names,
        n.astype(np.int64),
        shares,
        low,
        high,
        verdicts,
        advice,
        level,
        estimand,
        type(quantifier).__name__,
        note,
        tally.precision,
        estimated,
        reports,
        quantifier.adjusts_for_shift,
        assume,
        tuple(by) if len(by) > 1 else (),
        estimate_groups(tally.pooled(TOTAL), level=level, estimand=estimand, assume=assume, min_items=min_items, by=by)
        if total
        else None,
        totals=None if design is None else design.totals,
        ordered=quantifier.is_ordered,
        drawn=DrawnShares.of_groups(borrow_strength(estimated), large, len(order)) if borrow and estimated else None,
    )


def check_assumption(quantifier: Quantifier, assume: str | None) -> None:
    """Raise unless the method has intervals under this assumption."""
    if assume not in (None, "calibrated"):
        raise DataError(f"assume must be one of None, 'calibrated'; got {assume!r}.")
    if assume and not (isinstance(quantifier, DensitiesQuantifier) and quantifier.is_most_likely):
        raise DataError(
            "Only methods that maximise a likelihood, such as SLD, have intervals that assume calibrated posteriors; "
            f"{type(quantifier).__name__} does not: omit assume='calibrated' (--assume-calibrated)."
        )


def check_borrowing(quantifier: Quantifier, estimand: str, assume: str | None) -> None:
    """Raise unless groups may be drawn towards each other with this method and these settings."""
    if estimand != "population":
        raise DataError(
            "Strength is borrowed for the shares of the source that items came from, not of exactly these items: omit --sample or "
            "--borrow-strength."
        )
    if assume or not quantifier.has_interval or quantifier.has_posterior:
        name = f"{type(quantifier).__name__} assumed calibrated" if assume else type(quantifier).__name__
        raise DataError(
            f"Borrowing strength needs a method with an analytic interval, such as PACC or ACC, which {name} does not have: omit "
            "--borrow-strength."
        )


def _checked(
    tally: Tally,
    large: IntArray,
    rows: IntArray,
    shares: FloatArray,
    n_groups: int,
    min_items: int,
    n: FloatArray,
    design: DesignedGroups | None,
) -> tuple[list[str], list[list[str]], tuple[Report | None, ...]]:
    recipe = tally.recipe
    verdicts, advice = [NOT_CHECKED] * n_groups, [[recipe.unchecked] for _ in range(n_groups)]
    reports: list[Report | None] = [None] * n_groups
    if recipe.cells is not None and len(large):
        counts, sums = (tally.added(name, rows).sums for name in ("cells", recipe.check_sums))
        quantifier = recipe.quantifier
        adjusts = quantifier.adjusts_for_shift
        group_reports = check_counted(
            recipe.cells,
            counts,
            sums,
            shares[large],
            quantifier.classes_,
            adjusts=adjusts,
            quantifier=quantifier,
            items=_checked_items(tally, rows),
            effective=None if design is None else design.effective_sizes(large),
        )
        for g, report in zip(large.tolist(), group_reports, strict=True):
            verdicts[g], advice[g], reports[g] = report.verdict, report.advice, report
    for g in np.setdiff1d(np.arange(n_groups), large).tolist():
        verdicts[g] = TOO_FEW
        items = f"{int(n[g]):,} item{'' if n[g] == 1 else 's'}"
        advice[g] = [
            Advice(f"Too few items for an estimate{{}}: at least {min_items} are asked for (--min-items).", items)
        ]
    return verdicts, advice, tuple(reports)


def _checked_items(tally: Tally, rows: IntArray) -> list[ItemFindings] | None:
    """Check the items that were kept of each group; None where none were kept, or where there are too many groups for it."""
    labelled, kept = tally.recipe.items, tally.kept
    if labelled is None or kept is None or len(rows) > _MOST_GROUPS_OF_ITEMS:
        return None
    return [
        labelled.check(*kept.items(row, len(tally)), clusters=kept.clusters(row, len(tally))) for row in rows.tolist()
    ]
