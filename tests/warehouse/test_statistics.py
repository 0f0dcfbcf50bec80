"""Statistics that a database computes are equal, to the bit, to those that are added up from a file of the same rows."""

import numpy as np
import pandas as pd
import pytest

from headcount.desk import check_tables, compare_tables, estimate_tables, scored_model, statistics_sql
from headcount.desk.estimate import database_recipe, tally_of
from headcount.exceptions import DataError
from headcount.stream import Reading
from headcount.stream import sketch as sketches
from tests.warehouse.databases import DuckDB

METHODS = ["CC", "PCC", "ACC", "PACC", "SLD", "DMy", "HDy", "SORD"]
"""The last two are for two classes."""


def labelled(folder, k, rng):
    """Write a labelled table with scores of k classes."""
    codes = np.tile(np.arange(k), 60)
    logits = rng.normal(size=(len(codes), k))
    logits[np.arange(len(codes)), codes] += 1.5
    P = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    frame = pd.DataFrame(P, columns=[f"score_{j}" for j in range(k)]).assign(y=codes)
    frame.to_csv(folder / "labelled.csv", index=False)
    return folder / "labelled.csv"


def odd_posteriors(n, k, rng):
    """Posteriors with what is easily got wrong: ties, zeros, exact cuts and bins, tiny and slightly negative numbers."""
    P = rng.dirichlet(rng.choice([0.05, 0.5, 3.0], k), n)
    P[: n // 10] = 1.0 / k
    P[n // 10 : n // 5] = np.eye(k)[rng.integers(0, k, n // 5 - n // 10)]
    exact = rng.choice([0.05, 0.1, 0.25, 0.5, 0.525, 0.6, 0.7, 0.75, 1.0 / 3.0, 2.0**-40, 3e-13, 0.0], n // 5)
    P[n // 5 : n // 5 + len(exact)] = ((1.0 - exact) / (k - 1))[:, None]
    P[n // 5 : n // 5 + len(exact), rng.integers(0, k)] = exact
    few = np.arange(n // 2, n // 2 + n // 20)
    P[few, 0] = -5e-10
    P[few, 1] = 1.0 - P[few, 2:].sum(axis=1)
    return P


def items(n, k, rng, dtype=np.float64):
    frame = pd.DataFrame(odd_posteriors(n, k, rng).astype(dtype), columns=[f"score_{j}" for j in range(k)])
    days = pd.Timestamp("2019-12-20") + pd.to_timedelta(rng.integers(0, 90, n), unit="D")
    frame["sold"] = pd.Series(days).astype("datetime64[us]")
    frame["shop"] = pd.Series(rng.choice(["a", "b", "it's", None], n), dtype=object)
    return frame.sample(frac=1.0, random_state=int(rng.integers(1000))).reset_index(drop=True)


def load_in_pieces(database, frame, rng):
    """Load rows in another order, as two tables below one view."""
    frame = frame.sample(frac=1.0, random_state=int(rng.integers(1000)))
    database.execute("DROP VIEW IF EXISTS scores")
    database.load("first_part", frame[: len(frame) // 3])
    database.load("second_part", frame[len(frame) // 3 :])
    database.execute("CREATE VIEW scores AS SELECT * FROM first_part UNION ALL SELECT * FROM second_part")


def result_file(database, model, folder, by=None, table="scores", where=()):
    """Run the query and save its result as CSV."""
    frame = database.frame(statistics_sql(model, table, by=by, where=where, dialect=database.dialect))
    frame.to_csv(folder / "result.csv", index=False)
    return folder / "result.csv"


def contents(tally):
    """All integers of a tally, by the name of the group."""
    order = np.argsort([str(name) for name in tally.names])
    numbers = {}
    for name, statistics in tally.sums.items():
        for i, part in enumerate(statistics._parts()):
            low = 0 if part.low is None else part.low
            high = (part.high + (low >> 20))[order]
            numbers[name, i] = high.tolist(), np.broadcast_to(low & (2**20 - 1), part.high.shape)[order].tolist()
    if tally.sketch is not None:
        groups, counts, means = tally.sketch.cells()
        numbers["sketch"] = (
            tally.sketch.levels(len(tally))[order].tolist(),
            sorted(
                (str(tally.names[g]), n, *mean)
                for g, n, mean in zip(groups, counts.tolist(), means.tolist(), strict=True)
            ),
        )
    return [str(tally.names[row]) for row in order], numbers


@pytest.mark.parametrize("k", [2, 3, pytest.param(10, marks=pytest.mark.slow)])
def test_equal_to_the_bit(database, k, tmp_path):
    rng = np.random.default_rng(k)
    file = labelled(tmp_path, k, rng)
    for dtype in (np.float64, np.float32):
        frame = items(400, k, rng, dtype)
        frame.to_parquet(tmp_path / "items.parquet", index=False)
        load_in_pieces(database, frame, rng)
        for method in METHODS if k == 2 else METHODS[:-2]:
            model = scored_model(file, label="y", method=method)
            by = {"PACC": "sold:month", "HDy": "shop"}.get(method, "sold:week")
            read = Reading(database_recipe(model), "scores", model.columns.names, by).tally(tmp_path / "items.parquet")
            computed = tally_of(model, [result_file(database, model, tmp_path, by)], by, False, statistics=True)
            assert contents(computed) == contents(read), (method, dtype)


@pytest.mark.parametrize("method", ["PACC", "SLD", "HDy"])
def test_same_answer_as_from_the_file(database, method, tmp_path):
    rng = np.random.default_rng(5)
    model = scored_model(labelled(tmp_path, 2, rng), label="y", method=method)
    frame = items(500, 2, rng)
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    load_in_pieces(database, frame, rng)
    for by in (None, "shop", "sold:quarter"):
        from_file = estimate_tables(model, tmp_path / "items.parquet", by=by)
        computed = estimate_tables(model, result_file(database, model, tmp_path, by), by=by, statistics=True)
        assert computed.records() == from_file.records()
        assert computed.advice == from_file.advice
        assert computed.precision == from_file.precision


@pytest.mark.parametrize("method", ["PACC", "SLD"])
def test_several_columns_and_conditions(database, method, tmp_path):
    rng = np.random.default_rng(15)
    model = scored_model(labelled(tmp_path, 2, rng), label="y", method=method)
    frame = items(600, 2, rng).assign(price=rng.integers(0, 40, 600) / 2)
    frame.loc[::7, "price"] = np.nan
    frame["code"] = pd.Series(rng.choice(["10115", "20095", "", "x y"], 600), dtype=object)
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    load_in_pieces(database, frame, rng)
    for by, where in (
        ("shop,sold:quarter", []),
        (None, ["price>=10"]),
        ("sold:month,code", ["price!=3.5", "shop=a,it's"]),
        ("shop", ["code='10115'"]),
        ("shop", ["code!="]),
        ("shop", ["shop=", "price<15", "price>2.5"]),
        ("shop", ["sold>=2020-01-15", "sold<2020-03-01"]),
    ):
        expected = estimate_tables(model, tmp_path / "items.parquet", by=by, where=where, min_items=5)
        result = result_file(database, model, tmp_path, by, where=where)
        computed = estimate_tables(model, result, by=by, where=where, min_items=5, statistics=True)
        assert computed.records() == expected.records(), (by, where)
        assert computed.by == expected.by


def test_compared_and_checked_from_statistics(database, tmp_path):
    rng = np.random.default_rng(16)
    model = scored_model(labelled(tmp_path, 2, rng), label="y")
    frame = items(500, 2, rng)
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    load_in_pieces(database, frame, rng)
    result = result_file(database, model, tmp_path, "sold:month")
    assert check_tables(model, result, by="sold:month", statistics=True) == check_tables(
        model, tmp_path / "items.parquet", by="sold:month"
    )
    changes, expected = (
        compare_tables(model, file, by="sold:month", against="all", statistics=statistics).records()
        for file, statistics in ((result, True), (tmp_path / "items.parquet", False))
    )
    assert changes == expected
    first, second = (
        result_file(database, model, tmp_path, table=part).rename(tmp_path / f"{part}.csv")
        for part in ("first_part", "second_part")
    )
    assert compare_tables(model, [first, second], statistics=True).second == "second_part.csv"


def test_statistics_of_other_conditions_are_refused(tmp_path):
    model = scored_model(labelled(tmp_path, 2, np.random.default_rng(0)), label="y")
    database = DuckDB()
    database.load("scores", pd.DataFrame({"score_0": [0.25, 0.5], "score_1": [0.75, 0.5], "price": [1.0, 2.0]}))
    result = result_file(database, model, tmp_path, where=["price>=1"])
    with pytest.raises(DataError, match="conditions of --where"):
        estimate_tables(model, result, where=["price>=2"], statistics=True)
    with pytest.raises(DataError, match="is no condition"):
        statistics_sql(model, "scores", where=["price"])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # pyspark's own
def test_spark_gives_the_same_answer(spark, tmp_path):
    rng = np.random.default_rng(9)
    for k, methods in ((2, ("PACC", "HDy", "SLD")), (3, ("PACC",))):
        file, frame = labelled(tmp_path, k, rng), items(400, k, rng)
        frame.to_parquet(tmp_path / "items.parquet", index=False)
        load_in_pieces(spark, frame, rng)
        for method in methods:
            model = scored_model(file, label="y", method=method)
            from_file = estimate_tables(model, tmp_path / "items.parquet", by="sold:week", min_items=5)
            result = result_file(spark, model, tmp_path, "sold:week")
            computed = estimate_tables(model, result, by="sold:week", min_items=5, statistics=True)
            assert computed.records() == from_file.records(), (k, method)


def test_score_of_the_second_class_alone(database, tmp_path):
    rng = np.random.default_rng(6)
    file = labelled(tmp_path, 2, rng)
    frame = items(300, 2, rng)[["score_1", "sold"]]
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    database.load("scores_alone", frame)
    model = scored_model(file, label="y", scores="score_1")
    result = result_file(database, model, tmp_path, "sold:day", "scores_alone")
    from_file = estimate_tables(model, tmp_path / "items.parquet", by="sold:day", min_items=1)
    assert estimate_tables(model, result, by="sold:day", min_items=1, statistics=True).records() == from_file.records()


def test_decisions(database, tmp_path):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 200)
    pd.DataFrame({"y": y, "said": np.where(rng.random(200) < 0.8, y, 1 - y)}).to_csv(
        tmp_path / "labelled.csv", index=False
    )
    frame = pd.DataFrame({"said": rng.integers(0, 2, 300), "shop": rng.choice(["a", "b"], 300)})
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    database.load("decided", frame)
    model = scored_model(tmp_path / "labelled.csv", label="y", decisions="said")
    from_file = estimate_tables(model, tmp_path / "items.parquet", by="shop")
    result = result_file(database, model, tmp_path, "shop", "decided")
    assert estimate_tables(model, result, by="shop", statistics=True).records() == from_file.records()


@pytest.mark.parametrize(("k", "cells"), [(3, 60), (5, 80)])
def test_cells_of_a_sketch_are_widened_and_sampled_in_the_database(database, k, cells, tmp_path, monkeypatch):
    monkeypatch.setattr(sketches, "_MOST_CELLS", ((None, cells),))
    rng = np.random.default_rng(8)
    model = scored_model(labelled(tmp_path, k, rng), label="y", method="SLD")
    frame = items(600, k, rng)
    frame.to_parquet(tmp_path / "items.parquet", index=False)
    load_in_pieces(database, frame, rng)
    result = result_file(database, model, tmp_path, "shop")
    read = Reading(database_recipe(model), "scores", model.columns.names, "shop").tally(tmp_path / "items.parquet")
    bits, halvings = read.sketch.levels(len(read)).T
    assert bits.max() < 6
    assert halvings.max() > 0
    computed = tally_of(model, [result], "shop", False, statistics=True)
    assert contents(computed) == contents(read)
    assert computed.n.tolist() == read.n[[read.names.index(name) for name in computed.names]].tolist()
    parts = result_file(database, model, tmp_path, "shop", "first_part").rename(tmp_path / "first.csv")
    rest = result_file(database, model, tmp_path, "shop", "second_part")
    assert contents(tally_of(model, [parts, rest], "shop", False, statistics=True)) == contents(read)


@pytest.mark.parametrize("scores", [(None, 0.5), (0.7, 0.7), (-0.1, 1.1), (float("nan"), 0.5), (float("inf"), 0.0)])
def test_rows_that_are_not_posteriors_are_refused(database, scores, tmp_path):
    model = scored_model(labelled(tmp_path, 2, np.random.default_rng(0)), label="y", method="SLD")
    frame = pd.DataFrame([(0.25, 0.75), scores, (0.5, 0.5)], columns=["score_0", "score_1"])
    database.load("damaged", frame.astype(float))
    result = result_file(database, model, tmp_path, table="damaged")
    with pytest.raises(DataError, match="in 1 of 3 rows of the table the scores are missing or are not probabilities"):
        estimate_tables(model, result, statistics=True)
