"""What a comparison of groups, or a trend over them, gives: changes of shares as records, with the verdicts of the groups."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from headcount._labels import class_order
from headcount.intervals import Difference, Differences, Trend
from headcount.stream import GroupShares
from headcount.stream.groups import group_label

__all__ = ["Against", "Comparison", "Comparisons", "TrendOfGroups"]

Against = Literal["first", "previous", "all"]
"""Whether each group is compared with the first, with the one before it, or with each other one."""
_FIGURES = ("change", "slope", "low", "high", "p_value", "p_single")
"""Figures of each class, of which a difference and a trend have some."""
_Change = TypeVar("_Change", Difference, Differences, Trend)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Change of the shares from one group to another.

    Attributes
    ----------
    first, second : str
        Names of the groups.
    difference : Difference
        The change of each share, with its interval and p-value.
    groups : GroupShares
        The shares of both groups, with verdicts.
    """

    first: str
    second: str
    difference: Difference
    groups: GroupShares

    def records(self) -> list[dict[str, Any]]:
        """Plain record of each class: class, change, change_low, change_high and p_value."""
        return _records(self.difference)

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Verdict and advice for both groups, by name."""
        return _verdicts(self.groups, (self.first, self.second))

    def in_class_order(self, classes: Sequence[Any]) -> "Comparison":
        """Return the same with the classes in another order, all of them, each once."""
        return replace(self, difference=_in_order(self.difference, classes), groups=self.groups.in_class_order(classes))


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Changes of the shares between several groups, with intervals and p-values that hold together.

    Attributes
    ----------
    against : {"first", "previous", "all"}
        Whether each group is compared with the first, with the one before it, or with each other one.
    names : list of str
        The groups that are compared, in their order.
    left_out : list of str
        Groups with too few items.
    differences : Differences
        The change of each share of each pair, with its interval and p-values.
    groups : GroupShares
        The shares of all groups, with verdicts.
    """

    against: Against
    names: list[str]
    left_out: list[str]
    differences: Differences
    groups: GroupShares

    def __len__(self) -> int:
        return int(self.differences.change.size)

    def records(self) -> list[dict[str, Any]]:
        """Plain record of each pair and class: first, second, class, change, change_low, change_high, p_value and p_single.

        The first p-value is corrected for the number of comparisons, the second is of the comparison alone.
        """
        frame = self.differences.to_frame()
        return [
            dict(zip(frame.columns, row, strict=True)) for row in zip(*(frame[c].tolist() for c in frame), strict=True)
        ]

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Verdict and advice for each group that is compared, by name."""
        return _verdicts(self.groups, self.names)

    def in_class_order(self, classes: Sequence[Any]) -> "Comparisons":
        """Return the same with the classes in another order, all of them, each once."""
        return replace(
            self, differences=_in_order(self.differences, classes), groups=self.groups.in_class_order(classes)
        )


@dataclass(frozen=True, eq=False)
class TrendOfGroups:
    """Rise or fall of the shares over the groups of a table, such as months.

    Attributes
    ----------
    names : list of str
        The groups, in the order of time.
    left_out : list of str
        Groups with too few items, or without a time.
    unit : str
        What slopes are per: a month, a week and so on, or a group.
    trend : Trend
        The slope of each share, with its interval and p-value.
    groups : GroupShares
        The shares of all groups, with verdicts.
    """

    names: list[str]
    left_out: list[str]
    unit: str
    trend: Trend
    groups: GroupShares

    def records(self) -> list[dict[str, Any]]:
        """Plain record of each class: class, slope, slope_low, slope_high and p_value."""
        return _records(self.trend)

    def verdicts(self) -> dict[str, dict[str, Any]]:
        """Verdict and advice for each group, by name."""
        return _verdicts(self.groups, self.names)

    def in_class_order(self, classes: Sequence[Any]) -> "TrendOfGroups":
        """Return the same with the classes in another order, all of them, each once."""
        return replace(self, trend=_in_order(self.trend, classes), groups=self.groups.in_class_order(classes))


def _figures(changes: Difference | Differences | Trend) -> dict[str, Any]:
    return {name: getattr(changes, name) for name in ("classes", *_FIGURES) if hasattr(changes, name)}


def _records(changes: Difference | Trend) -> list[dict[str, Any]]:
    of = "slope" if isinstance(changes, Trend) else "change"
    titles = {"classes": "figure" if changes.figures else "class", "low": f"{of}_low", "high": f"{of}_high"}
    columns = {titles.get(name, name): values for name, values in _figures(changes).items()}
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _in_order(changes: _Change, classes: Sequence[Any]) -> _Change:
    if changes.figures:
        return changes
    order = class_order(changes.classes, classes)
    return replace(changes, **{name: values[..., order] for name, values in _figures(changes).items()})


def _verdicts(groups: GroupShares, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    rows = {group_label(name): g for g, name in enumerate(groups.names)}
    return {name: {"verdict": groups.verdicts[rows[name]], "advice": groups.advice[rows[name]]} for name in names}
