"""Scans of files into tallies: black boxes and models, groups and dates, here and on a cluster."""

import threading
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import ACC, MLPE, PACC, SLD, LogTfidf, Outputs, Samples
from headcount.exceptions import DataError
from headcount.stream import Grouping, Reading, Recipe, estimate_groups, tally_files
from headcount.stream import scan as module
from tests.conftest import blobs, frozen, scored_items
from tests.modelfile.test_modelfile import texts

CODES, LABELLED = scored_items(500, 2, 1, separation=1.0)


def pacc():
    return PACC(frozen([0, 1])).fit(LABELLED, CODES)


def scored_table(n=3000, seed=5):
    _, P = scored_items(n, 2, seed, separation=1.0, shares=[0.7, 0.3])
    months = np.array(["2016-01", "2016-02", "2016-03"])[np.arange(n) % 3]
    return (
        P,
        months,
        pa.table(
            {"month": months, "p0": P[:, 0], "p1": P[:, 1], "day": [f"{m}-0{1 + i % 9}" for i, m in enumerate(months)]}
        ),
    )


def scores(quantifier, by="month", names=("p0", "p1")):
    return Reading(Recipe(quantifier, (LABELLED, CODES)), "scores", names, by)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("names", [("p0", "p1"), ("p1",)])
def test_shares_from_batches_equal_those_of_all_items_at_once(tmp_path, ending, names, monkeypatch):
    monkeypatch.setattr("headcount.tables.lines._BLOCK", 1 << 14)
    monkeypatch.setattr("headcount.tables.tablefile._ROWS", 500)
    P, months, table = scored_table()
    path = tmp_path / f"t.{ending}"
    (csv.write_csv if ending == "csv" else parquet.write_table)(table, path)
    rows = []
    tally = tally_files([path], scores(pacc(), names=names), rows.append)
    assert sum(rows) == 3000
    assert len(rows) > 4
    found = estimate_groups(tally)
    whole = pacc().aggregate(Outputs.from_posteriors(P, [0, 1]), Samples.from_groups(months))
    np.testing.assert_allclose(found.shares, whole, rtol=0, atol=1e-12)
    assert set(found.verdicts) <= {"trust", "caution"}


def test_results_are_the_same_to_the_bit_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr("headcount.tables.tablefile._ROWS", 300)
    parquet.write_table(scored_table()[2], tmp_path / "t.parquet")
    quantifier = SLD(frozen([0, 1]), calibration="bcts").fit(LABELLED, CODES)
    first, second = (estimate_groups(tally_files([tmp_path / "t.parquet"], scores(quantifier))) for _ in range(2))
    np.testing.assert_array_equal(first.shares, second.shares)
    np.testing.assert_array_equal(first.low, second.low)


def test_texts_and_numbers_are_scored(tmp_path):
    words, y = texts(300)
    model = PACC(make_pipeline(LogTfidf(1), LogisticRegression()), random_state=0).fit(words, y)
    csv.write_csv(pa.table({"t": words, "g": ["a"] * 150 + ["b"] * 150}), tmp_path / "t.csv")
    found = estimate_groups(tally_files([tmp_path / "t.csv"], Reading(Recipe(model), "text", ("t",), "g")))
    whole = model.aggregate(model.outputs(words), Samples.from_groups(["a"] * 150 + ["b"] * 150))
    np.testing.assert_allclose(found.shares, whole, atol=1e-12)
    X, codes = blobs(300, 2, 0)
    model = ACC(random_state=0).fit(X, codes)
    columns = {f"x{j}": X[:, j] for j in range(4)}
    parquet.write_table(pa.table(columns), tmp_path / "n.parquet")
    numbers = Reading(Recipe(model), "numbers", tuple(columns))
    np.testing.assert_allclose(
        estimate_groups(tally_files([tmp_path / "n.parquet"], numbers)).shares[0], model.predict(X), atol=1e-12
    )
    with pytest.raises(DataError, match=r"has 2 features in 'x0', 'x1'; the model was fitted on 4"):
        tally_files([tmp_path / "n.parquet"], Reading(Recipe(model), "numbers", ("x0", "x1")))
    X[7, 2] = np.nan
    parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), tmp_path / "n.parquet")
    with pytest.raises(DataError, match="row 8, column 'x2': the number is missing or infinite"):
        tally_files([tmp_path / "n.parquet"], numbers)


def test_errors_of_the_classifier_name_the_file(tmp_path, monkeypatch):
    X, codes = blobs(100, 2, 0)
    model = ACC(random_state=0).fit(X, codes)
    parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), tmp_path / "n.parquet")
    monkeypatch.setattr(type(model), "outputs", lambda *a: (_ for _ in ()).throw(ValueError("too wide")))
    with pytest.raises(DataError, match=r"n.parquet: the model can't be used on these rows: too wide"):
        tally_files([tmp_path / "n.parquet"], Reading(Recipe(model), "numbers", ("x0", "x1", "x2", "x3")))


def test_decisions_are_counted(tmp_path):
    model = ACC(frozen([0, 1])).fit(LABELLED, CODES)
    (tmp_path / "d.csv").write_text("said\n" + "1\n0\n1\n1\n" * 20)
    tally = tally_files([tmp_path / "d.csv"], Reading(Recipe(model), "decisions", ("said",)))
    assert tally.sums["method"].sums.tolist() == [[20.0, 60.0]]
    (tmp_path / "d.csv").write_text("said\n1\n2\n")
    with pytest.raises(DataError, match="line 3, column 'said': '2' is not among the classes"):
        tally_files([tmp_path / "d.csv"], Reading(Recipe(model), "decisions", ("said",)))


def test_invalid_scores_are_located(tmp_path):
    (tmp_path / "t.csv").write_text("month,p0,p1\na,0.5,0.5\nb,0.5,0.6\n")
    with pytest.raises(
        DataError,
        match=r"t.csv, line 3, columns 'p0', 'p1': the scores 0.5, 0.6 are not probabilities.*Divide the scores",
    ):
        tally_files([tmp_path / "t.csv"], scores(pacc()))
    (tmp_path / "t.csv").write_text("month,p0,p1\na,0.5,0.5\nb,,0.6\n")
    with pytest.raises(DataError, match=r"line 3, .* the scores nan, 0.6 are not probabilities"):
        tally_files([tmp_path / "t.csv"], scores(pacc()))


def test_the_first_of_several_errors_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("headcount.tables.lines._BLOCK", 256)
    rows = ["a,0.5,0.5"] * 400
    rows[123] = rows[399] = "a,0.5,0.9"
    (tmp_path / "t.csv").write_text("month,p0,p1\n" + "\n".join(rows) + "\n")
    for _ in range(3):
        with pytest.raises(DataError, match=r"t.csv, line 125,"):
            tally_files([tmp_path / "t.csv"], scores(pacc()))


def test_missing_and_conflicting_columns_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("month,p0\na,0.5\n")
    with pytest.raises(DataError, match=r"has no column 'p1', from which the model reads scores"):
        tally_files([tmp_path / "t.csv"], scores(pacc()))
    (tmp_path / "t.csv").write_text("month,p0,p1\na,0.5,0.5\n")
    with pytest.raises(DataError, match="can't be grouped by column 'p0': the model reads scores"):
        tally_files([tmp_path / "t.csv"], scores(pacc(), "p0"))
    with pytest.raises(DataError, match="has no column 'nothing'"):
        tally_files([tmp_path / "t.csv"], scores(pacc(), "nothing"))


@pytest.mark.parametrize(
    ("unit", "names"),
    [
        ("day", ["2016-07-09", "2017-01-01"]),
        ("week", ["2016-W27", "2016-W52"]),
        ("month", ["2016-07", "2017-01"]),
        ("quarter", ["2016-Q3", "2017-Q1"]),
        ("year", ["2016", "2017"]),
    ],
)
def test_dates_are_grouped_by_unit(tmp_path, unit, names):
    from datetime import date, datetime

    rows = ["2016-07-09T10:00:00", "2017-01-01"]
    for values in (rows, [datetime.fromisoformat(row) for row in rows], [date.fromisoformat(row[:10]) for row in rows]):
        table = pa.table({"sold": [*values, None], "p0": [0.5] * 3, "p1": [0.5] * 3})
        parquet.write_table(table, tmp_path / "t.parquet")
        tally = tally_files([tmp_path / "t.parquet"], scores(pacc(), f"sold:{unit}"))
        assert tally.names == [*names, None]


def test_incomplete_dates_odd_column_names_and_invalid_dates(tmp_path):
    grouping = Grouping("d", "quarter")
    assert [grouping.name(value) for value in ("2016-08", " ", None)] == ["2016-Q3", None, None]
    assert Grouping("d", "year").name("2016") == "2016"
    assert Grouping("d", "day").name("20160709") == Grouping("d", "day").name(20160709) == "2016-07-09"
    assert Grouping("d", "week").name("2016-W27") == "2016-W27"
    for unit, short in (
        ("month", 2016),
        ("month", "2016-W27"),
        ("quarter", "2016"),
        ("month", "2016"),
        ("day", "2016-08"),
        ("week", "2016-08"),
    ):
        with pytest.raises(ValueError, match=f"is not a {unit}"):
            Grouping("d", unit).name(short)
    assert Grouping("d").name(7) == Grouping("d").name(7.0) == "7"
    assert Grouping("d").name(True) == "True"
    assert Grouping.parse("a:b", ["a:b"]) == Grouping("a:b")
    with pytest.raises(
        DataError, match="'d:moon' can't be grouped by: there is no unit 'moon'; group dates by day, week, month"
    ):
        Grouping.parse("d:moon", ["d"])
    (tmp_path / "t.csv").write_text("day,p0,p1\n2016-01-02,0.5,0.5\n07/09/2016,0.5,0.5\n")
    with pytest.raises(
        DataError,
        match=r"t.csv, line 3, column 'day': .* which number of '07/09/2016' is the day .* Write dates as 2016-07-09",
    ):
        tally_files([tmp_path / "t.csv"], scores(pacc(), "day:month"))
    estimate_groups(tally_files([tmp_path / "t.csv"], scores(pacc(), "day")))


def test_small_batches_of_a_larger_block_locate_their_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_ROWS_TO_SCORE", 10)
    words, y = texts(100)
    model = PACC(make_pipeline(LogTfidf(1), LogisticRegression()), random_state=0).fit(words, y)
    days = ["2016-01-01"] * 95 + ["never"] + ["2016-01-02"] * 4
    csv.write_csv(pa.table({"t": words, "d": days}), tmp_path / "t.csv")
    with pytest.raises(DataError, match="line 97, column 'd': 'never' is not a date"):
        tally_files([tmp_path / "t.csv"], Reading(Recipe(model), "text", ("t",), "d:month"))


def test_unusable_clusters_are_refused(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="Standard input and tables in memory can't be read on a cluster"):
        tally_files(["-"], scores(pacc()), None, "tcp://127.0.0.1:1")
    parquet.write_table(scored_table(30)[2], tmp_path / "t.parquet")
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(DataError, match="A Dask cluster needs"):
        tally_files([tmp_path / "t.parquet"], scores(pacc()), None, "tcp://127.0.0.1:1")


def test_the_earliest_of_simultaneous_errors_is_raised():
    waited = threading.Event()

    def fails(number):
        if number == 2:
            waited.wait(5)
        raise DataError(f"piece {number}")

    def late():
        waited.wait(5)

    lanes = [lambda piece: piece(), lambda piece: (piece(), waited.set())]
    pieces = [late, lambda: None, partial(fails, 2), partial(fails, 3)]
    with pytest.raises(DataError, match="piece 2"):
        module._run_lanes(pieces, lanes)


def test_too_many_groups_are_refused_before_memory_is_allocated():
    quantifier = pacc()
    tally = Recipe(quantifier).start()
    codes = np.arange(20_000, dtype=np.int32)
    with pytest.raises(DataError, match="more than 10,000 groups"):
        tally.add_columns(np.full((2, 20_000), 0.5), codes, codes.tolist())
    assert len(tally) == 0
    with pytest.raises(DataError, match="There are no files to read"):
        tally_files([], scores(quantifier))


def test_a_method_that_reads_no_scores_still_counts_items(tmp_path):
    (tmp_path / "t.csv").write_text("x,g\n" + "1,a\n" * 40 + "2,b\n" * 35)
    quantifier = MLPE().fit(np.zeros((10, 1)), [0, 1] * 5)
    tally = tally_files([tmp_path / "t.csv"], Reading(Recipe(quantifier), "numbers", ("x",), "g"))
    found = estimate_groups(tally)
    assert found.n_items.tolist() == [40, 35]
    np.testing.assert_allclose(found.shares, 0.5)


def test_dates_with_the_day_first_are_read_where_that_is_clear():
    def months(*dates):
        return Grouping("d", "month").names(dates, lambda row: f"t.csv, line {row + 2}")

    assert months("9.7.2016", "23.12.2016", "01.02.2017 10:30") == ["2016-07", "2016-12", "2017-02"]
    assert months("09/07/2016", "23/12/2016", None) == ["2016-07", "2016-12", None]
    assert months("07/09/2016", "12/23/2016", "2016-05-01") == ["2016-07", "2016-12", "2016-05"]
    with pytest.raises(DataError, match=r"t.csv, line 3: it is not clear which number of '09/07/2016' is the day"):
        months("2016-01-01", "09/07/2016", "10/11/2016")
    with pytest.raises(DataError, match="in different orders"):
        months("23/12/2016", "12/23/2016")
    with pytest.raises(DataError, match=r"line 2: '32.1.2016' is not a date"):
        months("32.1.2016")
