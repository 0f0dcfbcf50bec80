"""The page's charts with a row for each method: mean errors, critical differences, bias, ranks, and time by learner."""

from collections.abc import Sequence
from typing import Any

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
    plain_ticks,
    series_id,
    to_svg,
)
from headcount.report.scores import VARIANTS, Row, label_of
from headcount.report.series import Bias, MeanError, Ranks, Spent

__all__ = [
    "bias_plots",
    "difference_plots",
    "mean_error_plots",
    "rank_plot",
    "time_plots",
]

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
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
                plain_ticks(axes.xaxis)
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
            f"Methods are sorted by their mean rank over {len(entry.data_sets)} data sets. A bar on the right spans neighbours "
            "among which no two differ significantly at 0.05, by the test over test pools and runs that counts the luck of both, "
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
            "A box holds the middle half of all test samples and runs, the mark in it is the median, and the line reaches from the "
            "5th to the 95th percentile. The class is one that no other is more frequent than in training. "
            "All data sets have one scale."
        )
        reading = "median (5th, 25th, 75th, 95th percentile; mean)"
        plots.append(Plot(svg, f"Bias on {data_set}", caption, data_set, files_of(entries), reading, series))
    return plots


def _bias_text(entry: Bias) -> str:
    low, first, median, third, high = (f"{value:+z.3f}" for value in entry.quantiles)
    return f"{median} ({low}, {first}, {third}, {high}; mean {entry.mean:+z.3f})"


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
        f"A full mark is the mean rank over {', '.join(ranks[0].columns)}; methods without figures in some of these come last. A "
        "hollow mark is the mean rank if the variants of CC (blue) were left at their learners' defaults, "
        "and dots are the single ranks."
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
