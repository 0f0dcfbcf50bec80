"""How much memory a sheet of an Excel file takes, found out before it is read: a few kilobytes may ask for terabytes."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headcount.exceptions import FileFormatError

__all__ = ["check_excel_size"]

_MOST_UNPACKED, _MOST_OTHER = 2 * 2**30, 200 * 2**20
"""Bytes of all members of the file, which are read one after another, and of one that is no sheet, which is kept as a whole."""
_ALWAYS, _MOST_SPARSE, _SPARSE, _DENSE = 5_000_000, 40_000_000, 50, 4
"""Cells of a rectangle that are always read; beyond them so many for each cell that is there, up to a limit, or fewer without one.

The rectangle from the first to the last cell is held in memory, with about 40 bytes for each cell of it, empty or not.
"""
_CELL = re.compile(rb"""<(?:\w+:)?c\s[^<>]*?\br\s*=\s*["']([A-Za-z]+)([0-9]*)["'][^<>]*(?<!/)>""")
"""A cell with something in it, and where it is: what is left of a deleted cell takes no memory."""
_UNPLACED = re.compile(rb"<(?:\w+:)?c(?![^<>]*\sr\s*=)[\s>]")
_ROW = re.compile(rb"""\sr\s*=\s*["']([0-9]+)["']""")
_TOO_WIDE = re.compile(rb"\sr(?:\s{200}|\s*=\s{200})")
"""A reference with so much space in it that it may not be found."""
_BLOCK, _OVERLAP = 1 << 20, 1 << 10
_LETTERS, _DIGITS = 3, 7
"""Letters of the last column and digits of the last row of any sheet."""


def check_excel_size(path: Path, name: str) -> None:
    """Raise if an Excel file would unpack to too much, or a cell is so far from the others that the space fills the memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if sum(info.file_size for info in members) > _MOST_UNPACKED:
                raise FileFormatError(
                    f"{name} would unpack to more than {_MOST_UNPACKED / 2**30:g} GiB: save the table as CSV or Parquet."
                )
            for info in members:
                _check_member(archive, info, name)
    except FileFormatError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise FileFormatError(f"{name} is a damaged Excel file ({error}): save it again.") from error


def _check_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> None:
    n_cells, rows, columns = 0, 0, 1
    with archive.open(info) as file:
        for block in _blocks(file):
            cells = _CELL.findall(block)
            n_cells += len(cells)
            numbers = {digits for _, digits in cells}
            if block.count(b"<c") + block.count(b":c") > len(
                cells
            ):  # some are empty, or other tags begin with c, or worse
                if _TOO_WIDE.search(block):
                    raise FileFormatError(f"{name} is a damaged Excel file: save it again.")
                if _UNPLACED.search(block):  # such cells are counted on from the number of the row
                    numbers.update(_ROW.findall(block))
            columns = max([columns, *map(_column_number, {letters for letters, _ in cells})])
            rows = max([rows, *(int(digits or b"0") if len(digits) <= _DIGITS else 10**_DIGITS for digits in numbers)])
    if rows * columns > max(_ALWAYS, min(_SPARSE * n_cells, _MOST_SPARSE), _DENSE * n_cells):
        raise FileFormatError(
            f"{name}: a sheet with {n_cells:,} cells reaches to row {rows:,} and column {columns:,}, and the empty space between "
            "would fill the memory. Delete the cell that is far from the table, or save the table as CSV."
        )
    if info.file_size > _MOST_OTHER and not n_cells:
        raise FileFormatError(
            f"{name} would unpack to more than {_MOST_OTHER / 2**20:g} MiB beside its sheets: save the table as CSV or Parquet."
        )


def _blocks(file: Any) -> Iterator[bytes]:
    """Read blocks that end where a tag begins; within a longer tag they overlap by more than a reference takes."""
    rest = b""
    while part := file.read(_BLOCK):
        block, tag, rest = (rest + part).rpartition(b"<")
        yield block or rest
        rest = tag + rest if tag else rest[-_OVERLAP:]
    yield rest


def _column_number(letters: bytes) -> int:
    """Return the number of the column that letters name.

    >>> _column_number(b"A"), _column_number(b"AA"), _column_number(b"XFD")
    (1, 27, 16384)
    """
    if len(letters) > _LETTERS:
        return int(26 ** (_LETTERS + 1))
    return sum(26**power * (letter - ord("A") + 1) for power, letter in enumerate(reversed(letters.upper())))
