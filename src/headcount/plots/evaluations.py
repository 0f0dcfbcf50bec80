"""Plots of how quantifiers err over the samples of a protocol: the diagonal, the error by shift, the bias by prevalence."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import FloatArray
from headcount._validation import as_shares
from headcount.exceptions import DataError
from headcount.plots.style import GREY, axes_or_new, class_position, colour, percent_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bias_by_prevalence", "diagonal", "error_by_shift"]


def diagonal(
    results: Any, label: Any = None, *, band: float = 0.8, n_bins: int = 21, ax: "Axes | None" = None
) -> "Axes":
    """Draw estimated against true shares of a class; a method without bias lies on the diagonal.

    Parameters
    ----------
    results : Evaluation, list of them, or dict of name to Evaluation
    label : class, optional
        By default the second of two classes, else the first.
    band : float, default=0.8
        Part of the samples at a true share that the shaded band holds; 0 draws none.
    n_bins : int, default=21
        True shares are rounded to this many values from 0 to 1.
    ax : matplotlib axes, optional
    """
    named = _named(results)
    ax = axes_or_new(ax, 4.6, 4.4)
    ax.plot([0.0, 1.0], [0.0, 1.0], linestyle=":", color=GREY, linewidth=1.0)
    for i, (name, one) in enumerate(named):
        j = class_position(one.classes, label)
        at, groups = _binned(one.true[:, j], one.estimated[:, j], n_bins)
        if band > 0.0:
            low, high = (
                np.array([np.quantile(values, q) for values in groups]) for q in (0.5 - band / 2, 0.5 + band / 2)
            )
            ax.fill_between(at, low, high, color=colour(i), alpha=0.18, linewidth=0.0)
        ax.plot(at, [np.median(values) for values in groups], color=colour(i), label=name, marker=".", markersize=4.0)
    shown = named[0][1].classes[class_position(named[0][1].classes, label)]
    ax.set(
        xlabel=f"true share of {shown}",
        ylabel=f"estimated share of {shown}",
        xlim=(0.0, 1.0),
        ylim=(0.0, 1.0),
        aspect="equal",
    )
    return _finished(ax, named)


def error_by_shift(
    results: Any, training_shares: Any, measure: str = "ae", *, n_bins: int = 10, ax: "Axes | None" = None
) -> "Axes":
    """Draw the mean error against the shift, the distance of a sample's shares from those of the training items.

    The shift is half the sum of absolute differences over classes: the part of the items that would have to change class.

    Parameters
    ----------
    results : Evaluation, list of them, or dict of name to Evaluation
    training_shares : array of shape (n_classes,)
    measure : str, default="ae"
        Name of a registered measure of shares.
    n_bins : int, default=10
        Bins of equal width between the smallest and the largest shift.
    ax : matplotlib axes, optional
    """
    named = _named(results)
    shares = as_shares(training_shares, "training_shares")
    ax = axes_or_new(ax)
    for i, (name, one) in enumerate(named):
        if shares.shape != (one.true.shape[1],):
            raise DataError(
                f"training_shares must be {one.true.shape[1]} shares, one for each class; got shape {shares.shape}."
            )
        shift = np.abs(one.true - shares).sum(axis=1) / 2.0
        edges = np.linspace(shift.min(), shift.max(), n_bins + 1)
        inside = np.clip(np.searchsorted(edges, shift, side="right") - 1, 0, n_bins - 1)
        filled = np.unique(inside)
        errors = one.error(measure)
        means = [errors[inside == b].mean() for b in filled]
        ax.plot((edges[filled] + edges[filled + 1]) / 2.0, means, color=colour(i), label=name, marker=".")
    ax.set(xlabel="shift: share of the items that would have to change class", ylabel=f"mean {measure.upper()}")
    ax.set_ylim(bottom=0.0)
    percent_axis(ax.xaxis)
    return _finished(ax, named)


def bias_by_prevalence(results: Any, label: Any = None, *, n_bins: int = 5, ax: "Axes | None" = None) -> "Axes":
    """Draw boxes of estimated minus true share of a class, for bins of the true share; a box above 0 overestimates.

    Parameters
    ----------
    results : Evaluation, list of them, or dict of name to Evaluation
    label : class, optional
        By default the second of two classes, else the first.
    n_bins : int, default=5
        Bins of equal width from 0 to 1.
    ax : matplotlib axes, optional
    """
    named = _named(results)
    ax = axes_or_new(ax, 7.0, 4.0)
    width = 0.8 / len(named)
    ax.axhline(0.0, color=GREY, linewidth=1.0, linestyle=":")
    for i, (name, one) in enumerate(named):
        j = class_position(one.classes, label)
        bins = np.minimum((one.true[:, j] * n_bins).astype(int), n_bins - 1)
        filled = np.unique(bins)
        errors = [(one.estimated[bins == b, j] - one.true[bins == b, j]) for b in filled]
        boxes = ax.boxplot(
            errors,
            positions=filled + (i - (len(named) - 1) / 2.0) * width,
            widths=0.8 * width,
            patch_artist=True,
            manage_ticks=False,
            flierprops={"markersize": 2.0, "markeredgecolor": colour(i)},
            medianprops={"color": "black"},
        )
        for box in boxes["boxes"]:
            box.set(facecolor=colour(i), alpha=0.6, label=name if box is boxes["boxes"][0] else "_")
    edges = [f"{100.0 * b / n_bins:.3g}" for b in range(n_bins + 1)]
    ax.set_xticks(range(n_bins), [f"{low} to {high} %" for low, high in pairwise(edges)])
    shown = named[0][1].classes[class_position(named[0][1].classes, label)]
    ax.set(xlabel=f"true share of {shown}", ylabel="estimated minus true share", xlim=(-0.6, n_bins - 0.4))
    return _finished(ax, named)


def _named(results: Any) -> list[tuple[str, Any]]:
    """Return evaluations with their names."""
    if isinstance(results, Mapping):
        named = [(str(name), one) for name, one in results.items()]
    else:
        several = results if isinstance(results, list | tuple) else [results]
        named = [(getattr(one, "name", ""), one) for one in several]
    if not named or not all(hasattr(one, "true") and hasattr(one, "estimated") for _, one in named):
        raise DataError(
            "Expected what `evaluate` returns: an Evaluation, a list of them, or a dict of name to Evaluation."
        )
    return named


def _binned(true: FloatArray, values: FloatArray, n_bins: int) -> tuple[FloatArray, list[FloatArray]]:
    """Return the true shares, rounded to so many values, and the values of the samples at each."""
    rounded = np.round(true * (n_bins - 1)).astype(int)
    filled = np.unique(rounded)
    return filled / (n_bins - 1), [values[rounded == b] for b in filled]


def _finished(ax: "Axes", named: list[tuple[str, Any]]) -> "Axes":
    if len(named) > 1:
        ax.legend(frameon=False)
    return ax
