"""Names that a file may hold, made safe for terminals, spreadsheets and JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from headcount._escaping import from_spreadsheet, json_text, printable, spreadsheet_cell

NAMES = st.text(st.one_of(st.characters(), st.sampled_from("'=+-@\t\r\x1b\x9b0.5%")))


@given(NAMES)
def test_names_in_csv_are_no_formulas_and_read_back_the_same(name):
    cell = spreadsheet_cell(name)
    assert from_spreadsheet(cell) == name
    assert cell[:1] not in tuple("=+-@\t\r") or float(cell.rstrip(" %")) is not None


@given(NAMES)
def test_nothing_that_controls_a_terminal_is_printed_and_json_keeps_names(name):
    assert printable(printable(name)) == printable(name)
    assert not any(
        ord(character) < 32 or 127 <= ord(character) < 160 for character in printable(name) + json_text(name)
    )
    assert json.loads(json_text({name: [name]})) == {name: [name]}
