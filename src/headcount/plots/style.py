"""What all plots share: axes on a figure of their own, colours that tell lines apart, ticks in percent, which class is shown."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.exceptions import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "GREY", "axes_or_new", "class_position", "colour", "percent_axis"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3c8d", "#666666")
"""Told apart by people with any vision of colours (Okabe and Ito 2008), the last two added."""
GREY = "#808080"


def axes_or_new(ax: "Axes | None", width: float = 6.0, height: float = 4.0) -> "Axes":
    """Return the given axes, or those of a new figure that pyplot does not know."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    new: Axes = Figure(figsize=(width, height), layout="constrained").add_subplot()
    new.spines[["top", "right"]].set_visible(False)
    return new


def colour(position: int) -> str:
    """Return the colour of the line at this position."""
    return COLOURS[position % len(COLOURS)]


def percent_axis(axis: Any, largest: float = 1.0) -> None:
    """Write the ticks of an axis of shares as percentages, exactly."""
    from matplotlib.ticker import PercentFormatter

    axis.set_major_formatter(PercentFormatter(1.0, decimals=None if largest > 0.1 else 1, symbol=" %"))


def class_position(classes: Any, label: Any) -> int:
    """Return the position of a class; without a label that of the second of two classes, else of the first."""
    if label is None:
        return 1 if len(classes) == 2 else 0
    found = np.flatnonzero(np.asarray(classes) == label)
    if not found.size:
        raise DataError(
            f"There is no class {label!r} to plot; the classes are {', '.join(map(repr, np.asarray(classes).tolist()))}."
        )
    return int(found[0])
