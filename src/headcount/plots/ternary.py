"""Shares of three classes as points in a triangle."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import FloatArray
from headcount._validation import as_shares
from headcount.exceptions import DataError
from headcount.plots.style import GREY, axes_or_new, colour

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ternary"]

_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def ternary(shares: Any, classes: Any = None, *, true: Any = None, name: str = "", ax: "Axes | None" = None) -> "Axes":
    """Draw shares of three classes in a triangle: the nearer to a corner, the larger the share of its class.

    Parameters
    ----------
    shares : Estimate, Evaluation, or array of shape (n_samples, 3)
        Of an Evaluation the true shares are drawn too.
    classes : sequence of 3 labels, optional
        Of the corners: left, right, top.
    true : array of shape (n_samples, 3) or (3,), optional
        True shares, joined with the estimates by lines.
    name : str, optional
        For the legend.
    ax : matplotlib axes, optional
    """
    if hasattr(shares, "estimated"):
        true, classes, name, shares = shares.true, shares.classes, name or shares.name, shares.estimated
    elif hasattr(shares, "shares"):
        classes, shares = shares.classes, shares.shares
    points = np.atleast_2d(as_shares(shares, "shares"))
    if points.shape[1] != 3:
        raise DataError(f"A triangle shows the shares of three classes; got {points.shape[1]}.")
    names = ["", "", ""] if classes is None else [str(label) for label in classes]
    first = ax is None or not ax.lines
    ax = axes_or_new(ax, 5.0, 4.6)
    if first:
        _triangle(ax, names)
    at, shade = points @ _CORNERS, colour(len(ax.collections))
    if true is not None:
        ends = np.broadcast_to(np.atleast_2d(as_shares(true, "true")), points.shape) @ _CORNERS
        ax.plot(*_joined(ends, at), color=shade, linewidth=0.6, alpha=0.5)
        ax.plot(ends[:, 0], ends[:, 1], "x", color="black", markersize=4.0)
    ax.scatter(at[:, 0], at[:, 1], s=14.0, color=shade, label=name or None, zorder=3)
    if name:
        ax.legend(frameon=False, loc="upper right")
    return ax


def _triangle(ax: "Axes", names: list[str]) -> None:
    """Draw the sides, lines at each fifth, and the names of the corners."""
    outline = np.vstack([_CORNERS, _CORNERS[:1]])
    ax.plot(outline[:, 0], outline[:, 1], color="black", linewidth=1.0)
    for share in np.arange(1, 5) / 5.0:
        for j in range(3):
            others = [k for k in range(3) if k != j]
            ends = np.zeros((2, 3))
            ends[:, j] = share
            ends[0, others[0]] = ends[1, others[1]] = 1.0 - share
            x, y = (ends @ _CORNERS).T
            ax.plot(x, y, color=GREY, linewidth=0.4, alpha=0.6)
    for corner, text, (x, y), (h, v) in zip(
        _CORNERS,
        names,
        ((0, -6), (0, -6), (0, 5)),
        (("center", "top"), ("center", "top"), ("center", "bottom")),
        strict=True,
    ):
        ax.annotate(text, corner, xytext=(x, y), textcoords="offset points", ha=h, va=v)
    ax.set(aspect="equal", xlim=(-0.1, 1.1), ylim=(-0.12, 1.0))
    ax.set_axis_off()


def _joined(ends: FloatArray, at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the coordinates of lines between pairs of points, with gaps between them."""
    gaps = np.full(len(at), np.nan)
    x, y = (np.column_stack([ends[:, i], at[:, i], gaps]).ravel() for i in range(2))
    return x, y
