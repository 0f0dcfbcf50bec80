"""Write the page of a study as one self-contained HTML file, and the same figures as JSON or CSV."""

import csv
import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

from headcount.report.claims import HOLDS, HOLDS_NOT
from headcount.report.page_contents import Contents
from headcount.report.plots import bias_plots, diagonal_plots, rank_plot, shift_plots, time_plots
from headcount.report.scores import label_of

__all__ = ["render", "to_csv", "to_json"]

_VERDICT_CLASSES = {HOLDS: "holds", HOLDS_NOT: "fails"}
"""CSS class of each verdict."""
_POINTS = {name: name for name in ("at", "mean", "low", "high", "n")}
_RANKS = {"columns": "column", "ranks": "rank", "unoptimised": "rank_unoptimised"}
_LISTS = {"diagonals": _POINTS, "shifts": _POINTS, "ranks": _RANKS}
"""Data of plots that have lists, with the column of the CSV file that each list becomes."""


def render(contents: Contents) -> str:
    """Return the page as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("headcount.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = [
        ("diagonals", "Estimated against true shares", diagonal_plots(contents.diagonals, contents.classes)),
        ("shifts", "Error against shift", shift_plots(contents.shifts, label_of(contents.plan.measures[0]))),
        ("biases", "Bias", bias_plots(contents.biases)),
        ("ranks", "Ranks", rank_plot(contents.ranks)),
        ("times", "Time spent", time_plots(contents.times)),
    ]
    return environment.get_template("study.html").render(
        page=contents,
        sections=[(name, title, plots) for name, title, plots in sections if plots],
        verdicts=_VERDICT_CLASSES,
    )


def to_json(contents: Contents) -> str:
    """Return everything that the page shows as JSON."""
    return json.dumps(contents.to_dict(), indent=1, ensure_ascii=False, allow_nan=False, default=str) + "\n"


def to_csv(contents: Contents) -> dict[str, str]:
    """Return everything that the page shows as CSV, by name of file: tables, claims, and the data of the plots."""
    data = contents.to_dict()
    parts: dict[str, list[dict[str, Any]]] = {}
    for table in data["tables"]:
        parts[table["title"].split(":")[0].lower().replace(" ", "-")] = table["cells"]
    parts["claims"] = [
        {**{k: v for k, v in claim.items() if k != "figures"}, **figure}
        for claim in data["claims"]
        for figure in claim["figures"] or [{"label": "", "value": "", "files": []}]
    ]
    for name, columns in _LISTS.items():
        parts[name] = [row for entry in data[name] for row in _rows(entry, columns)]
    parts |= {name: data[name] for name in ("biases", "times", "provenance")}
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
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: " ".join(map(str, v)) if isinstance(v, list) else v for k, v in row.items()})
    return text.getvalue()
