"""`GroupShares`: the shares of each group with intervals and verdicts, out of a tally."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.checks import ItemFindings, Report, check_counted
from headcount.exceptions import DataError
from headcount.intervals import (
    Difference,
    Differences,
    Estimate,
    MeanEstimate,
    class_values,
    difference,
    differences,
    estimate,
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
    "check_assumption",
    "compare_all_groups",
    "compare_groups",
    "estimate_groups",
    "mean_text",
]

TOO_FEW, NOT_CHECKED = "too few items", "not checked"
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

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"GroupShares({len(self):,} groups, {len(self.classes)} classes, {int(self.n_items.sum()):,} items)"

    def records(self) -> list[dict[str, Any]]:
        """Return a plain record for each group and class; a number that is not known is None."""
        corrected = self.p_corrected
        records = [
            {
                "group": group_label(self.names[g]),
                **self._columns(g),
                "class": plain(self.classes[j]),
                "share": none_if_nan(self.shares[g, j]),
                "low": none_if_nan(self.low[g, j]),
                "high": none_if_nan(self.high[g, j]),
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
        advice[g] = [
            f"{int(n[g])} items are too few to say anything: at least {min_items} are asked for (--min-items)."
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
