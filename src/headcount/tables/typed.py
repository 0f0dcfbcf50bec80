"""Tables whose columns have types: Parquet files, Arrow's tables, JSON lines, and tables or queries of DuckDB and SQLite files."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import is_list_type
from headcount.tables.engine import EngineError, columns_literal, database, file_literal, literal, name_of, read_batches
from headcount.tables.lines import Text, opened

__all__ = ["ArrowTable", "DuckTable", "JsonLines", "ParquetTable", "SqliteTable"]

_SHARED_BYTES = 4
"""Of a text in a Parquet file, at most, if it is written as its place among the distinct ones."""
_QUERY = re.compile(r"\s*(?:select|with|from|values)\s", re.IGNORECASE)
_SCALARS = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")


class ArrowTable:
    """A table in memory: Arrow's own, or whatever offers itself as one, as tables of pandas and polars do."""

    def __init__(self, source: Any, name: str) -> None:
        import pyarrow as pa

        self.name = name
        try:
            self._table = source if isinstance(source, pa.Table) else pa.table(source)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise DataError(f"{type(source).__name__} can't be read as a table: {error}.") from error
        self.schema = self._table.schema
        self.columns: list[str] = list(self.schema.names)

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns."""
        check_kinds(self.name, self.schema, kinds)
        for part in self._table.to_batches(rows):
            yield as_asked(part.select(list(kinds)), kinds)


class ParquetTable:
    """A Parquet file, read by Arrow: DuckDB does not know the time zones that Arrow and pandas write into it."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._file = self._opened()
        self.schema = self._file.schema_arrow
        self.columns: list[str] = list(self.schema.names)

    def _opened(self, shared: Sequence[str] = ()) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path, pre_buffer=False, read_dictionary=shared)
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> FileFormatError:
        reason = " ".join(str(error).split())
        return FileFormatError(
            f"{self.name} is a damaged Parquet file, one that ends in the middle, or one with texts that are not UTF-8 ({reason}): "
            "copy or export it again."
        )

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns; groups that are few come as places among the distinct ones."""
        import pyarrow as pa

        check_kinds(self.name, self.schema, kinds)
        shared = [name for name, kind in kinds.items() if kind in ("group", "time") and self._shared(name)]
        file = self._opened(shared) if shared else self._file
        try:
            for columns in file.iter_batches(rows, columns=list(kinds), use_threads=True):
                yield as_asked(columns, kinds)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _shared(self, name: str) -> bool:
        """Whether a column of texts is written as the places of its values among the distinct ones, which are few."""
        import pyarrow as pa

        if not pa.types.is_string(self.schema.field(name).type):
            return False
        groups = self._file.metadata
        place = next(i for i in range(groups.num_columns) if groups.schema.column(i).path == name)
        parts = [groups.row_group(i).column(place) for i in range(groups.num_row_groups)]
        values = sum(part.num_values for part in parts)
        return bool(sum(part.total_uncompressed_size for part in parts) <= _SHARED_BYTES * values)


class JsonLines:
    """A file of one JSON object a line, whose keys are the columns; a key that an object lacks is missing there."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self._text = Text(path, name, ",")
        self._text.content(1 << 20)
        packed = f", compression={literal(self._text.packed)}" if self._text.packed else ""
        self._source = f"{file_literal(path)}, format='newline_delimited'{packed}"
        described = self._run(
            f"DESCRIBE SELECT * FROM read_json({self._source}, sample_size=-1, records=true)", 1 << 11
        )
        self._types: dict[str, str] = {
            row["column_name"]: row["column_type"] for part in described for row in part.to_pylist()
        }
        self.columns = list(self._types)

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns."""
        types = [(name, self._type(name, kind)) for name, kind in kinds.items()] or [(self.columns[0], "VARCHAR")]
        for batch in self._run(f"FROM read_json({self._source}, columns={columns_literal(types)})", rows):
            yield as_asked(batch, kinds)

    def _type(self, name: str, kind: str) -> str:
        own = self._types[name]
        if kind == "number":
            if own.startswith(("STRUCT", "MAP")):
                raise DataError(f"{self.name}: column {name!r} is not numeric but {own}. Name columns of numbers.")
            return "DOUBLE[]" if own.endswith("[]") else "DOUBLE"
        return own if kind == "group" and own in _SCALARS else "VARCHAR"

    def _run(self, query: str, rows: int) -> Iterator[Any]:
        try:
            yield from read_batches(query, rows)
        except EngineError as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> FileFormatError:
        """Find the first line that is no object: DuckDB counts lines from 1 in some messages, from 2 in others."""
        try:
            with opened(self.path, self._text.packed) as file:
                for number, line in enumerate(file, start=1):
                    if not line.strip():
                        continue
                    try:
                        if not isinstance(json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8")), dict):
                            return FileFormatError(f"{self.name}, line {number:,} holds no JSON object.")
                    except ValueError as wrong:
                        return FileFormatError(f"{self.name}, line {number:,} is not a JSON object: {wrong}.")
        except (OSError, EOFError) as damage:
            return self._text.cut_off(damage)
        reason = str(error).splitlines()[0].partition(" in file ")[2].partition(", ")[2] or " ".join(str(error).split())
        return FileFormatError(f"{self.name}, {reason.removeprefix('in ')}")


class DuckTable:
    """A table, or what a query gives, of a DuckDB file."""

    def __init__(self, path: Path, name: str, asked: str) -> None:
        import duckdb

        self.name = name
        try:
            self._connection = database(path)
            known = [row[0] for row in self._connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()]
            known += [
                row[0]
                for row in self._connection.sql("FROM duckdb_views() SELECT view_name WHERE NOT internal").fetchall()
            ]
            self._from = _table_or_query(name, asked, known)
            self.schema = self._connection.sql(f"SELECT * FROM {self._from} LIMIT 0").to_arrow_table().schema
        except duckdb.Error as error:
            raise self._failed(error) from error
        self.columns: list[str] = list(self.schema.names)

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns."""
        check_kinds(self.name, self.schema, kinds)
        query = f"SELECT {', '.join(map(name_of, kinds)) or 'true'} FROM {self._from}"
        try:
            for batch in read_batches(query, rows, self._connection.cursor()):
                yield as_asked(batch, kinds)
        except EngineError as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> DataError:
        return DataError(f"{self.name} can't be read: {' '.join(str(error).split())}")


class SqliteTable:
    """A table, or what a query gives, of an SQLite file; Python reads it, as DuckDB would have to download how to."""

    def __init__(self, path: Path, name: str, asked: str) -> None:
        self.path, self.name = path, name
        known = [
            row[0]
            for part in self._rows("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
            for row in part
        ]
        self._from = _table_or_query(name, asked, known)
        self.columns: list[str] = []
        next(self._rows(f"SELECT * FROM {self._from} LIMIT 0", 1, self.columns), None)

    def _rows(self, query: str, rows: int = 1 << 10, names: list[str] | None = None) -> Iterator[list[tuple[Any, ...]]]:
        import sqlite3
        from contextlib import closing

        try:
            uri = f"{self.path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
                cursor = connection.execute(query)
                if names is not None:
                    names += [column[0] for column in cursor.description]
                while part := cursor.fetchmany(rows):
                    yield part
        except sqlite3.Error as error:
            raise DataError(f"{self.name} can't be read: {error}.") from error

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns; SQLite's columns hold values of any type."""
        import pyarrow as pa

        first = 0
        for part in self._rows(f"SELECT {', '.join(map(name_of, kinds)) or '1'} FROM {self._from}", rows):
            columns = list(zip(*part, strict=True))
            names = list(kinds) or ["row"]
            arrays = [
                self._array(column, name, kinds.get(name), first) for name, column in zip(names, columns, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, names)
            first += len(part)

    def _array(self, values: Sequence[Any], name: str, kind: str | None, first: int) -> Any:
        import pyarrow as pa

        if kind == "number":
            for row, value in enumerate(values, start=first + 1):
                if isinstance(value, str | bytes):
                    raise DataError(f"{self.name}, row {row:,}, column {name!r}: {value[:40]!r} is not a number.")
            return pa.array(values, pa.float64())
        texts = [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]
        if kind != "group" or len({type(value) for value in texts if value is not None}) > 1:
            texts = [value if value is None else str(value) for value in texts]
        return pa.array(texts, pa.string() if kind != "group" else None)


def _table_or_query(name: str, asked: str, known: Sequence[str]) -> str:
    """Write what comes behind FROM."""
    if asked in known:
        return name_of(asked)
    if _QUERY.match(asked):
        return f"({asked.strip().rstrip(';')}\n)"
    tables = ", ".join(known) or "none"
    if not asked:
        raise DataError(f"{name} is a database: say which table, as in {name}::table (it holds {tables}).")
    raise DataError(f"{name}: there is no table {asked!r}; there are {tables}.")


def check_kinds(name: str, schema: Any, kinds: Mapping[str, str]) -> None:
    """Raise unless columns asked for as numbers hold numbers, and those asked for as texts no lists or records."""
    import pyarrow as pa

    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    for column, kind in kinds.items():
        own = schema.field(column).type
        inner = own.value_type if is_list_type(own) else own
        if kind == "number" and not any(is_of_type(inner) for is_of_type in numeric):
            raise DataError(f"{name}: column {column!r} is not numeric but {own}. Name columns of numbers.")
        if kind == "text" and pa.types.is_nested(own):
            raise DataError(f"{name}: column {column!r} holds no texts but {own}. Name a column of texts.")


def as_asked(columns: Any, kinds: Mapping[str, str]) -> Any:
    """Cast columns of texts to strings, and numbers that numpy has no form for to floats."""
    import pyarrow as pa

    texts = pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary
    fields = []
    for field in columns.schema:
        kind = kinds.get(field.name)
        if kind == "text" or (kind in ("group", "time") and any(is_text(field.type) for is_text in texts)):
            field = field.with_type(pa.string())
        elif kind == "number" and pa.types.is_boolean(field.type):
            field = field.with_type(pa.int8())
        elif kind == "number" and pa.types.is_decimal(field.type):
            field = field.with_type(pa.float64())
        fields.append(field)
    return columns.cast(pa.schema(fields)) if fields else columns
