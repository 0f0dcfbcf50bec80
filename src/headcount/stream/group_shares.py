"""`GroupShares`: the shares of groups, with intervals and verdicts, as records, data frame and text."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headcount._labels import class_order
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.checks import Report
from headcount.intervals import BorrowedStrength, Estimate, Figure
from headcount.significance import holm
from headcount.stream.group_figures import GroupFigure, figures_of_groups
from headcount.stream.groups import group_label
from headcount.stream.verdicts import TOO_FEW

if TYPE_CHECKING:
    import pandas as pd

    from headcount.stream.labelled_groups import LabelledGroups

__all__ = ["DrawnShares", "GroupShares", "none_if_nan", "whole_number"]

_FIGURES = [f"{figure}{end}" for figure in ("share", "count", "mean") for end in ("", "_low", "_high")]
_DRAWN = ("drawn_share", "drawn_low", "drawn_high", "drawn")
_LABEL_COLUMNS = {"labels", "label_shift_verdict", "p_contradiction", "detectable", "design_effect"}
_COLUMNS = {"label", "group", "class", "n", "verdict", "p_corrected", *_FIGURES, *_DRAWN, *_LABEL_COLUMNS}
_COLUMNS |= {f"label_shift{end}" for end in ("", "_low", "_high")}
"""Columns of records, of which not all are always there; ``label`` comes with several models."""


class DrawnShares(NamedTuple):
    """Shares of groups drawn towards the other groups (`borrow_strength`); NaN where a group is too small.

    Attributes
    ----------
    shares, low, high : arrays of shape (n_groups, n_classes)
    part : array of shape (n_groups,)
        How far each group was drawn, from 0 to 1.
    mean : array of shape (n_classes,)
        The shares that groups are drawn towards.
    """

    shares: FloatArray
    low: FloatArray
    high: FloatArray
    part: FloatArray
    mean: FloatArray

    @classmethod
    def of_groups(cls, borrowed: BorrowedStrength, large: IntArray, n_groups: int) -> "DrawnShares":
        """Return the shares of all groups, of which those at the positions ``large`` were drawn."""

        def of_all(values: FloatArray) -> FloatArray:
            spread = np.full((n_groups, *values.shape[1:]), np.nan)
            spread[large] = values
            return spread

        shares, low, high, part = map(of_all, (borrowed.shares, borrowed.low, borrowed.high, borrowed.drawn))
        return cls(shares, low, high, part, borrowed.mean)

    def in_order(self, order: list[int]) -> "DrawnShares":
        """Return the same with the classes at these positions."""
        return DrawnShares(self.shares[:, order], self.low[:, order], self.high[:, order], self.part, self.mean[order])

    def figures(self, g: int, j: int) -> dict[str, float | None]:
        """Return the drawn share of a class in a group with its interval, and how far the group was drawn."""
        values = self.shares[g, j], self.low[g, j], self.high[g, j], self.part[g]
        return dict(zip(_DRAWN, map(none_if_nan, values), strict=True))


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
    figures : tuple of GroupFigure
        Means of class values, cumulative shares and quantiles that were asked for.
    totals : array of shape (n_groups,) or None
        How many items of the population each group stands for, where items have weights or the population's size is known.
    labelled : LabelledGroups or None
        With labels of new items: shares, intervals and verdicts are then design-based, and here is what they say under label shift.
    notes : tuple of str
        Sentences about all groups together.
    drawn : DrawnShares or None
        The same shares drawn towards the other groups, if that was asked for.
    ordered : bool
        Whether the order of the classes means something.
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
    figures: tuple[GroupFigure, ...] = ()
    totals: FloatArray | None = None
    labelled: "LabelledGroups | None" = None
    notes: tuple[str, ...] = ()
    drawn: DrawnShares | None = None
    ordered: bool = False

    @property
    def p_corrected(self) -> FloatArray:
        """The least p-value of each group's tests, corrected for the number of tests and of groups (Holm 1979).

        It is the chance of any as small, among all groups, if only shares have changed; NaN for groups that were not tested.
        Verdicts do not depend on it.
        """
        reports = self.reports or (None,) * len(self)
        p = np.array([np.nan if report is None else _least_p_value(report) for report in reports])
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
        """Numbers of items of each class in each group, and the ends of their intervals: shares times items, rounded.

        Weighted items count as many as they stand for.
        """
        items = self.n_items if self.totals is None else self.totals
        count, low, high = (np.round(part * items[:, None]) for part in (self.shares, self.low, self.high))
        return count, low, high

    @property
    def part_columns(self) -> list[str]:
        """The columns of records for the parts of names: ``by``, with ``by_`` before a title that is a figure's column."""
        columns: list[str] = []
        taken = _COLUMNS | {column for figure in self.figures for column in figure.columns}
        for title in self.by:
            column = title
            while column in taken or column in columns or (column != title and column in self.by):
                column = f"by_{column}"
            columns.append(column)
        return columns

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"GroupShares({len(self):,} groups, {len(self.classes)} classes, {int(self.n_items.sum()):,} items)"

    def records(self) -> list[dict[str, Any]]:
        """Return a plain record for each group and class; a number that is not known is None."""
        corrected, effects = self.p_corrected, self.design_effects
        counts = dict(zip(("count", "count_low", "count_high"), self.counts, strict=True))
        records = [
            {
                "group": group_label(self.names[g]),
                **self._columns(g),
                "class": plain(self.classes[j]),
                "share": none_if_nan(self.shares[g, j]),
                "share_low": none_if_nan(self.low[g, j]),
                "share_high": none_if_nan(self.high[g, j]),
                **{name: whole_number(values[g, j]) for name, values in counts.items()},
                "n": int(self.n_items[g]),
                "verdict": self.verdicts[g],
                "p_corrected": none_if_nan(corrected[g]),
                **self.figures_of(g),
                **({} if effects is None else {"design_effect": none_if_nan(effects[g, j])}),
                **({} if self.labelled is None else self.labelled.columns_of(g, j)),
                **self.drawn_of(g, j),
            }
            for g in range(len(self))
            for j in range(len(self.classes))
        ]
        if self.total is not None:
            empty = {} if self.drawn is None else dict.fromkeys(_DRAWN)
            records += [record | empty for record in self.total.records()]
        return records

    def _columns(self, g: int) -> dict[str, str | None]:
        """Return the parts of a group's name by the columns that it is made of; those of a total are None."""
        if not isinstance(self.names[g], tuple):
            return dict.fromkeys(self.part_columns)
        return dict(zip(self.part_columns, map(group_label, self.names[g]), strict=True))

    def with_figures(self, figures: Sequence[Figure], quantiles: Sequence[float] = ()) -> "GroupShares":
        """Return the same with means of class values, cumulative shares and quantiles in each group, with their intervals.

        Parameters
        ----------
        figures : sequence of Figure
            Made by `mean_of`, `at_least` and `at_most` of `headcount.intervals`, for ``classes`` in their order.
        quantiles : sequence of float
            0.5 is the median; the order of the classes must mean something.
        """
        total = None if self.total is None else self.total.with_figures(figures, quantiles)
        labelled = None if self.labelled is None else self.labelled.with_figures(figures, quantiles)
        found = figures_of_groups(self, figures, quantiles)
        return replace(self, figures=found, total=total, labelled=labelled)

    def figures_of(self, g: int) -> dict[str, Any]:
        """Return the figures of a group with the ends of their intervals, by column; empty if none were asked for."""
        return {column: end for figure in self.figures for column, end in figure.record(g).items()}

    @property
    def why_no_figures(self) -> str:
        """Why there are intervals of shares, but none of the figures; empty if there are, or if no figures were asked for."""
        return self.estimate.why_no_means if self.figures and self.estimate is not None else ""

    @property
    def design_effects(self) -> FloatArray | None:
        """How many times larger the variance of each share is than with independent items of equal weight; None without a design.

        Shape (n_groups, n_classes); NaN for groups that are too small.
        """
        if self.estimate is None or self.estimate.design is None:
            return None
        effects = np.full(self.shares.shape, np.nan)
        large = np.flatnonzero(~np.isnan(self.shares[:, 0]))
        order = [self.estimate.classes.tolist().index(label) for label in self.classes.tolist()]
        effects[large] = self.estimate.design.effects[:, order]
        return effects

    def drawn_of(self, g: int, j: int) -> dict[str, float | None]:
        """Return the share of a class in a group drawn towards the other groups; empty if that was not asked for."""
        return {} if self.drawn is None else self.drawn.figures(g, j)

    def covariance_of(self, g: int) -> list[list[float]] | None:
        """Return the covariance matrix of the shares of a group, in the order of the classes; None where it is not known."""
        names = () if self.estimate is None else self.estimate.names or ()
        if self.estimate is None or self.names[g] not in names:
            return None
        if self.estimate.evidence is None and self.estimate.covariances is None:
            return None
        covariance = self.estimate.take(names.index(self.names[g])).covariance()
        order = [self.estimate.classes.tolist().index(label) for label in self.classes.tolist()]
        matrix: list[list[float]] = covariance[np.ix_(order, order)].tolist()
        return None if np.isnan(covariance).any() else matrix

    def in_class_order(self, classes: Sequence[Any]) -> "GroupShares":
        """Return the same with the classes in another order.

        Parameters
        ----------
        classes : sequence
            All classes, each once.
        """
        order = class_order(self.classes, classes)
        columns = {name: getattr(self, name)[:, order] for name in ("shares", "low", "high")}
        total = None if self.total is None else self.total.in_class_order(classes)
        labelled = None if self.labelled is None else self.labelled.in_class_order(classes, order)
        drawn = None if self.drawn is None else self.drawn.in_order(order)
        return replace(
            self, classes=self.classes[order], ordered=True, total=total, labelled=labelled, drawn=drawn, **columns
        )

    def to_frame(self) -> "pd.DataFrame":
        """Return a data frame with one row for each group and class."""
        import pandas as pd

        return pd.DataFrame(self.records())


def _least_p_value(report: Report) -> float:
    """Return the p-value of both tests of a group together, by Bonferroni's inequality; NaN if none was made."""
    made = [p for p in (report.p_label_shift, report.p_items) if p == p]
    return min(1.0, min(made) * len(made)) if made else float("nan")


def none_if_nan(value: float) -> float | None:
    """Return a number as Python's own, or None for what is not known."""
    return None if np.isnan(value) else float(value)


def whole_number(value: float) -> int | None:
    """Return a rounded number as an integer, or None for what is not known."""
    return None if np.isnan(value) else int(value)
