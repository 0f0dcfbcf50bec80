"""`GroupFigure`: a mean of class values, a cumulative share or a quantile in each group, with its interval, as text and records."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount._validation import check_ordered, plain
from headcount.intervals import Figure, at_most, quantile_positions
from headcount.intervals.result import check_quantile

if TYPE_CHECKING:
    from headcount.stream.group_shares import GroupShares

__all__ = ["GroupFigure", "figures_of_groups", "rounded_texts"]

_MEDIAN = 0.5


@dataclass(frozen=True, eq=False)
class GroupFigure:
    """One figure of all groups.

    Attributes
    ----------
    key : str
        Its column in records: "mean", "at_least_4", "quantile_0.5"; its ends are in ``KEY_low`` and ``KEY_high``.
    title : str
        Its name for people.
    value, low, high : arrays of shape (n_groups,)
        Numbers, NaN where there is none; of a quantile classes, None where there is none.
    kind : {"mean", "share", "quantile"}
    """

    key: str
    title: str
    value: AnyArray
    low: AnyArray
    high: AnyArray
    kind: str

    @property
    def columns(self) -> tuple[str, str, str]:
        """The columns of records that it takes."""
        return self.key, f"{self.key}_low", f"{self.key}_high"

    def record(self, g: int) -> dict[str, Any]:
        """Return the figure of a group with the ends of its interval, by column; None where there is none."""
        ends = (plain(one[g]) for one in (self.value, self.low, self.high))
        return {
            column: None if isinstance(end, float) and np.isnan(end) else end
            for column, end in zip(self.columns, ends, strict=True)
        }

    def text(self, g: int) -> tuple[str, str]:
        """Return the figure of a group, and its interval, for people to read; empty where there is none."""
        value, low, high = self.record(g).values()
        if value is None:
            return "", ""
        if self.kind == "quantile":
            return str(value), "" if low is None else f"{low} to {high}"
        if self.kind == "share":
            shown = [f"{100 * end:z.1f}" for end in (value, low, high) if end is not None]
            return f"{shown[0]} %", " to ".join(shown[1:])
        if low is None or high is None:
            return f"{value:,.3g}", ""
        return rounded_texts(value, low, high)


def figures_of_groups(
    groups: "GroupShares", figures: Sequence[Figure], quantiles: Sequence[float] = ()
) -> tuple[GroupFigure, ...]:
    """Return figures and quantiles of all groups.

    Parameters
    ----------
    groups : GroupShares
    figures : sequence of Figure
        For the classes of the groups, in their order.
    quantiles : sequence of float
        Orders of quantiles, for which the order of the classes must mean something.
    """
    found = [GroupFigure(f.key, f.title, *_ends(groups, f.values), "share" if f.is_share else "mean") for f in figures]
    for q in quantiles:
        check_quantile(q)
    if quantiles:
        check_ordered(groups.classes, groups.ordered, "A quantile")
        columns = [_ends(groups, at_most(groups.classes, label).values) for label in groups.classes]
        ends = [np.stack(column, axis=1) for column in zip(*columns, strict=True)]
        found += [_quantile(groups, q, *ends) for q in quantiles]
    return tuple(found)


def _ends(groups: "GroupShares", values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of class values in each group, and the ends of its interval; NaN where there is none."""
    estimate = groups.estimate
    value, low, high = groups.shares @ values, np.full(len(groups), np.nan), np.full(len(groups), np.nan)
    if estimate is None:
        return value, low, high
    large = np.flatnonzero(~np.isnan(groups.shares[:, 0]))
    kept = ~np.isnan(estimate.shares[:, 0])
    position = {label: j for j, label in enumerate(groups.classes.tolist())}
    order = [position[label] for label in estimate.classes.tolist()]
    _, lows, highs = estimate.figure(Figure("", "", values[order]))
    low[large], high[large] = lows[kept], highs[kept]
    return value, low, high


def _quantile(groups: "GroupShares", q: float, value: FloatArray, low: FloatArray, high: FloatArray) -> GroupFigure:
    known, bounded = ~np.isnan(value[:, 0]), ~np.isnan(low[:, 0])
    positions = quantile_positions(value, np.where(np.isnan(low), value, low), np.where(np.isnan(high), value, high), q)
    labels = [groups.classes[position].astype(object) for position in positions]
    shown, lowest, highest = (
        np.asarray(np.where(mask, label, None)) for mask, label in zip((known, bounded, bounded), labels, strict=True)
    )
    title = "median" if q == _MEDIAN else f"quantile {q:g}"
    return GroupFigure(f"quantile_{q:g}", title, shown, lowest, highest, "quantile")


def rounded_texts(mean: float, low: float, high: float) -> tuple[str, str]:
    """Return a mean and its interval with as many decimals as tell the ends apart: two digits of the interval's width.

    >>> rounded_texts(-0.1234, -0.2361, -0.0084), rounded_texts(52_300.0, 49_870.0, 54_900.0)
    (('-0.12', '-0.24 to -0.01'), ('52,300', '49,870 to 54,900'))
    """
    decimals = max(0, 1 - int(np.floor(np.log10(high - low)))) if high > low else 2
    shown = [f"{value:,.{decimals}f}" for value in (mean, low, high)]
    return shown[0], f"{shown[1]} to {shown[2]}"
