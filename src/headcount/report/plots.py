"""The page's plots as SVG, drawn from the data of `series`; their text takes the colour of the page, light or dark."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from headcount.report.scores import VARIANTS
from headcount.report.series import Bias, Curve, Ranks, Spent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Plot", "bias_plots", "diagonal_plots", "rank_plot", "shift_plots", "time_plots"]

_INK = "#010203"
"""Placeholder for the page's text colour, by which `_svg` replaces it."""
_SEPARATOR = "\u241f"
"""Between the parts of a series' id: a sign that no name of a method or learner has."""
_COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#33a6cc", "#aa3377", "#888888", "#994f00", "#5d3a9b")
_SETTINGS: Any = {
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9.0,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "legend.frameon": False,
} | dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), _INK)


@dataclass(frozen=True)
class Plot:
    """A plot with its title and caption.

    Attributes
    ----------
    svg : str
    title, caption : str
    data_set : str
        Empty for a plot of all data sets.
    files : list of str
        Files of the store that its data come from.
    """

    svg: str
    title: str
    caption: str
    data_set: str
    files: list[str]


def diagonal_plots(curves: Sequence[Curve], classes: Mapping[str, Sequence[str]]) -> list[Plot]:
    """Return estimated against true shares: a plot for each data set and group of methods."""

    def draw(axes: "Axes", shown: Sequence[Curve], colours: Mapping[str, str]) -> None:
        axes.plot([0.0, 1.0], [0.0, 1.0], color=_INK, linewidth=0.8, linestyle=":", gid="diagonal")
        _draw_lines(axes, shown, colours)
        names = classes[shown[0].data_set]
        of = f" of class {names[1]}" if len(names) == 2 else " of each class"
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=f"true share{of}", ylabel="estimated share", aspect="equal")

    caption = "The line is the mean of the estimates at each true share, the band holds their middle 80 %."
    return _curve_plots(curves, caption, draw, "diagonal")


def shift_plots(curves: Sequence[Curve], label: str) -> list[Plot]:
    """Return error against shift, the error axis with this label: a plot for each data set and group of methods."""

    def draw(axes: "Axes", shown: Sequence[Curve], colours: Mapping[str, str]) -> None:
        _draw_lines(axes, shown, colours)
        axes.set(xlabel="shift: mean |share − training share|", ylabel=label)
        axes.set_ylim(bottom=0.0)

    caption = (
        "Samples are grouped by how far their shares are from those of the training part. The line is their mean error, the band "
        "holds the middle 80 %."
    )
    return _curve_plots(curves, caption, draw, "shift")


def bias_plots(biases: Sequence[Bias]) -> list[Plot]:
    """Return boxes of estimated minus true share, a plot for each data set."""
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in biases):
        entries = [entry for entry in biases if entry.data_set == data_set]
        with _figure(5.2, 0.9 + 0.2 * len(entries)) as (figure, axes):
            axes.axvline(0.0, color=_INK, linewidth=0.8)
            for y, entry in enumerate(entries):
                low, first, median, third, high = entry.quantiles
                style: Any = {"gid": _series_id(entry.method, entry.learner), "color": _COLOURS[0]}
                axes.hlines(y, low, high, linewidth=1.0, **style)
                axes.barh(y, third - first, left=first, height=0.55, alpha=0.45, **style)
                axes.plot([median], [y], marker="|", markersize=8, markeredgewidth=2, linestyle="", **style)
            _label_rows(axes, entries)
            axes.set_xlabel(f"estimated − true share of class {entries[0].of} (no other is more frequent in training)")
            svg = _svg(figure, f"Bias of all methods on {data_set}")
        caption = "Box: middle half of all test samples and runs, its mark the median; line: from the 5th to the 95th percentile."
        plots.append(Plot(svg, f"Bias on {data_set}", caption, data_set, _files(entries)))
    return plots


def rank_plot(ranks: Sequence[Ranks]) -> list[Plot]:
    """Return the chart of ranks: with the variants of CC optimised, and left at their learners' defaults."""
    if not ranks:
        return []
    with _figure(5.2, 0.9 + 0.2 * len(ranks)) as (figure, axes):
        for y, entry in enumerate(ranks):
            gid = _series_id(entry.method, entry.learner)
            colour = _COLOURS[0] if entry.method in VARIANTS else _COLOURS[1]
            single = [rank for rank in entry.ranks if rank is not None]
            axes.plot(single, [y] * len(single), ".", color=_INK, alpha=0.25, markersize=4, gid=gid)
            axes.plot([entry.mean_unoptimised, entry.mean], [y, y], color=colour, linewidth=1.5, gid=gid)
            axes.plot([entry.mean_unoptimised], [y], "o", color=colour, fillstyle="none", markersize=5, gid=gid)
            axes.plot([entry.mean], [y], "o", color=colour, markersize=5, gid=gid)
        _label_rows(axes, ranks)
        axes.set_xlabel("mean rank (1 is best)")
        svg = _svg(figure, "Mean ranks of all methods")
    caption = (
        f"Full: mean rank over {', '.join(ranks[0].columns)}; methods without figures in some of these come last. Hollow: "
        "mean rank if the variants of CC (blue) were left at their learners' defaults; dots: the single ranks."
    )
    return [Plot(svg, "Ranks", caption, "", _files(ranks))]


def time_plots(spent: Sequence[Spent]) -> list[Plot]:
    """Return bars of the time that learners took, a plot for each data set."""
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in spent):
        entries = [entry for entry in spent if entry.data_set == data_set]
        with _figure(4.4, 1.2 + 0.22 * len(entries)) as (figure, axes):
            y = range(len(entries))
            choosing, testing = [entry.choosing for entry in entries], [entry.testing for entry in entries]
            axes.barh(y, choosing, height=0.6, color=_COLOURS[0], label="choosing settings")
            axes.barh(y, testing, left=choosing, height=0.6, color=_COLOURS[1], label="refitting and testing")
            _label_rows(axes, entries)
            axes.set_xlabel("seconds, summed over processes")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
            svg = _svg(figure, f"Time spent on {data_set}")
        plots.append(Plot(svg, f"Time on {data_set}", "Of all results that are shown here.", data_set, _files(entries)))
    return plots


def _curve_plots(curves: Sequence[Curve], caption: str, draw: Any, kind: str) -> list[Plot]:
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
        colours = {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(labels)}
        parts = [members[i : i + len(_COLOURS)] for i in range(0, len(members), len(_COLOURS))]
        for number, part in enumerate(parts, 1):
            which = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            title = f"{', '.join(dict.fromkeys(curve.method for curve in part))} on {data_set}{which}"
            with _figure(3.3, 3.5) as (figure, axes):
                draw(axes, part, colours)
                legend = figure.legend(
                    loc="outside lower center", ncol=3, fontsize=8, handlelength=1.2, columnspacing=1.0
                )
                for curve, handle, text in zip(part, legend.legend_handles, legend.get_texts(), strict=True):
                    for mark in (handle, text):
                        mark.set_gid(_series_id(curve.method, curve.learner))  # type: ignore[union-attr]
                svg = _svg(figure, f"{title}: {kind}")
            plots.append(Plot(svg, title, caption, data_set, _files(part)))
    return plots


def _draw_lines(axes: "Axes", curves: Sequence[Curve], colours: Mapping[str, str]) -> None:
    for curve in curves:
        gid, colour = _series_id(curve.method, curve.learner), colours[_label(curve)]
        axes.fill_between(curve.at, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, gid=gid)
        axes.plot(curve.at, curve.mean, color=colour, linewidth=1.5, label=_label(curve), gid=gid)


def _label(curve: Curve) -> str:
    """Return the learner for a variant of CC, whose plot has only one method, else method and learner."""
    return curve.learner if curve.method in VARIANTS and curve.learner else _name(curve)


def _files(entries: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(name for entry in entries for name in entry.files))


def _name(entry: Any) -> str:
    return f"{getattr(entry, 'method', '')} {entry.learner}".strip()


def _label_rows(axes: "Axes", entries: Sequence[Any]) -> None:
    axes.set_yticks(range(len(entries)), [_name(entry) for entry in entries])
    for entry, text in zip(entries, axes.get_yticklabels(), strict=True):
        if hasattr(entry, "method"):
            text.set_gid(_series_id(entry.method, entry.learner))
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.grid(axis="x", color=_INK, alpha=0.12, linewidth=0.6)


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Give a figure with one pair of axes; matplotlib's settings are changed only inside the block."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def _series_id(method: str, learner: str) -> str:
    """Return an id for the marks of a method and learner, which `_svg` turns into data attributes."""
    return f"series{_SEPARATOR}{method}{_SEPARATOR}{learner}"


def _svg(figure: "Figure", label: str) -> str:
    """Return a figure as an SVG element of a page: ids prefixed, text in the page's colour, series in data attributes."""
    from matplotlib import rc_context

    prefix = f"p{hashlib.sha256(label.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}-"
    text = StringIO()
    with rc_context({**_SETTINGS, "svg.hashsalt": prefix}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    series_id = f'id="series{_SEPARATOR}([^{_SEPARATOR}"]*){_SEPARATOR}([^"]*)"'
    svg = re.sub(series_id, r'data-series-method="\1" data-series-learner="\2"', svg)
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}", svg)
    svg = re.sub(r"\n\s*", "\n", svg).replace(_INK, "currentColor")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
