"""The page's plots of curves: error against true share, estimated against true shares, error against shift."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.report.drawing import (
    COLOURS,
    INK,
    Plot,
    Series,
    axis_label,
    files_of,
    lay_out,
    locate,
    name_of,
    new_figure,
    plain_ticks,
    series_id,
    to_svg,
)
from headcount.report.scores import VARIANTS, label_of
from headcount.report.series import Curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["diagonal_plots", "prevalence_plots", "shift_plots"]

_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_LEAST = 0.002
"""Smallest error on a logarithmic axis, as a share of the largest."""


def prevalence_plots(curves: Sequence[Curve], measure: str, classes: Mapping[str, Sequence[str]]) -> list[Plot]:
    """Return error against true share: one plot for each data set with all methods, all at one scale."""
    from matplotlib.lines import Line2D

    means = [mean for curve in curves for mean in curve.mean if mean > 0.0] or [1.0]
    # A method can be right at one share only, as MLPE at that of training: such a point lies at the lower edge.
    limits = max(min(means), _LEAST * max(means)) * 0.9, max(means) * 1.1
    methods, learners = (list(dict.fromkeys(names)) for names in ((map(_family, curves)), (c.learner for c in curves)))
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(methods)}
    dashes = {name: _DASHES[i % len(_DASHES)] for i, name in enumerate(sorted(learners, key=lambda name: name != ""))}
    plots = []
    for data_set in dict.fromkeys(curve.data_set for curve in curves):
        shown = [curve for curve in curves if curve.data_set == data_set]
        names = classes[data_set]
        of = f"class {names[1]}" if len(names) == 2 else "the largest class"
        with new_figure(5.0, 4.6) as (figure, axes):
            for curve in shown:
                style: Any = {"color": colours[_family(curve)], "linestyle": dashes[curve.learner], "linewidth": 1.2}
                axes.plot(curve.at, curve.mean, gid=series_id(curve.method, curve.learner), **style)
            axes.set(yscale="log", xlabel=axis_label(f"true share of {of}"))
            axes.set(ylim=limits, ylabel=f"mean {label_of(measure)} (logarithmic scale)")
            plain_ticks(axes.yaxis)
            handles = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
            handles += [Line2D([], [], color=INK, linestyle=dash, label=name) for name, dash in dashes.items() if name]
            figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8, handlelength=2.2)
            lay_out(figure)
            series = [
                Series(
                    name_of(c),
                    c.method,
                    c.learner,
                    locate(axes, zip(c.at, np.maximum(c.mean, limits[0]), _curve_texts(c), strict=True)),
                )
                for c in shown
            ]
            svg = to_svg(figure, f"{label_of(measure)} against true share on {data_set}")
        caption = (
            "A line is the mean error of a method at each true share; its colour is that of the method, its dashes are those of "
            "the learner. All data sets have one scale; means below it lie at the lower edge."
        )
        reading = f"true share: mean {label_of(measure)} (middle 80 %)"
        title = f"{label_of(measure)} against true share on {data_set}"
        plots.append(Plot(svg, title, caption, data_set, files_of(shown), reading, series))
    return plots


def _family(curve: Curve) -> str:
    """Return the method, or the family of the SVMs with a quantification loss."""
    return "SVM(·)" if curve.method.startswith("SVM(") else curve.method


def _curve_texts(curve: Curve) -> list[str]:
    points = zip(curve.at, curve.mean, curve.low, curve.high, strict=True)
    return [f"{at:.3g}: {mean:.3f} ({low:.3f} to {high:.3f})" for at, mean, low, high in points]


def diagonal_plots(curves: Sequence[Curve], classes: Mapping[str, Sequence[str]]) -> list[Plot]:
    """Return estimated against true shares: a plot for each data set and group of methods."""

    def draw(axes: "Axes", shown: Sequence[Curve], colours: Mapping[str, str]) -> None:
        axes.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.8, linestyle=":", gid="diagonal")
        _draw_lines(axes, shown, colours)
        names = classes[shown[0].data_set]
        of = f" of class {names[1]}" if len(names) == 2 else " of each class"
        axes.set(xlim=(0, 1), ylim=(0, 1), ylabel="estimated share", aspect="equal")
        axes.set_xlabel(axis_label(f"true share{of}", 34))

    caption = (
        "The line is the mean of the estimates at each true share, and the band holds their middle 80 %. "
        "A perfect method stays on the dotted diagonal."
    )
    return _curve_plots(
        curves, caption, draw, "estimated against true share", "true share: mean estimate (middle 80 %)"
    )


def shift_plots(curves: Sequence[Curve], label: str) -> list[Plot]:
    """Return error against shift, the error axis with this label: a plot for each data set and group of methods."""
    top = 1.05 * max((high for curve in curves for high in (*curve.high, *curve.mean)), default=1.0)
    right = 1.02 * max((at for curve in curves for at in curve.at), default=1.0)

    def draw(axes: "Axes", shown: Sequence[Curve], colours: Mapping[str, str]) -> None:
        _draw_lines(axes, shown, colours)
        axes.set(ylabel=label, xlim=(0.0, right or 1.0), ylim=(0.0, top or 1.0))
        axes.set_xlabel(axis_label("mean |share − training share|", 34))

    caption = (
        "Samples are grouped by how far their shares are from those of the training part. The line is their mean error, and the "
        "band holds the middle 80 %. All panels have one scale."
    )
    return _curve_plots(curves, caption, draw, f"{label} against shift", f"shift: mean {label} (middle 80 %)")


def _curve_plots(
    curves: Sequence[Curve], caption: str, draw: Callable[..., None], kind: str, reading: str
) -> list[Plot]:
    """Draw curves in plots that stay readable: one for each variant of CC, one for the SVMs with a loss, one for all others."""

    def group(method: str) -> str:
        return method if method in VARIANTS else "SVM(·)" if method.startswith("SVM(") else "others"

    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve.data_set, group(curve.method)), []).append(curve)
    plots = []
    for (data_set, name), members in groups.items():
        # A learner, or a method without one, has the same colour on all data sets.
        labels = dict.fromkeys(
            _label(c)
            for c in curves
            if (c.method in VARIANTS) == (name in VARIANTS) and (name in VARIANTS or group(c.method) == name)
        )
        colours = {label: COLOURS[i % len(COLOURS)] for i, label in enumerate(labels)}
        parts = [members[i : i + len(COLOURS)] for i in range(0, len(members), len(COLOURS))]
        for number, part in enumerate(parts, 1):
            which = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            title = f"{', '.join(dict.fromkeys(curve.method for curve in part))} on {data_set}{which}"
            with new_figure(3.3, 3.5) as (figure, axes):
                draw(axes, part, colours)
                legend = figure.legend(
                    loc="outside lower center", ncol=3, fontsize=8, handlelength=1.2, columnspacing=1.0
                )
                for curve, handle, text in zip(part, legend.legend_handles, legend.get_texts(), strict=True):
                    for mark in (handle, text):
                        mark.set_gid(series_id(curve.method, curve.learner))  # type: ignore[union-attr]
                lay_out(figure)
                series = [
                    Series(
                        name_of(c), c.method, c.learner, locate(axes, zip(c.at, c.mean, _curve_texts(c), strict=True))
                    )
                    for c in part
                ]
                svg = to_svg(figure, f"{title}: {kind}")
            plots.append(Plot(svg, title, caption, data_set, files_of(part), reading, series))
    return plots


def _draw_lines(axes: "Axes", curves: Sequence[Curve], colours: Mapping[str, str]) -> None:
    for curve in curves:
        gid, colour = series_id(curve.method, curve.learner), colours[_label(curve)]
        axes.fill_between(curve.at, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, gid=gid)
        axes.plot(curve.at, curve.mean, color=colour, linewidth=1.5, label=_label(curve), gid=gid)


def _label(curve: Curve) -> str:
    """Return the learner for a variant of CC, whose plot has only one method, else method and learner."""
    return curve.learner if curve.method in VARIANTS and curve.learner else name_of(curve)
