"""Write results: tables for people, CSV, TSV, JSON, Parquet and Excel for programs."""

import io
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from headcount._escaping import csv_quoting, escape_markdown, json_text, printable, spreadsheet_rows
from headcount._writing import check_outputs as check_outputs_written
from headcount._writing import write_all
from headcount.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "check_outputs",
    "echo",
    "in_command_words",
    "json_bytes",
    "listed",
    "p_text",
    "print_drawn",
    "print_shares",
    "print_table",
    "print_verdicts",
    "show_result",
    "to_stdout",
]

_FILE_WIDTH = 140
"""Characters of a line of a table that goes to a file or a pipe."""
_FEWEST_FIGURES_APART = 2
"""Figures that get a table of their own: one alone is a column beside the shares."""
_MAX_CLASS_COLUMNS = 6
"""Classes shown side by side; with more, each class has its own row."""
_PARAMETERS = (
    (re.compile(r"\b(?:by|[a-z_]+='[a-z]+'|against) \((--[a-z-]+(?: [A-Za-z]+)?)\)"), r"\1"),
    (re.compile(r"Pass calibration='bcts', or assume='calibrated' where"), "Use PACC, or --assume-calibrated where"),
    (re.compile(r"^(level|shift) must be"), r"--\1 must be"),
    (re.compile(r", or pass method='bootstrap', whose coverage is not measured for this method"), ""),
)
"""Parameters of Python in sentences of the library, and what replaces them in those of a command."""
_MAX_REASONS = 8
"""Reasons for advice that are printed."""
_MAX_NAMES = 6
"""Groups that are named in a sentence."""


def check_outputs(
    outputs: Sequence[Path | None], inputs: Sequence[str], table: str | None = None, folders: Sequence[Path] = ()
) -> None:
    """Raise if a result can't be written, would overwrite an input or another result, or has no format.

    Parameters
    ----------
    outputs : sequence of paths
        Files to write; None and ``-`` are skipped.
    inputs : sequence of str
        What the command reads: files, folders, patterns, parts of databases (``file.db::table``).
    table : str, optional
        A file for a table, whose format is told by its name.
    folders : sequence of paths
        Folders that are created if they do not exist.
    """
    if table is not None:
        table_bytes([], table)
    files = [Path(output) for output in (table, *outputs) if output is not None and str(output) != "-"]
    read = [path for name in inputs if name != "-" for path in _files_read(name)]
    check_outputs_written(files, folders, read)
    for file in files:
        path = Path(os.path.realpath(file))
        if path.suffix.lower() in (".parquet", ".pq") and any(
            str(folder) in map(os.path.realpath, read) for folder in path.parents
        ):
            raise DataError(
                f"{file} is in a folder that this command reads, and would be overwritten or read with it: name another file."
            )


def _files_read(name: str) -> list[Path]:
    """Return the files, and the folder, that an argument names; none if there are none, which is found out later."""
    from headcount.tables.tablefile import files_of

    path = Path(name)
    try:
        if not path.exists() and "::" in name:
            return [Path(name.partition("::")[0])]
        models = list(path.glob("*.headcount")) if path.is_dir() else []
        return [path, *models, *map(Path, files_of(name))]
    except (DataError, OSError, ValueError):
        return [path]


def show_result(
    output: str | None,
    as_json: bool,
    records: Sequence[dict[str, Any]],
    answer: dict[str, Any],
    print_text: Callable[[], None],
    files: Mapping[Path, bytes] | None = None,
    form: str | None = None,
) -> None:
    """Write all files of a result, and print it.

    Parameters
    ----------
    output : str, optional
        The file for the records; ``-`` is standard output.
    as_json : bool
        Print ``answer`` as JSON.
    records : sequence of dict
        The result as a table.
    answer : dict
        The result as JSON.
    print_text : callable
        Prints the result for people; called if standard output gets nothing else.
    files : mapping of path to content, optional
        Further files to write.
    form : {"csv", "tsv", "json", "markdown"}, optional
        Print the records in this format instead.
    """
    contents = dict(files or {})
    if output is not None and output != "-":
        contents = {Path(output): table_bytes(records, output), **contents}
    write_all(contents)
    if as_json:
        to_stdout(json_bytes(answer))
    elif form == "markdown":
        to_stdout(_markdown(records).encode())
    elif form is not None or output == "-":
        to_stdout(table_bytes(records, f"table.{form or 'csv'}"))
    else:
        print_text()
    for path in contents:
        echo(f"Written: {path}", err=True)


def check_format(form: str | None, as_json: bool, output: str | None) -> None:
    """Raise if standard output is asked to hold two things, or one that there is no format for."""
    if form not in (None, "csv", "tsv", "json", "markdown"):
        raise DataError(
            f"--format must be csv, tsv, json or markdown; got {form!r}. Without it a table for people is printed."
        )
    if (form is not None) + as_json + (output == "-") > 1:
        raise DataError("--format, --json and -o - each say what is printed: use one of them.")


def _markdown(records: Sequence[dict[str, Any]]) -> str:
    """Return records as a Markdown table, numbers with four digits."""

    def text(value: Any) -> str:
        if value is None:
            return ""
        return f"{value:.4g}" if isinstance(value, float) else escape_markdown(str(value))

    names = list(records[0]) if records else []
    numeric = [all(isinstance(record[name], int | float | None) for record in records) for name in names]
    lines = ["| " + " | ".join(map(text, names)) + " |", "|" + "|".join("---:" if n else "---" for n in numeric) + "|"]
    lines += ["| " + " | ".join(text(record[name]) for name in names) + " |" for record in records]
    return "\n".join(lines) + "\n"


def to_stdout(content: bytes) -> None:
    """Write bytes to standard output; a terminal gets no control characters."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        content = _for_terminal(content.decode("utf-8", "surrogateescape")).encode()
    buffer: Any = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(content.decode())
    else:
        buffer.write(content)
        buffer.flush()


def _for_terminal(text: str) -> str:
    """Return a table as text for a terminal: lines and tabs as they are, all other control characters escaped."""
    return "\t".join(printable(part, lines=True) for part in text.split("\t"))


def echo(text: str = "", err: bool = False, nl: bool = True) -> None:
    """Print text for people: all commands print through this, so that no name in a file can control the terminal."""
    typer.echo(printable(text, lines=True), err=err, nl=nl)


def table_bytes(records: Sequence[dict[str, Any]], path: str) -> bytes:
    """Encode records as CSV, TSV, JSON, Parquet or Excel, by the ending of a file name."""
    import pandas as pd

    ending = Path(path).suffix.lower()
    if path == "-" or ending in (".csv", ".tsv"):
        rows = spreadsheet_rows(records)
        separator = "\t" if ending == ".tsv" else ","
        quoting = csv_quoting(cell for row in rows for entry in row.items() for cell in entry)
        text = pd.DataFrame(rows).to_csv(index=False, sep=separator, lineterminator="\n", quoting=quoting)
        return text.encode("utf-8", "replace")
    frame = pd.DataFrame(list(records))
    if ending == ".json":
        return json_bytes(list(records))
    if ending in (".parquet", ".pq"):
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        return buffer.getvalue()
    if ending == ".xlsx":
        return _excel_bytes(frame, path)
    raise DataError(f"-o {path}: results are written as .csv, .tsv, .json, .parquet or .xlsx; name such a file.")


def _excel_bytes(frame: "pd.DataFrame", path: str) -> bytes:
    """Encode a table as an Excel sheet with a fixed header; texts stay texts, also those that look like formulas or links."""
    import pandas as pd

    options = {"strings_to_formulas": False, "strings_to_urls": False, "nan_inf_to_errors": True}
    buffer = io.BytesIO()
    text = frame.map(lambda value: printable(value, lines=True) if isinstance(value, str) else value)
    try:
        with pd.ExcelWriter(buffer, engine="xlsxwriter", engine_kwargs={"options": options}) as writer:
            text.rename(columns=printable).to_excel(writer, index=False, sheet_name="headcount", freeze_panes=(1, 0))
            writer.sheets["headcount"].autofit()
    except ModuleNotFoundError as error:
        raise DataError(
            f"-o {path}: Excel files need the package XlsxWriter: pip install 'headcount[excel]'; or write .csv."
        ) from error
    return buffer.getvalue()


def json_bytes(value: Any) -> bytes:
    """Encode a plain value as JSON."""
    return (json_text(value, indent=1) + "\n").encode()


def print_table(title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; columns are given with their alignment."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=printable(title) or None, title_justify="left", box=None, pad_edge=False)
    for name, justify in columns:
        table.add_column(printable(name), justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(printable(cell, lines=True) for cell in row))

    class PipeConsole(Console):
        def on_broken_pipe(self) -> None:  # rich would exit with code 1; `main` exits with 0
            raise BrokenPipeError

    terminal = Console()
    width = terminal.width if terminal.is_terminal else _FILE_WIDTH
    PipeConsole(width=width, markup=False, highlight=False, emoji=False).print(table)


def print_shares(groups: Any, by: str, label: str = "") -> None:
    """Print shares and numbers of items with their intervals: one column a class, or one row a class where that is clearer.

    Parameters
    ----------
    groups : GroupShares
    by : str
        Title of the column of groups.
    label : str
        Title of the column of labels, to tell names of classes from those of other columns.
    """
    from headcount.stream.groups import group_label

    parts = (groups, *([] if groups.total is None else [groups.total]))
    classes = [printable(str(name)) for name in groups.classes]
    one_group = len(groups) == 1 and groups.total is None
    side_by_side = len(classes) <= _MAX_CLASS_COLUMNS and not one_group
    beside = len(groups.figures) < _FEWEST_FIGURES_APART
    means = [(figure.title, "right") for figure in groups.figures] if beside else []
    interval = [] if groups.note else [(f"{100 * groups.level:g} % interval", "right")]
    if side_by_side:
        columns = [(f"{label}={name}" if label else name, "right") for name in classes]
    else:
        columns = [(label or "class", "left"), ("share", "right"), *interval, ("count", "right"), *interval]
    rows: list[list[str]] = []
    for part in parts:
        for g, verdict in enumerate(part.verdicts):
            head = [printable(group_label(part.names[g])), f"{part.n_items[g]:,}"]
            tail = [*(_figure_texts(part, g) if beside else []), verdict]
            figures = [_figures(part, g, j) for j in range(len(classes))]
            if side_by_side:
                rows.append([*head, *("\n".join(map(_with_ends, pair)) for pair in figures), *tail])
                continue
            for j, (name, (share, count)) in enumerate(zip(classes, figures, strict=True)):
                shown_once = (head, tail) if j == 0 else ([""] * len(head), [""] * len(tail))
                rows.append(
                    [*shown_once[0], name, *share[: 1 + len(interval)], *count[: 1 + len(interval)], *shown_once[1]]
                )
    print_table("", [(by or "group", "left"), ("items", "right"), *columns, *means, ("verdict", "left")], rows)
    if side_by_side:
        echo("Below each share: the number of items of the class.")
    if not beside:
        columns = [(by or "group", "left"), *((figure.title, "right") for figure in groups.figures)]
        named = [(part, g, printable(group_label(part.names[g]))) for part in parts for g in range(len(part))]
        echo()
        print_table("", columns, [[name, *_figure_texts(part, g)] for part, g, name in named])


def _figure_texts(groups: Any, g: int) -> list[str]:
    """Return each figure of a group with its interval."""
    return [_with_ends(figure.text(g)) or "-" for figure in groups.figures]


def print_drawn(groups: Any, by: str, label: str = "") -> None:
    """Print the shares drawn towards the other groups, with how far each was drawn: below those of each group by itself."""
    from headcount.stream.groups import group_label

    drawn = groups.drawn
    columns = [(f"{label}={name}" if label else str(name), "right") for name in groups.classes]
    rows = []
    for g, name in enumerate(groups.names):
        shares = [
            _with_ends((f"{100 * share:z.1f} %", f"{100 * low:z.1f} to {100 * high:z.1f}")) if share == share else "-"
            for share, low, high in zip(drawn.shares[g], drawn.low[g], drawn.high[g], strict=True)
        ]
        rows.append(
            [group_label(name), *shares, f"{100 * drawn.part[g]:.0f} %" if drawn.part[g] == drawn.part[g] else "-"]
        )
    rows.append(["(drawn towards)", *(f"{100 * share:z.1f} %" for share in drawn.mean), ""])
    title = "Drawn towards the other groups:"
    print_table(title, [(by or "group", "left"), *columns, ("drawn by", "right")], rows)


def _figures(groups: Any, g: int, j: int) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return the share of a class with its interval, and the number of items with its own, for people to read."""
    share, low, high = groups.shares[g, j], groups.low[g, j], groups.high[g, j]
    count, least, most = (values[g, j] for values in groups.counts)
    if share != share:
        return ("-", ""), ("", "")
    known = low == low
    return (
        (f"{100 * share:z.1f} %", f"{100 * low:z.1f} to {100 * high:z.1f}" if known else ""),
        (f"{count:z,.0f}", f"{least:z,.0f} to {most:z,.0f}" if known else ""),
    )


def _with_ends(figures: tuple[str, str]) -> str:
    """Return a value with its interval between brackets; a dash parts the ends, unless it would look like a minus."""
    value, ends = figures
    return f"{value} ({ends if '-' in ends else ends.replace(' to ', '-')})" if ends else value


def print_verdicts(
    labels: Sequence[str],
    verdicts: Sequence[str],
    advice: Sequence[Sequence[str]],
    by: str = "",
    notes: Sequence[str] = (),
) -> None:
    """Print whether the shares of groups can be used, then notes, then each reason for advice with the groups that it is about.

    Parameters
    ----------
    labels, verdicts, advice : sequences
        Of each group.
    by : str
        Title of the column of groups, which tells a group named by a number from other numbers.
    notes : sequence of str
    """
    from headcount.stream.verdicts import advice_by_reason, verdict_summary

    summary = verdict_summary(verdicts, advice)
    echo("\n".join(["", summary, *notes]))
    labels = list(map(printable, labels))
    spoken = [f"{by} {label}" if label.isdecimal() else label for label in labels] if by else labels
    reasons = advice_by_reason(spoken, verdicts, advice)
    for reason, groups in reasons[:_MAX_REASONS]:
        if reason in summary:
            continue
        about = [f"{name} ({figures})" if figures else name for name, figures in groups]
        echo(f"- {reason}" + (f"\n  {listed(about)}" if len(labels) > 1 else ""))
    if len(reasons) > _MAX_REASONS:
        echo(f"- ... and {len(reasons) - _MAX_REASONS} more reasons: see --json.")


def p_text(p: float) -> str:
    """Return a p-value for people to read."""
    return f"{p:.3g}" if p >= 0.001 else "< 0.001"


def in_command_words(text: str) -> str:
    """Return a sentence of the library with options of the command in place of parameters of Python.

    >>> in_command_words("name it with by (--by COLUMN); omit assume='calibrated' (--assume-calibrated).")
    'name it with --by COLUMN; omit --assume-calibrated.'
    """
    for pattern, words in _PARAMETERS:
        text = pattern.sub(words, text)
    return text


def listed(names: Sequence[str]) -> str:
    """Name the first few, and count the rest."""
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(map(printable, names[:_MAX_NAMES])) + more
