"""Tables in batches: what is read, and the messages for what can't be read."""

import csv
import gzip
import io
import os
import sys
import tempfile
from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from headcount.exceptions import DataError, FileFormatError
from headcount.tables import lines
from headcount.tables import tablefile as module
from headcount.tables import values as json_lines
from headcount.tables.batch import Batch
from headcount.tables.tablefile import TableFile, files_of

CSV = 'month,x,text\n2016-01,0.5,"good, really"\n2016-02,,"two\nlines"\n2016-01,1e3,fine\n'


def write(path, content):
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def all_of(table, kinds, rows=None):
    return list(table.batches(kinds, rows))


@pytest.fixture
def three(tmp_path):
    """The same table as CSV, TSV, gzipped CSV and Parquet."""
    table = pa.table({"month": ["a", "b", "a"], "x": [0.5, None, 1e3], "text": ["t1", "t2", "t3"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    lines = ["month,x,text", "a,0.5,t1", "b,,t2", "a,1e3,t3", ""]
    write(tmp_path / "t.csv", "\n".join(lines))
    write(tmp_path / "t.tsv", "\n".join(lines).replace(",", "\t"))
    write(tmp_path / "t.csv.gz", gzip.compress("\n".join(lines).encode()))
    return [tmp_path / name for name in ("t.csv", "t.tsv", "t.csv.gz", "t.parquet")]


@pytest.mark.parametrize("rows", [None, 1, 2])
def test_all_formats_give_the_same_rows(three, rows):
    for path in three:
        table = TableFile(path)
        assert table.columns == ["month", "x", "text"]
        parts = all_of(table, {"month": "group", "x": "number", "text": "text"}, rows)
        where = "row" if path.suffix == ".parquet" else "line"
        offset = 1 if where == "row" else 2
        begins = [f"{path}, {where} {row + offset}" for row in range(0, 3, rows or 3)]
        assert [part.place(0) for part in parts] == begins
        assert [len(part) for part in parts] == ([3] if rows is None else [1, 1, 1] if rows == 1 else [2, 1])
        x = np.concatenate([part.numbers("x") for part in parts])
        np.testing.assert_array_equal(x, [0.5, np.nan, 1000.0])
        groups = [part.groups("month") for part in parts]
        assert [values[code] for codes, values in groups for code in codes] == ["a", "b", "a"]
        assert [text for part in parts for text in part.texts("text")] == ["t1", "t2", "t3"]
        np.testing.assert_array_equal(parts[0].matrix(["x", "x"])[0], [0.5, 0.5])


def test_columns_may_be_asked_for_in_any_order(three):
    for path in three:
        (batch,) = all_of(TableFile(path), {"text": "text", "x": "number", "month": "group"})
        assert (batch.texts("text")[0], batch.numbers("x")[0], batch.groups("month")[1]) == ("t1", 0.5, ["a", "b"])


def test_errors_name_lines_of_text_files_and_rows_of_others(tmp_path, three):
    table = TableFile(write(tmp_path / "q.csv", CSV))
    batch = all_of(table, {"text": "text"})[0]
    assert batch.texts("text").tolist() == ["good, really", "two\nlines", "fine"]
    assert batch.place(1, "x") == f"{tmp_path / 'q.csv'}, line 3, column 'x'"
    assert batch.place(2) == f"{tmp_path / 'q.csv'}, line 5"
    assert TableFile(three[-1]).place(2, "x").endswith("t.parquet, row 3, column 'x'")
    assert TableFile(three[0]).text.line_of(99) == 101


def test_missing_values_form_a_group(tmp_path):
    parquet.write_table(pa.table({"g": ["a", None, "a"], "d": [date(2016, 1, 2)] * 3}), tmp_path / "t.parquet")
    batch = all_of(TableFile(tmp_path / "t.parquet"), {"g": "group", "d": "group"})[0]
    codes, values = batch.groups("g")
    assert [values[code] for code in codes] == ["a", None, "a"]
    assert batch.groups("d")[1] == [date(2016, 1, 2)]


def test_kinds_of_parquet_columns(tmp_path):
    table = pa.table(
        {
            "flag": [True, False],
            "whole": pa.array([1, 2], pa.int8()),
            "exact": pa.array([1, 2], pa.decimal128(5, 1)),
            "e": [[1.0, 2.0], [3.0, 4.0]],
            "fixed": pa.array([[1.0, 2.0], [3.0, 4.0]], pa.list_(pa.float32(), 2)),
            "words": pa.array([b"x", b"y"], pa.binary()),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    names = ["flag", "whole", "exact", "e", "fixed"]
    batch = all_of(TableFile(tmp_path / "t.parquet"), {**dict.fromkeys(names, "number"), "words": "text"})[0]
    np.testing.assert_array_equal(batch.matrix(["flag", "whole", "exact"]), [[1, 1, 1], [0, 2, 2]])
    for name in ("e", "fixed"):
        np.testing.assert_array_equal(batch.matrix([name]), [[1, 2], [3, 4]])
    assert batch.texts("words").tolist() == ["x", "y"]
    with pytest.raises(DataError, match="'words' is not numeric but binary"):
        all_of(TableFile(tmp_path / "t.parquet"), {"words": "number"})
    parquet.write_table(pa.table({"e": [[1.0, 2.0], [3.0]]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="row 2, column 'e' holds 1 numbers, the first row 2"):
        all_of(TableFile(tmp_path / "t.parquet"), {"e": "number"})[0].matrix(["e"])


def read(path, kinds):
    for batch in TableFile(path).batches(kinds):
        for name in (name for name, kind in kinds.items() if kind == "text"):
            batch.texts(name)


def refused(path, words, kinds=None):
    with pytest.raises(DataError, match=words) as caught:
        read(path, kinds or {"x": "number"})
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words", "kinds"),
    [
        ("a,b\n1,2\n", "has no column 'x'; its columns are 'a', 'b'", None),
        ("x,x\n1,2\n", "more than one column named 'x'", None),
        ("x,y\n1,2\n3\n", "line 3: expected 2 fields, as in the header, found 1", None),
        ('x,y\n1,"a\nb"\n3,4,5\n', "line 4: expected 2 fields, as in the header, found 3", None),
        ("x,y\n1,2\nabc,4\n", "line 3, column 'x': 'abc' is not a number", None),
        ("x,t\n1,good\n2,\n", "line 3, column 't' is empty", {"t": "text"}),
        ("x,t\n1,good\n2,   \n", "line 3, column 't' is empty", {"t": "text"}),
        (b"x,t\n1,good\n2,caf\xe9\n", "line 3, column 't': the byte 0xe9 is not UTF-8", {"t": "text"}),
        (b"x,caf\xe9\n1,2\n", "line 1: the byte 0xe9 is not UTF-8", None),
        ("x,\n1,2\n", "line 1: column 2 has no name", None),
        ("x,y\n", "holds no rows below its header", None),
        ("", "is empty", None),
        ("  \n", "is empty", None),
        (b"x\x00y\n", "is a binary file", None),
        ("PAR1", "is a Parquet file, but was taken for csv", None),
    ],
)
def test_unusable_text_files_are_refused(tmp_path, content, words, kinds):
    refused(write(tmp_path / "t.csv", content), words, kinds)


def test_a_byte_order_mark_and_other_line_ends(tmp_path):
    for content in (b"\xef\xbb\xbfx,y\n1,2\n", b"x,y\r\n1,2\r\n"):
        batch = all_of(TableFile(write(tmp_path / "t.csv", content)), {"x": "number"})[0]
        assert batch.numbers("x").tolist() == [1.0]


def test_quotes_in_tables_separated_by_tabs(tmp_path):
    lone = write(tmp_path / "a.tsv", 'x\tt\n1\t24" screen\n2\tfine\n')
    assert all_of(TableFile(lone), {"t": "text"})[0].texts("t").tolist() == ['24" screen', "fine"]
    quoted = write(tmp_path / "b.tsv", 'x\tt\n1\t"a\tb"\n2\tfine\n')
    assert all_of(TableFile(quoted), {"t": "text"})[0].texts("t").tolist() == ["a\tb", "fine"]


def test_files_of_other_encodings_are_refused_with_what_to_do(tmp_path):
    for encoding in ("utf-16", "utf-16-be"):
        content = (b"" if encoding == "utf-16" else b"\xfe\xff") + "x,t\n1,words\n".encode(encoding)
        refused(
            write(tmp_path / f"{encoding}.csv", content),
            r'is UTF-16 text \(Excel\'s "Unicode Text"\): save it as CSV UTF-8',
        )
    refused(write(tmp_path / "binary.csv", b"x,t\n1,\x00\x01\n"), "is a binary file, not text. Tables are read as CSV")


def test_truncated_files_are_refused(tmp_path, three):
    whole = gzip.compress(("x,t\n" + "0.5,some words here\n" * 20000).encode())
    refused(write(tmp_path / "cut.csv.gz", whole[:-20]), "damaged gzip file, or one that ends in the middle")
    refused(write(tmp_path / "early.csv.gz", whole[:12]), "ends in the middle")
    refused(write(tmp_path / "odd.csv.gz", b"x,t\n1,2\n"), "ends in .gz but is not gzipped")
    content = three[-1].read_bytes()
    refused(write(tmp_path / "cut.parquet", content[: len(content) // 2]), "ends in the middle")
    refused(write(tmp_path / "no.parquet", b"nothing"), "is not a Parquet file")
    broken = bytearray(content)
    broken[4:40] = b"\xff" * 36
    refused(write(tmp_path / "bad.parquet", bytes(broken)), "damaged Parquet file", {"month": "group"})


def test_the_format_follows_from_name_or_content(tmp_path):
    with pytest.raises(DataError, match="There is no file"):
        TableFile(tmp_path / "none.csv")
    with pytest.raises(DataError, match="is a folder"):
        TableFile(tmp_path)
    with pytest.raises(
        DataError, match=r"can't be inferred from its name; known are \.csv.*Save the table as \.xlsx or \.csv"
    ):
        TableFile(write(tmp_path / "t.odd", "x\n1\n"))
    with pytest.raises(DataError, match="There is no format 'xml'"):
        TableFile(write(tmp_path / "t.csv", "x\n1\n"), "xml")
    parquet.write_table(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "e.parquet")
    refused(tmp_path / "e.parquet", "holds no rows")


def test_standard_input(monkeypatch, three, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for path in three:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
        table = TableFile("-")
        assert table.name == "standard input"
        assert all_of(table, {"x": "number"})[0].numbers("x")[0] == 0.5
        assert table.path != path
    assert "standard input, row 1" in TableFile.place(table, 0)


def test_folders_hold_parquet_files(tmp_path):
    with pytest.raises(DataError, match="a folder without Parquet files"):
        files_of(tmp_path)
    for name in ("b.parquet", "a.pq"):
        write(tmp_path / name, b"")
    assert [path.name for path in files_of(tmp_path)] == ["a.pq", "b.parquet"]
    assert files_of("-") == ["-"]


def test_blocks_of_text_end_between_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 1 << 10)
    path = write(tmp_path / "t.csv", "x,g\n" + "".join(f"{i},g{i % 3}\n" for i in range(2000)))
    parts = all_of(TableFile(path), {"x": "number", "g": "group"})
    assert len(parts) > 5
    np.testing.assert_array_equal(np.concatenate([part.numbers("x") for part in parts]), np.arange(2000))
    first = 2 + np.cumsum([0, *(len(part) for part in parts[:-1])])
    assert [part.place(0) for part in parts] == [f"{path}, line {line:,}" for line in first]
    write(path, "x,g\n" + "".join(f"{i},g\n" for i in range(2000)) + "y,g\n")
    refused(path, "line 2,002, column 'x': 'y' is not a number")


@pytest.mark.parametrize(
    "fields",
    [
        ["plain", "words", "here"],
        ["plain", '"quoted"', "here"],
        ['"a\nb"', '"c, d"', "e"],
        ['"a ""b"" c"', "d", '"e\n"'],
        ["plain", "", '""'],
    ],
)
def test_blocks_with_quotes_hold_what_one_block_holds(tmp_path, monkeypatch, fields):
    rows = [f"{i},{fields[i % 3]}\n" for i in range(500)]
    path = write(tmp_path / "t.csv", '"x",t\n' + "".join(rows))
    whole = all_of(TableFile(path), {"x": "number", "t": "group"})
    for size in (64, 257, 1 << 10):
        monkeypatch.setattr(lines, "_BLOCK", size)
        parts = all_of(TableFile(path), {"x": "number", "t": "group"})
        assert len(parts) > len(whole)
        np.testing.assert_array_equal(np.concatenate([part.numbers("x") for part in parts]), np.arange(500))
        texts = [[values[code] for code in codes] for codes, values in (part.groups("t") for part in parts)]
        codes, values = whole[0].groups("t")
        assert [text for part in texts for text in part] == [values[code] for code in codes]


_FIELD = st.text(alphabet='ab"\n,; é', max_size=12)


@given(
    st.lists(st.tuples(_FIELD, _FIELD), min_size=1, max_size=60),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 400),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives_any_block_size(tmp_path, rows, quoting, line_end, size):
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting, lineterminator=line_end)
    writer.writerow(["a", "n", "b"])
    writer.writerows([one, i, two] for i, (one, two) in enumerate(rows))
    table = TableFile(write(tmp_path / "t.csv", text.getvalue()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", size)
        parts = all_of(table, {"a": "group", "n": "number", "b": "group"})
    assert np.concatenate([part.numbers("n") for part in parts]).tolist() == list(range(len(rows)))
    for name, place in (("a", 0), ("b", 1)):
        found = [values[code] for codes, values in (part.groups(name) for part in parts) for code in codes]
        assert found == [row[place] for row in rows]


_ODD = st.text(alphabet='ab"\n\r, _1\t', max_size=40)


def oracle(text, columns):
    """What Python's csv module reads; None where it reads an open quote or rows that differ in fields."""
    rows = list(csv.reader([*io.StringIO(text, newline=""), "the last row"]))
    body = [row or [""] for row in rows[1:-1] if row or columns == 1]
    return body if rows[-1] == ["the last row"] and all(len(row) == columns for row in body) else None


@given(st.integers(1, 3), _ODD, st.integers(1, 9), st.sampled_from([3, 8, 1 << 20]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@pytest.mark.kernels
def test_any_rows_are_read_as_python_reads_them_or_refused(tmp_path, columns, body, size, seen):
    content = ",".join("xyz"[:columns]) + "\n" + body
    table = TableFile(write(tmp_path / "t.csv", content))
    expected = oracle(content, columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS", size)
        patch.setattr(lines, "_BLOCK", seen)
        if not expected:
            with pytest.raises(FileFormatError):
                all_of(table, dict.fromkeys(table.columns, "group"))
            return
        parts = all_of(table, dict.fromkeys(table.columns, "group"))
    for place, name in enumerate(table.columns):
        found = [values[code] for codes, values in (part.groups(name) for part in parts) for code in codes]
        assert found == [row[place] for row in expected]


def days(values, kind=None):
    column = pa.array(values, pa.string() if kind is None else kind)
    batch = Batch("t", pa.RecordBatch.from_arrays([column], ["d"]), str)
    codes, names = batch.days("d")
    return [names[code] for code in codes]


_CLOCK = st.one_of(
    st.datetimes().map(str),
    st.datetimes(datetime(1990, 1, 1), timezones=st.timezones()).map(lambda t: t.isoformat(timespec="seconds")),
    st.datetimes().map(lambda t: f"{t.isoformat(timespec='minutes')}Z"),
    st.dates().map(str),
    st.just(""),
)


@given(st.lists(_CLOCK, min_size=1, max_size=20))
@pytest.mark.kernels
def test_times_are_encoded_by_local_calendar_day(texts):
    expected = [text[:10] for text in texts]
    assert days(texts) == expected
    assert days(texts, pa.dictionary(pa.int32(), pa.string())) == expected


@given(st.text(alphabet="0123456789-T :.Z+", min_size=1, max_size=30) | _CLOCK, st.data())
@pytest.mark.kernels
def test_only_valid_times_are_parsed_as_times(text, data):
    place = data.draw(st.integers(0, max(len(text) - 1, 0)))
    changed = text[:place] + data.draw(st.sampled_from("0959-T :.Z+")) + text[place + 1 :]
    (found,) = days([changed])
    if found != changed and found is not None:
        assert found == changed[:10]
        if int(found[8:10]) <= 28 and int(found[:4]):
            assert datetime.fromisoformat(changed).date().isoformat() == found


def test_days_of_missing_texts_and_of_parts_of_columns():
    column = pa.array(["x", "2016-07-09 10:00", None, "2016-07-01"]).slice(1)
    batch = Batch("t", pa.RecordBatch.from_arrays([column], ["d"]), str)
    codes, names = batch.days("d")
    assert [names[code] for code in codes] == ["2016-07-09", None, "2016-07-01"]
    assert days(["2016-07-09", "2016"]) == ["2016-07-09", "2016"]
    assert days([None, None]) == [None, None]


STRINGS = [pa.string(), pa.large_string(), pa.string_view()]
WRITTEN = STRINGS if int(pa.__version__.partition(".")[0]) >= 21 else STRINGS[:2]
"""Those that Parquet files can have; pyarrow 21 was the first to write all."""


def of_type(kind):
    return pa.table(
        {"few": pa.array(["a", "b"] * 500, kind), "many": pa.array([f"name {i}" for i in range(1000)], kind)}
    )


def has_groups_of(table, source):
    (batch,) = all_of(TableFile(source), {"few": "group", "many": "group"})
    for name in ("few", "many"):
        codes, values = batch.groups(name)
        assert [values[code] for code in codes] == table[name].to_pylist()
    return True


@pytest.mark.parametrize("kind", STRINGS)
def test_texts_in_memory_are_groups_for_every_string_type(kind):
    assert has_groups_of(of_type(kind), of_type(kind))


@pytest.mark.parametrize("kind", WRITTEN)
def test_texts_of_parquet_are_groups_for_every_string_type(tmp_path, kind):
    parquet.write_table(of_type(kind), tmp_path / "t.parquet")
    assert has_groups_of(of_type(kind), tmp_path / "t.parquet")


def test_quotes_inside_fields_are_literal(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 300)
    rows = [f'{i},a {i}" screen,"two\nlines, ""{i}"""' for i in range(200)]
    rows[:100] = [row.replace('" screen', "") for row in rows[:100]]
    table = TableFile(write(tmp_path / "t.csv", "n,t,u\n" + "\n".join(rows) + "\n"))
    parts = all_of(table, {"n": "number", "t": "text", "u": "text"})
    assert np.concatenate([part.numbers("n") for part in parts]).tolist() == list(range(200))
    assert [text for part in parts for text in part.texts("t")][99:101] == ["a 99", 'a 100" screen']
    assert parts[-1].texts("u")[-1] == 'two\nlines, "199"'
    assert parts[-1].place(len(parts[-1]) - 1) == f"{table.name}, line 400"


def test_a_field_may_be_larger_than_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 1 << 12)
    long = 'a ""word"" and another,\n' * 1000
    table = TableFile(write(tmp_path / "t.csv", f'n,t\n1,"{long}"\n2,"short"\n'))
    parts = all_of(table, {"n": "number", "t": "text"})
    assert [text for part in parts for text in part.texts("t")] == [long.replace('""', '"'), "short"]


def test_quoted_names_in_a_table_with_tabs(tmp_path):
    table = TableFile(write(tmp_path / "t.tsv", '"x"\t"t"\n1\t"a ""word"""\n'))
    assert table.columns == ["x", "t"]
    assert all_of(table, {"t": "text"})[0].texts("t").tolist() == ['a "word"']
    plain = TableFile(write(tmp_path / "p.tsv", 'x\tt\n1\t"a\n2\tb"\n'))
    assert all_of(plain, {"t": "text"})[0].texts("t").tolist() == ['"a', 'b"']


def test_headers_alone_and_blank_ones(tmp_path):
    for content in ("x,y", "x,y\n", "x,y\n\n"):
        refused(write(tmp_path / "t.csv", content), "holds no rows below its header")
    refused(write(tmp_path / "t.csv", "\nx,y\n1,2\n"), "line 1 is blank: there must be the names of the columns")


def test_line_ends_may_be_missing_or_carriage_returns(tmp_path):
    for content in ("x,y\n1,2\n3,4", "x,y\r1,2\r3,4\r", '"x\nz",y\n1,2\n3,4\n'):
        table = TableFile(write(tmp_path / "t.csv", content))
        assert np.concatenate([part.numbers("y") for part in all_of(table, {"y": "number"})]).tolist() == [2.0, 4.0]


def test_a_file_that_was_cut_after_it_was_opened(tmp_path):
    whole = gzip.compress(("x,t\n" + "".join(f"{i},words {i * 7919}\n" for i in range(300000))).encode())
    path = write(tmp_path / "t.csv.gz", whole)
    table = TableFile(path)
    write(path, whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match="ends in the middle"):
        all_of(table, {"x": "number"})
    assert table.place(299_999).endswith("line 300,001")


def rows_of(path):
    return sum(len(part) for part in all_of(TableFile(path), {"t": "text"}))


def test_a_byte_order_mark_in_a_long_table_with_tabs_is_ignored(tmp_path):
    content = ("t\tx\n" + ('"' + "w" * 90 + "\t0.5\n") * 15000).encode()
    assert len(content) > 1 << 20
    for mark in (b"", b"\xef\xbb\xbf"):
        assert rows_of(write(tmp_path / "t.tsv", mark + content)) == 15000


def test_an_open_quote_is_located_wherever_it_is(tmp_path, monkeypatch):
    for before in ("", '0.5,5" x\n'):
        path = write(tmp_path / "t.csv", "p,t\n" + before + "0.5,a\n" * 9 + '0.5,"open\n' + "0.5,b\n" * 100)
        refused(path, "ends in the middle: the quote that opens in line", {"t": "text"})
    monkeypatch.setattr(lines, "_BLOCK", 64)
    refused(path, "ends in the middle", {"t": "text"})
    refused(write(path, 'p,t\n0.5,"open\n' + "0.5,b\n" * 2000), "opens in line 2 is not closed", {"t": "text"})
    refused(
        write(path, '"p,t\n' + "0.5,b\n" * 50000), "line 1: a quote opens in the names of the columns", {"t": "text"}
    )


def test_lines_that_end_in_different_ways(tmp_path):
    assert rows_of(write(tmp_path / "t.csv", "x,t\r" + "1,a\r" * 100 + "1,a\n" * 11)) == 111
    assert rows_of(write(tmp_path / "t.csv", "x,t\r1,2\r3,4\n")) == 2


def test_long_rows_in_a_file_with_quotes_inside_of_fields(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_BLOCK", 1 << 10)
    long = "word\n" * 800
    path = write(tmp_path / "t.csv", f'x,t\n1,5" wide\n2,"{long}"\n3,b\n')
    assert [text for part in all_of(TableFile(path), {"t": "text"}) for text in part.texts("t")] == [
        '5" wide',
        long,
        "b",
    ]


def test_an_unnamed_index_of_pandas_is_read_like_one_of_parquet(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"]}, index=["p", "q"])
    frame.to_csv(tmp_path / "one.csv")
    table = TableFile(tmp_path / "one.csv")
    assert table.columns == ["__index_level_0__", "x", "t"]
    batch = all_of(table, {"x": "number", "t": "text"})[0]
    assert (batch.numbers("x").tolist(), batch.texts("t").tolist()) == ([1.0, 2.0], ["a", "b"])
    assert all_of(table, {"__index_level_0__": "group"})[0].groups("__index_level_0__")[1] == ["p", "q"]
    frame.index = pd.MultiIndex.from_tuples([("p", 1), ("q", 2)])
    frame.to_csv(tmp_path / "two.csv")
    assert all_of(TableFile(tmp_path / "two.csv"), {"x": "number"})[0].numbers("x").tolist() == [1.0, 2.0]
    refused(write(tmp_path / "t.csv", ",x,,y\n1,2,3,4\n"), "line 1: column 3 has no name")


@pytest.mark.parametrize("mark", [";", "\t"])
def test_the_separator_is_that_of_the_header(tmp_path, mark):
    rows = "".join(f'{i}{mark}"a, {i}"\n' for i in range(3))
    table = TableFile(write(tmp_path / "t.csv", f"x{mark}t\n{rows}"))
    batch = all_of(table, {"x": "number", "t": "text"})[0]
    assert batch.numbers("x").tolist() == [0.0, 1.0, 2.0]
    assert batch.texts("t").tolist() == ["a, 0", "a, 1", "a, 2"]
    refused(write(tmp_path / "u.csv", f"x{mark}t\n1{mark}b\n2\n"), "line 3: expected 2 fields")
    assert TableFile(write(tmp_path / "v.csv", f"x,a{mark}b\n1,2\n")).columns == ["x", f"a{mark}b"]
    assert TableFile(write(tmp_path / "w.csv", f'"a{mark}b"\n1\n')).columns == [f"a{mark}b"]


def test_decimal_commas_between_semicolons(tmp_path):
    table = TableFile(write(tmp_path / "t.csv", "x;t\n0,25;a,b\n-1,5;c\n2;d\n0.5;e\n"))
    batch = all_of(table, {"t": "text", "x": "number"})[0]
    assert batch.numbers("x").tolist() == [0.25, -1.5, 2.0, 0.5]
    assert batch.texts("t").tolist() == ["a,b", "c", "d", "e"]
    refused(write(tmp_path / "u.csv", "x;t\n1,000,5;a\n"), "line 2, column 'x': '1,000,5' is not a number")


def test_names_of_blanks_and_columns_of_lists(tmp_path):
    refused(write(tmp_path / "t.csv", "x, \n1,2\n"), "line 1: column 2 has no name")
    parquet.write_table(pa.table({"x": [[1.0, 2.0]]}), tmp_path / "t.parquet")
    with pytest.raises(DataError, match=r"column 'x' holds list.* not one number a row"):
        all_of(TableFile(tmp_path / "t.parquet"), {"x": "number"})[0].numbers("x")


def test_small_codes_of_many_values_and_a_missing_one(tmp_path):
    values = [f"v{i}" for i in range(128)]
    column = pa.DictionaryArray.from_arrays(pa.array([*range(128), None], pa.int8()), values)
    parquet.write_table(pa.table({"g": column}), tmp_path / "t.parquet")
    (batch,) = all_of(TableFile(tmp_path / "t.parquet"), {"g": "group"})
    codes, names = batch.groups("g")
    assert [names[code] for code in codes] == [*values, None]


def test_empty_lines_of_a_table_of_one_column_are_rows(tmp_path):
    path = write(tmp_path / "t.csv", "t\n" + "good\n" * 3 + "\n" + "bad\n" * 2)
    table = TableFile(path)
    (batch,) = all_of(table, {"t": "text"})
    assert len(batch) == 6
    with pytest.raises(DataError, match="line 5, column 't' is empty"):
        batch.texts("t")
    assert rows_of(write(path, "t,u\na,b\n\nc,d\n")) == 2


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b'y,text,extra\na,"hello, caf\xe9",1\n', "line 2, column 'text': the byte 0xe9"),
        (b'y,text,extra\nb,c,1\na,"one\ntwo, caf\xe9",1\n', "line 4, column 'text': the byte 0xe9"),
        (b"y,text\na,b,c,d \xff\n", "line 2: the byte 0xff"),
    ],
)
def test_a_byte_that_is_not_utf8_is_located(tmp_path, content, where):
    refused(write(tmp_path / "t.csv", content), where, {"text": "text"})


def test_missing_numbers_as_databases_write_them(tmp_path):
    (batch,) = all_of(TableFile(write(tmp_path / "t.csv", "x,t\n1,a\nNULL,b\nN/A,c\n,d\n")), {"x": "number"})
    assert np.isnan(batch.numbers("x")[1:]).all()
    refused(write(tmp_path / "t.csv", "x,t\n1,a\n1_0,b\n"), "line 3, column 'x': '1_0' is not a number")


def test_texts_with_quotes_survive_tables_with_tabs(tmp_path):
    for values in (['c "d" e', '"q"', "plain"], ['"Great" they said', "plain", 'a "word"']):
        text = io.StringIO(newline="")
        quoting = csv.QUOTE_MINIMAL if values[0].startswith("c") else csv.QUOTE_NONE
        writer = csv.writer(
            text, delimiter="\t", lineterminator="\n", quoting=quoting, quotechar='"' if quoting == 0 else None
        )
        writer.writerows([["t", "x"], *([value, 1] for value in values)])
        table = TableFile(write(tmp_path / "t.tsv", text.getvalue()))
        assert [word for part in all_of(table, {"t": "text"}) for word in part.texts("t")] == values


def test_times_beyond_the_calendar(tmp_path):
    column = pa.array([-(10**15)], pa.int64()).cast(pa.timestamp("ms"))
    parquet.write_table(pa.table({"g": column}), tmp_path / "t.parquet")
    (batch,) = all_of(TableFile(tmp_path / "t.parquet"), {"g": "group"})
    with pytest.raises(DataError, match="can't be read"):
        batch.groups("g")


def test_bytes_are_texts_in_groups(tmp_path):
    parquet.write_table(pa.table({"g": pa.array([b"a", b"b", b"a"])}), tmp_path / "t.parquet")
    (batch,) = all_of(TableFile(tmp_path / "t.parquet"), {"g": "group"})
    assert batch.groups("g")[1] == ["a", "b"]


def test_a_late_quote_in_a_table_with_tabs_is_literal(tmp_path):
    rows = [f"{i}\tword word word word word word word {i}" for i in range(30000)]
    rows[0], rows[25000], rows[25700] = '0\t"Great!"', '25000\t"hello, he said', '25700\t"bye'
    path = write(tmp_path / "t.tsv", "id\tt\n" + "\n".join(rows) + "\n")
    assert rows_of(path) == 30000
    rows[25000], rows[25700] = rows[24999], '25700\t"well ""quoted"""'
    assert rows_of(write(path, "id\tt\n" + "\n".join(rows) + "\n")) == 30000
    assert TableFile(path).text.quotes


def test_rows_of_empty_fields_are_rows(tmp_path):
    for content in ("x\tt\n\t\n\t\n", "x\tt\n\t\n\t"):
        assert rows_of(write(tmp_path / "t.tsv", content)) == 2
    assert rows_of(write(tmp_path / "o.csv", "t\na\n ")) == 2


def test_the_line_of_an_open_quote_after_quotes_inside_fields(tmp_path):
    path = write(tmp_path / "t.csv", 'x,t\n1,24" wide\n2,"abc\n')
    refused(path, "the quote that opens in line 3 is not closed", {"t": "text"})
    refused(write(path, b'x,\xe9\n1,"\xff"\n'), "line 1: the byte 0xe9 is not UTF-8")


@given(st.lists(st.text(max_size=20), min_size=1, max_size=80) | st.lists(st.text("ab", max_size=16), min_size=1))
@pytest.mark.kernels
def test_texts_of_any_length_are_distinguished(texts):
    for column in (pa.array(texts), pa.array(["other", *texts]).slice(1)):
        codes, names = Batch("t", pa.RecordBatch.from_arrays([column], ["g"]), str).groups("g")
        assert [names[code] for code in codes] == texts
        assert len(set(names)) == len(names)


def test_many_different_texts_and_lengths():
    for texts in ([f"n{i}" for i in range(513)], [f"n{i}" for i in range(512)], ["x" * i for i in range(30)]):
        batch = Batch("t", pa.RecordBatch.from_arrays([pa.array(texts * 2)], ["g"]), str)
        codes, names = batch.groups("g")
        assert [names[code] for code in codes] == texts * 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.csv", "x,y\n1,2\n3," + "z" * 9_000, "line 3 takes more than 4,096 characters"),
        (
            "t.csv",
            'x,y\n1,2\n3,"' + "z\n" * 9_000,
            "line 3: a field of the row that begins here takes more than 4,096 characters",
        ),
        ("t.tsv", "x\ty\n1\t" + "z" * 9_000, "line 2 takes more than 4,096 characters"),
        ("t.jsonl", '{"x": 1}\n{"x": "' + "z" * 9_000, "line 2 takes more than 4,096 bytes"),
    ],
)
def test_a_line_or_field_without_end_is_refused_before_it_is_read_whole(tmp_path, monkeypatch, name, content, words):
    for where in (lines, json_lines):
        monkeypatch.setattr(where, "LONGEST_LINE", 1 << 12)
    monkeypatch.setattr(lines, "_BLOCK", 1 << 8)
    monkeypatch.setattr(json_lines, "_BYTES", 1 << 4)
    refused(write(tmp_path / name, content), words)


def test_names_of_columns_without_end_are_refused(tmp_path):
    for name, mark in (("t.csv", ","), ("t.tsv", "\t")):
        refused(
            write(tmp_path / name, mark.join(f"column{i}" for i in range(100_000))), "names of the columns take more"
        )


def test_a_folder_whose_name_is_not_utf8_is_no_value(tmp_path):
    folder = tmp_path / os.fsdecode(b"shop=\xff")
    folder.mkdir()
    with pytest.raises(DataError, match="is not named in UTF-8"):
        all_of(TableFile(write(folder / "t.csv", "x\n1\n")), {"shop": "group"})
