"""What a query is for each dialect, which names it takes, and which results are refused."""

import builtins
import csv
import sqlite3

import numpy as np
import pandas as pd
import pytest
import sqlglot

from headcount import PACC, SLD
from headcount.desk import estimate_tables, scored_model, statistics_sql
from headcount.exceptions import DataError, MissingPackageError
from headcount.modelfile import Columns, Model
from headcount.quantifiers.representations import Decisions, Posteriors
from headcount.warehouse import DIALECTS
from headcount.warehouse.dialects import _exact, table_name
from tests.cli.conftest import refused, run

__all__ = ["refused", "run"]


@pytest.fixture
def tables(tmp_path):
    """A labelled file, and a database of items of which there is a file too."""
    rng = np.random.default_rng(3)
    y = np.tile([0, 1], 100)
    p = np.clip(rng.normal(0.3 + 0.4 * y, 0.2), 0.01, 0.99)
    pd.DataFrame({"y": np.where(y, "yes", "no"), "p": p}).to_csv(tmp_path / "labelled.csv", index=False)
    items = pd.DataFrame(
        {"p": np.clip(rng.normal(0.5, 0.3, 300), 0.0, 1.0), "sold": ["2020-01-31", "2020-02-01", None] * 100}
    )
    items.to_parquet(tmp_path / "items.parquet", index=False)
    with sqlite3.connect(tmp_path / "items.db") as database:
        items.to_sql("items", database, index=False)
    database.close()
    return tmp_path


LABELLED = ("--scored", "labelled.csv", "--label", "y", "--scores", "yes=p")


def save(run, tables, *arguments):
    """Print the query, run it, and save its result."""
    code, query, err = run("sql", *LABELLED, "--table", "items", "--dialect", "sqlite", *arguments)
    assert (code, err) == (0, "")
    database = sqlite3.connect(tables / "items.db")
    cursor = database.execute(query)
    with (tables / "result.csv").open("w", newline="") as file:
        csv.writer(file).writerows([[column[0] for column in cursor.description], *cursor])
    database.close()


@pytest.mark.parametrize("method", ["PACC", "SLD"])
def test_commands_give_the_same_answer_as_from_the_file(run, tables, method):
    more = "--by", "sold:month", "--method", method
    save(run, tables, *more)
    for output in ("--json", "-o-"):
        _, from_file, _ = run("estimate", *LABELLED, "items.parquet", *more, output)
        code, computed, _ = run("estimate", *LABELLED, *more, output, "--statistics", "result.csv")
        assert code == 0
        assert computed == from_file.replace("items.parquet", "result.csv")


def test_parts_of_a_table_are_added_up(run, tables):
    save(run, tables, "--by", "sold:month")
    lines = (tables / "result.csv").read_text().splitlines()
    for name, part in (("a.csv", lines[1:10]), ("b.csv", lines[10:])):
        (tables / name).write_text("\n".join([lines[0], *part]))
    _, whole, _ = run("estimate", *LABELLED, "--statistics", "result.csv", "--by", "sold:month", "-o-")
    assert run("estimate", *LABELLED, "--statistics", "b.csv", "a.csv", "--by", "sold:month", "-o-")[1] == whole


def test_results_that_are_refused(run, refused, tables):
    save(run, tables)
    result = "--statistics", "result.csv"
    refused("of all rows together: omit --by sold", "estimate", *LABELLED, *result, "--by", "sold")
    refused("statistics for PACC of another model", "estimate", *LABELLED, *result, "--method", "ACC")
    refused("does not hold statistics", "estimate", *LABELLED, "--statistics", "items.parquet")
    refused("omit --dask", "estimate", *LABELLED, *result, "--dask", "tcp://localhost:1")
    text = (tables / "result.csv").read_text()
    lines = text.splitlines()
    columns = lines[0].split(",")
    for words, changed in {
        "of statistics: save all columns": "\n".join(line.rpartition(",")[0] for line in lines),
        "is not a whole number": text.replace(lines[1].rpartition(",")[2], "1.5e+300"),
        "holds statistics of format 0": text.replace("headcount 2", "headcount 0"),
        "is not written by headcount sql": text.replace("headcount 2 ", "other "),
        "is not a cell of": "\n".join(
            [
                lines[0],
                ",".join(
                    [
                        "99" if name == "cells_cell_0" else value
                        for name, value in zip(columns, lines[1].split(","), strict=True)
                    ]
                ),
            ]
        ),
        "holds no rows": lines[0],
    }.items():
        (tables / "result.csv").write_text(changed)
        refused(words, "estimate", *LABELLED, *result)
    (tables / "result.csv").write_text(text)
    save(run, tables, "--by", "sold:week")
    refused("by sold:week: add --by sold:week", "estimate", *LABELLED, *result)


def test_dates_that_can_not_be_read_are_refused(run, refused, tables):
    database = sqlite3.connect(tables / "items.db")
    database.execute("UPDATE items SET sold = '31.1.2020' WHERE sold = '2020-01-31'")
    database.commit()
    database.close()
    save(run, tables, "--by", "sold:month")
    words = "100 of 300 rows of the table have values in the column of --by sold:month that are not dates"
    refused(words, "estimate", *LABELLED, "--statistics", "result.csv", "--by", "sold:month")


def test_texts_in_a_column_of_scores_are_refused(run, refused, tables):
    database = sqlite3.connect(tables / "items.db")
    database.execute("UPDATE items SET p = 'much' WHERE sold = '2020-01-31'")
    database.commit()
    database.close()
    save(run, tables)
    refused("in 100 of 300 rows of the table the scores", "estimate", *LABELLED, "--statistics", "result.csv")


def test_arguments_that_are_refused(refused, tables):
    refused("There is no dialect 'oracle'", "sql", *LABELLED, "--table", "items", "--dialect", "oracle")
    refused("there is no unit 'decade'", "sql", *LABELLED, "--table", "items", "--by", "sold:decade")
    refused("Missing option '--table'", "sql", *LABELLED)
    refused("omit --by", "sql", *LABELLED, "--table", "items", "--scoring", "--by", "sold")
    refused(
        "Scoring in a database is for models over columns of numbers", "sql", *LABELLED, "--table", "t", "--scoring"
    )


@pytest.mark.parametrize(
    "name", ["", "a.b.c.d", "a; DROP TABLE b", 'a"b', "a b", "(SELECT 1)", "a.", '"a" UNION', "1a", "a--"]
)
def test_what_is_not_the_name_of_a_table(name):
    if name == "a--":  # a plain name in some databases, and quoted in any case
        assert table_name(name, "postgres") == '"a--"'
        return
    with pytest.raises(DataError, match="is not the name of a table"):
        table_name(name, "postgres")


def test_snowflake_stores_plain_names_in_capitals():
    assert table_name('shop.scores."mixed Case"', "snowflake") == '"SHOP"."SCORES"."mixed Case"'


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("method", ["PACC", "HDy", "SLD"])
def test_each_dialect_is_one_select_that_parses(tables, dialect, method):
    model = scored_model(tables / "labelled.csv", label="y", scores="yes=p", method=method)
    units = ("day", "week", "month", "quarter", "year") if method == "PACC" else ()
    for by in (None, *(f"sold:{unit}" for unit in units)):
        (query,) = sqlglot.parse(statistics_sql(model, "shop.items", by=by, dialect=dialect), read=dialect)
        assert isinstance(query, sqlglot.exp.Select)
        tables_read = {table.name.lower() for table in query.find_all(sqlglot.exp.Table)}
        assert {name for name in tables_read if not name.startswith("headcount_")} == {"items"}


@pytest.mark.parametrize("value", [0.1, 1e-9, 1.0 / 3.0, 0.525, 2.0**-60, 3e-30, 12345.678, 2.0**40])
def test_numbers_are_exact(value):
    query = sqlglot.transpile(f"SELECT {_exact(value)}", write="sqlite")[0]
    database = sqlite3.connect(":memory:")
    assert database.execute(query).fetchone()[0] == value
    database.close()


def test_a_method_that_declares_no_sql_is_refused(tables):
    class Squares(Posteriors):
        def vectors(self, outputs):
            return super().vectors(outputs) ** 2

    class Swapped(Decisions):
        def codes(self, outputs):
            return 1 - super().codes(outputs)

    class Foreign(PACC):
        representation = Squares()

    class ForeignSLD(SLD):
        def sketched_columns(self, C):
            return C / 2.0

    assert Swapped().sql(2) is None
    model = scored_model(tables / "labelled.csv", label="y", scores="yes=p")
    P = np.column_stack([1.0 - np.linspace(0, 1, 200), np.linspace(0, 1, 200)])
    for quantifier in (Foreign(validation=0.4), ForeignSLD(calibration="bcts")):
        fitted = quantifier.fit(P, np.tile(["no", "yes"], 100))
        foreign = Model(fitted, model.columns)
        with pytest.raises(DataError, match=f"{type(quantifier).__name__} can't be computed in a database"):
            statistics_sql(foreign, "items")


def test_models_of_texts_are_refused(tables):
    model = scored_model(tables / "labelled.csv", label="y", scores="yes=p")
    with pytest.raises(DataError, match="A database can't score texts"):
        statistics_sql(Model(model.quantifier, Columns("text", ("review",), "y")), "items")


def test_a_missing_package_is_named(tables, monkeypatch):
    def refuse(name, *args, **kwargs):
        raise ImportError(name)

    monkeypatch.setattr("headcount.warehouse.dialects.import_module", refuse)
    model = scored_model(tables / "labelled.csv", label="y", scores="yes=p")
    with pytest.raises(MissingPackageError, match=r"pip install 'headcount\[warehouse\]'"):
        statistics_sql(model, "items")


def test_statistics_need_no_sqlglot(run, tables, monkeypatch):
    save(run, tables)
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sqlglot"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    model = scored_model(tables / "labelled.csv", label="y", scores="yes=p")
    assert estimate_tables(model, tables / "result.csv", statistics=True).n_items.tolist() == [300]
