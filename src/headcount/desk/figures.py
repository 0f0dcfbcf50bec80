"""`FiguresAsked`: what is asked for beside shares (means, cumulative shares, quantiles), as commands name it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import class_order, class_positions
from headcount._typing import AnyArray
from headcount._validation import check_ordered, quoted
from headcount.exceptions import DataError
from headcount.intervals import Figure, at_least, at_most, mean_of
from headcount.intervals.result import check_quantile
from headcount.stream import GroupShares

__all__ = ["FiguresAsked"]


@dataclass(frozen=True)
class FiguresAsked:
    """Means, cumulative shares and quantiles to give beside, or to compare instead of, the shares of classes.

    Attributes
    ----------
    value : str, optional
        What is averaged, for classes that are numbers (``stars``), or the value of each class (``neg=0,pos=1``).
    at_least, at_most : sequence of labels
        Classes up from which, and up to which, items are counted together.
    quantiles : sequence of float
        0.5 is the median.
    order : sequence of labels, optional
        The classes from the lowest to the highest, where the model does not know their order.

    Examples
    --------
    >>> asked = FiguresAsked("stars", at_least=["4"])
    >>> [(figure.title, figure.values.tolist()) for figure in asked.figures(np.array([1, 2, 3, 4, 5]), True)]
    [('mean stars', [1.0, 2.0, 3.0, 4.0, 5.0]), ('at least 4', [0.0, 0.0, 0.0, 1.0, 1.0])]
    """

    value: str | None = None
    at_least: Sequence[Any] = ()
    at_most: Sequence[Any] = ()
    quantiles: Sequence[float] = ()
    order: Sequence[Any] | None = None

    def __bool__(self) -> bool:
        return self.value is not None or bool(self.at_least or self.at_most or self.quantiles)

    def check(self, classes: AnyArray, ordered: bool) -> None:
        """Raise if any of it can't be asked of these classes, before files are read, which may take long."""
        for q in self.quantiles:
            check_quantile(q)
        self.figures(classes, ordered)
        if self.quantiles:
            check_ordered(classes, ordered or self.order is not None, "A quantile (--quantile)")

    def figures(self, classes: AnyArray, ordered: bool) -> tuple[Figure, ...]:
        """Return means and cumulative shares for classes in this order, which means something if ``ordered``."""
        given = list(range(len(classes))) if self.order is None else class_order(classes, self.order)
        ordered = ordered or self.order is not None
        in_order = classes[given]
        found = [] if self.value is None else [mean_of(in_order, *_mean_asked(self.value, in_order))]
        found += [at_least(in_order, label, ordered) for label in self.at_least]
        found += [at_most(in_order, label, ordered) for label in self.at_most]
        back = np.argsort(given).tolist()
        return tuple({figure.key: figure.in_order(back) for figure in found}.values())

    def of_groups(self, groups: GroupShares) -> GroupShares:
        """Return groups with these figures."""
        if self.order is not None:
            groups = groups.in_class_order(self.order)
        if not self:
            return groups
        return groups.with_figures(self.figures(groups.classes, groups.ordered), self.quantiles)

    def to_compare(self, classes: AnyArray, ordered: bool) -> tuple[Figure, ...] | None:
        """Return the figures to compare instead of shares; None if none are asked for."""
        if self.quantiles:
            raise DataError(
                "Quantiles of classes are not compared: a class is the same or another one. Compare means (--value) or cumulative "
                "shares (--at-least, --at-most)."
            )
        return self.figures(classes, ordered) if self else None


def _mean_asked(value: str, classes: AnyArray) -> tuple[list[float] | None, str]:
    """Return the value of each class, None if classes are their values, and the title of the mean."""
    if "=" not in value:
        return None, value
    pairs = [part.rpartition("=") for part in value.split(",")]
    given = {name.strip(): number.strip() for name, _, number in pairs}
    positions, _ = class_positions(classes)
    wrong = sorted(set(given) ^ set(positions))
    if wrong or len(pairs) > len(given):
        twice = wrong or sorted({name.strip() for name, _, _ in pairs})
        raise DataError(
            f"--value must give the value of each class once, and of nothing else; not so for {quoted(twice)}."
        )
    try:
        return [float(given[name]) for name in positions], ""
    except ValueError as error:
        raise DataError(f"--value {value}: the value of a class must be a number ({error}).") from error
