"""`Table`: cells with notes, marks and shades, written as terminal text, Markdown, LaTeX, HTML, CSV or a data frame."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape as escape_html
from itertools import groupby
from typing import TYPE_CHECKING, Any

from headcount._escaping import csv_quoting, escape_markdown, printable, spreadsheet_cell

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cell", "Column", "Table"]


@dataclass(frozen=True)
class Cell:
    """A figure with its note, mark and shade.

    Attributes
    ----------
    value : float, str or None
        None if there is no figure.
    digits : int
        Digits after the decimal point.
    note : str
        Shown in brackets after it, such as a change in percent or a rank.
    more : str
        Shown in the brackets too, where there is room: not in Markdown, whose cells would wrap.
    shade : float
        From -1 (much worse than what it is compared with) to 1 (much better); 0 is no colour.
    bold : bool
        Whether it is the best of its column.
    mark : str
        A sign after it: whether it differs from the best.
    hint : list of str
        What hovering over the figure or moving to it by keyboard shows: the figure in full, its spread, tests and setting.
    details : dict
        Further data of the exported records: tests, ranks, the published figure, files.
    """

    value: float | str | None
    digits: int = 3
    note: str = ""
    more: str = ""
    shade: float = 0.0
    bold: bool = False
    mark: str = ""
    hint: Sequence[str] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def text(self) -> str:
        """Return the figure as text."""
        if self.value is None or self.value != self.value:
            return "–"
        return self.value if isinstance(self.value, str) else f"{self.value:.{self.digits}f}"

    def short(self) -> str:
        """Return the figure with its mark and its short note."""
        text = self.text() + self.mark
        return f"{text} ({self.note})" if self.note else text

    def whole(self) -> str:
        """Return the figure with its mark and all notes."""
        text = self.text() + self.mark
        return f"{text} ({', '.join(self.notes())})" if self.notes() else text

    def notes(self) -> list[str]:
        """Return the notes one by one."""
        return [note for part in (self.note, self.more) if part for note in part.split(", ")]


@dataclass(frozen=True)
class Column:
    """A column of figures; columns with the same group have a common heading.

    Attributes
    ----------
    name, group : str
    exported : dict of str to str
        Details of the cells that are columns of their own in CSV files and data frames, with the names of these.
    """

    name: str
    group: str = ""
    exported: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Table:
    """Labelled rows of cells.

    Attributes
    ----------
    title, caption : str
    labels : list of str
        Names of the columns that identify a row.
    columns : list of Column
    rows : list of (labels, cells)
    about : dict
        What all rows have in common, such as the method.
    """

    title: str
    caption: str
    labels: list[str]
    columns: list[Column]
    rows: list[tuple[list[str], list[Cell]]] = field(default_factory=list)
    about: Mapping[str, str] = field(default_factory=dict)

    def _names(self) -> list[str]:
        return [f"{column.group} {column.name}".strip() for column in self.columns]

    def to_text(self) -> str:
        """Return the table for a terminal, columns aligned."""
        lines = [
            [*self.labels, *self._names()],
            *([*map(printable, labels), *(cell.whole() for cell in cells)] for labels, cells in self.rows),
        ]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        n = len(self.labels)
        aligned = [
            "  ".join(
                word.ljust(width) if i < n else word.rjust(width)
                for i, (word, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        rule = "-" * len(aligned[0])
        caption = textwrap.fill(self.caption, max(len(rule), 100))
        return "\n".join([self.title, "", aligned[0], rule, *aligned[1:], "", caption]) + "\n"

    def to_markdown(self) -> str:
        """Return the table as Markdown: one for each group of columns, no cell wraps, further notes in a table that is folded."""
        groups = list(dict.fromkeys(column.group for column in self.columns))
        parts = [f"### {escape_markdown(self.title)}", escape_markdown(self.caption)]
        parts += [self._markdown_part(group, lambda cell: cell.short()) for group in groups]
        if any(cell.more for _, cells in self.rows for cell in cells):
            parts.append('<details markdown="1"><summary>Further figures of this table</summary>')
            parts += [self._markdown_part(group, lambda cell: cell.more) for group in groups]
            parts.append("</details>")
        return "\n\n".join(parts) + "\n"

    def _markdown_part(self, group: str, text_of: Callable[[Cell], str]) -> str:
        """Return the columns of a group as a table whose cells do not wrap."""
        which = [i for i, column in enumerate(self.columns) if column.group == group]
        names = self._names()
        head = [escape_markdown(name) for name in [*self.labels, *(names[i] for i in which)]]
        lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(self.labels) + "---:|" * len(which)]
        for labels, cells in self.rows:
            escaped = [(_keep_together(escape_markdown(text_of(cells[i]))), cells[i].bold) for i in which]
            texts = [f"**{text}**" if bold and text else text for text, bold in escaped]
            lines.append(f"| {' | '.join([*map(escape_markdown, labels), *texts])} |")
        return "\n".join(lines)

    def to_latex(self) -> str:
        """Return the table as LaTeX (packages booktabs, graphicx, and xcolor with the option table), no wider than the text."""
        groups = [(name, len(list(columns))) for name, columns in groupby(self.columns, lambda column: column.group)]
        blank = " & ".join([""] * len(self.labels))
        top = " & ".join(rf"\multicolumn{{{n}}}{{c}}{{{_tex(name)}}}" for name, n in groups)
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(self.title)}. {_tex(self.caption)}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(self.labels)}{'r' * len(self.columns)}}}",
            r"\toprule",
            *([rf"{blank} & {top} \\"] if any(name for name, _ in groups) else []),
            " & ".join(_tex(name) for name in [*self.labels, *(column.name for column in self.columns)]) + r" \\",
            r"\midrule",
            *(" & ".join([*map(_tex, labels), *map(_tex_cell, cells)]) + r" \\" for labels, cells in self.rows),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def to_html(self, labelled_by: str = "") -> str:
        """Return the table as HTML, with values, methods and learners as data attributes for sorting and filtering.

        It has its title and caption, or is labelled by the element with an id.
        """
        head = "".join(f'<th scope="col">{escape(name)}</th>' for name in self.labels)
        head += "".join(
            f'<th scope="col" class="figure" data-column="{escape(column.name)}">{escape(name)}</th>'
            for column, name in zip(self.columns, self._names(), strict=True)
        )
        body = []
        for labels, cells in self.rows:
            named = {**self.about, **dict(zip(self.labels, labels, strict=True))}
            data = "".join(f' data-{name}="{escape(named[name])}"' for name in ("method", "learner") if named.get(name))
            first, *others = labels
            # On a narrow screen only the first column stays in view, and names the row in full.
            rest = escape(", ".join(filter(None, others)))
            heads = f'<th scope="row">{escape(first)}<span class="rest">{rest}</span></th>'
            heads += "".join(f'<th scope="row">{escape(label)}</th>' for label in others)
            figures = "".join(map(_html_cell, cells, self.columns))
            body.append(f"<tr{data}>{heads}{figures}</tr>")
        caption = f"<caption><strong>{escape(self.title)}.</strong> {escape(self.caption)}</caption>"
        start = f'<table aria-labelledby="{escape(labelled_by)}">' if labelled_by else f"<table>{caption}"
        return f"{start}<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>\n"

    def to_csv(self) -> str:
        """Return the figures, without notes and marks, and the exported details as CSV."""
        frame = self.to_frame().map(spreadsheet_cell).rename(columns=spreadsheet_cell)
        quoting = csv_quoting([*frame.columns, *frame.to_numpy(dtype=object).flat])
        return str(frame.to_csv(index=False, lineterminator="\n", quoting=quoting))

    def to_records(self) -> list[dict[str, Any]]:
        """Return a dict for each cell: its row and column, the figure, its mark and its details."""
        return [
            {
                **self.about,
                **dict(zip(self.labels, labels, strict=True)),
                "column": column.name,
                "measure": column.group,
                "value": None if cell.text() == "–" else cell.value,
                "mark": cell.mark,
                **cell.details,
            }
            for labels, cells in self.rows
            for column, cell in zip(self.columns, cells, strict=True)
        ]

    def to_frame(self) -> "pd.DataFrame":
        """Return the figures, without notes and marks, and the exported details as a data frame."""
        import pandas as pd

        names, rows = list(self.labels), [list[Any](labels) for labels, _ in self.rows]
        for i, (column, name) in enumerate(zip(self.columns, self._names(), strict=True)):
            names += [name, *(f"{name} {suffix}" for suffix in column.exported.values())]
            for row, (_, cells) in zip(rows, self.rows, strict=True):
                row += [cells[i].value, *(cells[i].details.get(key) for key in column.exported)]
        return pd.DataFrame(rows, columns=names)


_NO_BREAK = "\u00a0"
"""A space at which no line is broken."""
_LONGEST_LINE = 48
"""Characters up to which the text of a cell is kept on one line."""
_LONGEST_SIGN = 3
"""Characters up to which a text is a sign, such as >>, and not words."""
_SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "[": "{[}",  # after the end of a row it would begin an option of it
    "*": "{*}",
    "–": "--",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "†": r"$^{\dagger}$",
    "‡": r"$^{\ddagger}$",
    "≥": r"$\geq$",
    "±": r"$\pm$",
}


def _keep_together(text: str) -> str:
    """Return text that is not broken into lines, unless it is long."""
    return text if len(text) > _LONGEST_LINE else text.replace(" ", _NO_BREAK)


def escape(text: str) -> str:
    """Escape the characters that HTML gives a meaning, and those that it does not allow."""
    return escape_html(printable(text, lines=True))


def _tex(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in printable(text))


def _tex_cell(cell: Cell) -> str:
    text = _tex(cell.whole())
    if cell.bold:
        text = rf"\textbf{{{text}}}"
    if abs(cell.shade) >= 0.05:
        colour = "green" if cell.shade > 0 else "red"
        text = rf"\cellcolor{{{colour}!{round(40 * min(abs(cell.shade), 1.0))}}}{text}"
    return text


def _html_cell(cell: Cell, column: Column) -> str:
    value: Any = cell.value if isinstance(cell.value, float | int) and cell.value == cell.value else ""
    classes = "figure best" if cell.bold else "figure"
    classes += " words" if isinstance(cell.value, str) and len(cell.value) > _LONGEST_SIGN else ""
    shade = f' style="--shade:{abs(cell.shade):.2f}"' if abs(cell.shade) >= 0.05 else ""
    tone = " better" if cell.shade >= 0.05 else " worse" if cell.shade <= -0.05 else ""
    # Each note is a span that does not wrap; the cell wraps between them, so that columns stay narrow.
    notes = ", ".join(f"<span>{escape(note)}</span>" for note in cell.notes())
    several = " several" if len(cell.notes()) > 1 else ""
    note = f' <span class="note{several}">({notes})</span>' if notes else ""
    mark = f"<sup>{escape(cell.mark)}</sup>" if cell.mark else ""
    title = f' title="{escape(chr(10).join(cell.hint))}"' if cell.hint else ""
    data = f'data-column="{escape(column.name)}" data-value="{value}"'
    return f'<td class="{classes}{tone}" {data}{shade}{title}>{escape(cell.text())}{mark}{note}</td>'
