"""`TableFile`: a CSV, TSV or Parquet file, or standard input, read in batches of rows with bounded memory.

Errors name the line (of text files) or row (of Parquet files) and the column.
"""

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from headcount._validation import quoted
from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import Batch, is_list_type
from headcount.tables.blocks import Parsing, blocks_of
from headcount.tables.lines import MISSING_NUMBERS, Text, check_is_file, without_suffix

__all__ = ["TABLE_FORMATS", "Kind", "NoRowsError", "Piece", "TableFile", "files_of"]

Kind: TypeAlias = Literal["text", "number", "group", "time"]
"""How a column is read: as texts, as numbers (empty: NaN), as values that many rows share, or as dates and times."""

Piece: TypeAlias = Callable[[], Iterable[Batch]]
"""Makes batches of one piece of a file, in any thread."""

STDIN = "-"
_PARQUET_MARK = b"PAR1"
TABLE_FORMATS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"}
"""Formats by the ending of the file name; ``.gz`` may follow those of text."""
_BLOCK = 6 << 20
"""Bytes of text that are parsed at a time."""
_ROWS = 1 << 17
"""Rows of a Parquet file that are read at a time."""
_SHARED_BYTES = 4
"""Of a text in a Parquet file, at most, if it is written as its place among the distinct ones."""


class NoRowsError(FileFormatError):
    """A table without rows: an error for a single file, allowed among the files of a folder."""


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
        check_is_file(self.path, self.name)
        with self.path.open("rb") as file:
            mark = file.read(4)
        if not mark:
            raise FileFormatError(f"{self.name} is empty.")
        self.format = format or self._format(source, mark)
        if self.format not in TABLE_FORMATS.values():
            raise DataError(f"There is no format {self.format!r}; known are csv, tsv and parquet.")
        is_parquet = mark == _PARQUET_MARK
        if (self.format == "parquet") != is_parquet:
            found = "is a Parquet file" if is_parquet else "is not a Parquet file (it does not start with PAR1)"
            raise FileFormatError(
                f"{self.name} {found}, but was taken for {self.format}: rename it, or say which it is."
            )
        self.text = None if is_parquet else Text(self.path, self.name, "\t" if self.format == "tsv" else ",")
        if self.text is None:
            self._parquet = self._opened()
        self.columns: list[str] = self._parquet.schema_arrow.names if self.text is None else self.text.header()
        twice = [name for name, times in Counter(self.columns).items() if times > 1]
        if twice:
            raise FileFormatError(f"{self.name} has more than one column named {quoted(twice)}: rename one of them.")

    def _format(self, source: str | Path, mark: bytes) -> str:
        suffix = without_suffix(Path(self.name), ".gz").suffix.lower()
        if suffix in TABLE_FORMATS:
            return TABLE_FORMATS[suffix]
        if self.path != Path(source) or self.path.is_relative_to("/dev"):  # a stream has no name to go by
            return "parquet" if mark == _PARQUET_MARK else Text(self.path, self.name, ",").guessed()
        raise DataError(
            f"The format of {self.name} can't be inferred from its name; known are {', '.join(TABLE_FORMATS)} (and .gz after "
            "those of text). Rename the file."
        )

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

    def require(self, names: Sequence[str], note: str = "") -> None:
        """Raise unless the table has all these columns; the note follows the names of those that it lacks."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise DataError(
                f"{self.name} has no column {quoted(missing)}{note}; its columns are {quoted(self.columns, 12)}."
            )

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
        batches = chain.from_iterable(piece() for piece in self.pieces(kinds, rows))
        first = next(batches, None)
        if first is None:
            raise self.no_rows()
        yield from chain([first], batches)

    def pieces(self, kinds: Mapping[str, Kind], rows: int | None = None) -> Iterator[Piece]:
        """Read some columns, and yield what makes batches of each piece of the file; that can be done in any thread."""
        self.require(list(kinds))
        return self._of_parquet(kinds, rows) if self.text is None else self._of_text(self.text, kinds, rows)

    def no_rows(self) -> "NoRowsError":
        """Word that there are no rows."""
        return NoRowsError(f"{self.name} holds no rows" + (" below its header." if self.text else "."))

    def _of_text(self, text: Text, kinds: Mapping[str, Kind], rows: int | None) -> Iterator[Piece]:
        import pyarrow as pa
        from pyarrow import csv

        parse = csv.ParseOptions(
            delimiter=text.delimiter,
            quote_char='"' if text.quotes else False,
            newlines_in_values=text.quotes,
            ignore_empty_lines=len(self.columns) > 1,  # in a table of one column they are rows
        )
        names = list(kinds) or self.columns[:1]
        convert = csv.ConvertOptions(
            include_columns=names,
            column_types={name: pa.float64() if kinds.get(name) == "number" else pa.string() for name in names},
            strings_can_be_null=False,
            null_values=list(MISSING_NUMBERS),
        )
        with text.explaining(kinds), text.opened() as stream:
            blocks = blocks_of(stream, self.columns, text.quotes, _BLOCK, parse, convert)
            for number, parsing in enumerate(blocks):
                yield partial(self._parsed, text.explaining(kinds), parsing, number, rows)

    def _parsed(self, explaining: Any, parsing: Parsing, number: int, rows: int | None) -> Iterator[Batch]:
        with explaining:
            parsed = parsing()
        for columns in parsed:
            for first in range(0, columns.num_rows, rows or max(columns.num_rows, 1)):
                part = columns.slice(first, rows)
                yield Batch(self.name, part, partial(self._place_in_block, number), first)

    def _place_in_block(self, number: int, row: int, column: str | None) -> str:
        """Name a row of a block; how many rows come before it is counted now that somebody asks."""
        before = sum(len(batch) for piece in islice(self.pieces({}), number) for batch in piece())
        return self.place(before + row, column)

    def _of_parquet(self, kinds: Mapping[str, Kind], rows: int | None) -> Iterator[Piece]:
        import pyarrow as pa

        schema = self._parquet.schema_arrow
        for name, kind in kinds.items():
            own = schema.field(name).type
            if kind == "number" and not _numeric(own):
                raise DataError(f"{self.name}: column {name!r} is not numeric but {own}. Name columns of numbers.")
            if kind == "text" and pa.types.is_nested(own):
                raise DataError(f"{self.name}: column {name!r} holds no texts but {own}. Name a column of texts.")
        shared = [name for name, kind in kinds.items() if kind in ("group", "time") and self._shared(name)]
        file = self._opened(shared) if shared else self._parquet
        first = 0
        try:
            for columns in file.iter_batches(rows or _ROWS, columns=list(kinds), use_threads=True):
                yield partial(list, [Batch(self.name, _as_asked(columns, kinds), self.place, first)])
                first += columns.num_rows
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    def _shared(self, name: str) -> bool:
        """Whether a column of texts is written as the places of its values among the distinct ones, which are few."""
        import pyarrow as pa

        if not pa.types.is_string(self._parquet.schema_arrow.field(name).type):
            return False
        groups = self._parquet.metadata
        place = next(i for i in range(groups.num_columns) if groups.schema.column(i).path == name)
        parts = [groups.row_group(i).column(place) for i in range(groups.num_row_groups)]
        values = sum(part.num_values for part in parts)
        return bool(sum(part.total_uncompressed_size for part in parts) <= _SHARED_BYTES * values)


def _numeric(kind: Any) -> bool:
    import pyarrow as pa

    inner = kind.value_type if is_list_type(kind) else kind
    numeric = pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal
    return any(is_of_type(inner) for is_of_type in numeric)


def _as_asked(columns: Any, kinds: Mapping[str, Kind]) -> Any:
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
    """Return a file's path and name; a stream that can be read only once is copied into a temporary file, deleted at exit."""
    path = Path(source)
    if str(source) != STDIN and not (path.is_fifo() or path.is_char_device()):
        return path, str(source)
    import atexit
    import shutil

    with tempfile.NamedTemporaryFile(prefix="headcount-", delete=False) as file:
        kept = Path(file.name)
        atexit.register(kept.unlink, missing_ok=True)
        with nullcontext(sys.stdin.buffer) if str(source) == STDIN else path.open("rb") as stream:
            shutil.copyfileobj(stream, file, 1 << 20)
    return kept, "standard input" if str(source) == STDIN else str(source)
