"""The page's plots as SVG, drawn from the data of `series` and `differences`."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount.report.differences import Differences
from headcount.report.drawing import (
    COLOURS,
    INK,
    Plot,
    Series,
    axis_label,
    files_of,
    label_rows,
    lay_out,
    locate,
    name_of,
    new_figure,
    series_id,
    to_svg,
)
from headcount.report.scores import VARIANTS, Row, label_of
from headcount.report.series import Bias, Curve, MeanError, Ranks, Spent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "bias_plots",
    "diagonal_plots",
    "difference_plots",
    "mean_error_plots",
    "prevalence_plots",
    "rank_plot",
    "shift_plots",
    "time_plots",
]

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_LEAST = 0.002
"""Smallest error on a logarithmic axis, as a share of the largest."""
_ROW = 0.2
"""Height of a row of a chart, in inches."""


def mean_error_plots(entries: Sequence[MeanError]) -> list[Plot]:
    """Return the mean errors of all methods on all data sets at one scale, a plot for each measure."""
    plots = []
    for measure in dict.fromkeys(entry.measure for entry in entries):
        shown = [entry for entry in entries if entry.measure == measure]
        by_row: dict[tuple[str, str], list[MeanError]] = {}
        for entry in shown:
            by_row.setdefault((entry.method, entry.learner), []).append(entry)
        data_sets = list(dict.fromkeys(entry.data_set for entry in shown))
        logarithmic = all(entry.mean > 0.0 for entry in shown)
        with new_figure(5.0, 1.1 + _ROW * len(by_row)) as (figure, axes):
            for y, of_row in enumerate(by_row.values()):
                for entry in of_row:
                    i = data_sets.index(entry.data_set)
                    style: Any = {"color": COLOURS[i % len(COLOURS)], "gid": series_id(entry.method, entry.learner)}
                    error = entry.run_error or 0.0
                    axes.hlines(
                        y, max(entry.mean - error, 0.1 * entry.mean), entry.mean + error, linewidth=1.0, **style
                    )
                    axes.plot([entry.mean], [y], _MARKERS[i % len(_MARKERS)], markersize=4.5, fillstyle="none", **style)
            handles = [
                _handle(_MARKERS[i % len(_MARKERS)], COLOURS[i % len(COLOURS)], name)
                for i, name in enumerate(data_sets)
            ]
            label_rows(axes, [of_row[0] for of_row in by_row.values()])
            if logarithmic:
                axes.set_xscale("log")
                _plain_ticks(axes.xaxis)
            axes.set_xlabel(axis_label(f"mean {label_of(measure)}" + (" (logarithmic scale)" if logarithmic else "")))
            figure.legend(handles=handles, loc="outside upper center", ncol=2 if len(data_sets) > 2 else 3, fontsize=8)
            lay_out(figure)
            series = [
                Series(name_of(of_row[0]), *key, locate(axes, [(e.mean, y, _mean_text(e)) for e in of_row]))
                for y, (key, of_row) in enumerate(by_row.items())
            ]
            svg = to_svg(figure, f"Mean {label_of(measure)} of all methods")
        caption = (
            "All methods on all data sets at one scale. A mark is the mean error over test samples and runs; the line through it "
            "reaches one Monte Carlo error over runs to each side, where there are several runs."
        )
        reading = f"data set: mean {label_of(measure)}"
        title = f"{label_of(measure)} of all methods"
        plots.append(Plot(svg, title, caption, "", files_of(shown), reading, series))
    return plots


def _handle(marker: str, colour: str, label: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5, fillstyle="none", label=label)


def _plain_ticks(axis: Any) -> None:
    """Write the ticks of a logarithmic axis as decimal numbers, at 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(10.0, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _mean_text(entry: MeanError) -> str:
    error = entry.run_error
    spread = ", one run" if error is None else f" ± {error:.4f}" if error else ""
    return f"{entry.data_set}: {entry.mean:.4f}{spread}"


def difference_plots(entries: Sequence[Differences]) -> list[Plot]:
    """Return the critical-difference diagrams: methods by mean rank, bars beside those that do not differ significantly."""
    plots = []
    for entry in entries:
        rows, n = [Row(*method) for method in entry.methods], len(entry.methods)
        step = 0.035 * n
        with new_figure(5.0, 0.9 + _ROW * n) as (figure, axes):
            for y, (row, mean) in enumerate(zip(rows, entry.mean_ranks, strict=True)):
                colour = COLOURS[0] if row.method in VARIANTS else COLOURS[1]
                gid = series_id(row.method, row.learner)
                axes.hlines(y, 0.0, mean, color=colour, linewidth=0.8, alpha=0.5, gid=gid)
                full = "none" if y in entry.not_judged else "full"
                axes.plot([mean], [y], "o", color=colour, markersize=5, fillstyle=full, gid=gid)
            for k, (first, last) in enumerate(entry.groups):
                x = n + step * (k + 1)
                axes.plot([x, x], [first - 0.25, last + 0.25], color=INK, linewidth=2.2, solid_capstyle="butt")
            label_rows(axes, rows)
            axes.set_xlim(0.0, n + step * (len(entry.groups) + 1))
            axes.set_xticks([tick for tick in axes.get_xticks() if 0 < tick <= n])
            axes.set_xlabel(axis_label(f"mean rank by {label_of(entry.measure)} (1 is best)"))
            lay_out(figure)
            series = [
                Series(row.name, row.method, row.learner, locate(axes, [(mean, y, _group_text(entry, rows, y, mean))]))
                for y, (row, mean) in enumerate(zip(rows, entry.mean_ranks, strict=True))
            ]
            svg = to_svg(figure, f"Critical differences by {label_of(entry.measure)}")
        hollow = (
            " Hollow methods have one run and draw at random, so that no test can judge them."
            if entry.not_judged
            else ""
        )
        caption = (
            f"Methods are sorted by their mean rank over {len(entry.data_sets)} data sets. A bar on the right spans neighbours among "
            "which no two differ significantly at 0.05, by the test over test pools and runs that counts the luck of both, "
            f"after Holm's correction over all pairs of methods.{hollow}"
        )
        title = f"By {label_of(entry.measure)}, {entry.n_significant} of {entry.n_tests} pairs differ"
        plots.append(Plot(svg, title, caption, "", entry.files, "mean rank", series))
    return plots


def _group_text(entry: Differences, rows: Sequence[Row], y: int, mean: float) -> str:
    equal = {i for first, last in entry.groups if first <= y <= last for i in range(first, last + 1)} - {y}
    if y in entry.not_judged:
        return f"{mean:.2f}; not judged"
    names = ", ".join(rows[i].name for i in sorted(equal - set(entry.not_judged)))
    return f"{mean:.2f}; joined by a bar with {names or 'no other'}"


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
            _plain_ticks(axes.yaxis)
            handles = [Line2D([], [], color=colour, label=name) for name, colour in colours.items()]
            handles += [Line2D([], [], color=INK, linestyle=dash, label=name) for name, dash in dashes.items() if name]
            figure.legend(handles=handles, loc="outside lower center", ncol=4, fontsize=8, handlelength=2.2)
            lay_out(figure)
            series = [
                Series(
                    name_of(c),
                    c.method,
                    c.learner,
                    locate(axes, zip(c.at, np.maximum(c.mean, limits[0]), _curve_texts(c))),
                )
                for c in shown
            ]
            svg = to_svg(figure, f"{label_of(measure)} against true share on {data_set}")
        caption = (
            "A line is the mean error of a method at each true share; its colour is that of the method, its dashes are those of the "
            "learner. All data sets have one scale; means below it lie at the lower edge. The buttons above choose methods and learners."
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
        axes.set_xlabel(axis_label("shift: mean |share − training share|", 34))

    caption = (
        "Samples are grouped by how far their shares are from those of the training part. The line is their mean error, and the band "
        "holds the middle 80 %. All panels have one scale."
    )
    return _curve_plots(curves, caption, draw, f"{label} against shift", f"shift: mean {label} (middle 80 %)")


def bias_plots(biases: Sequence[Bias]) -> list[Plot]:
    """Return boxes of estimated minus true share, a plot for each data set, all at one scale."""
    ends = [abs(end) for entry in biases for end in entry.quantiles]
    width = 1.05 * max(ends, default=1.0) or 1.0
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in biases):
        entries = [entry for entry in biases if entry.data_set == data_set]
        with new_figure(5.0, 0.9 + _ROW * len(entries)) as (figure, axes):
            axes.axvline(0.0, color=INK, linewidth=0.8)
            for y, entry in enumerate(entries):
                low, first, median, third, high = entry.quantiles
                style: Any = {"gid": series_id(entry.method, entry.learner), "color": COLOURS[0]}
                axes.hlines(y, low, high, linewidth=1.0, **style)
                axes.barh(y, third - first, left=first, height=0.55, alpha=0.45, **style)
                axes.plot([median], [y], marker="|", markersize=8, markeredgewidth=2, linestyle="", **style)
            label_rows(axes, entries)
            axes.set_xlim(-width, width)
            axes.set_xlabel(axis_label(f"estimated − true share of class {entries[0].of}"))
            lay_out(figure)
            series = [
                Series(name_of(e), e.method, e.learner, locate(axes, [(e.quantiles[2], y, _bias_text(e))]))
                for y, e in enumerate(entries)
            ]
            svg = to_svg(figure, f"Bias of all methods on {data_set}")
        caption = (
            "A box holds the middle half of all test samples and runs, the mark in it is the median, and the line reaches from the 5th "
            "to the 95th percentile. The class is one that no other is more frequent than in training. All data sets have one scale."
        )
        reading = "median (5th, 25th, 75th, 95th percentile; mean)"
        plots.append(Plot(svg, f"Bias on {data_set}", caption, data_set, files_of(entries), reading, series))
    return plots


def _bias_text(entry: Bias) -> str:
    low, first, median, third, high = (f"{value:+.3f}" for value in entry.quantiles)
    return f"{median} ({low}, {first}, {third}, {high}; mean {entry.mean:+.3f})"


def rank_plot(ranks: Sequence[Ranks]) -> list[Plot]:
    """Return the chart of ranks: with the variants of CC optimised, and left at their learners' defaults."""
    if not ranks:
        return []
    with new_figure(5.0, 0.9 + _ROW * len(ranks)) as (figure, axes):
        for y, entry in enumerate(ranks):
            gid = series_id(entry.method, entry.learner)
            colour = COLOURS[0] if entry.method in VARIANTS else COLOURS[1]
            single = [rank for rank in entry.ranks if rank is not None]
            axes.plot(single, [y] * len(single), ".", color=INK, alpha=0.25, markersize=4, gid=gid)
            axes.plot([entry.mean_unoptimised, entry.mean], [y, y], color=colour, linewidth=1.5, gid=gid)
            axes.plot([entry.mean_unoptimised], [y], "o", color=colour, fillstyle="none", markersize=5, gid=gid)
            axes.plot([entry.mean], [y], "o", color=colour, markersize=5, gid=gid)
        label_rows(axes, ranks)
        axes.set_xlabel(axis_label("mean rank over measures and data sets (1 is best)"))
        lay_out(figure)
        series = [
            Series(name_of(e), e.method, e.learner, locate(axes, [(e.mean, y, _rank_text(e))]))
            for y, e in enumerate(ranks)
        ]
        svg = to_svg(figure, "Mean ranks of all methods")
    caption = (
        f"A full mark is the mean rank over {', '.join(ranks[0].columns)}; methods without figures in some of these come last. A hollow "
        "mark is the mean rank if the variants of CC (blue) were left at their learners' defaults, and dots are the single ranks."
    )
    reading = "mean rank (at defaults; single ranks)"
    return [Plot(svg, "Ranks", caption, "", files_of(ranks), reading, series)]


def _rank_text(entry: Ranks) -> str:
    single = zip(entry.columns, entry.ranks, strict=True)
    ranks = ", ".join(f"{column} {rank:g}" for column, rank in single if rank is not None)
    return f"{entry.mean:.2f} (at defaults {entry.mean_unoptimised:.2f}; {ranks})"


def time_plots(spent: Sequence[Spent]) -> list[Plot]:
    """Return bars of the time that learners took, a plot for each data set."""
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in spent):
        entries = [entry for entry in spent if entry.data_set == data_set]
        with new_figure(4.4, 1.2 + 0.22 * len(entries)) as (figure, axes):
            y = range(len(entries))
            choosing, testing = [entry.choosing for entry in entries], [entry.testing for entry in entries]
            axes.barh(y, choosing, height=0.6, color=COLOURS[0], label="choosing settings")
            axes.barh(y, testing, left=choosing, height=0.6, color=COLOURS[1], label="refitting and testing")
            label_rows(axes, entries)
            axes.set_xlabel("seconds, summed over processes")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
            lay_out(figure)
            series = [
                Series(e.learner, "", e.learner, locate(axes, [(e.choosing + e.testing, row, _time_text(e))]))
                for row, e in enumerate(entries)
            ]
            svg = to_svg(figure, f"Time spent on {data_set}")
        caption = "The time is that of all results that are shown here."
        reading = "seconds choosing settings, seconds refitting and testing"
        plots.append(Plot(svg, f"Time on {data_set}", caption, data_set, files_of(entries), reading, series))
    return plots


def _time_text(entry: Spent) -> str:
    return f"{entry.choosing:.1f} s, {entry.testing:.1f} s"


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
