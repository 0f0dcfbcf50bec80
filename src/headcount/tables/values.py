"""Tables that come as rows of Python's values, of any type in any column: JSON lines, SQLite files, Excel sheets."""

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from headcount._labels import label_text
from headcount._validation import quoted
from headcount.exceptions import DataError, FileFormatError
from headcount.tables.batch import ROWS_OF_PYTHON, batches_of_rows
from headcount.tables.excel_size import check_excel_size
from headcount.tables.header import column_names
from headcount.tables.lines import BOM, DAMAGE, LONGEST_LINE, Text
from headcount.tables.typed import quoted_name, table_or_query, unreadable

__all__ = ["ExcelSheet", "JsonLines", "SqliteTable"]

_BYTES = 1 << 18
"""Of JSON lines that are parsed at a time."""
_HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON can write."""


class _Values:
    """A table whose rows are read by Python."""

    name: str
    columns: list[str]
    unit = "row"

    def line_of(self, row: int) -> int:
        """Where in the file a row, counted from 0, is."""
        return row + 1

    def rows(self, names: Sequence[str]) -> Iterator[Sequence[Any]]:
        """Read the values of some columns, row by row."""
        raise NotImplementedError

    def batches(self, kinds: Mapping[str, str], rows: int) -> Iterator[Any]:
        """Read some columns."""
        return batches_of_rows(self.rows(list(kinds)), kinds, min(rows, ROWS_OF_PYTHON), self.place)

    def place(self, row: int, column: str) -> str:
        """Where a value is, for messages."""
        return f"{self.name}, {self.unit} {self.line_of(row):,}, column {column!r}"


class JsonLines(_Values):
    """A file of one JSON object a line, whose keys are the columns; a key that an object lacks is missing there.

    The file is read twice, as its last line may have a key that no other has.
    """

    unit = "line"

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self._text = Text(path, name, ",")
        self._text.content(_BYTES)
        self.columns = list(dict.fromkeys(key for row in self._objects() for key in row))
        broken = next((key for key in self.columns if _HALF.search(key)), None)
        if broken is not None:
            raise FileFormatError(
                f"{self.name}: the name of a column, {broken[:40]!a}, holds half of a character, which is not text. Mend the file."
            )

    def rows(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """Read some columns."""
        return ([row.get(name) for name in names] for row in self._objects())

    def _objects(self) -> Iterator[dict[str, Any]]:
        try:
            with self._text.opened() as file:
                before = 0
                while lines := self._next_lines(file, before):
                    lines[0] = lines[0].removeprefix(b"" if before else BOM)
                    yield from self._parsed(lines, before)
                    before += len(lines)
        except DAMAGE as error:
            raise self._text.cut_off(error) from error

    def _next_lines(self, file: Any, before: int) -> list[bytes]:
        """Read some lines; raise at one that is too long, before it fills the memory."""
        content = file.read(_BYTES)
        rest = b"" if content[-1:] in (b"", b"\n") else file.readline(LONGEST_LINE)
        lines = BytesIO(content + rest).readlines()
        if len(rest) == LONGEST_LINE:
            number = before + len(lines)
            raise FileFormatError(
                f"{self.name}, line {number:,} takes more than {LONGEST_LINE:,} bytes: this is not a table."
            )
        return lines

    def _parsed(self, lines: Sequence[bytes], before: int) -> list[dict[str, Any]]:
        full = [(number, line) for number, line in enumerate(lines, start=before + 1) if line.strip()]
        try:  # together, which is faster
            rows = json.loads("[" + b",".join([line for _, line in full]).decode() + "]")
            if len(rows) == len(full) and all(type(row) is dict for row in rows):
                return list(rows)
        except (ValueError, RecursionError):
            pass
        return [self._object(line, number) for number, line in full]

    def _object(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            row = json.loads(line.decode())
        except (ValueError, RecursionError) as error:
            raise FileFormatError(f"{self.name}, line {number:,} is not a JSON object: {error}.") from error
        if not isinstance(row, dict):
            raise FileFormatError(f"{self.name}, line {number:,} holds no JSON object.")
        return row

    def line_of(self, row: int) -> int:
        """Return the line of a row, counted from 0."""
        with self._text.opened() as file:
            full = (number for number, line in enumerate(file, start=1) if line.strip())
            return next(islice(full, row, None), row + 1)


class SqliteTable(_Values):
    """A table, or what a query gives, of an SQLite file; Python reads it, as DuckDB would have to download how to."""

    def __init__(self, path: Path, name: str, asked: str) -> None:
        self.name, self._path = name, path
        known = (
            "SELECT m.name, p.name FROM sqlite_master m, pragma_table_info(m.name) p WHERE m.type IN ('table', 'view')"
        )
        self._tables: dict[str, list[str]] = {}
        for table, column in self._run(known, []):
            self._tables.setdefault(table, []).append(column)
        self._from = table_or_query(name, asked, self._tables)
        self.columns = []
        next(self._run(f"SELECT * FROM {self._from} LIMIT 0", self.columns), None)

    def rows(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Read some columns."""
        return self._run(f"SELECT {', '.join(map(quoted_name, names)) or '1'} FROM {self._from}", [])

    def _run(self, query: str, names: list[str]) -> Iterator[tuple[Any, ...]]:
        """Run a query, and append the names of its columns."""
        try:
            uri = f"{self._path.resolve().as_uri()}?mode=ro"
            with closing(sqlite3.connect(uri, uri=True, check_same_thread=False)) as connection:
                connection.execute("PRAGMA query_only = 1")
                cursor = connection.execute(query)
                names += [column[0] for column in cursor.description]
                yield from cursor
        except sqlite3.Error as error:
            raise unreadable(self.name, error, self._tables) from error


class ExcelSheet(_Values):
    """A sheet of an Excel file, whose first row holds the names of the columns; rows without any value are skipped."""

    def __init__(self, path: Path, name: str, asked: str) -> None:
        try:
            from python_calamine import CalamineError, CalamineWorkbook
        except ImportError as error:
            raise DataError(
                f"{name}: Excel files need the package python-calamine: pip install 'headcount[excel]'."
            ) from error
        check_excel_size(path, name)
        try:
            book = CalamineWorkbook.from_path(path)
            if asked and asked not in book.sheet_names:
                raise DataError(f"{name}: there is no sheet {asked!r}; there are {quoted(book.sheet_names, 12)}.")
            sheet = book.get_sheet_by_name(asked or book.sheet_names[0])
            names, *rows = sheet.to_python() or [[]]
        except CalamineError as error:
            raise FileFormatError(f"{name} is a damaged Excel file ({error}): save it again.") from error
        self.name = name
        if not names:
            raise FileFormatError(f"{name} is empty.")
        first = (sheet.start or (0, 0))[0] + 1
        self.columns = column_names([label_text(value).strip() for value in names], f"{name}, row {first}")
        self._rows = {n: row for n, row in enumerate(rows, start=first + 1) if any(value != "" for value in row)}

    def line_of(self, row: int) -> int:
        """Return the number of a row in the sheet."""
        return next(islice(self._rows, row, None), row + 2)

    def rows(self, names: Sequence[str]) -> Iterator[list[Any]]:
        """Read some columns."""
        places = [self.columns.index(name) for name in names]
        return ([None if row[place] == "" else row[place] for place in places] for row in self._rows.values())
