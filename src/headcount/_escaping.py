"""Names and texts made safe for where they go: a terminal, a picture, a spreadsheet, JSON.

A file may name a class, a group or a column anything, terminal escapes and spreadsheet formulas included.
"""

import csv
import json
import re
from collections.abc import Iterable
from typing import Any, Literal

__all__ = [
    "csv_quoting",
    "escape_markdown",
    "from_spreadsheet",
    "json_text",
    "page_text",
    "printable",
    "spreadsheet_cell",
    "spreadsheet_rows",
]

_NOT_PRINTED = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Control characters, line separators, marks that turn the direction of writing, halves of letters: none is shown as itself."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How cells begin that a spreadsheet takes for a formula, in full width too (OWASP, CSV injection), and those escaped already."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?: ?%)?")


def printable(text: str, lines: bool = False) -> str:
    r"""Return text in which characters that control a terminal, or are not valid in XML, are written as escapes.

    Parameters
    ----------
    text : str
    lines : bool, default=False
        Keep line breaks.

    Examples
    --------
    >>> print(printable("\x1b[31mred\n"), printable("a\nb", lines=True))
    \x1b[31mred\n a
    b
    """
    return _NOT_PRINTED.sub(lambda match: "\n" if lines and match[0] == "\n" else _escape(match[0]), text)


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte of a file name that is not UTF-8, as Python decodes it
        return f"\\x{ord(character) - 0xDC00:02x}"
    return repr(character)[1:-1]


def page_text(value: Any) -> Any:
    """Return what a template shows: text without control characters, anything else, and markup, as it is."""
    return printable(value, lines=True) if type(value) is str else value


def escape_markdown(text: str) -> str:
    r"""Escape the characters that Markdown gives a meaning; a text is one line.

    >>> print(escape_markdown("a|b <i>"), escape_markdown("*"))
    a\|b \<i\> \*
    """
    return re.sub(r"([\\|<>*_`])", r"\\\1", printable(text, lines=True).replace("\n", " "))


def spreadsheet_cell(value: Any) -> Any:
    """Return a value to write to CSV: a text that a spreadsheet would run as a formula begins with an apostrophe.

    Numbers, also those given as texts, stay as they are. `from_spreadsheet` is the inverse.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("-5"), spreadsheet_cell(-5), spreadsheet_cell("'@x"), spreadsheet_cell("a-b")
    ("'=1+1", '-5', -5, "''@x", 'a-b')
    """
    if not isinstance(value, str) or not _FORMULA.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def from_spreadsheet(text: Any) -> Any:
    """Return the value of which `spreadsheet_cell` made a text.

    >>> from_spreadsheet("'=1+1"), from_spreadsheet("''@x"), from_spreadsheet("'tis")
    ('=1+1', "'@x", "'tis")
    """
    if isinstance(text, str) and text[:1] == "'" and spreadsheet_cell(text[1:]) == text:
        return text[1:]
    return text


def spreadsheet_rows(rows: Any) -> list[dict[str, Any]]:
    """Return records with names and values as `spreadsheet_cell` writes them."""
    return [{spreadsheet_cell(name): spreadsheet_cell(value) for name, value in row.items()} for row in rows]


def csv_quoting(cells: Iterable[Any]) -> Literal[0, 2]:
    """Return which fields `csv` must quote: where a text holds a carriage return, which it leaves bare, all texts.

    Spreadsheets end the row there, so that the rest of the text is a cell, and may be a formula.
    """
    has_return = any(isinstance(cell, str) and "\r" in cell for cell in cells)
    return csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL


def json_text(value: Any, **options: Any) -> str:
    r"""Return a plain value as JSON in which every character that `printable` escapes is one of JSON's escapes.

    >>> print(json_text("\x9b31m é"), json_text("\x9b31m é", indent=1) == json_text("\x9b31m é"))
    "\u009b31m é" True
    """
    text = json.dumps(value, ensure_ascii=False, **options)
    return _NOT_PRINTED.sub(lambda match: match[0] if match[0] == "\n" else f"\\u{ord(match[0]):04x}", text)
