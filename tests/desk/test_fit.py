"""Models fitted on labelled tables: which tables are accepted, and which are refused with which sentence."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import FIT
from tests.conftest import blobs


def change_table(folder, change):
    frame = pd.read_csv(folder / "labelled.csv")
    change(frame)
    frame.to_csv(folder / "labelled.csv", index=False)


def single_item(frame):
    frame.loc[10, "stars"] = "odd"


def empty_text(frame):
    frame.loc[20, "review"] = ""


def no_label(frame):
    frame.loc[30, "stars"] = None


def many_labels(frame):
    frame["stars"] = [f"id {i}" for i in range(len(frame))]


def one_label(frame):
    frame["stars"] = "good"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            single_item,
            "labelled.csv, line 12, column 'stars': this is the only item of class 'odd'; at least 5 of each",
        ),
        (empty_text, "labelled.csv, line 22, column 'review' is empty"),
        (no_label, "labelled.csv, line 32, column 'stars' has no label"),
        (many_labels, "column 'stars' holds 400 different labels"),
        (one_label, "holds only one class, 'good'"),
    ],
)
def test_unusable_labelled_tables_are_refused(reviews, refused, change, words):
    change_table(reviews, change)
    refused(words, *FIT)


def test_ten_thousand_labels_are_refused(tmp_path, refused):
    pd.DataFrame({"x": range(20000), "y": np.arange(20000) // 2}).to_csv(tmp_path / "many.csv", index=False)
    refused(
        "many.csv, column 'y' holds 10,000 different labels", "fit", "many.csv", "--label", "y", "-o", "m.headcount"
    )


def test_fractional_labels_are_classes(tmp_path, run):
    """Stars come in halves; what is not a label has too many values, or one item of each."""
    X, y = blobs(200, 2, 0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=np.array([0.5, 1.0])[y])
    frame.to_parquet(tmp_path / "f.parquet")
    frame.to_csv(tmp_path / "f.csv", index=False)
    for ending in ("csv", "parquet"):
        fit = "fit", f"f.{ending}", "--label", "y", "--method", "PACC", "--learner", "lr", "-o", f"{ending}.headcount"
        assert run(*fit)[0] == 0
    answers = [run("estimate", f"{ending}.headcount", "f.csv", "-o", "-")[1] for ending in ("csv", "parquet")]
    assert answers[0] == answers[1]
    assert ",0.5," in answers[0]


def test_missing_columns_and_files_are_refused(reviews, refused):
    refused(
        "labelled.csv has no column 'words'", "fit", "labelled.csv", "--text", "words", "--label", "stars", "-o", "m"
    )
    refused("has no column 'points'", "fit", "labelled.csv", "--label", "points", "-o", "m")
    refused("has no column 'z*'", "fit", "labelled.csv", "--features", "z*", "--label", "stars", "-o", "m")
    refused("There is no file none.csv", "fit", "none.csv", "--label", "y", "-o", "m")
    refused("there is no folder no", "fit", "labelled.csv", "--label", "stars", "-o", "no/m")
    refused(
        "can't be both the text and the label", "fit", "labelled.csv", "--text", "stars", "--label", "stars", "-o", "m"
    )
    refused("both a feature and the label", "fit", "labelled.csv", "--features", "stars", "--label", "stars", "-o", "m")
    refused("There is no learner 'x'", *FIT[:8], "--learner", "x")


def test_invalid_and_infinite_numbers_are_refused(tmp_path, refused):
    (tmp_path / "n.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20 + "oops,a\n")
    refused("n.csv, line 42, column 'x': 'oops' is not a number", "fit", "n.csv", "--label", "y", "-o", "m")
    (tmp_path / "n.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20 + "inf,a\n")
    refused("n.csv, line 42, column 'x': the number is infinite", "fit", "n.csv", "--label", "y", "-o", "m")


def test_numbers_and_embeddings_are_features(tmp_path, run):
    X, y = blobs(300, 3, 0)
    frame = pd.DataFrame(X, columns=["e0", "e1", "e2", "e3"]).assign(y=y, other="words")
    frame.to_parquet(tmp_path / "n.parquet")
    fit = "fit", "n.parquet", "--label", "y", "--learner", "lr", "-j", "1"
    assert run(*fit, "--features", "e*", "-o", "m.headcount", "--method", "ACC")[0] == 0
    code, out, err = run("estimate", "m.headcount", "n.parquet", "-o", "-")
    assert code == 0, err
    shares = pd.read_csv(io.StringIO(out)).share
    assert np.abs(shares - np.bincount(y) / 300).max() < 0.08
    assert "not checked" not in out
    pd.DataFrame({"vector": list(X), "y": y}).to_parquet(tmp_path / "v.parquet")
    assert run("fit", "v.parquet", *fit[2:], "-o", "v.headcount", "--method", "PACC", "--budget", "5")[0] == 0
    assert run("estimate", "v.headcount", "v.parquet")[0] == 0
    frame.drop(columns="other").to_csv(tmp_path / "n.csv", index=False)
    assert run("fit", "n.csv", *fit[2:], "-o", "all.headcount", "--method", "CC")[0] == 0
    code, out, _ = run("estimate", "all.headcount", "n.csv")
    assert "so how sure the shares are is not known: CC is biased" in out
    assert "trust" in out
    code, _, err = run("estimate", "all.headcount", "n.csv", "--assume-calibrated")
    assert code == 2
    assert "CC does not: omit" in err


def test_missing_numbers_are_imputed(tmp_path, run):
    X, y = blobs(400, 2, 0)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(y=y)
    table.loc[[3, 50, 90], "b"] = np.nan
    table.to_csv(tmp_path / "labelled.csv", index=False)
    code, _, err = run(
        "fit", "labelled.csv", "--features", "a,b,c,d", "--label", "y", "-o", "m.headcount", "--learner", "lr", "-j", 1
    )
    assert code == 0, err
    code, out, err = run("estimate", "m.headcount", "labelled.csv", "--json")
    assert code == 0, err
    shares = json.loads(out)["groups"]["all"]["shares"]
    assert shares["1"]["share"] == pytest.approx(y.mean(), abs=0.08)


def test_numbers_as_text_column_are_refused(tmp_path, refused):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(200), "y": [0, 1] * 100})
    frame.to_csv(tmp_path / "n.csv", index=False)
    refused(
        "n.csv, column 'a': No words were found in the texts, only numbers",
        "fit",
        "n.csv",
        "--text",
        "a",
        "--label",
        "y",
        "-o",
        "m.headcount",
    )


def kept_interval(run):
    """Return whether the method of the model has an interval."""
    described = json.loads(run("inspect", "m.headcount", "--json")[1])
    return {row["method"]: row["interval"] for row in described["ranking"]}[described["method"]]


def test_only_methods_with_an_interval_are_kept_unless_told_otherwise(reviews, run, refused):
    for options in ((), ("--shift", "mild")):
        assert run(*FIT, *options)[0] == 0
        assert kept_interval(run)
    assert run(*FIT, "--method", "CC")[0] == 0  # named by the user
    assert not kept_interval(run)
    code, out, err = run(*FIT, "--shift", "mild", "--any-method")
    assert code == 0, err
    assert "CC" in out.split("more than the best")[1]
    described = json.loads(run("inspect", "m.headcount", "--json")[1])
    assert described["ranking"][0]["ae"] < 0.1
    assert described["method"] == described["ranking"][0]["method"]
    code, out, _ = run("estimate", "m.headcount", "new.csv")
    assert code == 0
    refused("shift must be 'any' or 'mild'; got 'wild'", *FIT, "--shift", "wild")
