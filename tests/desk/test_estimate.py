"""Shares of groups of tables: groups, counts, checks."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from headcount import SLD
from headcount.desk import check_tables, compare_tables, estimate_tables, scored_model
from headcount.exceptions import DataError
from headcount.modelfile import Model, save_model
from tests.cli.conftest import SCORED, scored_files, scored_table
from tests.conftest import blobs


def test_times_are_grouped_by_their_dates(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    new = scored_table(400, 1).drop(columns="y")
    new["at"] = pd.date_range("2015-12-20", periods=400, freq="97min")
    new.to_parquet(tmp_path / "new.parquet")
    new.assign(at=new["at"].dt.strftime("%Y-%m-%d %H:%M:%S")).to_csv(tmp_path / "new.csv", index=False)
    new.assign(at=new["at"].dt.tz_localize("Europe/Rome")).to_parquet(tmp_path / "rome.parquet")
    counts = new["at"].dt.strftime("%Y-%m").value_counts().to_dict()
    for file in ("new.parquet", "new.csv", "rome.parquet"):
        code, out, err = run("estimate", "--scored", "labelled.csv", file, "--label", "y", "--by", "at:month", "--json")
        assert code == 0, err
        assert {name: own["n"] for name, own in json.loads(out)["groups"].items()} == counts


def test_groups_do_not_depend_on_the_column_type(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    new = scored_table(360, 1).drop(columns="y")
    new["g"] = np.repeat([1, 2, 10], 120)
    (tmp_path / "folder").mkdir()
    new[:180].to_parquet(tmp_path / "folder" / "a.parquet")
    new[180:].assign(g=new["g"][180:].astype(str)).to_parquet(tmp_path / "folder" / "b.parquet")
    new[:0].to_parquet(tmp_path / "folder" / "empty.parquet")
    (tmp_path / "folder" / "_temporary").mkdir()
    (tmp_path / "folder" / "_temporary" / "x.parquet").write_text("half")
    new.to_csv(tmp_path / "new.csv", index=False)
    answers = []
    for source in ("folder", "new.csv"):
        code, out, err = run("estimate", "--scored", "labelled.csv", source, "--label", "y", "--by", "g", "--json")
        assert code == 0, err
        answers.append(json.loads(out)["groups"])
        assert [(name, own["n"]) for name, own in answers[-1].items()] == [("1", 120), ("2", 120), ("10", 120)]
    for name in ("1", "2", "10"):
        assert answers[0][name]["shares"]["1"]["share"] == pytest.approx(
            answers[1][name]["shares"]["1"]["share"], abs=1e-12
        )


def test_a_folder_of_empty_files_is_refused(tmp_path, refused):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    (tmp_path / "folder").mkdir()
    scored_table(3).drop(columns="y")[:0].to_parquet(tmp_path / "folder" / "a.parquet")
    refused("There are no rows in 'folder'", "estimate", "--scored", "labelled.csv", "folder", "--label", "y")


def test_a_table_that_ends_inside_quotes_is_refused(model, refused, tmp_path):
    (tmp_path / "cut.csv").write_text('day,review\n1,"a fine one"\n2,"two\nlines"\n3,"cut in the mid')
    refused(
        "cut.csv ends in the middle: the quote that opens in line 5 is not closed", "estimate", "m.headcount", "cut.csv"
    )


def test_columns_of_lists_can_not_be_grouped_by(tmp_path, refused):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    new = scored_table(60, 1).drop(columns="y")
    new["g"] = [[1, 2]] * 60
    new.to_parquet(tmp_path / "new.parquet")
    command = "estimate", "--scored", "labelled.csv", "new.parquet", "--label", "y", "--by", "g"
    refused("column 'g' holds lists or records", *command)


def test_the_reason_for_not_checking_is_given(tmp_path, run):
    table = scored_table(400)
    few = pd.concat([table[table["y"] == 0], table[table["y"] == 1][:9]])
    few.to_csv(tmp_path / "labelled.csv", index=False)
    code, out, err = run("estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "--json")
    assert code == 0, err
    group = json.loads(out)["groups"]["all"]
    if group["verdict"] == "not checked":
        assert "has only 9 labelled items" in group["advice"][0]


def test_counting_methods_are_checked_too(tmp_path, run):
    X, y = blobs(1500, 2, 0)
    noise = 5.0 * np.random.default_rng(0).standard_normal(X.shape)
    frame = pd.DataFrame(X + noise, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "l.csv", index=False)
    frame[frame.y == 1].to_csv(tmp_path / "ones.csv", index=False)
    assert run("fit", "l.csv", "--label", "y", "--method", "PCC", "--learner", "lr", "-o", "m.headcount")[0] == 0
    assert json.loads(run("check", "m.headcount", "l.csv", "--json")[1])["groups"]["all"]["verdict"] in (
        "trust",
        "caution",
    )
    found = json.loads(run("estimate", "m.headcount", "ones.csv", "--json")[1])["groups"]["all"]
    assert found["verdict"] == "caution"
    assert "this method does not allow for that" in " ".join(found["advice"])
    out = run("estimate", "m.headcount", "ones.csv")[1]
    assert "so how sure the shares are is not known: PCC is biased" in out


def test_python_and_command_line_agree(tmp_path, run):
    scored_files(tmp_path)
    model = scored_model(tmp_path / "labelled.csv", label="y")
    groups = estimate_tables(model, tmp_path / "new.csv", by="g")
    shown = pd.read_csv(io.StringIO(run(*SCORED, "--by", "g", "-o", "-")[1]))
    pd.testing.assert_frame_equal(groups.to_frame(), shown)
    save_model(model, tmp_path / "m.headcount")
    from_file = estimate_tables(tmp_path / "m.headcount", [tmp_path / "new.csv"], by="g")
    np.testing.assert_array_equal(from_file.shares, groups.shares)
    records = check_tables(model, tmp_path / "new.csv", by="g")
    assert [record["verdict"] for record in records] == groups.verdicts


def test_progress_counts_all_rows(tmp_path):
    scored_files(tmp_path)
    rows = []
    estimate_tables(scored_model(tmp_path / "labelled.csv", label="y"), tmp_path / "new.csv", progress=rows.append)
    assert sum(rows) == 900


def test_a_comparison_holds_changes_and_verdicts(tmp_path):
    scored_files(tmp_path)
    model = scored_model(tmp_path / "labelled.csv", label="y")
    comparison = compare_tables(model, tmp_path / "new.csv", by="g", first="a", second="b")
    shares = dict(zip(comparison.groups.names, comparison.groups.shares, strict=True))
    changes = [record["change"] for record in comparison.records()]
    np.testing.assert_allclose(changes, shares["b"] - shares["a"], atol=1e-12)
    assert set(comparison.verdicts()) == {"a", "b"}


def test_comparisons_of_many_groups_hold_changes_and_verdicts(tmp_path):
    scored_files(tmp_path, k=3)
    model = scored_model(tmp_path / "labelled.csv", label="y")
    new = pd.read_csv(tmp_path / "new.csv")
    new.loc[:4, "g"] = "few"
    new.to_csv(tmp_path / "new.csv", index=False)
    found = compare_tables(model, tmp_path / "new.csv", by="g", against="previous")
    assert (found.names, found.left_out, len(found)) == (["a", "b", "c"], ["few"], 6)
    shares = dict(zip(found.groups.names, found.groups.shares, strict=True))
    for record in found.records():
        j = list(found.groups.classes).index(record["class"])
        assert record["change"] == pytest.approx(shares[record["second"]][j] - shares[record["first"]][j], abs=1e-12)
        assert record["change_low"] <= record["change"] <= record["change_high"]
        assert record["p_single"] <= record["p_value"] <= 1.0
    assert list(found.verdicts()) == ["a", "b", "c"]
    moved = compare_tables(model, tmp_path / "new.csv", by="g", against="first", first="b")
    assert (moved.names, moved.differences.second) == (["b", "a", "c"], ["a", "c"])


def test_files_are_compared_in_the_order_in_which_they_are_given(tmp_path):
    scored_files(tmp_path)
    model = scored_model(tmp_path / "labelled.csv", label="y")
    new = pd.read_csv(tmp_path / "new.csv")
    for i, name in enumerate("zay"):
        new[300 * i : 300 * (i + 1)].to_csv(tmp_path / f"{name}.csv", index=False)
    files = [tmp_path / f"{name}.csv" for name in "zay"]
    found = compare_tables(model, files, against="previous")
    assert found.differences.first == ["z.csv", "a.csv"]
    assert found.differences.second == ["a.csv", "y.csv"]
    again = compare_tables(model, [files[0]] * 4, against="first")
    assert again.differences.second == [f"{files[0]} ({which})" for which in ("second", "third", "4th")]
    assert (again.differences.p_value == 1.0).all()


def test_plain_sld_has_intervals_if_posteriors_are_assumed_to_be_calibrated(tmp_path):
    scored_files(tmp_path)
    calibrated = scored_model(tmp_path / "labelled.csv", label="y", method="SLD")
    held_out = calibrated.quantifier
    plain = SLD(prior="uniform").fit(held_out.validation_outputs_, held_out.classes_[held_out.validation_codes_])
    model = Model(plain, calibrated.columns)
    without = estimate_tables(model, tmp_path / "new.csv", by="g")
    assert "assume='calibrated'" in without.note
    assert np.isnan(without.low).all()
    groups = estimate_tables(model, tmp_path / "new.csv", by="g", assume="calibrated")
    assert groups.note == ""
    assert (groups.low < groups.shares).all()
    with pytest.raises(DataError, match="without intervals: without calibration SLD"):
        compare_tables(model, tmp_path / "new.csv", by="g", against="first")


def test_unusable_keywords_are_refused(tmp_path):
    scored_files(tmp_path)
    model, new = scored_model(tmp_path / "labelled.csv", label="y"), tmp_path / "new.csv"
    with pytest.raises(DataError, match="Counts of decisions need a model of decisions"):
        estimate_tables(model, new, counts=True)
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        compare_tables(model, [new, new], level=95)
    with pytest.raises(DataError, match="PACC does not: omit assume='calibrated'"):
        estimate_tables(model, "not-read.csv", assume="calibrated")
    with pytest.raises(DataError, match="estimand must be one of"):
        estimate_tables(model, new, estimand="items")
