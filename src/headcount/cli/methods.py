"""`headcount methods`: list the methods and the error measures."""

from typing import Any

from headcount.errors import list_errors
from headcount.quantifiers import list_methods

__all__ = ["methods_as_records", "print_methods"]

_METHOD_FIELDS = ("name", "title", "classes", "needs", "reference")
_ERROR_FIELDS = ("name", "title", "of", "ordered", "reference")


def methods_as_records() -> dict[str, list[dict[str, Any]]]:
    """Methods and error measures as plain records."""
    return {
        "methods": [{field: getattr(method, field) for field in _METHOD_FIELDS} for method in list_methods()],
        "errors": [{field: getattr(error, field) for field in _ERROR_FIELDS} for error in list_errors()],
    }


def print_methods() -> None:
    """Print methods and error measures as tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    for title, rows in zip(("Methods", "Error measures"), methods_as_records().values(), strict=True):
        columns = [field for field in rows[0] if field != "ordinal"]
        table = Table(title=title, title_justify="left", box=None, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold", no_wrap=column == "name")
        for row in rows:
            table.add_row(*(str(row[column]) for column in columns))
        console.print(table)
        console.print()
