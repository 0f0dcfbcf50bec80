"""Tables from everywhere: JSON lines, packed files, patterns, folders and their partitions, databases, tables in memory."""

import gzip
import io
import json
import sqlite3
import sys
import zipfile
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from headcount.exceptions import DataError, FileFormatError
from headcount.tables import TableFile, files_of

ROWS = [("a", 0.5, "t1"), ("b", None, "t2"), ("a", 1e3, "t3")]
KINDS = {"g": "group", "x": "number", "t": "text"}


def as_lists(table, kinds=KINDS, rows=None):
    parts = list(table.batches(kinds, rows))
    groups = [values[code] for codes, values in (part.groups("g") for part in parts) for code in codes]
    return groups, np.concatenate([part.numbers("x") for part in parts]), [t for part in parts for t in part.texts("t")]


def is_the_table(table, rows=None):
    groups, numbers, texts = as_lists(table, rows=rows)
    assert (groups, texts) == (["a", "b", "a"], ["t1", "t2", "t3"])
    np.testing.assert_array_equal(numbers, [0.5, np.nan, 1e3])
    return True


def lines_of(rows=ROWS):
    return "".join(json.dumps(dict(zip("gxt", row, strict=True))) + "\n" for row in rows).encode()


def zstd(content):
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return packed.getvalue().to_pybytes()


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


CSV = "g,x,t\na,0.5,t1\nb,,t2\na,1e3,t3\n"


@pytest.mark.parametrize("rows", [None, 1, 2])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.jsonl", lines_of()),
        ("t.ndjson.gz", gzip.compress(lines_of())),
        ("t.jsonl.zst", zstd(lines_of())),
        ("t.csv.zst", zstd(CSV.encode())),
        ("t[1]*.csv", CSV),
        ("it's.csv", CSV),
        ("members.csv.gz", gzip.compress(CSV[:20].encode()) + gzip.compress(CSV[20:].encode())),
    ],
    ids=lambda value: (
        value if isinstance(value, str) and "\n" not in value else ""
    ),  # packed content holds the time of day
)
def test_files_of_many_kinds(tmp_path, name, content, rows):
    write(tmp_path / "t11.csv", "g,x,t\nwrong,0,wrong\n")
    table = TableFile(write(tmp_path / name, content))
    assert is_the_table(table, rows)
    assert sum(len(batch) for batch in table.batches({})) == 3


def test_columns_whose_names_differ_in_case_or_are_odd(tmp_path):
    table = TableFile(write(tmp_path / "t.csv", 'x,X,"a ""b\'",row\n1,2,3,4\n'))
    (batch,) = table.batches(dict.fromkeys(table.columns, "number"))
    assert batch.matrix(table.columns).tolist() == [[1, 2, 3, 4]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"x": 1}\n{"x": 2\n{"x": 3}\n', "line 2 is not a JSON object"),
        (b'{"x": 1}\n[1, 2]\n', "line 2 holds no JSON object"),
        (b'{"x": 1}\n{"x": "abc"}\n', "line 2, column 'x': 'abc' is not a number"),
        (b'{"x": 1}\n{"x": {"y": 2}}\n', "line 2, column 'x': .* is not a number"),
        (b'{"x": 1}\n{"x": 2, "t": "\xe9"}\n', "line 2 is not a JSON object: 'utf-8' codec"),
        (b'{"x": 1, "\\ud800": 2}\n', r"name of a column, '\\ud800', holds half of a character"),
        (b'{"y": 1}\n', "has no column 'x'"),
        (b"\n\n", "is empty"),
    ],
)
def test_unusable_json_lines_are_located(tmp_path, content, words):
    with pytest.raises(DataError, match=words) as caught:
        list(TableFile(write(tmp_path / "t.jsonl", content)).batches({"x": "number"}))
    assert str(tmp_path / "t.jsonl") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["group", "any"])
@pytest.mark.parametrize("others", ["", '{"t": 1}\n'])
def test_half_a_character_is_not_a_text(tmp_path, kind, others):
    table = TableFile(write(tmp_path / "t.jsonl", others + '{"t": "\\ud800"}\n'))
    with pytest.raises(DataError, match=rf"line {2 if others else 1}, column 't': '\\ud800' is not a text"):
        list(table.batches({"t": kind}))


def test_json_lines_keep_times_numbers_and_embeddings(tmp_path):
    rows = [
        {"d": "2016-07-09T00:30:00+02:00", "k": 1, "e": [1, 2], "flag": True},
        {"d": "2016-07-08T23:30:00Z", "k": 2, "e": [3, 4.5]},
    ]
    table = TableFile(write(tmp_path / "t.jsonl", "\n".join(map(json.dumps, rows)) + "\n"))
    (batch,) = table.batches({"d": "time", "k": "group", "e": "number", "flag": "group"})
    codes, days = batch.days("d")
    assert [days[code] for code in codes] == ["2016-07-09", "2016-07-08"]
    assert batch.groups("k")[1] == [1, 2]
    assert batch.groups("flag")[1] == [True, None]
    assert batch.matrix(["e"]).tolist() == [[1, 2], [3, 4.5]]


def test_damaged_packed_files_are_refused(tmp_path):
    many = CSV + "a,1,t\n" * 50_000
    wrong = bytearray(gzip.compress(many.encode()))
    wrong[-6] ^= 1
    for name, content in (
        ("t.csv.gz", bytes(wrong)),
        ("c.csv.zst", zstd(many.encode())[:-9]),
        ("c.jsonl.gz", gzip.compress(lines_of() * 99)[:-20]),
    ):
        with pytest.raises(FileFormatError, match=r"is a damaged (gzip|zstd) file, or one that ends in the middle"):
            list(TableFile(write(tmp_path / name, content)).batches(KINDS))
    with pytest.raises(FileFormatError, match=r"ends in \.zst but is not packed by zstd"):
        TableFile(write(tmp_path / "n.csv.zst", CSV))


def test_patterns_and_folders(tmp_path):
    for name in ("b.csv", "a.csv", "sub/c.csv.gz"):
        write(tmp_path / "all" / name, gzip.compress(CSV.encode()) if name.endswith("gz") else CSV)
    write(tmp_path / "all" / "_SUCCESS", "")
    assert [path.name for path in files_of(tmp_path / "all")] == ["a.csv", "b.csv", "c.csv.gz"]
    assert [path.name for path in files_of(f"{tmp_path}/all/*.csv")] == ["a.csv", "b.csv"]
    assert len(files_of(f"{tmp_path}/all/**/*.csv*")) == 3
    with pytest.raises(DataError, match="No file matches"):
        files_of(f"{tmp_path}/*.parquet")
    write(tmp_path / "all" / "d.jsonl", lines_of())
    with pytest.raises(DataError, match="a folder of tables in different formats"):
        files_of(tmp_path / "all")


def test_partitions_are_columns(tmp_path):
    path = write(tmp_path / "year=2016" / "shop=a" / "t.csv", CSV)
    table = TableFile(path)
    assert table.columns == ["g", "x", "t"]
    (batch,) = table.batches({"shop": "group", "year": "number", "g": "group"})
    assert batch.groups("shop")[1] == ["a"]
    assert batch.numbers("year").tolist() == [2016.0] * 3
    assert sum(len(batch) for batch in table.batches({"shop": "group"})) == 3
    with pytest.raises(DataError, match="The folder shop=a does not name a number"):
        list(table.batches({"shop": "number"}))


@pytest.fixture(params=["sqlite", "duckdb"])
def base(request, tmp_path):
    path = tmp_path / f"t.{request.param}"
    connection = sqlite3.connect(path) if request.param == "sqlite" else duckdb.connect(str(path))
    connection.execute('CREATE TABLE "my table" (g VARCHAR, x DOUBLE, t VARCHAR)')
    connection.executemany('INSERT INTO "my table" VALUES (?, ?, ?)', ROWS)
    connection.execute('CREATE VIEW seen AS SELECT * FROM "my table"')
    connection.commit()
    connection.close()
    return path


@pytest.mark.parametrize("rows", [None, 1])
@pytest.mark.parametrize(
    "asked", ["my table", "seen", 'SELECT t, x, g FROM "my table";', "with s as (select * from seen) select * from s"]
)
def test_tables_and_queries_of_databases(base, asked, rows):
    table = TableFile(f"{base}::{asked}")
    assert is_the_table(table, rows)
    assert sum(len(batch) for batch in table.batches({})) == 3
    assert "row 2" in table.place(1)
    assert files_of(f"{base}::{asked}") == [f"{base}::{asked}"]


def test_errors_of_queries_name_what_there_is(base):
    for query in ("select nothing from seen", "select * from nothing"):
        with pytest.raises(DataError, match=r"nothing.*Its tables: my table \(g, x, t\); seen \(g, x, t\)\.") as caught:
            TableFile(f"{base}::{query}")
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="has no column 'nothing'; its columns are 'g', 'x', 't'"):
        list(TableFile(f"{base}::seen").batches({"nothing": "number"}))


def test_queries_can_not_reach_beyond_the_file(tmp_path):
    """Nor write, fetch extensions, or lift these limits."""
    duckdb.connect(str(tmp_path / "t.duckdb")).execute("CREATE TABLE t AS SELECT 1 AS x").close()
    secret = write(tmp_path / "secret.csv", CSV)
    frame = pd.DataFrame({"x": [1]})  # noqa: F841
    for query in (
        f"select * from '{secret}'",
        f"select * from read_text('{secret}')",
        "select * from glob('/*')",
        "select * from frame",
        "select * from sqlite_scan('t.db', 't')",
        "select getenv('HOME')",
        "select 1; install sqlite",
        "select 1; load sqlite",
        "select 1; set enable_external_access=true",
        "select 1; create temp table u as select 1",
        f"select 1; attach '{tmp_path}/new.duckdb'",
        "select 1; select 2",
    ):
        with pytest.raises(DataError, match=r"t\.duckdb::select") as caught:
            list(TableFile(f"{tmp_path}/t.duckdb::{query}").batches({}))
        assert "\n" not in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv", "t.duckdb"]


def test_databases_are_not_changed_by_queries(base, tmp_path):
    before = base.read_bytes()
    for query in (
        'select * from "my table"); drop table "my table"; --',
        'select 1; delete from "my table"',
        "with x as (select 1) delete from seen",
        f"select * from (copy seen to '{tmp_path / 'out.csv'}')",
        f"select * from read_csv('{write(tmp_path / 'other.csv', CSV)}')",
    ):
        with pytest.raises(DataError):
            list(TableFile(f"{base}::{query}").batches({}))
    assert base.read_bytes() == before
    assert not (tmp_path / "out.csv").exists()


def test_unusable_databases(base, tmp_path):
    with pytest.raises(DataError, match=r"is a database: say which table, as in .*::table \(it holds my table, seen\)"):
        TableFile(base)
    with pytest.raises(DataError, match="there is no table 'none'; there are my table, seen"):
        TableFile(f"{base}::none")
    with pytest.raises(DataError, match="is neither a database nor an Excel file"):
        TableFile(f"{write(tmp_path / 't.csv', CSV)}::t")
    with pytest.raises(DataError, match=r"not numeric|row 1, column 't': 't1' is not a number"):
        list(TableFile(f"{base}::seen").batches({"t": "number"}))
    with pytest.raises(DataError, match="holds no rows"):
        list(TableFile(f"{base}::select * from seen where x < 0").batches({"g": "group"}))
    base.write_bytes(base.read_bytes()[:3000] + b"\xff" * 3000)
    with pytest.raises(DataError, match=r"can't be read|no table"):
        list(TableFile(f"{base}::seen").batches(KINDS))


def test_values_of_any_type_in_sqlite(tmp_path):
    with sqlite3.connect(tmp_path / "t.db") as connection:
        connection.execute("CREATE TABLE t (g, x, t)")
        connection.executemany("INSERT INTO t VALUES (?, ?, ?)", [(1, 2, 3), ("b", None, b"c")])
    connection.close()
    groups, numbers, texts = as_lists(TableFile(f"{tmp_path}/t.db::t"))
    assert (groups, texts) == (["1", "b"], ["3", "c"])
    np.testing.assert_array_equal(numbers, [2, np.nan])


@pytest.mark.parametrize("rows", [None, 1])
def test_tables_in_memory(rows):
    frame = pd.DataFrame(ROWS, columns=["g", "x", "t"])
    arrow = pa.Table.from_pandas(frame)
    for source in (
        frame,
        arrow,
        arrow.to_batches()[0],
        pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches()),
    ):
        assert is_the_table(TableFile(source), rows)
        assert files_of(source) == [source] if source is arrow else True
    frame["g"] = frame["g"].astype("category")
    assert is_the_table(TableFile(frame), rows)
    with pytest.raises(DataError, match="'t' is not numeric but"):
        list(TableFile(arrow).batches({"t": "number"}))
    with pytest.raises(DataError, match="int can't be read as a table"):
        TableFile(7)


def test_tables_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ROWS, schema=["g", "x", "t"], orient="row")
    assert is_the_table(TableFile(frame), 2)
    assert is_the_table(TableFile(frame.with_columns(polars.col("g").cast(polars.Categorical))))
    assert is_the_table(TableFile(frame.with_columns(polars.col("g", "t").cast(polars.Categorical))), 1)
    moments = polars.DataFrame({"d": ["2016-07-09 23:30"]}).with_columns(
        polars.col("d").str.to_datetime().dt.replace_time_zone("Europe/Berlin")
    )
    (batch,) = TableFile(moments).batches({"d": "time"})
    assert str(batch.days("d")[1][0]) == "2016-07-09"


@pytest.fixture
def workbook(tmp_path):
    """Write a workbook of sheets, each a list of rows."""
    openpyxl = pytest.importorskip("openpyxl")

    def written(**sheets):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(list(row))
        book.save(tmp_path / "t.xlsx")
        return tmp_path / "t.xlsx"

    return written


@pytest.mark.parametrize("rows", [None, 1, 2])
def test_sheets_of_excel_files(workbook, rows):
    path = workbook(first=["gxt", *ROWS], other=["abc", (1, 2, 3)])
    assert is_the_table(TableFile(path), rows)
    assert is_the_table(TableFile(f"{path}::first"), rows)
    table = TableFile(f"{path}::other")
    assert table.columns == ["a", "b", "c"]
    (batch,) = table.batches({"a": "number", "b": "text", "c": "group"})
    assert (batch.numbers("a").tolist(), batch.texts("b").tolist(), batch.groups("c")[1]) == ([1.0], ["2"], [3.0])
    assert files_of(path.parent) == [path]
    assert sum(len(batch) for batch in TableFile(path).batches({})) == 3


def test_dates_and_empty_cells_of_excel(workbook):
    rows = [
        ("d", "when", "x", 2024),
        (date(2016, 7, 9), datetime(2016, 7, 9, 23, 30), 1, True),
        (None, None, None, None),
        (date(2016, 7, 10), None, "2.5", False),
        ("2016-07-11", "2016-07-12T01:00", None, None),
    ]
    table = TableFile(workbook(s=rows))
    assert table.columns == ["d", "when", "x", "2024"]
    (batch,) = table.batches({"d": "time", "when": "time", "x": "number", "2024": "group"})
    for name, days in (("d", ["2016-07-09", "2016-07-10", "2016-07-11"]), ("when", ["2016-07-09", None, "2016-07-12"])):
        codes, values = batch.days(name)
        assert [values[code] for code in codes] == days
    np.testing.assert_array_equal(batch.numbers("x"), [1, 2.5, np.nan])
    assert batch.groups("2024")[1] == [True, False, None]
    assert batch.place(1, "x").endswith("t.xlsx, row 4, column 'x'")
    with pytest.raises(DataError, match=r"t\.xlsx, row 5, column 'd': '2016-07-11' is not a number"):
        list(TableFile(workbook(s=[("d",), (1,), (), (), ("2016-07-11",)])).batches({"d": "number"}))


def test_an_unnamed_index_in_excel_is_read_like_one_of_csv(workbook):
    """As ``DataFrame.to_excel`` writes it: the first cell of the header is empty."""
    table = TableFile(workbook(s=[(None, "x", "t"), ("p", 1, "a"), ("q", 2, "b")]))
    assert table.columns == ["__index_level_0__", "x", "t"]
    (batch,) = table.batches({"x": "number", "t": "text", "__index_level_0__": "group"})
    assert (batch.numbers("x").tolist(), batch.texts("t").tolist()) == ([1.0, 2.0], ["a", "b"])
    assert batch.groups("__index_level_0__")[1] == ["p", "q"]


def zip_with_name(name):
    """A zip archive whose member's name is said to be UTF-8."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr(len(name) * "\u00e9", "")  # of two bytes each
    return archive.getvalue().replace(len(name) * b"\xc3\xa9", 2 * name)


def test_unusable_excel_files(workbook, tmp_path, monkeypatch):
    path = workbook(**{"my sheet": ["gx", (1, 2)], "none": [], "open": [("g", None, "x"), (1, 2, 3)]})
    for asked, words in (
        ("other", "there is no sheet 'other'; there are 'my sheet', 'none', 'open'"),
        ("none", "is empty"),
        ("open", "row 1: column 2 has no name"),
    ):
        with pytest.raises(DataError, match=words):
            TableFile(f"{path}::{asked}")
    with pytest.raises(DataError, match="has no column 'y'; its columns are 'g', 'x'"):
        list(TableFile(path).batches({"y": "number"}))
    with pytest.raises(FileFormatError, match="is a damaged Excel file"):
        TableFile(write(tmp_path / "cut.xlsx", path.read_bytes()[:-200]))
    with pytest.raises(FileFormatError, match=r"is a damaged Excel file \('utf-8' codec can't decode"):
        TableFile(write(tmp_path / "name.xlsx", zip_with_name(b"\xff.xml")))
    with pytest.raises(FileFormatError, match="is not an Excel file, but was taken for excel"):
        TableFile(write(tmp_path / "text.xlsx", CSV))
    with pytest.raises(FileFormatError, match="is an Excel file, but was taken for csv"):
        TableFile(write(tmp_path / "book.csv", path.read_bytes()))
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(DataError, match=r"Excel files need .*: pip install 'headcount\[excel\]'"):
        TableFile(path)


def test_excel_files_that_would_fill_the_memory_are_refused(workbook, tmp_path):
    """The rectangle from the first to the last cell is held in memory: this one has 17 billion cells."""
    path = workbook(s=["ab", (1, 2)])
    book = openpyxl_of(path)
    book.active["XFD1048576"] = 3
    book.save(path)
    with pytest.raises(
        FileFormatError, match="a sheet with 5 cells reaches to row 1,048,576 and column 16,384, and the empty"
    ):
        TableFile(path)
    book.active["XFD1048576"] = None
    book.active["B1000"] = 3
    book.save(path)
    assert len(next(TableFile(path).batches({}))) == 2
    for member, words in (
        ("xl/sharedStrings.xml", "beside its sheets"),
        ("xl/worksheets/sheet1.xml", "beside its sheets"),
    ):
        with (
            zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as archive,
            archive.open(member, "w") as file,
        ):
            for _ in range(201):
                file.write(bytes(2**20))
        with pytest.raises(FileFormatError, match=words):
            TableFile(tmp_path / "bomb.xlsx")


def openpyxl_of(path):
    return pytest.importorskip("openpyxl").load_workbook(path)


def test_duckdb_is_asked_for_where_it_is_needed(tmp_path, monkeypatch):
    duckdb.connect(str(tmp_path / "t.duckdb")).execute("CREATE TABLE t AS SELECT 1 AS x").close()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(DataError, match=r"DuckDB files need .*: pip install 'headcount\[duckdb\]'"):
        TableFile(f"{tmp_path}/t.duckdb::t")
    assert is_the_table(TableFile(write(tmp_path / "t.jsonl.gz", gzip.compress(lines_of()))))


def test_odd_json_lines(tmp_path):
    content = b'\xef\xbb\xbf{"x": "1e3", "t": 5.0}\n\n{"x": true, "late": [1]}\n{"x": 123456789012345678901, "t": "a"}'
    table = TableFile(write(tmp_path / "t.jsonl", content))
    assert table.columns == ["x", "t", "late"]
    (batch,) = table.batches({"x": "number", "t": "group"})
    assert batch.numbers("x").tolist() == [1e3, 1, 123456789012345678901.0]
    assert batch.groups("t")[1] == ["5", "a", None]
    assert batch.place(1).endswith("line 3")
    for line, kinds, words in (
        (b'{"x": 1}, {"x": 2}', {"x": "number"}, "line 2 is not a JSON object: Extra data"),
        (b'{"x":\n1}', {"x": "number"}, "line 2 is not a JSON object"),
        (b"[" * 100_000, {"x": "number"}, "line 2 is not a JSON object"),
        (b"null", {"x": "number"}, "line 2 holds no JSON object"),
        (rb'{"x": "\ud800"}', {"x": "text"}, "line 2, column 'x': .* is not a text"),
        (b'{"x": ["a"]}', {"x": "text"}, "line 2, column 'x': .* is not a text"),
    ):
        with pytest.raises(DataError, match=words) as caught:
            list(TableFile(write(tmp_path / "t.jsonl", b'{"x": "1"}\n' + line + b"\n")).batches(kinds))
        assert "\n" not in str(caught.value)


def test_standard_input_of_json_lines(monkeypatch):
    for content in (lines_of(), gzip.compress(lines_of())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert is_the_table(TableFile("-"))


def test_time_zones_by_their_own_clock(tmp_path):
    moment = pd.Timestamp("2016-07-09 00:30", tz="Europe/Berlin")
    parquet.write_table(
        pa.table({"d": pa.array([moment], pa.timestamp("us", "Europe/Berlin"))}), tmp_path / "t.parquet"
    )
    (batch,) = TableFile(tmp_path / "t.parquet").batches({"d": "time"})
    assert str(batch.days("d")[1][0]) == "2016-07-09"


def test_a_table_larger_than_what_is_read_at_once(tmp_path):
    """Quoted line breaks at every border of DuckDB's own parts, and one odd row at the very end."""
    rows = [f'{i},"two\r\nlines, ""{i}""",{"w" * (i % 97)}\r\n' for i in range(120_000)]
    path = write(tmp_path / "t.csv", "x,t,g\r\n" + "".join(rows))
    numbers = np.concatenate([batch.numbers("x") for batch in TableFile(path).batches({"x": "number"})])
    np.testing.assert_array_equal(numbers, np.arange(120_000))
    write(path, "x,t,g\r\n" + "".join(rows) + '7, "odd",g\n')
    parts = list(TableFile(path).batches({"x": "number", "t": "text"}))
    assert sum(map(len, parts)) == 120_001
    assert parts[-1].texts("t")[-1] == ' "odd"'
    write(path, "x,t,g\r\n" + "".join(rows) + "7,extra,g,\r\n")
    with pytest.raises(FileFormatError, match="line 240,002: expected 3 fields, as in the header, found 4"):
        list(TableFile(path).batches({"x": "number"}))
