"""Critical difference diagram: mean ranks of methods over data sets, with bars that join those which can't be told apart."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.plots.style import axes_or_new, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["critical_difference"]

_MOST_NUMBERS = 16
"""Ranks that are written at the axis, one by one; of more, every fifth."""


def critical_difference(ranks: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw mean ranks on a line, the best on the left; a bar joins methods that do not differ significantly.

    Parameters
    ----------
    ranks : RankComparison
        From `headcount.significance.compare_ranks`.
    ax : matplotlib axes, optional

    References
    ----------
    Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research 7.
    """
    order = np.argsort(ranks.mean_ranks, kind="stable")
    values, names = ranks.mean_ranks[order], [ranks.names[i] for i in order]
    k = len(names)
    left = (k + 1) // 2  # names on the left side; the others stand on the right, the last on top
    bars = ranks.groups()
    top = 0.55 + 0.3 * len(bars)
    rows = max(left, k - left)
    ax = axes_or_new(ax, 7.0, 0.9 + 0.22 * (rows + len(bars)))
    low, high = 1.0, float(k)
    margin = 0.35 * (high - low)
    ax.plot([low, high], [0.0, 0.0], color="black", linewidth=1.0)
    step = 1 if k <= _MOST_NUMBERS else 5 * -(-k // (5 * _MOST_NUMBERS))
    for rank in range(1, k + 1):
        numbered = rank == 1 or rank % step == 0
        ax.plot([rank, rank], [0.0, -0.18 if numbered else -0.1], color="black", linewidth=1.0)
        if numbered:
            ax.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=9)
    for i, (value, name) in enumerate(zip(values, names, strict=True)):
        row = i if i < left else k - 1 - i
        depth, on_left = top + 0.6 * row, i < left
        end = low - 0.06 * (high - low) if on_left else high + 0.06 * (high - low)
        ax.plot([value, value, end], [0.0, depth, depth], color=colour(7), linewidth=0.8)
        text, side, gap = (f"{name}  {value:.2f}", "right", -3) if on_left else (f"{value:.2f}  {name}", "left", 3)
        ax.annotate(text, (end, depth), (gap, 0), textcoords="offset points", ha=side, va="center", fontsize=9)
    for height, group in enumerate(bars):
        at = [ranks.mean_ranks[ranks.names.index(name)] for name in group]
        y = 0.3 + 0.3 * height
        ax.plot([min(at) - 0.03, max(at) + 0.03], [y, y], color="black", linewidth=3.0, solid_capstyle="butt")
    if ranks.test == "nemenyi":
        width = ranks.critical_difference
        ax.plot([low, low + width], [-0.9, -0.9], color="black", linewidth=2.0)
        ax.text(low + width / 2.0, -1.0, f"CD {width:.2f}", ha="center", va="bottom", fontsize=9)
    ax.set(xlim=(low - margin, high + margin), ylim=(top + 0.6 * rows, -1.6 if ranks.test == "nemenyi" else -0.8))
    ax.set_axis_off()
    return ax
