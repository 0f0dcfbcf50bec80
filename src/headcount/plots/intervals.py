"""Plot of shares with their intervals, by group or over time."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.exceptions import DataError
from headcount.plots.style import axes_or_new, class_position, colour, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["intervals"]

_MOST_LABELS = 16
"""Names of groups that are written below the axis; of more, some."""


def intervals(estimate: Any, labels: Any = None, *, names: Any = None, ax: "Axes | None" = None) -> "Axes":
    """Draw the shares of each group with their intervals, a colour each class.

    Parameters
    ----------
    estimate : Estimate
        Of one or several samples.
    labels : sequence of classes, optional
        The classes to draw; by default the second of two classes, else all.
    names : sequence, optional
        Names of the groups, by default those of the estimate. Dates are placed in time.
    ax : matplotlib axes, optional
    """
    shares, low, high = (np.atleast_2d(values) for values in (estimate.shares, estimate.low, estimate.high))
    names = estimate.names if names is None else names
    names = list(range(1, len(shares) + 1)) if names is None else list(names)
    if len(names) != len(shares):
        raise DataError(f"There are {len(shares)} groups and {len(names)} names: one name for each group is needed.")
    if labels is None:
        labels = [estimate.classes[1]] if len(estimate.classes) == 2 else list(estimate.classes)
    ax = axes_or_new(ax, max(6.0, min(0.25 * len(shares), 14.0)))
    dated = all(hasattr(name, "year") or isinstance(name, np.datetime64) for name in names)
    places: Any = np.array(names) if dated else np.arange(len(names))
    for i, label in enumerate(labels):
        j = class_position(estimate.classes, label)
        bars = np.stack([shares[:, j] - low[:, j], high[:, j] - shares[:, j]])
        shifted = places if dated else places + 0.08 * (i - (len(labels) - 1) / 2.0)
        look: Any = {
            "color": colour(i),
            "label": str(label),
            "fmt": "o",
            "markersize": 4.0,
            "capsize": 2.5,
            "linewidth": 1.2,
        }
        ax.errorbar(shifted, shares[:, j], yerr=np.maximum(bars, 0.0), **look)
    if not dated:
        step = -(-len(names) // _MOST_LABELS)
        ax.set_xticks(places[::step], [str(name) for name in names[::step]])
    if len(names) > 6:
        ax.tick_params(axis="x", rotation=45)
    ax.set(ylabel=f"share of {labels[0]}" if len(labels) == 1 else "share", ylim=(0.0, None))
    ax.set_ylim(0.0, min(1.0, float(ax.get_ylim()[1])))
    percent_axis(ax.yaxis)
    if len(labels) > 1:
        ax.legend(frameon=False)
    return ax
