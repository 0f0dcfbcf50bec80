"""What a reader of a league's page can save: everything as CSV, JSON and LaTeX, and all of it in one zip file."""

import re
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from headcount._escaping import json_text, spreadsheet_cell
from headcount.report.downloads import EPOCH, data_link
from headcount.report.league.contents import LeagueContents
from headcount.report.page_contents import without_nan
from headcount.report.table import Column, Table

__all__ = ["league_archive", "league_to_csv", "league_to_json", "league_to_latex"]

_COLUMNS_IN_TEX = 12
"""Columns of a LaTeX table; a wider one is cut into several."""


def league_to_csv(contents: LeagueContents) -> dict[str, str]:
    """Return everything that the page shows as CSV, by name of file: all errors, each table, and what they were computed from."""
    import pandas as pd

    texts = {"errors.csv": _csv(contents.standings.to_frame())}
    texts |= {f"{file_name(table)}.csv": table.to_csv() for table in contents.tables}
    texts["provenance.csv"] = _csv(pd.DataFrame(contents.provenance, columns=["what", "value"]))
    texts["missing.csv"] = _csv(pd.DataFrame({"missing": contents.missing}))
    texts["words.csv"] = _csv(pd.DataFrame({"sentence": [*contents.answer, *contents.details]}))
    return texts


def league_to_json(contents: LeagueContents) -> str:
    """Return everything that the page shows as JSON."""
    return json_text(without_nan(contents.to_dict()), indent=1, allow_nan=False, default=str) + "\n"


def league_to_latex(contents: LeagueContents) -> dict[str, str]:
    """Return the tables as LaTeX, by name of file: one for each view, and those of the methods and the data sets."""
    texts = {
        f"{file_name(contents.tables_of(view)[0])}.tex": "\n".join(map(_tex, contents.tables_of(view)))
        for view in contents.views
    }
    return texts | {f"{file_name(table)}.tex": _tex(table) for table in contents.common_tables}


def league_archive(contents: LeagueContents) -> str:
    """Return a link to a zip file with everything as JSON, CSV and LaTeX."""
    texts = {"league.json": league_to_json(contents), **league_to_csv(contents), **league_to_latex(contents)}
    data = BytesIO()
    with ZipFile(data, "w") as archive:
        for name, text in texts.items():
            info = ZipInfo(name, EPOCH)
            info.compress_type = ZIP_DEFLATED
            archive.writestr(info, text)
    return data_link(data.getvalue(), "application/zip")


def file_name(table: Table) -> str:
    """Return the name of a table's file: its whole title, because those of several views differ at the end."""
    return re.sub(r"[^a-z0-9]+", "-", table.title.lower()).strip("-")


def _tex(table: Table) -> str:
    """Return a table as LaTeX, one that is too wide in pieces."""
    n, step = len(table.columns), _COLUMNS_IN_TEX
    starts = range(0, n, step) if n > step else [0]
    pieces = []
    for number, start in enumerate(starts, 1):
        columns: list[Column] = table.columns[start : start + step] if n > step else table.columns
        title = f"{table.title} ({number} of {len(starts)})" if n > step else table.title
        rows = [(labels, cells[start : start + len(columns)]) for labels, cells in table.rows]
        pieces.append(Table(title, table.caption, table.labels, columns, rows).to_latex())
    return "\n".join(pieces)


def _csv(frame: Any) -> str:
    safe = frame.map(spreadsheet_cell).rename(columns=spreadsheet_cell)
    return str(safe.to_csv(index=False, lineterminator="\n"))
