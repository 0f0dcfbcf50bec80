"""`headcount methods`: list the methods and the error measures."""

from typing import Any

from headcount.errors import list_errors
from headcount.quantifiers import list_methods

__all__ = ["methods_as_records", "print_methods"]


def methods_as_records() -> dict[str, list[dict[str, Any]]]:
    """Methods and error measures as plain records."""
    return {
        "methods": [
            {
                "name": m.name,
                "title": m.title,
                "classes": m.classes,
                "needs": m.needs,
                "reference": m.reference,
            }
            for m in list_methods()
        ],
        "errors": [
            {"name": e.name, "title": e.title, "of": e.of, "ordinal": e.ordered, "reference": e.reference}
            for e in list_errors()
        ],
    }


def print_methods() -> None:
    """Print methods and error measures as tables."""
    from rich.console import Console
    from rich.table import Table

    records = methods_as_records()
    console = Console()
    for title, columns, rows in (
        ("Methods", ("name", "title", "classes", "needs", "reference"), records["methods"]),
        ("Error measures", ("name", "title", "of", "reference"), records["errors"]),
    ):
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold", no_wrap=column == "name")
        for row in rows:
            table.add_row(*(str(row[column]) for column in columns))
        console.print(table)
        console.print()
