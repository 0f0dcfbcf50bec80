"""Text files with a header and fields: open them, gzipped or not, and locate the line of an error."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from headcount.exceptions import DataError, FileFormatError
from headcount.tables.blocks import OpenQuoteError, Quotes

__all__ = ["MISSING_NUMBERS", "Text", "check_is_file", "without_suffix"]

_GZIP_MARK = b"\x1f\x8b"
MISSING_NUMBERS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "na", "n/a")
"""Fields that stand for a missing number."""

_WRAPPED = re.compile(rb'"(?:[^"]|"")*"')
"""A field between quotes, those inside of it doubled."""
_RAW = re.compile(rb'(?:^|(?<=[\t\n]))"(?!(?:[^"\t\r\n]|"")*"(?:[\t\r\n]|$))')
"""The beginning of a field that begins with a quote, but is not between quotes on its line."""
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8 text, as Python decodes it with "surrogateescape"."""
_SEEN = 1 << 20
"""Bytes read to decide whether fields are quoted."""


class Text:
    """A file of lines; the first holds the names of the columns."""

    def __init__(self, path: Path, name: str, delimiter: str) -> None:
        self.path, self.name, self.delimiter = path, name, delimiter
        with path.open("rb") as file:
            self.packed = file.read(2) == _GZIP_MARK
        if path.suffix.lower() == ".gz" and not self.packed:
            raise FileFormatError(f"{name} ends in .gz but is not gzipped: rename it without .gz.")

    def opened(self) -> Any:
        """Open the file for Arrow."""
        import pyarrow as pa

        return pa.input_stream(str(self.path), compression="gzip" if self.packed else None)

    def _bytes(self) -> Any:
        return gzip.open(self.path, "rb") if self.packed else self.path.open("rb")

    def content(self, size: int = -1) -> bytes:
        """Read the first bytes of the file, or all of them."""
        try:
            with self._bytes() as file:
                content: bytes = file.read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise self._cut_off(error) from error
        if not content.strip():
            raise FileFormatError(f"{self.name} is empty.")
        if b"\x00" in content[:_SEEN]:
            raise FileFormatError(f"{self.name} is a binary file, not text: what is its format?")
        return content

    @cached_property
    def _beginning(self) -> bytes:
        content = self.content(_SEEN)
        self._all_seen = len(content) < _SEEN
        return content.removeprefix(b"\xef\xbb\xbf")

    @cached_property
    def quotes(self) -> bool:
        """Whether fields may be quoted: with tabs only if all that begin so end so, or if lines would else differ in fields."""
        if self.delimiter != "\t":
            return True
        lines = self._beginning.splitlines()
        lines = lines if self._all_seen else lines[:-1]
        quoted = [field for line in lines for field in line.split(b"\t") if field[:1] == b'"']
        if quoted and all(_WRAPPED.fullmatch(field) for field in quoted):
            return self._all_seen or not self._raw_quotes()
        tabs = lines[0].count(b"\t")
        return any(line.count(b"\t") != tabs for line in lines if line) and bool(quoted)

    def _raw_quotes(self) -> bool:
        """Whether some field of the whole table begins with a quote, but is not between quotes."""
        with self._bytes() as file:
            rest = b""
            while content := file.read(_SEEN):
                lines, end, rest = (rest + content).rpartition(b"\n")
                if _RAW.search(lines + end):
                    return True
        return bool(_RAW.search(rest))

    def guessed(self) -> str:
        """Guess the format by the header."""
        return "tsv" if b"\t" in self._beginning.splitlines()[0] else "csv"

    def header(self) -> list[str]:
        """Return the names of the columns."""
        text = self._beginning.decode("utf-8", "surrogateescape")
        lines = self._reader(io.StringIO(text, newline=""))
        csv.field_size_limit(2**31 - 1)
        names: list[str] = next(lines, [])
        if lines.line_num > 1 and next(lines, None) is None and Quotes(self.delimiter.encode()).read(self._beginning):
            raise FileFormatError(f"{self.name}, line 1: a quote opens in the names of the columns, and is not closed.")
        if not self._all_seen and lines.line_num == 1 and next(lines, None) is None:
            raise FileFormatError(f"{self.name}, line 1: the names of the columns take more than {_SEEN:,} bytes.")
        try:
            "".join(names).encode()
        except UnicodeEncodeError as error:
            raise self.explained(error, {}) from error
        blank = [number for number, name in enumerate(names, start=1) if not name.strip()]
        if len(blank) == len(names):
            raise FileFormatError(
                f"{self.name}, line 1 is blank: there must be the names of the columns. Remove the line."
            )
        if blank:
            raise FileFormatError(f"{self.name}, line 1: column {blank[0]} has no name.")
        if len(names) == 1 and ";" in names[0]:
            raise FileFormatError(f"{self.name} looks separated by semicolons: use commas or tabs.")
        return names

    def _reader(self, lines: Any) -> Any:
        return csv.reader(lines, delimiter=self.delimiter, quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE)

    def _first(self, wanted: Callable[[int, list[str]], bool]) -> tuple[int, list[str]] | None:
        """Return the line and the fields of the first row that something is true of."""
        csv.field_size_limit(2**31 - 1)
        with self._bytes() as file, io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="") as lines:
            reader = self._reader(lines)
            single = len(next(reader, [])) == 1
            row, begins = 0, reader.line_num + 1
            for read in reader:
                fields = read or ([""] if single else [])
                if fields:
                    if wanted(row, fields):
                        return begins, fields
                    row += 1
                begins = reader.line_num + 1
        return None

    def line_of(self, row: int) -> int:
        """Return the line at which a row, counted from 0, begins; a text with line breaks makes it more than the row's number."""
        try:
            found = self._first(lambda number, _: number == row)
        except (OSError, EOFError, zlib.error, csv.Error):
            found = None
        return found[0] if found else row + 2

    @contextmanager
    def explaining(self, kinds: Mapping[str, str]) -> Iterator[None]:
        """Say in a sentence what makes reading fail, and where."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError, EOFError) as error:
            raise self.explained(error, kinds) from error

    def explained(self, error: Exception, kinds: Mapping[str, str]) -> DataError:
        """Say in a sentence what made reading fail, and where."""
        wrong = self._not_utf8()
        if wrong is not None:
            return wrong
        if isinstance(error, OpenQuoteError):
            return FileFormatError(
                f"{self.name} ends in the middle: the quote that opens in line {self._open_quote():,} is not closed. Copy or "
                "export it again."
            )
        try:
            names = self.header()
            ragged = self._first(lambda _, fields: len(fields) != len(names))
            if ragged:
                return FileFormatError(
                    f"{self.name}, line {ragged[0]:,}: expected {len(names)} fields, as in the header, found {len(ragged[1])}. "
                    "Quote fields that hold the separator, and see whether the file is complete."
                )
            places = [names.index(name) for name, kind in kinds.items() if kind == "number"]
            odd = self._first(lambda _, fields: any(_not_a_number(fields[place]) for place in places))
            if odd:
                place = next(place for place in places if _not_a_number(odd[1][place]))
                return DataError(
                    f"{self.name}, line {odd[0]:,}, column {names[place]!r}: {odd[1][place][:40]!r} is not a number. Name columns "
                    "of numbers (--features), or the column of texts (--text)."
                )
        except (OSError, EOFError, zlib.error) as damage:
            return self._cut_off(damage)
        reason = " ".join(str(error).split())
        return FileFormatError(f"{self.name} can't be read as a table separated by {self.delimiter!r}: {reason}")

    def _open_quote(self) -> int:
        """Return the line in which the last quote opens that no other one closes."""
        opened, open_quotes = 0, Quotes(self.delimiter.encode())
        with self._bytes() as file:
            for number, line in enumerate(file, start=1):
                before = open_quotes.inside
                open_quotes.read(line)
                opened = opened if before else number
        return opened

    def _not_utf8(self) -> FileFormatError | None:
        try:
            with self._bytes() as file:
                lines = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline="\n")
                number, line = next(
                    ((n, one) for n, one in enumerate(lines, start=1) if _NOT_UTF8.search(one)), (0, "")
                )
            if not number:
                return None
            found = self._first(lambda _, fields: any(map(_NOT_UTF8.search, fields)))
        except (OSError, EOFError, zlib.error) as error:
            return self._cut_off(error)
        except csv.Error:
            found = None
        where, byte = f"line {number:,}", ord(_NOT_UTF8.findall(line)[0]) - 0xDC00
        if found is not None:
            begins, fields = found
            place = next(i for i, field in enumerate(fields) if _NOT_UTF8.search(field))
            before = "".join(fields[:place]) + _NOT_UTF8.split(fields[place])[0]
            names = self._beginning.decode("utf-8", "surrogateescape")
            columns: list[str] = next(self._reader(io.StringIO(names, newline="")), [])
            if not any(map(_NOT_UTF8.search, columns)):
                where = f"line {begins + before.count(chr(10)):,}"
                where += f", column {columns[place]!r}" if place < len(columns) else ""
        return FileFormatError(
            f"{self.name}, {where}: the byte 0x{byte:02x} is not UTF-8 text. Convert the file, for example with 'iconv -f latin1 "
            "-t utf-8'."
        )

    def _cut_off(self, error: Exception) -> FileFormatError:
        return FileFormatError(
            f"{self.name} is a damaged gzip file, or one that ends in the middle ({error}): copy or download it again."
        )


def _not_a_number(field: str) -> bool:
    if field in MISSING_NUMBERS:
        return False
    try:
        float(field)
    except ValueError:
        return True
    return "_" in field  # Python takes 1_000 for a number, others do not


def check_is_file(path: Path, name: str) -> None:
    """Raise unless there is such a file; ``name`` is its name in messages."""
    if not path.exists():
        raise DataError(f"There is no file {name}.")
    if path.is_dir():
        raise DataError(f"{name} is a folder; a file is needed here.")


def without_suffix(path: Path, suffix: str) -> Path:
    """Return the path without its last ending, if it is this one."""
    return path.with_suffix("") if path.suffix.lower() == suffix else path
