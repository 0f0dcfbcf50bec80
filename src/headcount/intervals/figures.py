"""`Figure`: a mean of class values that is asked for beside the shares, such as a mean of stars or a share of 4 stars or more."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headcount._labels import class_positions
from headcount._typing import AnyArray, FloatArray
from headcount._validation import check_ordered, plain, quoted
from headcount.exceptions import DataError

__all__ = ["Figure", "at_least", "at_most", "change_text", "check_figures", "class_position", "class_values", "mean_of"]


@dataclass(frozen=True, eq=False)
class Figure:
    r"""A linear function of the shares, :math:`\sum_j v_j p_j`, with what it is called.

    Attributes
    ----------
    key : str
        Its name in records, such as "mean" or "at_least_4".
    title : str
        Its name for people, such as "mean stars" or "at least 4".
    values : array of shape (n_classes,)
        The value of each class, in the order of the classes that it was made for.
    is_share : bool
        Whether it is a share of the items, whose values are 0 and 1.
    """

    key: str
    title: str
    values: FloatArray
    is_share: bool = False

    def in_order(self, order: Sequence[int]) -> "Figure":
        """Return the same for the classes in another order, given by their positions."""
        return replace(self, values=self.values[list(order)])


def check_figures(figures: Figure | Sequence[Figure] | None, n_classes: int) -> tuple[Figure, ...]:
    """Return figures as a tuple, empty if none are given; raise unless they can differ and are of so many classes."""
    given = () if figures is None else (figures,) if isinstance(figures, Figure) else tuple(figures)
    for figure in given:
        if not isinstance(figure, Figure):
            raise DataError(
                f"figures must be made by mean_of, at_least or at_most of headcount.intervals; got {figure!r}."
            )
        if figure.values.shape != (n_classes,):
            raise DataError(
                f"{figure.title!r} is of {len(figure.values)} classes, and the estimates are of {n_classes}."
            )
        if np.ptp(figure.values) == 0.0:
            raise DataError(f"{figure.title!r} is the same whatever the shares are: there is nothing to compare.")
    return given


def change_text(value: float, is_share: bool) -> str:
    """Return a change for people to read: of a share in percent, of a mean as a number.

    >>> change_text(0.05, True), change_text(0.05, False)
    ('+5.00%', '+0.05')
    """
    return f"{value:+.2%}" if is_share else f"{value:+.3g}"


def mean_of(classes: AnyArray, values: Any = None, title: str = "") -> Figure:
    """Return the mean of a value of each class.

    Parameters
    ----------
    classes : array of labels
    values : sequence of float, optional
        The value of each class; by default the classes themselves, which must be numbers.
    title : str, optional
        What is averaged.

    Examples
    --------
    >>> mean_of(np.array([1, 2, 3]), title="stars").title
    'mean stars'
    """
    if values is None:
        return Figure("mean", f"mean {title}".strip(), class_values(classes))
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"The values of classes must be numbers, one for each class; got {values!r}.") from error
    if given.shape != (len(classes),) or not np.isfinite(given).all():
        raise DataError(f"A finite value of each of the {len(classes)} classes is needed; got {values!r}.")
    return Figure("mean", f"mean {title}".strip(), given)


def at_least(classes: AnyArray, label: Any, ordered: bool = True) -> Figure:
    """Return the share of the items of a class or of one above it.

    Parameters
    ----------
    classes : array of labels
        From the lowest to the highest.
    label : label, or its text
    ordered : bool, default=True
        Whether the order of the classes means something.

    Examples
    --------
    >>> at_least(np.array([1, 2, 3, 4, 5]), 4).values.tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0]
    """
    position = class_position(classes, label, ordered, "at least")
    values = (np.arange(len(classes)) >= position).astype(np.float64)
    return Figure(f"at_least_{plain(classes[position])}", f"at least {plain(classes[position])}", values, True)


def at_most(classes: AnyArray, label: Any, ordered: bool = True) -> Figure:
    """Return the share of the items of a class or of one below it.

    Parameters
    ----------
    classes, label, ordered
        As in `at_least`.

    Examples
    --------
    >>> at_most(np.array(["bad", "fair", "good"]), "fair").values.tolist()
    [1.0, 1.0, 0.0]
    """
    position = class_position(classes, label, ordered, "at most")
    values = (np.arange(len(classes)) <= position).astype(np.float64)
    return Figure(f"at_most_{plain(classes[position])}", f"at most {plain(classes[position])}", values, True)


def class_position(classes: AnyArray, label: Any, ordered: bool, what: str) -> int:
    """Return the position of a class that is named by its label or its text; raise if there is none, or no order."""
    check_ordered(classes, ordered, f"'{what}'")
    positions, text = class_positions(classes)
    if text(label) not in positions:
        raise DataError(f"There is no class {str(plain(label))!r} for '{what}': the classes are {quoted(classes, 10)}.")
    return positions[text(label)]


def class_values(classes: Any) -> FloatArray:
    """Return classes that are numbers, or texts of numbers, as numbers.

    >>> class_values(["1", "2", "3"]).tolist()
    [1.0, 2.0, 3.0]
    """
    try:
        values = np.array([float(label) for label in classes])
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The classes {quoted(list(classes), 5)} are not numbers: give the value of each class, such as "
            f"{classes[0]}=0,{classes[1]}=1."
        ) from error
    if not np.isfinite(values).all():
        raise DataError(f"The classes {quoted(list(classes), 5)} are not finite numbers: give the value of each class.")
    return values
