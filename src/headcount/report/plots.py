"""The page's plots as SVG: drawn from plain figures, in the colours of the page they stand in, light or dark."""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

from headcount.report.figures import VARIANTS
from headcount.report.series import Bias, Curve, Ranks, Spent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Plot", "bias_plots", "diagonal_plots", "rank_plot", "shift_plots", "time_plots"]

_INK = "#010203"
"""Stands for the page's own text colour, and is replaced by it."""
_BETWEEN = "\u241f"
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
    """A picture, and what it is of.

    Attributes
    ----------
    svg : str
    title, caption : str
    data_set : str
        Empty if it is of all.
    files : list of str
        Of the store, that its figures come from.
    """

    svg: str
    title: str
    caption: str
    data_set: str
    files: list[str]


def diagonal_plots(curves: Sequence[Curve], classes: Mapping[str, Sequence[str]]) -> list[Plot]:
    """Return estimated against true shares: a plot for each data set and group of methods."""

    def drawn(axes: "Axes", some: Sequence[Curve], colours: Mapping[str, str]) -> None:
        axes.plot([0.0, 1.0], [0.0, 1.0], color=_INK, linewidth=0.8, linestyle=":", gid="diagonal")
        _lines(axes, some, colours)
        own = classes[some[0].data_set]
        of = f" of class {own[1]}" if len(own) == 2 else " of each class"
        axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=f"true share{of}", ylabel="estimated share", aspect="equal")

    caption = "The line is the mean of the estimates at each true share, the band holds their middle 80 %."
    return _curve_plots(curves, caption, drawn, "diagonal")


def shift_plots(curves: Sequence[Curve], measure: str) -> list[Plot]:
    """Return error against shift: a plot for each data set and group of methods."""

    def drawn(axes: "Axes", some: Sequence[Curve], colours: Mapping[str, str]) -> None:
        _lines(axes, some, colours)
        axes.set(xlabel="shift: mean |share − training share|", ylabel=measure.upper())
        axes.set_ylim(bottom=0.0)

    caption = (
        "Samples are grouped by how far their shares are from those of the training part. The line is their mean error, the band "
        "holds the middle 80 %."
    )
    return _curve_plots(curves, caption, drawn, "shift")


def bias_plots(biases: Sequence[Bias]) -> list[Plot]:
    """Return boxes of estimated minus true share, a plot for each data set."""
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in biases):
        own = [entry for entry in biases if entry.data_set == data_set]
        with _figure(5.2, 0.9 + 0.2 * len(own)) as (figure, axes):
            axes.axvline(0.0, color=_INK, linewidth=0.8)
            for place, entry in enumerate(own):
                low, first, middle, third, high = entry.quantiles
                name: Any = {"gid": _series(entry.method, entry.learner), "color": _COLOURS[0]}
                axes.hlines(place, low, high, linewidth=1.0, **name)
                axes.barh(place, third - first, left=first, height=0.55, alpha=0.45, **name)
                axes.plot([middle], [place], marker="|", markersize=8, markeredgewidth=2, linestyle="", **name)
            _named_rows(axes, own)
            axes.set_xlabel(f"estimated − true share of class {own[0].of} (no other is more frequent in training)")
            svg = _svg(figure, f"Bias of all methods on {data_set}")
        caption = "Box: middle half of all test samples and runs, its mark the median; line: from the 5th to the 95th percentile."
        plots.append(Plot(svg, f"Bias on {data_set}", caption, data_set, _files(own)))
    return plots


def rank_plot(ranks: Sequence[Ranks]) -> list[Plot]:
    """Return the chart of ranks: with the variants of CC optimised, and left at their learners' defaults."""
    if not ranks:
        return []
    with _figure(5.2, 0.9 + 0.2 * len(ranks)) as (figure, axes):
        for place, entry in enumerate(ranks):
            gid = _series(entry.method, entry.learner)
            colour = _COLOURS[0] if entry.method in VARIANTS else _COLOURS[1]
            there = [value for value in entry.ranks if value is not None]
            axes.plot(there, [place] * len(there), ".", color=_INK, alpha=0.25, markersize=4, gid=gid)
            axes.plot([entry.mean_unoptimised, entry.mean], [place, place], color=colour, linewidth=1.5, gid=gid)
            axes.plot([entry.mean_unoptimised], [place], "o", color=colour, fillstyle="none", markersize=5, gid=gid)
            axes.plot([entry.mean], [place], "o", color=colour, markersize=5, gid=gid)
        _named_rows(axes, ranks)
        axes.set_xlabel("mean rank (1 is best)")
        svg = _svg(figure, "Mean ranks of all methods")
    caption = (
        f"Full: mean rank over {', '.join(ranks[0].columns)}; methods that lack some of these come last. Hollow: "
        "had the variants of CC (blue) been left at their learners' "
        "defaults; dots: the single ranks."
    )
    return [Plot(svg, "Ranks", caption, "", _files(ranks))]


def time_plots(spent: Sequence[Spent]) -> list[Plot]:
    """Return bars of the time that learners took, a plot for each data set."""
    plots = []
    for data_set in dict.fromkeys(entry.data_set for entry in spent):
        own = [entry for entry in spent if entry.data_set == data_set]
        with _figure(4.4, 1.2 + 0.22 * len(own)) as (figure, axes):
            places = range(len(own))
            choosing, testing = ([getattr(entry, what) for entry in own] for what in ("choosing", "testing"))
            axes.barh(places, choosing, height=0.6, color=_COLOURS[0], label="choosing settings")
            axes.barh(places, testing, left=choosing, height=0.6, color=_COLOURS[1], label="refitting and testing")
            _named_rows(axes, own)
            axes.set_xlabel("seconds, added up over processes")
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncol=2)
            svg = _svg(figure, f"Time spent on {data_set}")
        plots.append(Plot(svg, f"Time on {data_set}", "Of all results that are shown here.", data_set, _files(own)))
    return plots


def _curve_plots(curves: Sequence[Curve], caption: str, drawn: Any, kind: str) -> list[Plot]:
    """Draw curves in plots that stay readable: each variant of CC, the SVMs with losses of their own, and all others apart."""

    def group(method: str) -> str:
        return method if method in VARIANTS else "SVM(·)" if method.startswith("SVM(") else "others"

    groups: dict[tuple[str, str], list[Curve]] = {}
    for curve in curves:
        groups.setdefault((curve.data_set, group(curve.method)), []).append(curve)
    plots = []
    for (data_set, name), some in groups.items():
        # The same colour for a learner, or a method of its own, on all data sets.
        labels = dict.fromkeys(
            _label(c)
            for c in curves
            if (c.method in VARIANTS) == (name in VARIANTS) and (name in VARIANTS or group(c.method) == name)
        )
        colours = {label: _COLOURS[i % len(_COLOURS)] for i, label in enumerate(labels)}
        parts = [some[i : i + len(_COLOURS)] for i in range(0, len(some), len(_COLOURS))]
        for number, part in enumerate(parts, 1):
            which = f" ({number} of {len(parts)})" if len(parts) > 1 else ""
            title = f"{', '.join(dict.fromkeys(curve.method for curve in part))} on {data_set}{which}"
            with _figure(3.3, 3.5) as (figure, axes):
                drawn(axes, part, colours)
                legend = figure.legend(
                    loc="outside lower center", ncol=3, fontsize=8, handlelength=1.2, columnspacing=1.0
                )
                for curve, handle, text in zip(part, legend.legend_handles, legend.get_texts(), strict=True):
                    for mark in (handle, text):
                        mark.set_gid(_series(curve.method, curve.learner))  # type: ignore[union-attr]
                svg = _svg(figure, f"{title}: {kind}")
            plots.append(Plot(svg, title, caption, data_set, _files(part)))
    return plots


def _lines(axes: "Axes", some: Sequence[Curve], colours: Mapping[str, str]) -> None:
    for curve in some:
        gid, colour = _series(curve.method, curve.learner), colours[_label(curve)]
        axes.fill_between(curve.at, curve.low, curve.high, color=colour, alpha=0.15, linewidth=0, gid=gid)
        axes.plot(curve.at, curve.mean, color=colour, linewidth=1.5, label=_label(curve), gid=gid)


def _label(curve: Curve) -> str:
    """Return the learner of a variant of CC, whose plot has but one method, else method and learner."""
    return curve.learner if curve.method in VARIANTS and curve.learner else _name(curve)


def _files(entries: Sequence[Any]) -> list[str]:
    return list(dict.fromkeys(name for entry in entries for name in entry.files))


def _name(entry: Any) -> str:
    return f"{getattr(entry, 'method', '')} {entry.learner}".strip()


def _named_rows(axes: "Axes", entries: Sequence[Any]) -> None:
    axes.set_yticks(range(len(entries)), [_name(entry) for entry in entries])
    for entry, text in zip(entries, axes.get_yticklabels(), strict=True):
        if hasattr(entry, "method"):
            text.set_gid(_series(entry.method, entry.learner))
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.grid(axis="x", color=_INK, alpha=0.12, linewidth=0.6)


@contextmanager
def _figure(width: float, height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Give a figure with one pair of axes; settings are in force only here."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure, figure.add_subplot()


def _series(method: str, learner: str) -> str:
    """Return a name for what belongs to a method and learner, that `_svg` turns into attributes."""
    return f"series{_BETWEEN}{method}{_BETWEEN}{learner}"


def _svg(figure: "Figure", label: str) -> str:
    """Return a figure as an element of a page: its ids its own, its ink the page's, its series marked."""
    from matplotlib import rc_context

    prefix = f"p{hashlib.sha256(label.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}-"
    written = StringIO()
    with rc_context({**_SETTINGS, "svg.hashsalt": prefix}):
        figure.savefig(written, format="svg", metadata={"Date": None, "Creator": None})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    named = f'id="series{_BETWEEN}([^{_BETWEEN}"]*){_BETWEEN}([^"]*)"'
    svg = re.sub(named, r'data-series-method="\1" data-series-learner="\2"', svg)
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}", svg)
    svg = re.sub(r"\n\s*", "\n", svg).replace(_INK, "currentColor")
    return svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
