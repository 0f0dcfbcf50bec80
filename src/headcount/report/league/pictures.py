"""The pictures of a league: critical differences, error by shift, by groups of samples and data sets, and against time."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headcount.plots import critical_difference
from headcount.report.drawing import (
    COLOURS,
    INK,
    Plot,
    Series,
    axis_label,
    label_rows,
    lay_out,
    locate,
    new_figure,
    plain_ticks,
    series_id,
    to_svg,
)
from headcount.report.league.breakdowns import BY_SHIFT, Breakdown
from headcount.report.league.ranking import Ranking
from headcount.report.scores import label_of

__all__ = ["breakdown_picture", "rank_picture", "time_picture"]

_ROW = 0.2
"""Height of a row of a chart, in inches."""
_AXIS, _LETTER = 2.3, 0.066
"""Width of the axis of mean ranks, and of a letter, in inches."""
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_NAMED = 6
"""Methods whose curves have colours and names: the first by rank."""


def rank_picture(ranking: Ranking) -> Plot | None:
    """Return the critical-difference diagram, or None if there is nothing to compare."""
    comparison = ranking.comparison
    if comparison is None:
        return None
    rows = -(-len(ranking.entrants) // 2)
    width = _AXIS + 2.0 * _LETTER * (max(map(len, ranking.names)) + 6)  # on each side a name and its mean rank
    with new_figure(width, 1.0 + 0.23 * (rows + len(comparison.groups()))) as (figure, axes):
        critical_difference(comparison, ax=axes)
        artists: list[Any] = [*axes.lines, *axes.texts]
        for artist in artists:
            if artist.get_color() == "black":
                artist.set_color(INK)
        lay_out(figure)
        points = zip(ranking.entrants, ranking.names, ranking.mean_ranks, strict=True)
        series = [
            Series(name, e.method, e.learner, locate(axes, [(rank, 0.0, f"{rank:.2f}")])) for e, name, rank in points
        ]
        svg = to_svg(figure, f"Critical differences, {_about(ranking)}")
    test = (
        "Wilcoxon's signed rank test with Holm's correction over all pairs"
        if comparison.test == "wilcoxon"
        else "Nemenyi's test, whose critical difference CD is drawn on top"
    )
    caption = (
        f"Methods at their mean rank by {label_of(ranking.view.measure)} over {len(ranking.units)} data sets, best on the left. "
        f"A bar joins neighbours of which no two can be told apart at the level of 5 %, by {test}."
    )
    title = f"Mean ranks{f', {ranking.view.part}' if ranking.view.part else ''}"
    return Plot(svg, title, caption, "", [], "mean rank", series)


def breakdown_picture(breakdown: Breakdown, names: Sequence[str], about: str) -> Plot:
    """Return curves over the size of shift, or a row for each method with a mark for each group."""
    make = _curves if breakdown.name == BY_SHIFT else _rows
    return make(breakdown, names, f"{breakdown.title}, {about}")


def _curves(breakdown: Breakdown, names: Sequence[str], label: str) -> Plot:
    x = np.arange(len(breakdown.groups))
    with new_figure(5.0, 4.4) as (figure, axes):
        for j in reversed(range(len(names))):
            entrant = breakdown.entrants[j]
            gid = series_id(entrant.method, entrant.learner)
            style: Any = {"color": INK, "alpha": 0.22, "linewidth": 0.8}
            if j < _NAMED:
                style = {
                    "color": COLOURS[j],
                    "linewidth": 1.8,
                    "marker": _MARKERS[j],
                    "markersize": 4.0,
                    "label": f"{j + 1}. {names[j]}",
                }
            axes.plot(x, breakdown.values[j], gid=gid, **style)
        axes.set_xticks(x, [group.replace(" and more", "+").replace(" to ", "–") for group in breakdown.groups])
        axes.set_xlabel("shift: difference between the class shares of sample and training part")
        _error_axis(axes, axes.yaxis, breakdown.values)
        axes.set_ylabel(axis_label(f"mean {breakdown.title.partition(' by ')[0]} (logarithmic scale)"))
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles[::-1], labels[::-1], loc="outside upper center", ncol=2, fontsize=8)
        lay_out(figure)
        series = [
            Series(
                name,
                entrant.method,
                entrant.learner,
                locate(
                    axes, [(i, v, f"{g}: {v:.4f}") for i, (g, v) in enumerate(zip(breakdown.groups, row, strict=True))]
                ),
            )
            for name, entrant, row in zip(names, breakdown.entrants, breakdown.values, strict=True)
        ]
        svg = to_svg(figure, label)
    shown = min(_NAMED, len(names))
    caption = f"{breakdown.caption} The {shown} methods of the best mean rank have colours; point at a grey line for its name."
    return Plot(svg, breakdown.title, caption, "", [], "shift: mean error", series)


def _rows(breakdown: Breakdown, names: Sequence[str], label: str) -> Plot:
    groups = [
        f"{group} ({n})" if breakdown.name in ("imbalance", "size") else group
        for group, n in zip(breakdown.groups, breakdown.n_units, strict=True)
    ]
    with new_figure(5.0, 1.2 + 0.2 * -(-len(groups) // 2) + _ROW * len(names)) as (figure, axes):
        for y, (entrant, row) in enumerate(zip(breakdown.entrants, breakdown.values, strict=True)):
            gid = series_id(entrant.method, entrant.learner)
            axes.hlines(y, row.min(), row.max(), color=INK, alpha=0.25, linewidth=0.8, gid=gid)
            for g, value in enumerate(row):
                axes.plot([value], [y], _MARKERS[g], color=COLOURS[g], markersize=4.5, fillstyle="none", gid=gid)
        label_rows(axes, breakdown.entrants, names)
        _error_axis(axes, axes.xaxis, breakdown.values)
        axes.set_xlabel(axis_label(f"mean {breakdown.title.partition(' by ')[0]} (logarithmic scale)"))
        figure.legend(
            handles=[_mark(g, group) for g, group in enumerate(groups)], loc="outside upper center", ncol=2, fontsize=8
        )
        lay_out(figure)
        series = [
            Series(
                name,
                entrant.method,
                entrant.learner,
                locate(axes, [(v, y, f"{g}: {v:.4f}") for g, v in zip(breakdown.groups, row, strict=True)]),
            )
            for y, (name, entrant, row) in enumerate(zip(names, breakdown.entrants, breakdown.values, strict=True))
        ]
        svg = to_svg(figure, label)
    numbers = " In brackets: the number of data sets." if breakdown.name in ("imbalance", "size") else ""
    return Plot(svg, breakdown.title, breakdown.caption + numbers, "", [], "group: mean error", series)


def time_picture(ranking: Ranking, seconds: Any) -> Plot:
    """Return the mean error of each entrant against the median time of a fit."""
    errors, label = ranking.mean_errors, label_of(ranking.view.measure)
    with new_figure(5.0, 4.2) as (figure, axes):
        seconds = np.maximum(seconds, 1e-4)
        for j, entrant in enumerate(ranking.entrants):
            gid = series_id(entrant.method, entrant.learner)
            axes.plot([seconds[j]], [errors[j]], "o", color=COLOURS[0], markersize=4.0, alpha=0.8, gid=gid)
        axes.set_xscale("log")
        axes.margins(0.12)
        plain_ticks(axes.xaxis)
        _thin(axes.xaxis, seconds)
        _error_axis(axes, axes.yaxis, errors)
        axes.set_xlabel("median seconds of training (logarithmic scale)")
        axes.set_ylabel(f"mean {label} (logarithmic scale)")
        lay_out(figure)
        _write_names(axes, seconds, errors, ranking)
        series = [
            Series(name, e.method, e.learner, locate(axes, [(s, v, f"{s:.3g} s, {label} {v:.4f}")]))
            for e, name, s, v in zip(ranking.entrants, ranking.names, seconds, errors, strict=True)
        ]
        svg = to_svg(figure, f"Time against error, {_about(ranking)}")
    caption = (
        "Lower is better, further left is faster. The time is that of training the classifiers that a method needs, one or one for "
        "each fold besides, or of fitting a method that needs none: the median over data sets. Choosing settings and estimating "
        "shares come on top. Names are left out where there is no room: point at a dot to read it."
    )
    return Plot(svg, "Time against error", caption, "", [], "time, mean error", series)


def _write_names(axes: Any, x: Any, y: Any, ranking: Ranking) -> None:
    """Write the names beside the dots, the best ranks first, where no name or dot is in the way."""
    renderer: Any = axes.figure._get_renderer()
    dots = axes.transData.transform(np.column_stack([x, y]))
    inside = axes.get_window_extent(renderer)
    taken: list[Any] = []
    for j, name in enumerate(ranking.names):
        for dx, dy, ha, va in (
            (5, 0, "left", "center"),
            (-5, 0, "right", "center"),
            (0, 5, "center", "bottom"),
            (0, -5, "center", "top"),
        ):
            text = axes.annotate(name, (x[j], y[j]), (dx, dy), textcoords="offset points", ha=ha, va=va, fontsize=7.5)
            box = text.get_window_extent(renderer).padded(1.0)
            free = not any(box.overlaps(other) for other in taken) and not any(
                box.contains(*dot) for i, dot in enumerate(dots) if i != j
            )
            if free and box.x0 >= inside.x0 and box.x1 <= inside.x1 and box.y0 >= inside.y0 and box.y1 <= inside.y1:
                text.set_gid(series_id(ranking.entrants[j].method, ranking.entrants[j].learner))
                taken.append(box)
                break
            text.remove()


def _error_axis(axes: Any, axis: Any, values: Any) -> None:
    """Set a logarithmic scale, if all values are positive, with ticks that have room."""
    values = np.asarray(values)
    if (values > 0.0).all():
        (axes.set_xscale if axis is axes.xaxis else axes.set_yscale)("log")
        plain_ticks(axis)
        _thin(axis, values)


def _thin(axis: Any, values: Any) -> None:
    """Label only powers of ten where the axis spans more than three."""
    from matplotlib.ticker import LogLocator

    if np.nanmax(values) > 1000.0 * np.nanmin(values):
        axis.set_major_locator(LogLocator(10.0))


def _mark(position: int, label: str) -> Any:
    from matplotlib.lines import Line2D

    style: Any = {"color": COLOURS[position], "marker": _MARKERS[position], "linestyle": "", "fillstyle": "none"}
    return Line2D([], [], markersize=5, label=label, **style)


def _about(ranking: Ranking) -> str:
    view = ranking.view
    return ", ".join([view.learner, view.target, view.classes, view.part, view.measure])
