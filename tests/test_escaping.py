"""Names that a file may hold, made safe for terminals, spreadsheets and JSON."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import headcount.report
from headcount._escaping import _FORMULA, from_spreadsheet, json_text, printable, spreadsheet_cell
from headcount.cli.output import table_bytes
from headcount.report.downloads import _as_csv
from headcount.report.table import Cell, Column, Table

FORMULAS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
"""The first characters of formulas (OWASP, CSV injection), those of full width last."""
NAMES = st.text(st.one_of(st.characters(), st.sampled_from(f"'{FORMULAS}\x1b\x9b0.5%")))


@given(NAMES)
def test_names_in_csv_are_no_formulas_and_read_back_the_same(name):
    cell = spreadsheet_cell(name)
    assert from_spreadsheet(cell) == name
    assert cell[:1] not in tuple(FORMULAS) or float(cell.rstrip(" %")) is not None


@given(NAMES)
def test_nothing_that_controls_a_terminal_is_printed_and_json_keeps_names(name):
    assert printable(printable(name)) == printable(name)
    assert not any(
        ord(character) < 32 or 127 <= ord(character) < 160 for character in printable(name) + json_text(name)
    )
    assert json.loads(json_text({name: [name]})) == {name: [name]}


@given(st.one_of(NAMES, st.just("a\r=1+1")))
def test_a_name_is_one_cell_of_csv(name):
    """As spreadsheets read it, for which a carriage return without quotes ends the row."""
    name = name.encode("utf-8", "replace").decode()  # halves of letters are no text
    cell = spreadsheet_cell(name)
    study = Table("t", "", ["class"], [Column("a")], [([name], [Cell(1.0)])])
    for text in (
        table_bytes([{"class": name, "share": 0.5}], "s.csv").decode(),
        study.to_csv(),
        _as_csv([{"class": name, "share": 0.5}]),
    ):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert [len(row) for row in rows] == [2, 2]
        assert rows[1][0] == cell
        assert "\r" not in re.sub('"(?:[^"]|"")*"', "", text)


def test_the_page_escapes_as_files_are():
    script = (Path(headcount.report.__file__).parent / "templates" / "shares.js").read_text()
    (pattern,) = re.findall(r"/\^('\*\[=.*?)/\.test\(entry\)", script)
    for code in range(1 << 16):
        for text in (chr(code), f"'{chr(code)}"):
            assert bool(re.match(pattern, text)) == bool(_FORMULA.match(text)), repr(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("a%b#c$d&e_f~g^h", r"a\%b\#c\$d\&e\_f\textasciitilde{}g\textasciicircum{}h"),
        ("two\nlines\t", r"two\textbackslash{}nlines\textbackslash{}t"),
        ("[9cm]", "{[}9cm]"),
        ("*[9cm]", "{*}{[}9cm]"),
        ("^^5cinput", r"\textasciicircum{}\textasciicircum{}5cinput"),
    ],
)
def test_names_in_latex_are_text(name, text):
    r"""A row that begins with ``[`` or ``*`` would be an option of the ``\\`` before it."""
    table = Table(name, name, [name, "b"], [Column(name)], [([name, name], [Cell(1.0)])])
    lines = table.to_latex().splitlines()
    assert rf"\caption{{{text}. {text}}}" in lines
    assert rf"{text} & b & {text} \\" in lines
    assert any(line.startswith(f"{text} & {text} & ") for line in lines)
