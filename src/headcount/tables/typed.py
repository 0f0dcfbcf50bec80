"""Tables whose columns have types: Parquet files, Arrow's tables, and tables or queries of DuckDB files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import is_list_type

__all__ = ["ArrowTable", "DuckTable", "ParquetTable", "quoted_name", "table_or_query", "unreadable"]

_QUERY = re.compile(r"\s*(?:select|with|from|values)\b", re.IGNORECASE)
_DUCKDB: dict[str, Any] = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "python_enable_replacements": False,
    "lock_configuration": True,
}
"""So that a query reads nothing but the file, writes nothing, downloads nothing, and can't change that."""


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


_BYTES_OF_PLACES = 4
"""Bytes a value of a Parquet column below which its values are places among the distinct ones; texts themselves take more."""


class ParquetTable:
    """A Parquet file, read by Arrow: DuckDB does not know the time zones that Arrow and pandas write into it."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.schema = self._opened().schema_arrow
        self.columns: list[str] = list(self.schema.names)

    def _opened(self, groups: Sequence[str] = ()) -> Any:
        import pyarrow as pa
        from pyarrow import parquet

        try:
            return parquet.ParquetFile(self.path, pre_buffer=False, read_dictionary=groups)
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> FileFormatError:
        reason = " ".join(str(error).split())
        return FileFormatError(
            f"{self.name} is a damaged Parquet file, one that ends in the middle, or one with texts that are not UTF-8 ({reason}): "
            "copy or export it again."
        )

    def _repeated(self, names: Sequence[str]) -> list[str]:
        """Return those columns whose values repeat, so that they were written as places among the distinct ones."""
        if not names:
            return []
        found, metadata = [], self._opened().metadata
        for index in range(metadata.num_columns):
            name = metadata.schema.column(index).path
            chunks = [metadata.row_group(group).column(index) for group in range(metadata.num_row_groups)]
            size, values = (
                sum(getattr(one, what) for one in chunks) for what in ("total_uncompressed_size", "num_values")
            )
            if name in names and size < _BYTES_OF_PLACES * values:
                found.append(name)
        return found

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns; groups come as places among the distinct ones, as they are mostly written."""
        import pyarrow as pa

        check_kinds(self.name, self.schema, kinds)
        texts = {field.name for field in self.schema if pa.types.is_string(field.type)}
        repeated = self._repeated([name for name, kind in kinds.items() if kind == "key" and name in texts])
        file = self._opened([*repeated, *(name for name, kind in kinds.items() if kind == "group" and name in texts)])
        try:
            for columns in file.iter_batches(rows, columns=list(kinds), use_threads=True):
                yield as_asked(columns, kinds)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error


class DuckTable:
    """A table, or what a query gives, of a DuckDB file."""

    def __init__(self, path: Path, name: str, asked: str) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise DataError(
                f"{name}: DuckDB files need the package duckdb: pip install 'headcount[duckdb]'."
            ) from error
        self.name, self._errors = name, (duckdb.Error, OSError)
        self._tables: dict[str, list[str]] = {}
        try:
            self._connection = duckdb.connect(str(path), read_only=True, config=_DUCKDB)
            known = self._connection.sql("SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal")
            for table, column in known.fetchall():
                self._tables.setdefault(table, []).append(column)
            self._from = table_or_query(name, asked, self._tables)
            if asked not in self._tables and len(self._connection.extract_statements(asked)) > 1:
                raise DataError(f"{name}: a single query is expected.")
            self.schema = self._connection.sql(f"SELECT * FROM {self._from} LIMIT 0").to_arrow_table().schema
        except self._errors as error:
            raise unreadable(name, error, self._tables) from error
        self.columns: list[str] = list(self.schema.names)

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:  # noqa: ARG002 (DuckDB's own number of rows)
        """Read some columns."""
        import pyarrow as pa

        check_kinds(self.name, self.schema, kinds)
        query = f"SELECT {', '.join(map(quoted_name, kinds)) or 'true'} FROM {self._from}"
        try:
            with self._connection.cursor() as cursor:
                for batch in pa.RecordBatchReader.from_stream(cursor.sql(query)):
                    yield as_asked(batch, kinds)
        except self._errors as error:
            raise unreadable(self.name, error, self._tables) from error


def quoted_name(column: str) -> str:
    """Write the name of a column or table into a query."""
    return '"' + column.replace('"', '""') + '"'


def table_or_query(name: str, asked: str, tables: Mapping[str, Sequence[str]]) -> str:
    """Write what comes behind FROM."""
    if asked in tables:
        return quoted_name(asked)
    if _QUERY.match(asked):
        return f"({asked.strip().rstrip(';')}\n)"
    known = ", ".join(tables) or "none"
    if not asked:
        raise DataError(f"{name} is a database: say which table, as in {name}::table (it holds {known}).")
    raise DataError(f"{name}: there is no table {asked!r}; there are {known}.")


def unreadable(name: str, error: Exception, tables: Mapping[str, Sequence[str]]) -> DataError:
    """Word that a database can't be read as asked, and what there is."""
    known = "; ".join(f"{table} ({', '.join(columns)})" for table, columns in tables.items())
    return DataError(
        f"{name} can't be read: {' '.join(str(error).split())}" + (f" Its tables: {known}." if known else "")
    )


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

    arrays = [_as_asked(columns.column(name), kind) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(arrays, list(kinds)) if kinds else columns


def _as_asked(column: Any, kind: str) -> Any:
    import pyarrow as pa

    texts = pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary, pa.types.is_large_binary
    if pa.types.is_dictionary(column.type):
        column = pa.DictionaryArray.from_arrays(column.indices, _as_asked(column.dictionary, kind))
    if kind == "text" or (kind in ("group", "key", "time", "any") and any(is_text(column.type) for is_text in texts)):
        return column.cast(pa.string())
    if kind == "number" and (pa.types.is_boolean(column.type) or pa.types.is_decimal(column.type)):
        return column.cast(pa.int8() if pa.types.is_boolean(column.type) else pa.float64())
    return column
