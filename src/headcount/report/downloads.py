"""What a reader of the page can save: tables as CSV, JSON and LaTeX, and everything in one zip file, as data links."""

import csv
import re
from base64 import b64encode
from collections.abc import Mapping
from io import BytesIO, StringIO
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from headcount._escaping import csv_quoting, json_text, spreadsheet_cell
from headcount.report.page_contents import Contents
from headcount.report.table import Table

__all__ = ["EPOCH", "TableEntry", "archive_link", "data_link", "table_entry", "to_csv", "to_json", "to_latex"]

_POINTS = {name: name for name in ("at", "mean", "percentile_10", "percentile_90", "n")}
_RANKS = {"columns": "column", "ranks": "rank", "unoptimised": "rank_unoptimised"}
_METHODS = {"methods": "method", "mean_ranks": "mean_rank"}
_LISTS = {"prevalences": _POINTS, "diagonals": _POINTS, "shifts": _POINTS, "ranks": _RANKS, "differences": _METHODS}
"""Data of plots that have lists, with the column of the CSV file that each list becomes."""
_FORMS = (("CSV", "csv", "text/csv"), ("JSON", "json", "application/json"), ("LaTeX", "tex", "application/x-tex"))
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The date of the files in the zip, so that the same store gives the same page."""


class TableEntry(NamedTuple):
    """A table of the page, its id there, and links (form, file name, data) to save it."""

    id: str
    table: Table
    links: list[tuple[str, str, str]]


def table_entry(table: Table) -> TableEntry:
    """Return a table with its id and links."""
    name = file_name(table)
    # The files of the store are in the zip file's JSON: here they would double the size of the page.
    records = [{k: v for k, v in record.items() if k != "files"} for record in table.to_records()]
    texts = (table.to_csv(), _as_json(records), table.to_latex())
    links = [
        (form, f"{name}.{ending}", data_link(text.encode(), kind))
        for (form, ending, kind), text in zip(_FORMS, texts, strict=True)
    ]
    return TableEntry(name, table, links)


def file_name(table: Table) -> str:
    """Return the name of a table's files: that before the colon of its title."""
    return re.sub(r"[^a-z0-9]+", "-", table.title.split(":")[0].lower()).strip("-")


def data_link(data: bytes, kind: str) -> str:
    """Return a link that holds the data themselves."""
    return f"data:{kind};base64,{b64encode(data).decode()}"


def archive_link(contents: Contents) -> str:
    """Return a link to a zip file with all figures of the page as JSON, CSV and LaTeX."""
    texts = {"figures.json": to_json(contents), "tables.tex": to_latex(contents), **to_csv(contents)}
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        for name, text in texts.items():
            info = ZipInfo(name, EPOCH)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, text)
    return data_link(data.getvalue(), "application/zip")


def to_latex(contents: Contents) -> str:
    """Return all tables of the page as LaTeX."""
    return "\n".join(table.to_latex() for table in contents.all_tables())


def to_json(contents: Contents) -> str:
    """Return everything that the page shows as JSON."""
    return _as_json(contents.to_dict())


def _as_json(data: Any) -> str:
    return json_text(data, indent=1, allow_nan=False, default=str) + "\n"


def to_csv(contents: Contents) -> dict[str, str]:
    """Return everything that the page shows as CSV, by name of file: tables, claims, and the data of the plots."""
    data = contents.to_dict()
    parts: dict[str, list[dict[str, Any]]] = {}
    for table, entry in zip(contents.all_tables(), data["tables"], strict=True):
        parts[file_name(table)] = entry["cells"]
    parts["claims"] = [
        {**{k: v for k, v in claim.items() if k != "figures"}, **figure}
        for claim in data["claims"]
        for figure in claim["figures"] or [{"label": "", "value": "", "files": []}]
    ]
    for name, columns in _LISTS.items():
        parts[name] = [row for entry in data[name] for row in _rows(entry, columns)]
    parts |= {name: data[name] for name in ("mean_errors", "biases", "times", "provenance", "not_converged")}
    parts["missing"] = [{"missing": sentence} for sentence in data["missing"]]
    return {f"{name}.csv": _as_csv(rows) for name, rows in parts.items()}


def _rows(entry: Mapping[str, Any], columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return a row for each position in the lists of an entry, with all that is not a list in each row."""
    common = {key: value for key, value in entry.items() if key not in columns}
    positions = zip(*(entry[key] for key in columns), strict=True)
    return [{**common, **dict(zip(columns.values(), values, strict=True))} for values in positions]


def _as_csv(rows: list[dict[str, Any]]) -> str:
    text = StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [
        {k: spreadsheet_cell(" ".join(map(str, v)) if isinstance(v, list | tuple) else v) for k, v in row.items()}
        for row in rows
    ]
    quoting = csv_quoting([*names, *(cell for row in cells for cell in row.values())])
    writer = csv.DictWriter(text, names, lineterminator="\n", quoting=quoting)
    writer.writeheader()
    writer.writerows(cells)
    return text.getvalue()
