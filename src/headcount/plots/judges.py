"""Plot of corrected shares beside those of the human labels alone and of each judge."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.plots.style import axes_or_new, colour, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["judged"]

_MOST_JUDGES = 12
"""Judges whose shares are drawn."""
_GREY = "#808080"


def judged(result: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the corrected share of each class with its interval, that of the labels alone, and what each judge says.

    Parameters
    ----------
    result : JudgedShares
    ax : matplotlib axes, optional
    """
    k, total = len(result.classes), result.total
    ax = axes_or_new(ax, max(6.0, min(1.1 * k + 2.0, 14.0)))
    x = np.arange(k)
    series = (
        ("corrected", -0.12, total.shares, total.low, total.high, colour(0)),
        ("labels alone", 0.12, total.shares_alone, total.low_alone, total.high_alone, _GREY),
    )
    for name, offset, shares, low, high, shade in series:
        look: Any = {"color": shade, "label": name, "fmt": "o", "markersize": 5.0, "capsize": 3.0, "linewidth": 1.4}
        ax.errorbar(x + offset, shares, yerr=np.maximum(np.stack([shares - low, high - shares]), 0.0), **look)
    for j, judge in enumerate(result.judges[:_MOST_JUDGES]):
        kept = judge.name in result.kept.names
        look = {
            "color": colour(1) if kept else _GREY,
            "alpha": 1.0 if kept else 0.6,
            "linestyle": "none",
            "markersize": 6.0,
        }
        names = ("judge that is kept", "other judge")
        first = not any((one.name in result.kept.names) == kept for one in result.judges[:j])
        ax.plot(x, judge.shares, marker="x" if kept else "+", label=names[not kept] if first else None, **look)
    ax.set_xticks(x, [str(label) for label in result.classes])
    if k > 6:
        ax.tick_params(axis="x", rotation=45)
    ax.set(ylabel="share", ylim=(0.0, None))
    ax.set_ylim(0.0, min(1.0, float(ax.get_ylim()[1])))
    percent_axis(ax.yaxis)
    ax.legend(frameon=False)
    return ax
