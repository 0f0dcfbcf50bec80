"""Text files with a header and fields, packed or not: Arrow parses blocks of regular rows, and Python's csv module all others.

Rows are regular if quotes open and close at the edges of fields. From the first row on that is not (letters behind a closing quote,
blanks before an opening one), rows are read one by one, more slowly. That reader also finds the line and the column of what nobody
can read.

DuckDB is not asked: with ``parallel=false`` it drops the rest of a table behind a quote that is not closed, without a word, and
otherwise it refuses some tables with line breaks between quotes that are larger than its buffer.
"""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from headcount._escaping import from_spreadsheet
from headcount._interpreted import run
from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import MISSING_NUMBERS, ROWS_OF_PYTHON, batches_of_rows
from headcount.tables.header import column_names

__all__ = ["BOM", "DAMAGE", "LONGEST_LINE", "Text", "check_is_file", "itself", "unpacked_name"]

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_FORMATS = "Tables are read as CSV, TSV, JSON lines, Parquet or Excel (.xlsx), told by the ending of the name."
DAMAGE = (OSError, EOFError, zlib.error)
_WRAPPED = re.compile(rb'"(?:[^"]|"")*"')
"""A field between quotes, those inside of it doubled."""
_RAW = re.compile(rb'(?:^|(?<=[\t\n]))"(?!(?:[^"\t\r\n]|"")*"(?:[\t\r\n]|$))')
"""The beginning of a field that begins with a quote, but is not between quotes on its line."""
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8 text, as Python decodes it with "surrogateescape"."""
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEEN = 1 << 20
"""Bytes read to decide whether fields are quoted."""
_BLOCK = 6 << 20
"""Bytes that are parsed at a time."""
_LONGEST = 8
"""Blocks that a row may begin in the first of; longer ones are left to Python, which does not begin anew at each block."""
LONGEST_LINE = 1 << 25
"""Characters of a line, and of a field with line breaks: more are a quote that is not closed, or not a table."""
_LAST = "\x01the table ends here\x01"


class Text:
    """A file of lines; the first holds the names of the columns."""

    unit = "line"

    def __init__(self, path: Path, name: str, delimiter: str) -> None:
        self.path, self.name, self._delimiter = path, name, delimiter
        self.packed = compression_of(path)
        for suffix, packed in ((".gz", "gzip"), (".zst", "zstd")):
            if path.suffix.lower() == suffix and self.packed != packed:
                past = "gzipped" if packed == "gzip" else "packed by zstd"
                raise FileFormatError(f"{name} ends in {suffix} but is not {past}: rename it without {suffix}.")

    def opened(self) -> Any:
        """Open the file for its bytes, unpacked."""
        if self.packed != "zstd":
            return gzip.open(self.path, "rb") if self.packed else self.path.open("rb")
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(str(self.path), compression="zstd"))

    def content(self, size: int = -1) -> bytes:
        """Read the first bytes of the file, or all of them."""
        try:
            with self.opened() as file:
                content: bytes = file.read(size)
        except DAMAGE as error:
            raise self.cut_off(error) from error
        if not content.strip():
            raise FileFormatError(f"{self.name} is empty.")
        if content.startswith(_UTF_16):
            raise FileFormatError(f'{self.name} is UTF-16 text (Excel\'s "Unicode Text"): save it as CSV UTF-8.')
        if b"\x00" in content[:_SEEN]:
            raise FileFormatError(f"{self.name} is a binary file, not text. {_FORMATS}")
        return content

    @cached_property
    def _beginning(self) -> bytes:
        content = self.content(_SEEN)
        self._all_seen = len(content) < _SEEN
        return content.removeprefix(BOM)

    @cached_property
    def delimiter(self) -> str:
        """The separator of fields: that of the format, or, if the header has none of it, semicolons or tabs if it has those."""
        header = _WRAPPED.sub(b"", next(iter(self._beginning.splitlines()), b""))
        others = [mark for mark in (self._delimiter, ";", "\t") if mark.encode() in header]
        return others[0] if others else self._delimiter

    @cached_property
    def quotes(self) -> bool:
        """Whether fields may be quoted: with tabs only if all that begin so end so, or if lines would else differ in fields."""
        if self.delimiter != "\t":
            return True
        lines = self._beginning.splitlines()
        lines = lines if self._all_seen or len(lines) == 1 else lines[:-1]
        quoted = [field for line in lines for field in line.split(b"\t") if field[:1] == b'"']
        if quoted and all(_WRAPPED.fullmatch(field) for field in quoted):
            return self._all_seen or not self._raw_quotes()
        tabs = lines[0].count(b"\t")
        return any(line.count(b"\t") != tabs for line in lines if line) and bool(quoted)

    def _raw_quotes(self) -> bool:
        """Whether some field of the whole table begins with a quote, but is not between quotes."""
        with self.opened() as file:
            rest = b""
            while content := file.read(_SEEN):
                lines, end, rest = (rest + content).rpartition(b"\n")
                if _RAW.search(lines + end):
                    return True
                if len(rest) > LONGEST_LINE:
                    return False  # reading it raises
        return bool(_RAW.search(rest))

    def guessed(self) -> str:
        """Guess the format by the header."""
        first = self._beginning.splitlines()[0]
        return "jsonl" if first.lstrip()[:1] == b"{" else "tsv" if b"\t" in first else "csv"

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        text = self._beginning.decode("utf-8", "surrogateescape")
        names: list[str] = next(self._reader(io.StringIO(text, newline="")), [])
        if names[-1:] and names[-1].endswith(_LAST):
            raise FileFormatError(f"{self.name}, line 1: a quote opens in the names of the columns, and is not closed.")
        if not self._all_seen and not _LINE_END.search(text):
            raise FileFormatError(f"{self.name}, line 1: the names of the columns take more than {_SEEN:,} bytes.")
        wrong = _NOT_UTF8.search("".join(names))
        if wrong:
            raise self._not_utf8("line 1", wrong)
        return column_names(list(map(from_spreadsheet, names)), f"{self.name}, line 1")

    def parts(self, kinds: Mapping[str, str], rows: int) -> Iterator[tuple[int, Callable[[], Any]]]:
        """Read some columns, numbers as floats and all others as texts.

        Yields of each block of rows how many come before it, and what parses it, in any thread.
        """
        done = 0
        try:
            for block, until in self._blocks():
                if until < 0:
                    break
                if until > done:
                    yield done, partial(self._parsed, block, kinds, done, until)
                    done = until
            else:
                return
        except DAMAGE as error:
            raise self.cut_off(error) from error
        for batch in self._exactly(kinds, min(rows, ROWS_OF_PYTHON), done):
            yield done, partial(itself, batch)
            done += batch.num_rows

    def _blocks(self) -> Iterator[tuple[memoryview, int]]:
        """Yield blocks of whole rows, the first with the header, and how many rows there are so far; -1 if some are irregular."""
        from headcount.tables._kernels import whole_rows

        edges = np.zeros(256, dtype=np.bool_)
        edges[[*b'"\r\n', ord(self.delimiter)]] = True
        quote = ord('"') if self.quotes else 256
        rows, part = -1, BOM
        with self.opened() as file:
            rest = file.read(3).removeprefix(BOM)
            while part:
                part = file.read(_BLOCK)
                block = rest + (part or b"\n"[: rest[-1:] not in b"\n"])  # the last row may lack its line end
                with np.errstate(over="ignore"):  # as plain Python, which warns where a byte borrows
                    end, found = run(
                        whole_rows,
                        1.5 * len(block),
                        np.frombuffer(block, np.uint8),
                        edges,
                        quote,
                        len(self.columns) == 1,
                    )
                if end < 0 or len(rest) > _LONGEST * _BLOCK:
                    break
                if rows + found > 0:
                    rows, rest = rows + found, block[end:]
                    yield memoryview(block)[:end], rows
                else:
                    rest = block  # the header, so far
            else:
                if not rest:
                    return
        yield memoryview(b""), -1

    def _parsed(self, block: memoryview, kinds: Mapping[str, str], first: int, until: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow

        block = memoryview(BOM + block) if block[:3] == BOM else block  # Arrow drops one
        parse = arrow.ParseOptions(
            delimiter=self.delimiter,
            quote_char='"' if self.quotes else False,
            newlines_in_values=self.quotes and not first,  # for the header; a block is parsed as one
            ignore_empty_lines=len(self.columns) > 1,  # in a table of one column they are rows
        )
        names = list(kinds) or self.columns[-1:]
        convert = arrow.ConvertOptions(
            include_columns=names,
            column_types={name: pa.float64() if kinds.get(name) == "number" else pa.string() for name in names},
            strings_can_be_null=False,
            null_values=list(MISSING_NUMBERS),
        )
        named = {"column_names": self.columns} if first else {}
        read = arrow.ReadOptions(use_threads=False, block_size=len(block) + 1, **named)
        try:
            table = arrow.read_csv(pa.py_buffer(block), read, parse, convert).combine_chunks()
            if len(table) == until - first:
                return table.to_batches()[0]
        except pa.ArrowException:
            pass
        try:  # what Arrow can't read, Python can
            return next(self._exactly(kinds, until - first, first, block if first else None))
        except DataError:  # or says why not, once it has counted lines from the beginning
            return next(self._exactly(kinds, until - first, first))

    def _exactly(
        self, kinds: Mapping[str, str], rows: int, first: int, block: memoryview | None = None
    ) -> Iterator[Any]:
        """Read row by row, from some row on or a block that begins there."""
        places = [self.columns.index(name) for name in kinds]
        try:
            with closing(self._lines(block)) as lines:
                found = self._rows(places, lines if block else islice(lines, first, None))
                if self.delimiter == ";":  # where commas do not separate fields, they may be decimal points
                    numbers = [place for place, kind in enumerate(kinds.values()) if kind == "number"]
                    found = (_with_points(fields, numbers) for fields in found)
                yield from batches_of_rows(found, kinds, rows, self.place, first)
        except DAMAGE as error:
            raise self.cut_off(error) from error
        except csv.Error as error:
            raise FileFormatError(
                f"{self.name} can't be read as a table separated by {self.delimiter!r}: {error}"
            ) from error

    def _rows(self, places: Sequence[int], lines: Iterator[tuple[int, list[str]]]) -> Iterator[list[Any]]:
        names = self.columns
        for line, fields in lines:
            if fields[-1].endswith(_LAST):
                line += sum(len(_LINE_END.findall(field)) for field in fields[:-1])
                raise FileFormatError(
                    f"{self.name} ends in the middle: the quote that opens in line {line:,} is not closed. Copy or export it "
                    "again."
                )
            ragged = len(fields) != len(names)
            for place in range(len(fields)) if ragged else places:
                wrong = _NOT_UTF8.search(fields[place])
                if wrong:
                    before = "".join(fields[:place]) + fields[place][: wrong.start()]
                    column = f", column {names[place]!r}" if place < len(names) else ""
                    raise self._not_utf8(f"line {line + len(_LINE_END.findall(before)):,}{column}", wrong)
            if ragged:
                raise FileFormatError(
                    f"{self.name}, line {line:,}: expected {len(names)} fields, as in the header, found {len(fields)}. "
                    "Quote fields that hold the separator, and see whether the file is complete."
                )
            yield [fields[place] for place in places]

    def _lines(self, block: memoryview | None = None) -> Generator[tuple[int, list[str]], None, None]:
        """Yield the line that each row of the file, or of a block without the header, begins in, and its fields."""
        file = self.opened() if block is None else io.BytesIO(block)
        with io.TextIOWrapper(file, "utf-8" if block else "utf-8-sig", errors="surrogateescape", newline="") as lines:
            reader, begins = self._reader(self._short_lines(lines)), 1
            try:
                if block is None:
                    next(reader, [])
                begins = reader.line_num + 1
                for fields in reader:
                    if fields == [_LAST]:
                        return
                    if fields or len(self.columns) == 1:
                        yield begins, fields or [""]
                    begins = reader.line_num + 1
            except csv.Error as error:
                if "field limit" not in str(error):
                    raise
                raise FileFormatError(
                    f"{self.name}, line {begins:,}: a field of the row that begins here takes more than {LONGEST_LINE:,} "
                    "characters. Is a quote not closed?"
                ) from error

    def _short_lines(self, file: io.TextIOWrapper) -> Iterator[str]:
        """Yield lines; raise at one that is too long, before it fills the memory."""
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise FileFormatError(
                    f"{self.name}, line {number:,} takes more than {LONGEST_LINE:,} characters: this is not a table of text. See "
                    "whether the file is complete, and what its format is."
                )
            yield line

    def _reader(self, lines: Any) -> Any:
        """Python's reader of a table, whose last row is `_LAST` unless a quote is open there."""
        csv.field_size_limit(LONGEST_LINE)
        return csv.reader(
            chain(lines, [_LAST]),
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
        )

    def line_of(self, row: int) -> int:
        """Return the line at which a row, counted from 0, begins; a text with line breaks makes it more than the row's number."""
        try:
            found = next(islice(self._lines(), row, None), None)
        except (*DAMAGE, csv.Error, FileFormatError):
            found = None
        return found[0] if found else row + 2

    def place(self, row: int, column: str) -> str:
        """Where a field is, for messages."""
        return f"{self.name}, line {self.line_of(row):,}, column {column!r}"

    def _not_utf8(self, where: str, byte: re.Match[str]) -> FileFormatError:
        return FileFormatError(
            f"{self.name}, {where}: the byte 0x{ord(byte[0]) - 0xDC00:02x} is not UTF-8 text. Convert the file, for example with "
            "'iconv -f latin1 -t utf-8'."
        )

    def cut_off(self, error: Exception) -> FileFormatError:
        """Word that a packed file is damaged."""
        return FileFormatError(
            f"{self.name} is a damaged {self.packed} file, or one that ends in the middle ({error}): copy or download it again."
        )


def _with_points(fields: list[Any], numbers: Sequence[int]) -> list[Any]:
    """Write the numbers among the fields of a row with a decimal point."""
    for place in numbers:
        if _DECIMAL_COMMA.fullmatch(fields[place]):
            fields[place] = fields[place].replace(",", ".")
    return fields


def itself(batch: Any) -> Any:
    """Return what was parsed already."""
    return batch


def compression_of(path: Path) -> str | None:
    """How a file is packed, by its first bytes."""
    with path.open("rb") as file:
        mark = file.read(4)
    return next((packed for first, packed in _PACKED.items() if mark.startswith(first)), None)


def check_is_file(path: Path, name: str) -> None:
    """Raise unless there is such a file; ``name`` is its name in messages."""
    if not path.exists():
        raise DataError(f"There is no file {name}.")
    if path.is_dir():
        raise DataError(f"{name} is a folder; a file is needed here.")


def unpacked_name(path: Path) -> Path:
    """Return the path without the ending of packed files."""
    return path.with_suffix("") if path.suffix.lower() in (".gz", ".zst") else path
