"""`estimate_labelled_groups`: design-based shares of groups, those under label shift beside them, and the test of both."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs import SurveyDesign
from headcount.intervals import Figure, estimate
from headcount.intervals.estimate import why_no_label_shift
from headcount.intervals.target_labels import LabelledEstimate, TargetLabels, labelled_estimate
from headcount.intervals.target_labels.design_based import few_labels_note
from headcount.learners import Outputs
from headcount.model_assisted.assisted import FEWEST_LABELS
from headcount.protocols import Samples
from headcount.quantifiers import Quantifier
from headcount.significance import holm
from headcount.stream.group_shares import GroupShares, none_if_nan
from headcount.stream.groups import group_label
from headcount.stream.verdicts import LABELLED, TOO_FEW, TOO_FEW_LABELS

__all__ = ["LabelledGroups", "estimate_labelled_groups"]

_ALARM = 0.05
"""P-value, corrected for the number of groups, from which two answers contradict each other."""
_MOST_NAMED = 6
"""Groups that a sentence names."""
_EACH_GROUP = (
    "Each group needs 2 labels at least for a design-based answer of all items together: label more of the others."
)


@dataclass(frozen=True, eq=False)
class LabelledGroups:
    """What labels of new items say beside the design-based shares, one row a group.

    Attributes
    ----------
    label_shift : GroupShares
        Shares if only shares have changed, from source and target labels together, with the verdicts of the checks of that.
    n_labels : array of int, shape (n_groups,)
    p_value : array of shape (n_groups,)
        P-values of the test whether design-based shares contradict those of the source labels; NaN where there is no test.
    difference, detectable : arrays of shape (n_groups, n_classes)
        Design-based shares less those of the source labels; the smallest difference that the test finds with a power of 80 %.
    gained : array of shape (n_groups,)
        How many further labels the model's predictions are worth; NaN without a design-based answer.
    """

    label_shift: GroupShares
    n_labels: IntArray
    p_value: FloatArray
    difference: FloatArray
    detectable: FloatArray
    gained: FloatArray

    @property
    def p_corrected(self) -> FloatArray:
        """P-values corrected for the number of groups that were tested (Holm 1979)."""
        p = self.p_value.copy()
        tested = ~np.isnan(p)
        p[tested] = holm(p[tested].tolist())
        return p

    def with_figures(self, figures: Sequence[Figure], quantiles: Sequence[float]) -> "LabelledGroups":
        """Return the same with means, cumulative shares and quantiles; see `GroupShares.with_figures`."""
        return replace(self, label_shift=self.label_shift.with_figures(figures, quantiles))

    def in_class_order(self, classes: Sequence[Any], order: Sequence[int]) -> "LabelledGroups":
        """Return the same with the classes in another order."""
        columns = {name: getattr(self, name)[:, order] for name in ("difference", "detectable")}
        return replace(self, label_shift=self.label_shift.in_class_order(classes), **columns)

    def columns_of(self, g: int, j: int) -> dict[str, Any]:
        """Return the columns of the record of a group and class."""
        shift = self.label_shift
        numbers = {"label_shift": shift.shares, "label_shift_low": shift.low, "label_shift_high": shift.high}
        return {
            "labels": int(self.n_labels[g]),
            **{name: none_if_nan(values[g, j]) for name, values in numbers.items()},
            "label_shift_verdict": shift.verdicts[g],
            **self.test_of(g, j),
        }

    def test_of(self, g: int, j: int) -> dict[str, float | None]:
        """Return p-value and smallest detectable difference of a group and class; None for what is not known."""
        detectable = float(self.detectable[g, j])
        return {
            "p_contradiction": none_if_nan(self.p_value[g]),
            "detectable": detectable if np.isfinite(detectable) else None,
        }

    def sentences(self, names: Sequence[Any]) -> list[str]:
        """Say whether the two answers contradict each other, what follows, and how large a difference would have been found."""
        tested = np.flatnonzero(~np.isnan(self.p_value))
        if not tested.size:
            return []
        one = len(names) == 1
        corrected = self.p_corrected
        against = [group_label(names[int(g)]) for g in tested if corrected[g] < _ALARM]
        least = float(np.max(self.detectable[tested].max(axis=1)))
        reach = (
            f"differences of {100 * least:.0f} points would have been found in four of five cases"
            if np.isfinite(least) and least < 1.0
            else "even large differences might not have been found"
        )
        where = "" if one else " in every group"
        if against:
            named = f"{', '.join(against[:_MOST_NAMED])}{', ...' if len(against) > _MOST_NAMED else ''}"
            of = "" if one else f" in {len(against):,} of {tested.size:,} groups ({named})"
            corrected_for = "" if one or tested.size == 1 else ", corrected for the number of groups"
            smallest = float(np.nanmin(corrected[tested]))
            p = f"p = {smallest:.2g}" if smallest >= 0.001 else "p < 0.001"
            return [
                f"The two answers contradict each other{of}: {p}{corrected_for}. More than the shares has changed there, and the "
                "shares under label shift are off. Use the design-based ones; to have a model that fits, add these labels to the "
                "labelled table and fit again."
            ]
        return [
            f"The two answers do not contradict each other; {reach}{where} (level 5 %). That is no proof that only shares have "
            "changed: do not choose the shorter interval because this test found nothing. An interval that a test chooses holds "
            "the truth less often than it says."
        ]


def estimate_labelled_groups(
    groups: GroupShares,
    quantifier: Quantifier,
    outputs: Outputs,
    codes: IntArray,
    labels: TargetLabels,
    notes: Sequence[str] = (),
    survey: SurveyDesign | None = None,
) -> GroupShares:
    """Return design-based shares of groups, with those under label shift beside them.

    Parameters
    ----------
    groups : GroupShares
        Without the labels: names, sizes, verdicts of the checks.
    quantifier : fitted quantifier
    outputs : Outputs
        Of all items.
    codes : array of int, shape (n_items,)
        Group of each item, a position among those of ``groups``; -1 for none.
    labels : TargetLabels
        Of all items.
    notes : sequence of str
        About the labels as a whole; they become part of the result's notes.
    survey : SurveyDesign, optional
        How all items were drawn.
    """
    result = _of_groups(groups, quantifier, outputs, codes, labels, survey)
    total = None
    if groups.total is not None:
        together = labels
        if labels.probabilities is None:  # labels may have been drawn group by group
            strata = codes if labels.strata is None else codes * (int(labels.strata.max()) + 1) + labels.strata
            together = replace(labels, strata=np.unique(strata, return_inverse=True)[1])
        total = _of_groups(groups.total, quantifier, outputs, np.where(codes >= 0, 0, -1), together, survey)
        total = _explained(total)
    return replace(result, total=total, notes=tuple(notes))


def _explained(total: GroupShares) -> GroupShares:
    if total.verdicts[0] != TOO_FEW_LABELS or total.labelled is None or total.labelled.n_labels[0] < FEWEST_LABELS:
        return total
    return replace(total, advice=[[_EACH_GROUP]])


def _of_groups(
    groups: GroupShares,
    quantifier: Quantifier,
    outputs: Outputs,
    codes: IntArray,
    labels: TargetLabels,
    survey: SurveyDesign | None,
) -> GroupShares:
    n, k = len(groups), len(groups.classes)
    large = [g for g, verdict in enumerate(groups.verdicts) if verdict != TOO_FEW]
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(n + 1))
    rows = [order[ends[g] : ends[g + 1]] for g in range(n)]
    shares, low, high, difference, detectable = (np.full((n, k), np.nan) for _ in range(5))
    shift, shift_low, shift_high = groups.shares.copy(), groups.low.copy(), groups.high.copy()
    p_value, gained = np.full(n, np.nan), np.full(n, np.nan)
    n_labels = np.array([int(labels.labelled[one].sum()) for one in rows])
    verdicts = [TOO_FEW if g not in large else TOO_FEW_LABELS for g in range(n)]
    advice: list[list[str]] = [
        groups.advice[g] if verdicts[g] == TOO_FEW else [few_labels_note(int(n_labels[g]))] for g in range(n)
    ]
    design, together = None, None
    if large:
        answer = _answer(
            quantifier, outputs, [rows[g] for g in large], [groups.names[g] for g in large], labels, groups, survey
        )
        design, together = answer.design_based, answer.label_shift
        shares[large], low[large], high[large] = design.shares, design.low, design.high
        if together is not None:
            shift[large], shift_low[large], shift_high[large] = together.shares, together.low, together.high
        if answer.contradiction is not None:
            test = answer.contradiction
            p_value[large], difference[large], detectable[large] = test.p_value, test.difference, test.detectable
        for g, assisted, sentences in zip(large, answer.assisted, answer.notes, strict=True):
            advice[g] = list(sentences)
            if assisted is not None:
                verdicts[g], gained[g] = LABELLED, assisted.labels_gained
    label_shift = replace(
        groups,
        shares=shift,
        low=shift_low,
        high=shift_high,
        estimate=together,
        note=why_no_label_shift(quantifier),
        total=None,
    )
    return replace(
        groups,
        shares=shares,
        low=low,
        high=high,
        verdicts=verdicts,
        advice=advice,
        estimate=design,
        note="",
        reports=(),
        labelled=LabelledGroups(label_shift, n_labels, p_value, difference, detectable, gained),
    )


def _answer(
    quantifier: Quantifier,
    outputs: Outputs,
    rows: list[IntArray],
    names: list[Any],
    labels: TargetLabels,
    groups: GroupShares,
    survey: SurveyDesign | None,
) -> LabelledEstimate:
    estimand: Any = groups.estimand
    samples = Samples.from_lists(rows, names=names)
    source_only = None
    if quantifier.has_interval and not (quantifier.has_posterior and estimand == "sample"):
        source_only = estimate(quantifier, outputs, samples, level=groups.level, estimand=estimand, design=survey)
    return labelled_estimate(
        quantifier,
        outputs,
        samples,
        labels,
        source_only=source_only,
        why_no_label_shift=why_no_label_shift(quantifier),
        level=groups.level,
        comparisons=1,
        estimand=estimand,
        one=False,
        survey=survey,
    )
