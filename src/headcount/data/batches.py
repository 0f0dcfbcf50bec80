"""Tables read in batches of rows, with bounded memory: CSV, TSV, Parquet, folders of Parquet, gzipped, or standard input.

What is wrong with a file is told with its line (of text files) or row (of Parquet files) and its column.
"""

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount._validation import quoted
from headcount.data.blocks import parsed
from headcount.data.files import PARQUET_MARK
from headcount.data.lines import Text, without_suffix
from headcount.exceptions import DataError, FileFormatError

__all__ = ["Batch", "Kind", "TableFile", "files_of"]

Kind: TypeAlias = Literal["text", "number", "group"]
"""How a column is read: as texts, as numbers (empty: NaN), or as values that many rows share."""

STDIN = "-"
_FORMATS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
_BLOCK = 3 << 20
"""Bytes of text that are parsed at a time."""
_ROWS = 1 << 17
"""Rows of a Parquet file that are read at a time."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, and where they are in it."""

    table: "TableFile"
    columns: Any
    first: int
    """The number of its first row in the table, from 0."""

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def place(self, row: int, column: str | None = None) -> str:
        """Name a row of this batch in a message: its file, line and column."""
        return self.table.place(self.first + row, column)

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, NaN where it is empty."""
        column = self.columns.column(name)
        values = column.to_numpy(zero_copy_only=False)
        return np.asarray(values, dtype=np.float64)

    def texts(self, name: str) -> AnyArray:
        """Return a column of texts, none of them empty."""
        values = self.columns.column(name).to_pylist()
        for row, value in enumerate(values):
            if not value or not value.strip():
                raise DataError(f"{self.place(row, name)} is empty: fill such rows, or leave them out.")
        return np.array(values, dtype=object)

    def groups(self, name: str, dates: bool = False) -> tuple[AnyArray, list[Any]]:
        """Return each row's position in the list of distinct values of a column, and that list; a missing value is None.

        Of times, only the dates are taken if these are asked for.
        """
        import pyarrow as pa

        column = self.columns.column(name)
        if pa.types.is_nested(column.type):
            raise DataError(
                f"{self.table.name}: column {name!r} holds lists or records, by which rows can't be grouped."
            )
        if dates:
            column = _dates(column)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        values = column.dictionary.to_pylist()
        codes = column.indices
        if codes.null_count:
            codes = codes.fill_null(len(values))
            values.append(None)
        return codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), values

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return columns of numbers side by side; a Parquet column that holds a list of numbers in each row is an embedding."""
        import pyarrow as pa

        if len(names) == 1 and (
            pa.types.is_list(self.columns.column(names[0]).type)
            or pa.types.is_fixed_size_list(self.columns.column(names[0]).type)
            or pa.types.is_large_list(self.columns.column(names[0]).type)
        ):
            return self._embedding(names[0])
        return np.column_stack([self.numbers(name) for name in names])

    def _embedding(self, name: str) -> FloatArray:
        column = self.columns.column(name)
        sizes = np.array([-1 if size is None else size for size in column.value_lengths().to_pylist()])
        odd = np.flatnonzero((sizes != sizes[0]) | (sizes < 1))
        if odd.size:
            raise DataError(
                f"{self.place(int(odd[0]), name)} holds {max(int(sizes[odd[0]]), 0)} numbers, the first row "
                f"{max(int(sizes[0]), 0)}: an embedding has as many in each row."
            )
        flat = column.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, dtype=np.float64).reshape(len(column), int(sizes[0]))


class NoRowsError(FileFormatError):
    """A table without rows: of one file a mistake, among the files of a folder none."""


class TableFile:
    """A table in a file, or on standard input (``-``), of which batches of rows are read.

    Parameters
    ----------
    source : str or Path
    format : {"csv", "tsv", "parquet"}, optional
        By default by the ending of the name; of standard input, by what comes.

    Attributes
    ----------
    name : str
        For messages.
    columns : list of str
    """

    _parquet: Any

    def __init__(self, source: str | Path, format: str | None = None) -> None:  # noqa: A002
        self.path, self.name = _kept_input(source)
        if not self.path.exists():
            raise DataError(f"There is no file {self.name}.")
        if self.path.is_dir():
            raise DataError(f"{self.name} is a folder; a file is needed here.")
        with self.path.open("rb") as file:
            mark = file.read(4)
        if not mark:
            raise FileFormatError(f"{self.name} is empty.")
        self.format = format or self._format(source, mark)
        if self.format not in ("csv", "tsv", "parquet"):
            raise DataError(f"There is no format {self.format!r}; known are csv, tsv and parquet.")
        if (self.format == "parquet") != (mark == PARQUET_MARK):
            found = "is a Parquet file" if mark == PARQUET_MARK else "is no Parquet file (it lacks the mark PAR1)"
            raise FileFormatError(
                f"{self.name} {found}, but was taken for {self.format}: rename it, or say which it is."
            )
        self.text = (
            None if self.format == "parquet" else Text(self.path, self.name, "\t" if self.format == "tsv" else ",")
        )
        self._parquet = self._opened() if self.text is None else self.text
        self.columns: list[str] = (
            self.text.header() if self.text is not None else list(self._parquet.schema_arrow.names)
        )
        twice = [name for name in dict.fromkeys(self.columns) if self.columns.count(name) > 1]
        if twice:
            raise FileFormatError(f"{self.name} has more than one column named {quoted(twice)}: rename one of them.")

    def _format(self, source: str | Path, mark: bytes) -> str:
        suffix = without_suffix(Path(self.name), ".gz").suffix.lower()
        if str(source) == STDIN:
            return "parquet" if mark == PARQUET_MARK else Text(self.path, self.name, ",").guessed()
        if suffix not in _FORMATS:
            raise DataError(
                f"The format of {self.name} can't be told from its name; known endings are {', '.join(_FORMATS)} (and .gz behind "
                "those of text). Rename the file."
            )
        return _FORMATS[suffix]

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
            f"{self.name} is a damaged Parquet file, or one that ends in the middle ({reason}): copy or export it again."
        )

    def require(self, names: Sequence[str]) -> None:
        """Raise unless the table has all these columns."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise DataError(f"{self.name} has no column {quoted(missing)}; its columns are {quoted(self.columns, 12)}.")

    def place(self, row: int, column: str | None = None) -> str:
        """Name a row of the table, counted from 0, in a message."""
        where = f"row {row + 1:,}" if self.text is None else f"line {self.text.line_of(row):,}"
        return f"{self.name}, {where}" + ("" if column is None else f", column {column!r}")

    def batches(self, kinds: Mapping[str, Kind], rows: int | None = None) -> Iterator[Batch]:
        """Read some columns, batch by batch; with none, only how many rows there are.

        Parameters
        ----------
        kinds : dict of column name to kind
        rows : int, optional
            The most rows of a batch; by default what reads fastest.
        """
        self.require(list(kinds))
        first = 0
        for columns in self._of_text(kinds) if self.text is not None else self._of_parquet(kinds, rows or _ROWS):
            for start in range(0, columns.num_rows, rows or columns.num_rows or 1):
                yield Batch(self, columns.slice(start, rows or columns.num_rows), first + start)
            first += columns.num_rows
        if first == 0:
            raise NoRowsError(
                f"{self.name} holds no rows below its header." if self.text else f"{self.name} holds no rows."
            )

    def _of_text(self, kinds: Mapping[str, Kind]) -> Iterator[Any]:
        import pyarrow as pa
        from pyarrow import csv

        text = self.text
        if text is None:
            return
        parse = csv.ParseOptions(
            delimiter=text.delimiter, quote_char='"' if text.quotes else False, newlines_in_values=text.quotes
        )
        types = {"text": pa.string(), "number": pa.float64(), "group": pa.dictionary(pa.int32(), pa.string())}
        names = list(kinds) or self.columns[:1]
        convert = csv.ConvertOptions(
            include_columns=names,
            column_types={name: types[kinds.get(name, "text")] for name in names},
            strings_can_be_null=False,
            null_values=["", "NA", "NaN", "nan", "null"],
        )
        try:
            with text.opened() as stream:
                yield from parsed(stream, self.columns, text.quotes, _BLOCK, parse, convert)
        except (pa.ArrowException, OSError, EOFError) as error:
            raise text.explained(error, kinds) from error

    def _of_parquet(self, kinds: Mapping[str, Kind], rows: int) -> Iterator[Any]:
        import pyarrow as pa

        schema = self._parquet.schema_arrow
        for name, kind in kinds.items():
            if kind == "number" and not _numeric(schema.field(name).type):
                raise DataError(
                    f"{self.name}: column {name!r} is not numeric but {schema.field(name).type}. Name columns of numbers."
                )
        shared = [
            name for name, kind in kinds.items() if kind == "group" and pa.types.is_string(schema.field(name).type)
        ]
        file = self._opened(shared) if shared else self._parquet
        try:
            for columns in file.iter_batches(rows, columns=list(kinds), use_threads=True):
                yield _as_asked(columns, kinds)
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error


def _numeric(kind: Any) -> bool:
    import pyarrow as pa

    listed = pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind) or pa.types.is_large_list(kind)
    inner = kind.value_type if listed else kind
    return bool(
        pa.types.is_integer(inner)
        or pa.types.is_floating(inner)
        or pa.types.is_boolean(inner)
        or pa.types.is_decimal(inner)
    )


def _as_asked(columns: Any, kinds: Mapping[str, Kind]) -> Any:
    """Cast columns of texts to strings, and numbers that numpy has no form for to floats."""
    import pyarrow as pa

    arrays = []
    for name in columns.schema.names:
        column = columns.column(name)
        if kinds.get(name) == "text" and not pa.types.is_string(column.type):
            column = column.cast(pa.string())
        elif kinds.get(name) == "number" and (pa.types.is_decimal(column.type) or pa.types.is_boolean(column.type)):
            column = column.cast(pa.int8()) if pa.types.is_boolean(column.type) else column.cast(pa.float64())
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, names=columns.schema.names) if arrays else columns


_TIME = r"^\d{4}-\d{2}-\d{2}[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"


def _dates(column: Any) -> Any:
    """Return the dates of times, as their own clock shows them; a column of something else stays as it is."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_timestamp(kind):
        local = compute.local_timestamp(column) if kind.tz is not None else column
        return local.cast(pa.date32(), safe=False)
    values = column.dictionary if pa.types.is_dictionary(kind) else column
    if pa.types.is_string(values.type) and compute.all(compute.match_substring_regex(values, _TIME)).as_py():
        days = compute.utf8_slice_codeunits(values, 0, 10)
        if not pa.types.is_dictionary(kind):
            return days
        encoded = days.dictionary_encode()  # the days of many times are few
        return pa.DictionaryArray.from_arrays(encoded.indices.take(column.indices), encoded.dictionary)
    return column


def files_of(source: str | Path) -> list[str | Path]:
    """Return the file itself, or the Parquet files of a folder in the order of their names."""
    path = Path(source)
    if str(source) == STDIN or not path.is_dir():
        return [source]
    files = sorted(
        p
        for p in path.rglob("*")
        if p.suffix.lower() in (".parquet", ".pq") and p.is_file() and not _hidden(p.relative_to(path))
    )
    if not files:
        raise DataError(
            f"{path} is a folder without Parquet files (*.parquet): name a file, or a folder that holds some."
        )
    return list(files)


def _hidden(path: Path) -> bool:
    """Whether a file, or a folder that it lies in, is one that other programs keep for themselves."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _kept_input(source: str | Path) -> tuple[Path, str]:
    """Return a file's path and name; standard input is copied into a temporary file, which goes with the process."""
    if str(source) != STDIN:
        return Path(source), str(source)
    import atexit
    import shutil

    with tempfile.NamedTemporaryFile(prefix="headcount-", delete=False) as file:
        kept = Path(file.name)
        atexit.register(kept.unlink, missing_ok=True)
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    return kept, "standard input"
