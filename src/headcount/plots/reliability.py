"""Reliability of posteriors: how often items with a given posterior are of the class."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.exceptions import DataError
from headcount.plots.style import GREY, axes_or_new, class_position, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["reliability"]


def reliability(
    outputs: Any, y: Any, label: Any = None, *, n_bins: int = 10, name: str = "", ax: "Axes | None" = None
) -> "Axes":
    """Draw the share of a class among items, against the mean posterior of these items; calibrated posteriors lie on the diagonal.

    Items are sorted by their posterior into bins of equal numbers. Bars are 95 % Wilson intervals. Calibration holds under given
    shares only: posteriors that are calibrated on labelled items are not calibrated where the shares have moved.

    Parameters
    ----------
    outputs : Outputs
        With posteriors, of labelled items that the classifier was not trained on.
    y : labels of these items
    label : class, optional
        By default the second of two classes, else the first.
    n_bins : int, default=10
    name : str, optional
        For the legend, if several are drawn on the same axes.
    ax : matplotlib axes, optional

    References
    ----------
    DeGroot and Fienberg (1983). The comparison and evaluation of forecasters. The Statistician 32.
    """
    j = class_position(outputs.classes, label)
    posteriors, labels = outputs.need("posteriors")[:, j], np.asarray(y)
    if labels.shape != posteriors.shape:
        raise DataError(
            f"There are posteriors of {len(posteriors)} items and {labels.size} labels: they must be of the same items."
        )
    is_class = labels == outputs.classes[j]
    first = ax is None or not ax.lines
    ax = axes_or_new(ax, 4.6, 4.4)
    if first:
        ax.plot([0.0, 1.0], [0.0, 1.0], linestyle=":", color=GREY, linewidth=1.0)
    parts = [
        part for part in np.array_split(np.argsort(posteriors, kind="stable"), min(n_bins, len(labels))) if part.size
    ]
    means = np.array([posteriors[part].mean() for part in parts])
    shares = np.array([is_class[part].mean() for part in parts])
    sizes = np.array([part.size for part in parts])
    z = 1.959964
    centre = (shares + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
    half = z / (1 + z**2 / sizes) * np.sqrt(shares * (1 - shares) / sizes + z**2 / (4 * sizes**2))
    bars = np.stack([shares - (centre - half), centre + half - shares])
    shade = colour(len(ax.containers))
    ax.errorbar(
        means,
        shares,
        yerr=np.maximum(bars, 0.0),
        color=shade,
        marker="o",
        markersize=4.0,
        capsize=2.5,
        label=name or None,
    )
    shown = outputs.classes[j]
    ax.set(xlabel=f"posterior of {shown}", ylabel=f"share of {shown}", xlim=(0.0, 1.0), ylim=(0.0, 1.0), aspect="equal")
    if name:
        ax.legend(frameon=False)
    return ax
