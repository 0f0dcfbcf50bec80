"""The plot of shares over groups or time: a line for each class, with its intervals; of many groups, a panel for each class."""

import warnings
from io import BytesIO
from typing import Any

import numpy as np

from headcount._escaping import printable
from headcount._typing import FloatArray
from headcount.report.figures_plot import draw_figure, draw_stacked
from headcount.report.ordered_colours import is_scale, ordered_colours
from headcount.report.shares_order import order_of
from headcount.stream import GroupShares
from headcount.stream.groups import group_label

__all__ = ["COLOURS", "OMITTED_METADATA", "plot_shares"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#7f3c8d", "#666666", "#b5434d", "#5a8f2e")
"""Distinguishable by colour-blind readers, on light and dark backgrounds (after Okabe and Ito 2008)."""
_GREY = "#808080"
_INCHES_PER_GROUP = 0.42
_MAX_TICKS = 36
_MOST_GROUPS_TOGETHER = 60
"""Groups up to which all classes are drawn in one panel; more of them would be a solid block."""
_BESIDE = 0.05
"""Distance at which shares under label shift are drawn beside design-based ones, in groups."""
_STACKED_INCHES, _SHARES_INCHES, _FIGURE_INCHES = 2.2, 4.2, 1.6
_PANEL_INCHES = 1.7
_PANEL_TICKS = 12
_DRAWN_OFFSET = 0.06
"""How far to the right of a group's own share its drawn share stands, in groups."""
DRAWN = "drawn towards the other groups"
_MAX_NAME = 24
"""Characters of the name of a group or class."""
OMITTED_METADATA = {
    "svg": ("Date", "Creator", "Format", "Type"),
    "pdf": ("CreationDate", "Producer"),
    "png": ("Software",),
}
"""Metadata that varies, by format: omitted, so that the same shares give the same bytes."""


def plot_shares(groups: GroupShares, format: str = "svg", title: str = "", x_label: str = "") -> bytes:  # noqa: A002
    """Plot the shares of all groups with their intervals.

    Parameters
    ----------
    groups : GroupShares
    format : {"svg", "png", "pdf"}, default="svg"
    title, x_label : str, optional

    Returns
    -------
    bytes
    """
    import matplotlib

    with matplotlib.rc_context(
        {"svg.hashsalt": "headcount", "svg.fonttype": "none", "font.family": "sans-serif", "text.parse_math": False}
    ):
        figure = _small_multiples(groups) if len(groups) > _MOST_GROUPS_TOGETHER else _panels(groups)
        if title:
            figure.suptitle(printable(title), x=0.01, ha="left", color=_GREY)
        figure.axes[-1].set_xlabel(printable(x_label), color=_GREY)
        picture = BytesIO()
        metadata: dict[str, Any] = dict.fromkeys(OMITTED_METADATA[format])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # names in scripts that the font lacks
            figure.savefig(picture, format=format, dpi=150, transparent=format == "svg", metadata=metadata)
    return picture.getvalue()


def _panels(groups: GroupShares) -> Any:
    """Draw the shares of all classes in one panel; above it stacked bars of ordered classes, below it a panel for each figure."""
    from matplotlib.figure import Figure

    width = float(np.clip(_INCHES_PER_GROUP * len(groups) + 2.5, 5.0, 16.0))
    heights = [
        *([_STACKED_INCHES] if is_scale(groups) else []),
        _SHARES_INCHES,
        *[_FIGURE_INCHES] * len(groups.figures),
    ]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    panels: Any = figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    main = int(is_scale(groups))
    _draw(panels[main], groups)
    if main:
        draw_stacked(panels[0], groups, ordered_colours(len(groups.classes), "both"))
        panels[0].set_title("in the order of the classes", loc="left", color=_GREY, fontsize=10)
        _style(panels[0], 1.0)
    order = order_of(groups)
    ordered = order.members[0] if order.kind and len(order.series) == 1 else []
    for axes, one in zip(panels[main + 1 :], groups.figures, strict=True):
        draw_figure(axes, groups, one, ordered)
        axes.set_title(printable(one.title), loc="left", color=_GREY, fontsize=10)
        if one.kind == "share":
            _style(axes, _top_of(one.value, one.high))
        else:
            _grey(axes)
    _label_groups(panels[-1], groups)
    return figure


def _label_groups(axes: Any, groups: GroupShares) -> None:
    """Write the names of groups below an axis, not more of them than there is room for."""
    x, step = np.arange(len(groups)), -(-len(groups) // _MAX_TICKS)
    ticks = [_shorten(group_label(name)) for name in groups.names[::step]]
    axes.set_xticks(x[::step], ticks, rotation=45 if len(groups) > 6 else 0)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right" if len(groups) > 6 else "center")


def _draw(axes: Any, groups: GroupShares) -> None:
    from matplotlib.lines import Line2D

    classes, x = _largest_classes(groups), np.arange(len(groups))
    k = len(classes)
    spread = 0.0 if len(groups) == 1 and k < 3 else min(0.5, 0.09 * k)
    offsets = np.linspace(-spread / 2, spread / 2, k)
    handles, names = list[Any](), list[str]()
    order = order_of(groups)
    ordered = bool(order.kind) and len(order.series) == 1
    for j, offset, colour in zip(classes, offsets, _colours(groups, classes), strict=True):
        share, low, high = groups.shares[:, j], groups.low[:, j], groups.high[:, j]
        bars = None if np.isnan(low).all() else np.nan_to_num(np.stack([share - low, high - share]))
        line = {"color": colour, "linewidth": 1.2}
        points = {"marker": "o", "markersize": 4, "capsize": 2, "linestyle": "none"}
        handles.append(axes.errorbar(x + offset, share, yerr=bars, **points, **line))
        names.append(_shorten(str(groups.classes[j])))
        if groups.drawn is not None:
            points = {"marker": "D", "markersize": 4, "fillstyle": "none", "linestyle": "none", "linewidth": 0.6}
            drawn = groups.drawn.shares[:, j], groups.drawn.low[:, j], groups.drawn.high[:, j]
            bars = np.nan_to_num(np.stack([drawn[0] - drawn[1], drawn[2] - drawn[0]]))
            axes.errorbar(x + offset + _DRAWN_OFFSET, drawn[0], yerr=bars, color=colour, **points)
        if ordered:
            axes.plot((x + offset)[order.members[0]], share[order.members[0]], **line)
    handles, names = _with_label_shift(axes, groups, classes, x[:, None] + offsets, handles, names)
    if groups.drawn is not None:
        handles.append(Line2D([], [], linestyle="none", marker="D", markersize=4, fillstyle="none", color=_GREY))
        names.append(DRAWN)
    if k < len(groups.classes):
        handles.append(Line2D([], [], linestyle="none"))
        names.append(f"Not drawn: {len(groups.classes) - k} more, with smaller shares")
    for verdict, alpha, legend in (("caution", 0.1, "with caution"), ("do not trust", 0.3, "not to be trusted")):
        bands = [
            axes.axvspan(g - 0.45, g + 0.45, color=_GREY, alpha=alpha, linewidth=0)
            for g, group_verdict in enumerate(groups.verdicts)
            if group_verdict == verdict
        ]
        handles += bands[:1]
        names += [legend] * bool(bands)
    _style(axes, _top(groups))
    axes.legend(handles, names, frameon=False, labelcolor=_GREY, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _with_label_shift(
    axes: Any, groups: GroupShares, classes: list[int], x: FloatArray, handles: list[Any], names: list[str]
) -> tuple[list[Any], list[str]]:
    """Draw the shares under label shift beside design-based ones, and return the legend with an entry for them."""
    if groups.labelled is None or groups.labelled.label_shift.note:
        return handles, names
    shift, drawn = groups.labelled.label_shift, None
    for position, (j, colour) in enumerate(zip(classes, _colours(groups, classes), strict=True)):
        share, low, high = shift.shares[:, j], shift.low[:, j], shift.high[:, j]
        bars = np.nan_to_num(np.stack([share - low, high - share]))
        points = {"marker": "D", "markersize": 3.5, "markerfacecolor": "none", "capsize": 2, "linestyle": "none"}
        drawn = axes.errorbar(
            x[:, position] + _BESIDE, share, yerr=bars, color=colour, alpha=0.55, linewidth=1.0, **points
        )
    return [*handles, drawn], [*names, "under label shift"]


def _small_multiples(groups: GroupShares) -> Any:
    """Draw a panel for each class, on one scale: over periods or numbers, or else from the smallest share to the largest."""
    from matplotlib.figure import Figure

    classes, order = _largest_classes(groups), order_of(groups)
    ordered = bool(order.kind) and len(order.series) == 1
    figure = Figure(figsize=(10.0, _PANEL_INCHES * len(classes) + 0.8), layout="constrained")
    panels: Any = figure.subplots(len(classes), 1, sharex=True, squeeze=False)[:, 0]
    x = np.arange(len(groups))
    for axes, j, colour in zip(panels, classes, _colours(groups, classes), strict=True):
        rows = np.array(order.members[0]) if ordered else np.argsort(groups.shares[:, j], kind="stable")  # NaN last
        share, low, high = groups.shares[rows, j], groups.low[rows, j], groups.high[rows, j]
        axes.fill_between(x[: len(rows)], low, high, color=colour, alpha=0.3, linewidth=0)
        axes.plot(x[: len(rows)], share, color=colour, linewidth=0.9)
        if groups.drawn is not None:
            axes.plot(
                x[: len(rows)], groups.drawn.shares[rows, j], color=_GREY, linewidth=0.9, linestyle="--", label=DRAWN
            )
            axes.legend(frameon=False, labelcolor=_GREY, loc="upper right", fontsize=8)
        axes.set_title(_shorten(str(groups.classes[j])), loc="left", color=_GREY, fontsize=10)
        _style(axes, _top(groups))
    last = panels[-1]
    if ordered:
        step = -(-len(groups) // _PANEL_TICKS)
        last.set_xticks(
            x[::step], [_shorten(group_label(name)) for name in groups.names[::step]], rotation=30, ha="right"
        )
    else:
        last.set_xticks([0, len(groups) - 1], ["smallest share", "largest share"])
    if len(classes) < len(groups.classes):
        figure.supxlabel(
            f"Not drawn: {len(groups.classes) - len(classes)} more classes, with smaller shares", color=_GREY
        )
    return figure


def _colours(groups: GroupShares, classes: list[int]) -> list[str]:
    """Return the colours of these classes: of a scale where classes are ordered."""
    if is_scale(groups):
        scale = ordered_colours(len(groups.classes), "both")
        return [scale[j] for j in classes]
    return list(COLOURS[: len(classes)])


def _top(groups: GroupShares) -> float:
    """Return the upper end of the axis of shares."""
    return _top_of(groups.shares, groups.high)


def _top_of(shares: FloatArray, high: FloatArray) -> float:
    largest = float(np.nanmax(np.concatenate([high.ravel(), shares.ravel(), [0.0]])))
    return min(1.0, 1.08 * largest) if largest > 0 else 1.0


def _style(axes: Any, top: float) -> None:
    """Set the axis of shares from 0, with ticks at multiples of 1, 2 or 5 whose labels are exact, and grey lines."""
    from matplotlib.ticker import MaxNLocator

    axes.set_ylim(0.0, top)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{round(100 * value, 8):zg} %")
    _grey(axes)


def _grey(axes: Any) -> None:
    """Draw lines and texts of an axis in grey, which is read on light and dark pages."""
    axes.grid(axis="y", color=_GREY, alpha=0.25)
    axes.tick_params(colors=_GREY)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(_GREY)


def _largest_classes(groups: GroupShares) -> list[int]:
    """Classes to plot, in their order: those with the largest shares, if there are more classes than colours."""
    mean = np.nan_to_num(groups.shares).mean(axis=0)
    largest = np.argsort(-mean, kind="stable")[: len(COLOURS)]
    return sorted(int(j) for j in largest)


def _shorten(name: str) -> str:
    """Shorten a long name in the middle: names often differ only at the start or at the end."""
    name, half = printable(name), _MAX_NAME // 2
    return name if len(name) <= _MAX_NAME else f"{name[: half - 1]}…{name[-half:]}"
