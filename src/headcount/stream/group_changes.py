"""Differences between the shares of groups, and their trend."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from headcount.exceptions import DataError
from headcount.intervals import Difference, Differences, Estimate, Figure, Trend, difference, differences, trend
from headcount.stream.group_shares import GroupShares
from headcount.stream.groups import group_label

__all__ = ["compare_all_groups", "compare_groups", "trend_of_groups"]


def compare_groups(groups: GroupShares, first: Any, second: Any, figures: Sequence[Figure] | None = None) -> Difference:
    """Return by how much the shares of one group, or these figures, differ from those of another, with intervals."""
    _check_comparable(groups)
    return difference(_one(groups, first), _one(groups, second), figures=figures)


def compare_all_groups(
    groups: GroupShares,
    against: Literal["first", "previous", "all"] = "first",
    names: Sequence[Any] | None = None,
    figures: Sequence[Figure] | None = None,
) -> Differences:
    """Compare several groups, with intervals and p-values that hold for all comparisons together.

    Parameters
    ----------
    groups : GroupShares
    against : {"first", "previous", "all"}, default="first"
        Compare each group with the first, with the one before it, or each pair.
    names : sequence, optional
        The groups to compare, in this order; by default all that have enough items, in the order of ``groups``.
    figures : sequence of Figure, optional
        What to compare instead of the shares of classes.
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
    changes = differences([_one(groups, name) for name in compared], against, figures=figures)
    first, second = ([compared[position] for position in side] for side in (changes.first, changes.second))
    return replace(changes, first=first, second=second)


def trend_of_groups(
    groups: GroupShares, names: Sequence[str], times: Sequence[float], figures: Sequence[Figure] | None = None
) -> Trend:
    """Return the slope of the shares, or of these figures, over groups, given by name in the order of time, with intervals."""
    _check_comparable(groups)
    return trend([_one(groups, name) for name in names], times, figures=figures)


def _check_comparable(groups: GroupShares) -> None:
    if groups.note:
        raise DataError(f"Groups can't be compared without intervals: {groups.note}")
    if groups.estimate is None:
        raise DataError("All groups have too few items to be compared.")
    if groups.estimate.evidence is None:
        kind = "that assume calibrated posteriors" if groups.assume else f"of {groups.method}"
        raise DataError(f"Intervals {kind} give no interval of a difference: use PACC, or SLD with calibration.")


def _one(groups: GroupShares, name: Any) -> Estimate:
    """Return the estimate of one group."""
    by_label = {group_label(group): group for group in groups.names}
    if str(name) not in by_label:
        raise DataError(f"There is no group {str(name)!r}; there are {', '.join(list(by_label)[:12])}.")
    estimated, group = groups.estimate, by_label[str(name)]
    if estimated is None or estimated.names is None or group not in estimated.names:
        raise DataError(f"Group {str(name)!r} has too few items to be compared.")
    return estimated.take(estimated.names.index(group))
