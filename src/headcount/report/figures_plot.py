"""Panels of the plot of an estimate beside that of the shares: stacked shares of ordered classes, and figures with intervals."""

from typing import Any

import numpy as np

from headcount._escaping import printable
from headcount.stream import GroupShares
from headcount.stream.group_figures import GroupFigure

__all__ = ["draw_figure", "draw_stacked"]

_BAR_WIDTH = 0.8
_COLOUR = "#7f3c8d"


def draw_stacked(axes: Any, groups: GroupShares, colours: list[str]) -> None:
    """Draw a bar for each group in which the shares of the classes lie on top of each other, the lowest class at the bottom."""
    x = np.arange(len(groups))
    shares = np.nan_to_num(groups.shares)
    bottom = np.zeros(len(groups))
    for j, colour in enumerate(colours):
        axes.bar(x, shares[:, j], _BAR_WIDTH, bottom=bottom, color=colour, linewidth=0)
        bottom += shares[:, j]
    axes.set_ylim(0.0, 1.0)
    axes.set_axisbelow(True)


def draw_figure(axes: Any, groups: GroupShares, figure: GroupFigure, ordered: list[int]) -> None:
    """Draw a mean, a cumulative share or a quantile of each group with its interval; a line joins groups that are in order."""
    x = np.arange(len(groups))
    labels = [str(label) for label in groups.classes.tolist()]
    if figure.kind == "quantile":
        place = {label: j for j, label in enumerate(groups.classes.tolist())}
        value, low, high = (
            np.array([np.nan if one is None else place[one] for one in ends], dtype=np.float64)
            for ends in (figure.value, figure.low, figure.high)
        )
        axes.set_yticks(range(len(labels)), [printable(label) for label in labels])
        axes.set_ylim(-0.5, len(labels) - 0.5)
    else:
        value, low, high = (np.asarray(ends, dtype=np.float64) for ends in (figure.value, figure.low, figure.high))
    bars = None if np.isnan(low).all() else np.nan_to_num(np.stack([value - low, high - value]))
    axes.errorbar(
        x, value, yerr=bars, color=_COLOUR, marker="o", markersize=4, capsize=2, linestyle="none", linewidth=1.2
    )
    if ordered and figure.kind != "quantile":
        axes.plot(x[ordered], value[ordered], color=_COLOUR, linewidth=1.2)
