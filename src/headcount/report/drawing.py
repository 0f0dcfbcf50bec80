"""What all plots share: figures as SVG in the page's text colour, and the values that hovering over their marks shows."""

import hashlib
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._escaping import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "INK",
    "Plot",
    "Series",
    "axis_label",
    "files_of",
    "label_rows",
    "lay_out",
    "locate",
    "name_of",
    "new_figure",
    "plain_ticks",
    "series_id",
    "to_svg",
]

INK = "#010203"
"""Placeholder for the page's text colour, by which `to_svg` replaces it."""
_SEPARATOR = "\u241f"
"""Between the parts of a series' id: a sign that no name of a method or learner has."""
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#33a6cc", "#aa3377", "#888888", "#994f00", "#5d3a9b")
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
} | dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), INK)


@dataclass(frozen=True)
class Series:
    """The points of a method and learner in a plot.

    Attributes
    ----------
    name, method, learner : str
    points : list of (x, y, text)
        Position from the left and the top of the plot, as shares of its width and height, and the values there as text.
    """

    name: str
    method: str
    learner: str
    points: list[tuple[float, float, str]]


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
    reading : str
        What the text of a point says, such as "true share: mean estimate".
    series : list of Series
    """

    svg: str
    title: str
    caption: str
    data_set: str
    files: list[str]
    reading: str = ""
    series: list[Series] = field(default_factory=list)

    def standalone(self) -> str:
        """Return the SVG as a file of its own: black on white, because an image in a document does not know the page's colours."""
        svg = self.svg.replace("currentColor", "#1c1f24")
        head, body = svg.split(">", 1)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{head}><rect width="100%" height="100%" fill="#ffffff"/>{body}'


def locate(axes: "Axes", points: Iterable[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Return points in the units of the axes as shares of the figure's width and height, from the left and the top.

    The figure must have been laid out (`lay_out`), which places the axes.
    """
    figure: Any = axes.figure
    x, y, texts = zip(*points, strict=True)
    shares = (axes.transData + figure.transFigure.inverted()).transform(np.column_stack([x, y]))
    return [
        (round(float(fx), 4), round(1.0 - float(fy), 4), text) for (fx, fy), text in zip(shares, texts, strict=True)
    ]


def lay_out(figure: "Figure") -> None:
    """Place the axes of a finished figure, so that points can be located; they stay there when it is saved."""
    engine: Any = figure.get_layout_engine()
    engine.execute(figure)
    figure.set_layout_engine("none")


def plain_ticks(axis: Any) -> None:
    """Write the ticks of a logarithmic axis as decimal numbers, at 1, 2 and 5 of each power of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(10.0, subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def axis_label(text: str, width: int = 44) -> str:
    """Break a label of an axis into lines that are no longer than the axis."""
    return textwrap.fill(text, width, break_on_hyphens=False)


def files_of(entries: Sequence[Any]) -> list[str]:
    """Return the files that entries come from, each once."""
    return list(dict.fromkeys(name for entry in entries for name in entry.files))


def name_of(entry: Any) -> str:
    """Return method and learner of an entry."""
    return f"{getattr(entry, 'method', '')} {entry.learner}".strip()


def label_rows(axes: "Axes", entries: Sequence[Any], names: Sequence[str] = ()) -> None:
    """Label the rows of a chart with the methods and learners of its entries, the first on top."""
    axes.set_yticks(range(len(entries)), names or [name_of(entry) for entry in entries])
    for entry, text in zip(entries, axes.get_yticklabels(), strict=True):
        if hasattr(entry, "method"):
            text.set_gid(series_id(entry.method, entry.learner))
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)


@contextmanager
def new_figure(width: float, height: float) -> Iterator[tuple["Figure", "Axes"]]:
    """Give a figure with one pair of axes; matplotlib's settings are changed only inside the block."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_SETTINGS):
        figure = Figure(figsize=(width, height), dpi=72, layout="constrained")
        yield figure, figure.add_subplot()


def series_id(method: str, learner: str) -> str:
    """Return an id for the marks of a method and learner, which `to_svg` turns into data attributes."""
    return f"series{_SEPARATOR}{method}{_SEPARATOR}{learner}"


def to_svg(figure: "Figure", label: str) -> str:
    """Return a figure as an SVG element of a page: ids prefixed, text in the page's colour, series in data attributes."""
    from matplotlib import rc_context

    prefix = f"p{hashlib.sha256(label.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}-"
    text = StringIO()
    with rc_context({**_SETTINGS, "svg.hashsalt": prefix}):
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S)
    series = f'id="series{_SEPARATOR}([^{_SEPARATOR}"]*){_SEPARATOR}([^"]*)"'
    svg = re.sub(series, r'data-series-method="\1" data-series-learner="\2"', svg)
    svg = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}", svg)
    svg = re.sub(r"\n\s*", "\n", svg).replace(INK, "currentColor")
    return printable(svg, lines=True).replace("<svg ", f'<svg role="img" aria-label="{escape(printable(label))}" ', 1)
