"""What a column is to a model, told from what it holds; and the sentences on columns that can't be told."""

from datetime import datetime, time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from headcount._roles import ColumnRole
from headcount.exceptions import DataError
from headcount.tables import TableFile
from headcount.tables.role_inference import column_roles, role_of

WORDS = ["late", "parcel", "broken", "screen", "refund", "please", "never", "again"]


def sentence(i, n=6):
    return " ".join(WORDS[(i * 7 + 3 * j + i // 8 * j) % 8] for j in range(n)) + f" {i}"


def role(values, **options):
    return role_of("c", pa.array(values), "line {}".format, **options)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([sentence(i) for i in range(100)], "text"),
        ([sentence(i) if i % 3 else None for i in range(100)], "text"),
        (["很好的電影" + chr(0x4E00 + i) for i in range(100)], "text"),
        ([WORDS[i % 8] + " " + WORDS[i // 8 % 8] + " " + WORDS[i // 11 % 8] for i in range(64)], "text"),
        (["north", "south", "", "west"] * 25, "category"),
        (["Customer Support Level Two", "Customer Support Level One"] * 50, "category"),
        ([f"city {i % 30}" for i in range(100)], "category"),
        (["true", "false"] * 20, "category"),
        (["1", "2", "x", "y"] * 20, "category"),
        (["02139", "90210"] * 20, "category"),
        (["1.5", "0.25", "NA", "-2e3", ""] * 20, "number"),
        ([1.5, None, 2.0], "number"),
        ([True, False], "number"),
        (["2016-07-09", "2016-07-23 12:00", ""] * 10, "date"),
        ([datetime(2016, 7, 9), None], "date"),
        (["[0.1, 0.2, 3]", "[1 2.5e-1 3]"], "embedding"),
        ([[0.1, 0.2], [0.3, 0.4]], "embedding"),
        (pa.array(["1", "2", "1"]).dictionary_encode(), "category"),
    ],
)
def test_what_a_column_holds_decides(values, kind):
    assert role(values).kind == kind


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([f"TK-{i:05d}" for i in range(50)], "an id"),
        ([f"a{i}@mail.org" for i in range(50)], "an id"),
        ([str(i) for i in range(50)], "an id"),
        (list(range(100, 150)), "an id"),
        ([f"${i}.5{i}" for i in range(50)], "numbers with other signs, such as '$0.50'; write plain numbers"),
        ([f"{i},250 kg" for i in range(50)], "numbers with other signs"),
        ([f"{i}.0.0.1" for i in range(50)], "an id"),
        ([f"0{i}" for i in range(100, 150)], "an id"),
        (["", None, " "], "it is empty"),
        ([None, None], "it is empty"),
        (["same"] * 30, "the same value in every row, 'same'"),
        (["2016-07", "2016-08"] * 20, "it names months"),
        ([{"a": 1}], "it holds lists or records"),
        ([["a"], ["b"]], "it holds list"),
        ([time(12, 30), time(13, 0)], "it holds time64"),
    ],
)
def test_columns_to_learn_nothing_from_are_told(values, reason):
    assert reason in role(values)


def test_numbers_that_the_user_names_are_no_ids():
    assert role(list(range(50)), named=True) == ColumnRole("number")
    assert role([str(i) for i in range(50)], asked="category") == ColumnRole("category", n_values=50)
    assert role([3, 1, 2] * 10, asked="category").n_values == 3
    assert role([3.0, 1.0] * 10, asked="text").kind == "text"


@pytest.mark.parametrize(
    ("values", "asked", "words"),
    [
        ([*map(str, range(0, 300, 7)), "twelve"], None, "line 43: 'twelve' is not a number, unlike 97 % of the column"),
        ([*map(str, range(0, 100, 7)), *("x" + str(i) for i in range(10))], None, "line 15: 'x0' is not a number"),
        (["1", "a", "b"], "number", "line 1: 'a' is not a number"),
        ([*["2016-07-09"] * 30, "soon"], None, "line 30: 'soon' is not a date"),
        (["2016-07-09", "soon", "later"], "date", "line 1: 'soon' is not a date"),
        (["03/04/2016", "05/06/2016"] * 9, None, "line 0: it is not clear which number is the day"),
        (["23/04/2016", "05/26/2016"] * 9, None, "days and months are in different orders in this column, as in"),
        (["[1, 2]", "[1, 2, 3]"], None, "line 1 holds 3 numbers, the first row 2"),
        (["[1, 2]", "[1, ... 3]"], None, r"line 1: '\[1, ... 3\]' is not a list of numbers"),
        ([*["[1, 2]"] * 20, ""], None, "line 20 is empty"),
        ([[1.0, 2.0], [1.0], None], None, "line 1 holds 1 numbers, the first row 2"),
        ([1.5, 2.5], "date", "line 0: the column holds double, and can't be read as date"),
    ],
)
def test_unclear_columns_are_refused_with_the_line(values, asked, words):
    with pytest.raises(DataError, match=words):
        role(values, asked=asked)


def test_the_month_may_be_said_to_come_first():
    assert role(["03/04/2016"] * 5, asked="month-first date").month_first
    assert role(["03/04/2016", "03/14/2016"] * 5) == ColumnRole("date", month_first=True)


def test_decimal_commas_are_numbers_between_semicolons(tmp_path):
    (tmp_path / "n.csv").write_text("x;y\n1,5;a\n2,25;b\n" * 1 + "3,5;a\n" * 30)
    roles, without = column_roles(TableFile(tmp_path / "n.csv"), {"x": None, "y": None})
    assert roles == {"x": ColumnRole("number"), "y": ColumnRole("category", n_values=2)}
    assert without == {}


def test_values_of_several_types_in_a_file_are_texts(tmp_path):
    rows = [f'{{"c": {i % 3}, "v": [1, {i}]}}' for i in range(9000)] + ['{"c": "other", "v": [2, 3]}'] * 3
    (tmp_path / "n.jsonl").write_text("\n".join(rows))
    roles, _ = column_roles(TableFile(tmp_path / "n.jsonl"), {"c": "category", "v": None})
    assert roles == {"c": ColumnRole("category", n_values=4), "v": ColumnRole("embedding", size=2)}


def test_lists_of_words_and_records_of_json_are_nothing_to_learn_from(tmp_path):
    rows = [
        '{"tags": ["a", "b"], "user": {"id": 1}, "v": [1, 2], "odd": [1]}',
        '{"tags": null, "v": [3, 4], "odd": {}}',
    ] * 9
    (tmp_path / "n.jsonl").write_text("\n".join(rows))
    roles, without = column_roles(TableFile(tmp_path / "n.jsonl"), dict.fromkeys(("tags", "user", "v", "odd")))
    assert roles == {"v": ColumnRole("embedding", size=2)}
    assert without == dict.fromkeys(("tags", "user", "odd"), "it holds lists or records")


def test_a_frame_of_pandas_has_the_same_roles_as_its_file(tmp_path):
    frame = pd.DataFrame(
        {
            "text": [sentence(i) for i in range(40)],
            "price": [1.5, np.nan] * 20,
            "region": ["n", "s", None, "w"] * 10,
            "day": pd.date_range("2016-07-09", periods=40),
        }
    )
    frame.to_csv(tmp_path / "f.csv", index=False)
    asked = dict.fromkeys(frame.columns)
    assert column_roles(TableFile(frame), asked) == column_roles(TableFile(tmp_path / "f.csv"), asked)


@pytest.mark.parametrize("asked", ["text", "category"])
def test_days_that_no_calendar_has_are_refused_where_they_are_read_as_texts(tmp_path, asked):
    parquet.write_table(pa.table({"d": pa.array([0, -(2**31)], pa.date32())}), tmp_path / "t.parquet")
    table = TableFile(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'd', or below: a value can't be read"):
        column_roles(table, {"d": asked})
    (batch,) = table.batches({"d": "any"})
    with pytest.raises(DataError, match="a value of column 'd' can't be read"):
        batch.texts("d")
