"""`TableFile`: a table in a file, a database, on standard input or in memory, read in batches of rows with bounded memory.

Errors name the line (of text files) or row (of others) and the column.
"""

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeAlias

from headcount._validation import quoted
from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import Batch
from headcount.tables.lines import Text, check_is_file, itself, unpacked_name
from headcount.tables.typed import ArrowTable, DuckTable, ParquetTable
from headcount.tables.values import ExcelSheet, JsonLines, SqliteTable

__all__ = ["TABLE_FORMATS", "Kind", "NoRowsError", "Piece", "TableFile", "files_of"]

Kind: TypeAlias = Literal["text", "number", "group", "key", "time", "any"]
"""How a column is read: as texts, numbers (empty: NaN), values that many rows share, dates and times, or as the table has it."""

Piece: TypeAlias = Callable[[], Iterable[Batch]]
"""Makes batches of one piece of a file, in any thread."""

STDIN = "-"
TABLE_FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".xlsx": "excel",
}
"""Formats by the ending of the file name; ``.gz`` or ``.zst`` may follow those of text."""
_PARTS: dict[str, Any] = {"SQLite": SqliteTable, "DuckDB": DuckTable, "excel": ExcelSheet}
"""Formats of files that hold several tables."""
_BINARY = {"parquet": "a Parquet file", "excel": "an Excel file"}
_ROWS = 1 << 17
"""Rows that are read at a time, unless they are long."""
_MARKS = {b"PAR1": "parquet", b"SQLite format 3\x00": "SQLite", b"PK\x03\x04": "excel"}
_PARTITION = re.compile(r"([^=]+)=(.*)")


class NoRowsError(FileFormatError):
    """A table without rows: an error for a single file, allowed among the files of a folder."""


class TableFile:
    """A table of which batches of rows are read.

    Parameters
    ----------
    source : str, Path or table
        A file, standard input (``-``), a table or query of an SQLite or DuckDB file (``file.db::table``), a sheet of an Excel file
        (``file.xlsx::sheet``, by default the first), or a table of pandas, polars or Arrow. Folders named ``key=value`` on the way
        to a file are columns of it, if asked for.
    format : {"csv", "tsv", "parquet", "jsonl", "excel"}, optional
        By default by the ending of the name; of standard input, by what comes.

    Attributes
    ----------
    name : str
        For messages.
    columns : list of str
    """

    def __init__(self, source: Any, format: str | None = None) -> None:  # noqa: A002
        self.text: Text | None = None
        self.partitions: dict[str, str] = {}
        self.path = Path()
        self._reader: Any
        if not isinstance(source, str | Path):
            self.name, self.format = f"the table ({type(source).__name__})", "arrow"
            self._reader = ArrowTable(source, self.name)
        else:
            self._open(source, format)
        self.columns: list[str] = list(self._reader.columns)
        twice = [name for name, times in Counter(self.columns).items() if times > 1]
        if twice:
            raise FileFormatError(f"{self.name} has more than one column named {quoted(twice)}: rename one of them.")

    def _open(self, source: str | Path, expected: str | None) -> None:
        file, _, asked = str(source).partition("::")
        asked = "" if Path(source).exists() else asked
        self.path, self.name = _kept_input(file if asked else source)
        check_is_file(self.path, self.name)
        found = _found(self.path)
        self.format = (
            found if found in ("SQLite", "DuckDB") else expected or self._format(file if asked else source, found)
        )
        if self.format in _PARTS:
            self.name = str(source) if self.path == Path(file) else self.name
        elif asked:
            raise DataError(f"{file} is neither a database nor an Excel file, of which a part ({asked}) could be read.")
        if self.format not in (*TABLE_FORMATS.values(), *_PARTS):
            known = ", ".join(dict.fromkeys(TABLE_FORMATS.values()))
            raise DataError(f"There is no format {self.format!r}; known are {known}.")
        if self.format != found and (found or self.format in _BINARY):
            words = f"is {_BINARY[found]}" if found else f"is not {_BINARY[self.format]}"
            raise FileFormatError(
                f"{self.name} {words}, but was taken for {self.format}: rename it, or say which it is."
            )
        parts = (_PARTITION.fullmatch(part) for part in self.path.parts[:-1])
        self.partitions = {part[1]: part[2] for part in parts if part}
        if self.format in _PARTS:
            self._reader = _PARTS[self.format](self.path, self.name, asked)
        elif self.format in ("parquet", "jsonl"):
            self._reader = (ParquetTable if found else JsonLines)(self.path, self.name)
        else:
            self._reader = self.text = Text(self.path, self.name, "\t" if self.format == "tsv" else ",")

    def _format(self, source: str | Path, found: str | None) -> str:
        suffix = unpacked_name(Path(self.name)).suffix.lower()
        if suffix in TABLE_FORMATS:
            return TABLE_FORMATS[suffix]
        if self.path != Path(source) or self.path.is_relative_to("/dev"):  # a stream has no name to go by
            return found or Text(self.path, self.name, ",").guessed()
        raise DataError(
            f"The format of {self.name} can't be inferred from its name; known are {', '.join(TABLE_FORMATS)} (and .gz or .zst "
            "after those of text), SQLite and DuckDB files. Save the table as .xlsx or .csv."
        )

    def require(self, names: Sequence[str], note: str = "") -> None:
        """Raise unless the table has all these columns; the note follows the names of those that it lacks."""
        missing = [name for name in names if name not in self.columns and name not in self.partitions]
        if missing:
            raise DataError(
                f"{self.name} has no column {quoted(missing)}{note}; its columns are {quoted(self.columns, 12)}."
            )

    def place(self, row: int, column: str | None = None) -> str:
        """Name a row of the table, counted from 0, in a message."""
        unit, line_of = getattr(self._reader, "unit", "row"), getattr(self._reader, "line_of", (1).__add__)
        return f"{self.name}, {unit} {line_of(row):,}" + ("" if column is None else f", column {column!r}")

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
        of_path = {name: value for name, value in self.partitions.items() if name in kinds and name not in self.columns}
        own = {name: kind for name, kind in kinds.items() if name not in of_path}
        for first, parse in self._parts(own):
            yield partial(self._batches_of, parse, first, rows or _ROWS, of_path, kinds)

    def _parts(self, kinds: Mapping[str, Kind]) -> Iterator[tuple[int, Callable[[], Any]]]:
        if self.text is not None:
            yield from self.text.parts(kinds, _ROWS)
            return
        first = 0
        for columns in self._reader.batches(kinds, _ROWS):
            yield first, partial(itself, columns)
            first += columns.num_rows

    def _batches_of(
        self, parse: Callable[[], Any], first: int, rows: int, of_path: Mapping[str, str], kinds: Mapping[str, Kind]
    ) -> list[Batch]:
        columns = _with_constants(parse(), of_path, kinds)
        starts = range(0, columns.num_rows, rows)
        return [
            Batch(self.name, columns.slice(start, rows), self.place, first + start, self.text is not None)
            for start in starts
        ]

    def no_rows(self) -> "NoRowsError":
        """Word that there are no rows."""
        return NoRowsError(f"{self.name} holds no rows" + (" below its header." if self.text else "."))


def _with_constants(columns: Any, values: Mapping[str, str], kinds: Mapping[str, Kind]) -> Any:
    """Add a column for each key of the path, the same in each row."""
    import pyarrow as pa

    for name, value in values.items():
        try:
            constant = pa.scalar(float(value) if kinds[name] == "number" else value)
        except UnicodeEncodeError as error:
            raise DataError(
                f"The folder {name}={value} is not named in UTF-8, and can't be a value: rename it."
            ) from error
        except ValueError as error:
            raise DataError(f"The folder {name}={value} does not name a number.") from error
        columns = columns.append_column(name, pa.repeat(constant, columns.num_rows))
    return columns


def _found(path: Path) -> str | None:
    """Which format a file has by its first bytes; None if it is text, or another."""
    with path.open("rb") as file:
        mark = file.read(16)
    if mark[8:12] == b"DUCK":
        return "DuckDB"
    return next((found for begin, found in _MARKS.items() if mark.startswith(begin)), None)


def files_of(source: Any) -> list[Any]:
    """Return the source itself, or the files of a folder, or those that a pattern matches, in the order of their names."""
    if not isinstance(source, str | Path) or str(source) == STDIN or "::" in str(source):
        return [source]
    path = Path(source)
    if has_magic(str(source)) and not path.exists():
        matches = sorted(glob(str(source), recursive=True))  # noqa: PTH207 (the pattern may be absolute)
        files = [Path(name) for name in matches if Path(name).is_file()]
        if not files:
            raise DataError(f"No file matches {source}.")
        return list(files)
    if not path.is_dir():
        return [source]
    files = sorted(p for p in path.rglob("*") if _is_table(p) and p.is_file() and not _hidden(p.relative_to(path)))
    if not files:
        raise DataError(
            f"{path} is a folder without Parquet files (*.parquet) or other tables ({', '.join(TABLE_FORMATS)}): name a file, or a "
            "folder that holds some."
        )
    formats = {TABLE_FORMATS[unpacked_name(file).suffix.lower()]: file for file in files}
    if len(formats) > 1:
        raise DataError(
            f"{path} is a folder of tables in different formats, such as {quoted(file.name for file in formats.values())}: are "
            f"these the same rows? Name them by a pattern, as in {path}/*.{next(iter(formats))}."
        )
    return list(files)


def _is_table(path: Path) -> bool:
    return unpacked_name(path).suffix.lower() in TABLE_FORMATS


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
        if str(source) == STDIN and sys.stdin is None:
            raise DataError("Standard input is closed: send a table to it, or name a file.")
        with nullcontext(sys.stdin.buffer) if str(source) == STDIN else path.open("rb") as stream:
            shutil.copyfileobj(stream, file, 1 << 20)
    return kept, "standard input" if str(source) == STDIN else str(source)
