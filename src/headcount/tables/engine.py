"""DuckDB, which reads the tables: what it is told, and rows as Arrow's record batches. It downloads nothing and writes nothing."""

from collections.abc import Iterable, Iterator
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

__all__ = ["EngineError", "columns_literal", "database", "file_literal", "literal", "name_of", "read_batches"]

_NO_DOWNLOADS: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


@cache
def _engine() -> Any:
    import duckdb

    return duckdb.connect(config=_NO_DOWNLOADS)


def database(path: Path) -> Any:
    """Connect to a DuckDB file that can't be changed, by queries that can't reach other files."""
    import duckdb

    return duckdb.connect(str(path), read_only=True, config={**_NO_DOWNLOADS, "enable_external_access": "false"})


class EngineError(Exception):
    """DuckDB's, also where Arrow passes it on."""


def read_batches(query: str, rows: int, connection: Any = None) -> Iterator[Any]:
    """Run a query and yield its rows in their order; a connection is used by one thread."""
    import duckdb
    import pyarrow as pa

    try:
        connection = connection or _engine().cursor()
        found = connection.sql(query)
        reader = found.to_arrow_reader(rows) if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader(rows)
        while (batch := next(reader, None)) is not None:
            yield batch
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise EngineError(str(error)) from error


def literal(text: str) -> str:
    """Write a text into a query."""
    return "'" + text.replace("'", "''") + "'"


def name_of(column: str) -> str:
    """Write the name of a column or table into a query."""
    return '"' + column.replace('"', '""') + '"'


def file_literal(path: Path) -> str:
    """Write the path of one file, in which ``*`` means itself, into a query."""
    return literal(escape(str(path)))


def columns_literal(types: Iterable[tuple[str, str]]) -> str:
    """Write names and types of columns as read_csv and read_json take them."""
    return "{" + ", ".join(f"{literal(name)}: {literal(kind)}" for name, kind in types) + "}"
