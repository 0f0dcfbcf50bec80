"""Conditions on rows, groups by several columns, and the row of totals."""

import numpy as np
import pandas as pd
import pytest

from headcount import SLD, HDy
from headcount.exceptions import DataError
from headcount.stream import Reading, Recipe, estimate_groups, tally_files
from headcount.stream.filters import Condition
from headcount.stream.groups import TOTAL, parse_groupings
from tests.conftest import frozen, scored_items
from tests.stream.test_scan import CODES, LABELLED, pacc

COLUMNS = ["price", "price net", "shop", "sold"]


@pytest.mark.parametrize(
    ("text", "value", "met"),
    [
        ("price>=10", "10.0", True),
        ("price>=10", 9, False),
        ("price >= 10", "9.9", False),
        ("price<10", "9", True),  # as numbers: as texts "9" comes after "10"
        ("price!=10", "11", True),
        ("price=10", "10.0", True),
        ("price net>3", 4, True),
        ("shop=north,south", "south", True),
        ("shop=north,south", "west", False),
        ("shop='north'", "north", True),
        ("sold<2024-07-01", "2024-06-30 12:00:00", True),
        ("sold<2024-07-01", pd.Timestamp("2024-07-02").to_pydatetime(), False),
        ("shop=", None, True),
        ("shop=", "", True),
        ("shop!=", "north", True),
        ("shop!=", None, False),
        ("shop!=north", None, False),
        ("price>=10", None, False),
        ("price>=10", float("nan"), False),
    ],
)
def test_values_that_meet_a_condition(text, value, met):
    assert Condition.parse(text, COLUMNS).is_met(value) == met


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price", "is no condition: write it as country=DE"),
        ("weight>3", "begins with none of the columns, which are 'price'"),
        ("price>", "names no value"),
    ],
)
def test_unclear_conditions_are_refused(text, message):
    with pytest.raises(DataError, match=message):
        Condition.parse(text, COLUMNS)


@pytest.fixture(params=["csv", "parquet"])
def table(request, tmp_path):
    """A table of scores with two columns to group by, dates and prices, some of them missing; its path and its frame."""
    generator = np.random.default_rng(3)
    _, P = scored_items(3000, 2, 5, separation=1.0, shares=[0.7, 0.3])
    frame = pd.DataFrame(P, columns=["p0", "p1"])
    frame["shop"] = generator.choice(["north", "south", None], 3000, p=[0.5, 0.4, 0.1])
    frame["sold"] = [f"202{i % 3}-0{1 + i % 9}-11" for i in range(3000)]
    frame["price"] = np.where(generator.random(3000) < 0.05, np.nan, generator.integers(1, 30, 3000))
    path = tmp_path / f"t.{request.param}"
    if request.param == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path, frame


def read(path, quantifier=None, by=None, where=()):
    reading = Reading(Recipe(quantifier or pacc(), (LABELLED, CODES)), "scores", ("p0", "p1"), by, where=where)
    return tally_files([path], reading)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        (("price>=10",), lambda f: f.price >= 10),
        (("price>=10", "shop=north"), lambda f: (f.price >= 10) & (f.shop == "north")),
        (("shop=",), lambda f: f.shop.isna()),
        (("sold<2021-05-01",), lambda f: f.sold < "2021-05-01"),
        (("p1>0.5",), lambda f: f.p1 > 0.5),
    ],
)
def test_only_rows_that_meet_all_conditions_are_read(table, tmp_path, where, rows):
    path, frame = table
    chosen = tmp_path / f"chosen{path.suffix}"
    part = frame[rows(frame)]
    part.to_csv(chosen, index=False) if path.suffix == ".csv" else part.to_parquet(chosen, index=False)
    found, expected = estimate_groups(read(path, where=where)), estimate_groups(read(chosen))
    assert found.n_items.tolist() == [len(part)]
    assert found.records() == expected.records()


def test_errors_name_the_line_of_the_file_also_where_rows_are_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("shop,p0,p1\na,0.5,0.5\nb,0.5,0.5\na,0.9,0.3\n")
    with pytest.raises(DataError, match=r"line 4.*0\.9, 0\.3 are not probabilities"):
        read(path, where=("shop=a",))
    assert read(path, where=("shop=b",)).n_items == 1
    with pytest.raises(DataError, match=r"No row of '.*t.csv' meets the condition shop=c \(--where\)"):
        read(path, where=("shop=c",))


def test_groups_of_two_columns_are_those_of_the_pairs(table):
    path, frame = table
    groups = estimate_groups(read(path, by="shop,sold:year"), by=("shop", "year of sold"))
    expected = frame.groupby([frame.shop, frame.sold.str[:4]], dropna=False).size()
    assert groups.names == [(None if shop != shop else shop, year) for shop, year in expected.index]
    assert groups.n_items.tolist() == expected.tolist()
    first = groups.records()[0]
    assert (first["group"], first["shop"], first["year of sold"]) == ("north / 2020", "north", "2020")
    alone = estimate_groups(read(path, by="sold:year", where=("shop=north",)))
    np.testing.assert_array_equal(groups.shares[:3], alone.shares)


def test_columns_are_grouped_by_once_each_and_may_contain_commas():
    assert [g.column for g in parse_groupings("a,b", ["a,b"])] == ["a,b"]
    assert [(g.column, g.unit) for g in parse_groupings("shop, sold:month", COLUMNS)] == [
        ("shop", ""),
        ("sold", "month"),
    ]
    assert [(g.column, g.unit) for g in parse_groupings("sold:month,shop", COLUMNS)] == [
        ("sold", "month"),
        ("shop", ""),
    ]
    assert [(g.column, g.unit) for g in parse_groupings("a,b:month", ["a,b"])] == [("a,b", "month")]
    with pytest.raises(DataError, match="groups by a column twice"):
        parse_groupings("sold:month,sold:year", COLUMNS)


@pytest.mark.parametrize("method", [pacc, lambda: HDy(frozen([0, 1])).fit(LABELLED, CODES), lambda: plain_sld()])
def test_the_total_is_the_estimate_without_groups(table, method):
    path, _ = table
    total = estimate_groups(read(path, method(), by="shop,sold:month"), total=True).total
    whole = estimate_groups(read(path, method()))
    assert total.names == [TOTAL]
    for name in ("shares", "low", "high", "n_items", "verdicts"):
        np.testing.assert_array_equal(getattr(total, name), getattr(whole, name))


def plain_sld():
    return SLD(frozen([0, 1]), prior="uniform").fit(LABELLED, CODES)
