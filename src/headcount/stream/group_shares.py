"""`GroupShares`: the shares of each group with intervals and verdicts, out of a tally."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headcount._labels import class_positions
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain, quoted
from headcount.checks import ItemFindings, Report, check_counted
from headcount.checks.verdict import NOT_CHECKED, Advice
from headcount.exceptions import DataError
from headcount.intervals import (
    Difference,
    Differences,
    Estimate,
    MeanEstimate,
    Trend,
    class_values,
    difference,
    differences,
    estimate,
    trend,
    why_no_interval,
)
from headcount.quantifiers import DensitiesQuantifier, Quantifier
from headcount.significance import holm
from headcount.stream.groups import MISSING, TOTAL
from headcount.stream.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MISSING",
    "NOT_CHECKED",
    "TOO_FEW",
    "GroupShares",
    "advice_by_reason",
    "check_assumption",
    "compare_all_groups",
    "compare_groups",
    "estimate_groups",
    "mean_text",
    "trend_of_groups",
    "verdict_summary",
]

TOO_FEW = "too few items"
_WORST_FIRST = ("do not trust", "caution", TOO_FEW, NOT_CHECKED, "trust")
_OUTCOMES = {
    "caution": (
        "needs a look before its shares are used (caution)",
        "need a look before their shares are used (caution)",
    ),
    "do not trust": (
        "has shares that should not be used (do not trust)",
        "have shares that should not be used (do not trust)",
    ),
    TOO_FEW: ("has too few items for an estimate", "have too few items for an estimate"),
    NOT_CHECKED: ("could not be checked", "could not be checked"),
}
"""What a verdict says of one group, and of several."""
_MOST_GROUPS_OF_ITEMS = 100
"""Groups up to which the items themselves are checked: that takes some tenths of a second for each."""


@dataclass(frozen=True, eq=False, repr=False)
class GroupShares:
    """Shares of groups, one row a group; NaN where a group is too small, or where there is no interval.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    names : list
    n_items : array of int, shape (n_groups,)
    shares, low, high : arrays of shape (n_groups, n_classes)
    verdicts : list of str
        "trust", "caution", "do not trust", "too few items" or "not checked", one for each group.
    advice : list of lists of str
    level : float
    estimand : {"population", "sample"}
    method : str
    note : str
        Why there are no intervals, if there are none.
    precision : float
        Bound of the error of the mean log-likelihood that methods over densities maximise in a stream; 0 for others.
    estimate : Estimate or None
        Of the groups that are large enough, if there are intervals.
    reports : tuple of Report or None
        What each group's verdict goes by. It does not depend on the other groups.
    adjusts_for_shift : bool
        Whether the method adjusts for changed shares.
    assume : {"calibrated"} or None
        What the intervals assume beyond label shift.
    by : tuple of str
        Titles of the columns that names are made of, if there are several: a name is then a tuple.
    total : GroupShares or None
        The shares of all items together, if they were asked for: those that an estimate without groups gives.
    averages : pair of str and MeanEstimate, or None
        Title and values of the mean over classes, if it was asked for.
    """

    classes: AnyArray
    names: list[Any]
    n_items: IntArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    verdicts: list[str]
    advice: list[list[str]]
    level: float
    estimand: str
    method: str
    note: str = ""
    precision: float = 0.0
    estimate: Estimate | None = None
    reports: tuple[Report | None, ...] = ()
    adjusts_for_shift: bool = False
    assume: str | None = None
    by: tuple[str, ...] = ()
    total: "GroupShares | None" = None
    averages: tuple[str, MeanEstimate] | None = None

    @property
    def p_corrected(self) -> FloatArray:
        """The least p-value of each group's tests, corrected for the number of tests and of groups (Holm 1979).

        It is the chance of any as small, among all groups, if only shares have changed; NaN for groups that were not tested.
        Verdicts do not depend on it.
        """
        reports = self.reports or (None,) * len(self)
        p = np.array([np.nan if report is None else least_p_value(report) for report in reports])
        tested = ~np.isnan(p)
        p[tested] = holm(p[tested].tolist())
        return p

    @property
    def comparable(self) -> list[str]:
        """The labels of the groups that have enough items to be compared."""
        return [
            group_label(name) for name, verdict in zip(self.names, self.verdicts, strict=True) if verdict != TOO_FEW
        ]

    @property
    def counts(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Numbers of items of each class in each group, and the ends of their intervals: shares times items, rounded."""
        count, low, high = (np.round(part * self.n_items[:, None]) for part in (self.shares, self.low, self.high))
        return count, low, high

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"GroupShares({len(self):,} groups, {len(self.classes)} classes, {int(self.n_items.sum()):,} items)"

    def records(self) -> list[dict[str, Any]]:
        """Return a plain record for each group and class; a number that is not known is None."""
        corrected = self.p_corrected
        counts = dict(zip(("count", "count_low", "count_high"), self.counts, strict=True))
        records = [
            {
                "group": group_label(self.names[g]),
                **self._columns(g),
                "class": plain(self.classes[j]),
                "share": none_if_nan(self.shares[g, j]),
                "low": none_if_nan(self.low[g, j]),
                "high": none_if_nan(self.high[g, j]),
                **{name: whole_number(values[g, j]) for name, values in counts.items()},
                "n": int(self.n_items[g]),
                "verdict": self.verdicts[g],
                "p_corrected": none_if_nan(corrected[g]),
                **self.mean_of(g),
            }
            for g in range(len(self))
            for j in range(len(self.classes))
        ]
        return records + ([] if self.total is None else self.total.records())

    def _columns(self, g: int) -> dict[str, str | None]:
        """Return the parts of a group's name by the columns that it is made of; those of a total are None."""
        if not isinstance(self.names[g], tuple):
            return dict.fromkeys(self.by)
        return dict(zip(self.by, map(group_label, self.names[g]), strict=True))

    def with_means(self, title: str = "", values: Any = None) -> "GroupShares":
        """Return the same with the mean of a value of each class in each group, with its interval; see `Estimate.mean`.

        Parameters
        ----------
        title : str
            What is averaged, such as stars.
        values : sequence of float, optional
            The value of each class; by default the classes themselves, which must be numbers.
        """
        given = class_values(self.classes) if values is None else np.asarray(values, dtype=np.float64)
        mean, low, high = self.shares @ given, np.full(len(self), np.nan), np.full(len(self), np.nan)
        if self.estimate is not None:
            large = np.flatnonzero(~np.isnan(self.shares[:, 0]))
            _, low[large], high[large], _ = self.estimate.mean(given)
        total = None if self.total is None else self.total.with_means(title, given)
        return replace(self, averages=(title, MeanEstimate(mean, low, high, self.level)), total=total)

    def mean_of(self, g: int) -> dict[str, float | None]:
        """Return the mean over classes of a group with the ends of its interval; empty if it was not asked for."""
        if self.averages is None:
            return {}
        mean = self.averages[1]
        ends = mean.mean[g], mean.low[g], mean.high[g]
        return dict(zip(("mean", "mean_low", "mean_high"), map(none_if_nan, ends), strict=True))

    def covariance_of(self, g: int) -> list[list[float]] | None:
        """Return the covariance matrix of the shares of a group, in the order of the classes; None where it is not known."""
        names = () if self.estimate is None else self.estimate.names or ()
        if self.estimate is None or self.estimate.evidence is None or self.names[g] not in names:
            return None
        covariance = self.estimate.take(names.index(self.names[g])).covariance()
        order = [self.estimate.classes.tolist().index(label) for label in self.classes.tolist()]
        matrix: list[list[float]] = covariance[np.ix_(order, order)].tolist()
        return matrix

    def in_class_order(self, classes: Sequence[Any]) -> "GroupShares":
        """Return the same with the classes in another order.

        Parameters
        ----------
        classes : sequence
            All classes, each once.
        """
        positions, text = class_positions(self.classes)
        given = [text(label) for label in classes]
        if sorted(given) != sorted(positions):
            raise DataError(
                f"The order of the classes (--classes) must name each class once; got {quoted(given, 10)}, and the classes are "
                f"{quoted(positions, 10)}."
            )
        order = [positions[label] for label in given]
        columns = {name: getattr(self, name)[:, order] for name in ("shares", "low", "high")}
        total = None if self.total is None else self.total.in_class_order(classes)
        return replace(self, classes=self.classes[order], total=total, **columns)

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each group and class."""
        import pandas as pd

        return pd.DataFrame(self.records())


def mean_text(groups: GroupShares, g: int) -> tuple[str, str]:
    """Return the mean over classes of a group, and its interval, for people to read; empty where there is none."""
    numbers = groups.mean_of(g)
    if not numbers or numbers["mean"] is None:
        return "", ""
    known = numbers["mean_low"] is not None
    return f"{numbers['mean']:.3g}", f"{numbers['mean_low']:.3g} to {numbers['mean_high']:.3g}" if known else ""


def least_p_value(report: Report) -> float:
    """Return the p-value of both tests of a group together, by Bonferroni's inequality; NaN if none was made."""
    made = [p for p in (report.p_label_shift, report.p_items) if p == p]
    return min(1.0, min(made) * len(made)) if made else float("nan")


def group_label(name: Any) -> str:
    """Return the name of a group for people to read."""
    if isinstance(name, tuple):
        return " / ".join(map(group_label, name))
    return MISSING if name is None else str(name)


def none_if_nan(value: float) -> float | None:
    """Return a number as Python's own, or None for what is not known."""
    return None if np.isnan(value) else float(value)


def whole_number(value: float) -> int | None:
    """Return a rounded number as an integer, or None for what is not known."""
    return None if np.isnan(value) else int(value)


def verdict_summary(verdicts: Sequence[str], advice: Sequence[Sequence[str]]) -> str:
    """Say in a sentence or two whether the shares of groups can be used.

    >>> verdict_summary(["trust", "trust", "caution"], [[], [], ["Few items."]])
    '2 of 3 groups look fine. 1 of 3 needs a look before its shares are used (caution).'
    >>> verdict_summary(["trust"], [[]])
    'The checks found nothing unusual: the shares can be used.'
    """
    count = Counter(verdicts)
    n = len(verdicts)
    checked = n - count[TOO_FEW] - count[NOT_CHECKED]
    if count[TOO_FEW] == n:
        whom = "All groups have" if n > 1 else "There are"
        return f"{whom} too few items for an estimate: use longer periods or larger groups."
    if checked == 0:
        reason = next(sentences[-1] for sentences, v in zip(advice, verdicts, strict=True) if v == NOT_CHECKED)
        return f"Whether the shares can be trusted was not checked. {reason}".rstrip()
    if n == 1:
        return {
            "trust": "The checks found nothing unusual: the shares can be used.",
            "caution": "Something looks unusual (caution): read why before you use the shares.",
            "do not trust": "These shares should not be used (do not trust): read why.",
        }[verdicts[0]]
    everyone = "Both groups" if n == 2 else f"All {n} groups"
    if count["trust"] == n:
        return f"{everyone} look fine: the shares can be used."
    sentences = (
        [f"{count['trust']} of {n} groups look{'s' if count['trust'] == 1 else ''} fine."] if count["trust"] else []
    )
    for verdict, (one, many) in _OUTCOMES.items():
        if count[verdict]:
            whom = everyone if count[verdict] == n else f"{count[verdict]} of {n}{'' if sentences else ' groups'}"
            sentences.append(f"{whom} {one if count[verdict] == 1 else many}.")
    return " ".join(sentences)


def advice_by_reason(
    labels: Sequence[str], verdicts: Sequence[str], advice: Sequence[Sequence[str]]
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each reason of the advice once, worst verdicts first, with the groups that it is about and their figures.

    >>> far = [Advice("The shares are far off{}.", f"{points} points") for points in (31, 40)]
    >>> advice_by_reason(["May", "June"], ["caution", "caution"], [[far[0]], [far[1]]])
    [('The shares are far off.', [('May', '31 points'), ('June', '40 points')])]
    """
    by_reason: dict[str, list[tuple[str, str]]] = {}
    for g in sorted(range(len(labels)), key=lambda g: _WORST_FIRST.index(verdicts[g])):
        for sentence in advice[g]:
            if isinstance(sentence, Advice) and len(labels) == 1:
                by_reason[str(sentence)] = [(labels[g], "")]
            elif isinstance(sentence, Advice):
                by_reason.setdefault(sentence.reason, []).append((labels[g], sentence.figures))
            elif verdicts[g] != "trust" and sentence:
                by_reason.setdefault(sentence, []).append((labels[g], ""))
    positions = {label: position for position, label in enumerate(labels)}
    return [(reason, sorted(groups, key=lambda group: positions[group[0]])) for reason, groups in by_reason.items()]


def estimate_groups(
    tally: Tally,
    *,
    level: float = 0.95,
    estimand: Literal["population", "sample"] = "population",
    assume: Literal["calibrated"] | None = None,
    min_items: int = 30,
    by: Sequence[str] = (),
    total: bool = False,
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
    """
    if tally.n_items == 0:
        raise DataError("There are no items to estimate the shares of.")
    quantifier, order = tally.recipe.quantifier, tally.in_order()
    check_assumption(quantifier, assume)
    names, n = [tally.names[row] for row in order], tally.n[order]
    large = np.flatnonzero(n >= min_items)
    rows = np.array(order)[large]
    shares, low, high = (np.full((len(order), tally.recipe.k), np.nan) for _ in range(3))
    note = "" if assume else why_no_interval(quantifier)
    estimated = None
    if len(large):
        statistics: Any = tally.statistics(rows)
        if note:
            shares[large] = quantifier.solve(statistics)
        else:
            estimated = replace(
                estimate(quantifier, statistics, level=level, estimand=estimand, assume=assume),
                names=tuple(names[g] for g in large),
            )
            shares[large], low[large], high[large] = estimated.shares, estimated.low, estimated.high
    verdicts, advice, reports = _checked(tally, large, rows, shares, len(order), min_items, n)
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


def _checked(
    tally: Tally, large: IntArray, rows: IntArray, shares: FloatArray, n_groups: int, min_items: int, n: FloatArray
) -> tuple[list[str], list[list[str]], tuple[Report | None, ...]]:
    recipe = tally.recipe
    verdicts, advice = [NOT_CHECKED] * n_groups, [[recipe.unchecked] for _ in range(n_groups)]
    reports: list[Report | None] = [None] * n_groups
    if recipe.cells is not None and len(large):
        counts, sums = (tally.sums[name][rows].sums for name in ("cells", recipe.check_sums))
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
    return [labelled.check(*kept.items(row, len(tally))) for row in rows.tolist()]


def compare_groups(groups: GroupShares, first: Any, second: Any) -> Difference:
    """Return by how much the shares of one group differ from those of another, with the interval of the difference."""
    _check_comparable(groups)
    return difference(_one(groups, first), _one(groups, second))


def compare_all_groups(
    groups: GroupShares,
    against: Literal["first", "previous", "all"] = "first",
    names: Sequence[Any] | None = None,
) -> Differences:
    """Compare several groups, with intervals and p-values that hold for all comparisons together.

    Parameters
    ----------
    groups : GroupShares
    against : {"first", "previous", "all"}, default="first"
        Compare each group with the first, with the one before it, or each pair.
    names : sequence, optional
        The groups to compare, in this order; by default all that have enough items, in the order of ``groups``.
    """
    if against not in ("first", "previous", "all"):
        raise DataError(f"against (--against) must be 'first', 'previous' or 'all'; got {against!r}.")
    _check_comparable(groups)
    compared = groups.comparable if names is None else [group_label(name) for name in names]
    if len(compared) < 2:
        raise DataError(
            f"A comparison needs at least two groups with enough items; there {'is' if len(compared) == 1 else 'are'} "
            f"{len(compared)} of {len(groups)}."
        )
    changes = differences([_one(groups, name) for name in compared], against)
    first, second = ([compared[position] for position in side] for side in (changes.first, changes.second))
    return replace(changes, first=first, second=second)


def trend_of_groups(groups: GroupShares, names: Sequence[str], times: Sequence[float]) -> Trend:
    """Return the slope of the shares over groups, given by name in the order of time, with intervals and p-values."""
    _check_comparable(groups)
    return trend([_one(groups, name) for name in names], times)


def _check_comparable(groups: GroupShares) -> None:
    if groups.note:
        raise DataError(f"Groups can't be compared without intervals: {groups.note}")
    if groups.estimate is None:
        raise DataError("All groups have too few items to be compared.")
    if groups.estimate.evidence is None:
        raise DataError(
            "Intervals that assume calibrated posteriors give no interval of a difference: use PACC, or SLD with calibration."
        )


def _one(groups: GroupShares, name: Any) -> Estimate:
    """Return the estimate of one group."""
    by_label = {group_label(group): group for group in groups.names}
    if str(name) not in by_label:
        raise DataError(f"There is no group {str(name)!r}; there are {', '.join(list(by_label)[:12])}.")
    estimated, group = groups.estimate, by_label[str(name)]
    if estimated is None or estimated.names is None or group not in estimated.names:
        raise DataError(f"Group {str(name)!r} has too few items to be compared.")
    return estimated.take(estimated.names.index(group))
