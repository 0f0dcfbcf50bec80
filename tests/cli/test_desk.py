"""From a labelled file to shares on the command line: what is written, and what is said of what can't be used."""

import io
import json
import os
import pickle
import shlex
import subprocess
import sys
import threading
import warnings
import zipfile
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from headcount.cli import app as cli
from headcount.cli.output import to_stdout
from headcount.cli.progress import progress_bar
from tests.conftest import blobs, scored_items
from tests.modelfile.test_modelfile import texts


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in a folder of its own; returns exit code and what was shown."""
    monkeypatch.chdir(tmp_path)

    def end(*arguments):
        monkeypatch.setattr(sys, "argv", ["headcount", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        shown = capsys.readouterr()
        return stop.value.code, shown.out, shown.err

    return end


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must fail: exit code 2, one line that holds these words, no new files."""

    def end(words, *arguments):
        before = sorted(path.name for path in tmp_path.iterdir())
        code, out, err = run(*arguments)
        assert code == 2, err
        assert err.startswith("headcount: ")
        assert err.count("\n") == 1
        assert words in err
        assert out == ""
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    return end


@pytest.fixture
def reviews(tmp_path):
    """A labelled table of texts, and a new one with dates."""
    words, y = texts(400)
    table = pd.DataFrame({"review": words, "stars": np.where(y == 1, "good", "bad"), "row": range(400)})
    table.to_csv(tmp_path / "labelled.csv", index=False)
    words, _ = texts(303, 7)
    days = ["2016-01-05"] * 150 + ["2016-02-07"] * 150 + ["2016-05-01"] * 3
    new = pd.DataFrame({"review": words, "day": days, "shop": ["x", "y", "z"] * 101})
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    return tmp_path


FIT = ("fit", "labelled.csv", "--text", "review", "--label", "stars", "-o", "m.headcount", "--learner", "lr", "-j", 1)


@pytest.fixture
def model(reviews, run):
    code, out, err = run(*FIT, "--method", "PACC")
    assert code == 0, err
    assert "PACC over LogisticRegression" in out
    return reviews / "m.headcount"


def test_three_commands(model, run):
    code, out, err = run(
        *("estimate", "m.headcount", "new.parquet", "--by", "day:month", "-o", "shares.csv", "--html", "p.html"),
        *("--plot", "p.svg"),
    )
    assert code == 0, err
    assert "2016-01" in out
    assert "too few items" in out
    assert "2016-05: 3 items are too few" in out
    frame = pd.read_csv("shares.csv")
    assert frame.columns.tolist() == ["group", "class", "share", "low", "high", "n", "verdict"]
    assert frame.groupby("group").share.sum().round(9).tolist() == [1.0, 1.0, 0.0]
    assert (frame.low.dropna() <= frame.share.dropna()).all()
    page = (model.parent / "p.html").read_text()
    assert "<svg" in page
    assert "prefers-color-scheme: dark" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons", ""
    )
    assert (model.parent / "p.svg").read_bytes().startswith(b"<?xml")
    assert err.count("Written: ") == 3
    code, out, _ = run("inspect", "m.headcount")
    assert code == 0
    assert "labelled.csv, 400 rows" in out
    assert "seed 0" in out
    record = json.loads(run("inspect", "m.headcount", "--json")[1])
    assert record["columns"] == {"kind": "text", "names": ["review"], "label": "stars"}
    assert record["ranking"][0]["method"] == "PACC"


def test_all_ways_in_and_out_agree(model, run, monkeypatch):
    base = run("estimate", "m.headcount", "new.csv", "--by", "shop", "-o", "-")[1]
    assert base.startswith("group,class,share,low,high,n,verdict\nx,bad,")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((model.parent / "new.csv").read_bytes())))
    assert run("estimate", "m.headcount", "-", "--by", "shop", "-o", "-")[1] == base
    answer = json.loads(run("estimate", "m.headcount", "new.parquet", "--by", "shop", "--json")[1])
    first = pd.read_csv(io.StringIO(base)).iloc[0]
    assert answer["groups"]["x"]["shares"]["bad"]["share"] == pytest.approx(first.share)
    for name in ("s.tsv", "s.json", "s.parquet"):
        assert run("estimate", "m.headcount", "new.csv", "--by", "shop", "-o", name)[0] == 0
    assert pd.read_csv("s.tsv", sep="\t").share[0] == pytest.approx(first.share)
    assert json.loads((model.parent / "s.json").read_text())[0]["share"] == pytest.approx(first.share)
    assert pd.read_parquet("s.parquet").share[0] == pytest.approx(first.share)


def test_compare_and_check(model, run):
    arguments = "compare", "m.headcount", "new.csv", "--by", "day:month", "--from", "2016-01", "--to", "2016-02"
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Change from 2016-01 to 2016-02" in out
    changes = json.loads(run(*arguments, "--json")[1])["changes"]
    assert sum(one["change"] for one in changes) == pytest.approx(0.0, abs=1e-9)
    assert changes[0]["low"] <= changes[0]["change"] <= changes[0]["high"]
    assert run(*arguments, "-o", "-")[1].startswith("class,change,low,high,p_value\nbad,")
    assert run(*arguments, "-o", "c.csv")[0] == 0
    both = run("compare", "m.headcount", "new.csv", "new.parquet", "--json")[1]
    assert json.loads(both)["changes"][0]["change"] == pytest.approx(0.0, abs=1e-9)
    assert json.loads(run("compare", "m.headcount", "new.csv", "new.csv", "--json")[1])["to"] == "new.csv (second)"
    code, out, _ = run("check", "m.headcount", "new.csv", "--by", "day:month")
    assert code == 0
    assert "2016-05 (3 items): too few items" in out
    found = json.loads(run("check", "m.headcount", "new.csv", "--json")[1])
    assert found[0]["n"] == 303
    assert 0 <= found[0]["p_label_shift"] <= 1
    assert 0.5 < found[0]["separation"] <= 1


def test_compare_needs_two(model, refused):
    refused("Name two files to compare", "compare", "m.headcount", "new.csv")
    refused("Name the two groups to compare", "compare", "m.headcount", "new.csv", "--by", "shop", "--from", "x")
    refused("There is no group 'q'", "compare", "m.headcount", "new.csv", "--by", "shop", "--from", "x", "--to", "q")


def test_numbers_and_embeddings(tmp_path, run):
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
    assert "No intervals: CC is biased" in out
    assert "not checked" in out
    code, out, _ = run("estimate", "all.headcount", "n.csv", "--assume-no-shift", "--sample")
    assert code == 2


def scored_files(folder, k=2):
    names = ["neg", "pos", "mid"][:k]
    for name, n, seed in (("labelled.csv", 500, 0), ("new.csv", 900, 1)):
        codes, P = scored_items(n, k, seed, separation=1.2)
        frame = pd.DataFrame(P, columns=[f"score_{label}" for label in sorted(names)])
        labels = np.array(sorted(names))[codes]
        said = np.array(sorted(names))[P.argmax(axis=1)]
        frame.assign(y=labels, said=said, g=["a", "b", "c"] * (n // 3) + ["a"] * (n % 3)).to_csv(
            folder / name, index=False
        )


SCORED = "estimate", "--scored", "labelled.csv", "new.csv", "--label", "y"


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--scores", "score_*"),
        ("--scores", "neg=score_neg,pos=score_pos"),
        ("--scores", "pos=score_pos"),
        ("--scores", "score_neg,score_pos"),
        ("--scores", "score_pos"),
    ],
)
def test_scored_tables(tmp_path, run, more):
    scored_files(tmp_path)
    code, out, err = run(*SCORED, "--by", "g", "-o", "-", *more)
    assert code == 0, err
    frame = pd.read_csv(io.StringIO(out))
    truth = pd.read_csv(tmp_path / "new.csv").groupby("g").y.value_counts(normalize=True)
    for one in frame.itertuples():
        assert one.low - 0.03 <= truth[one.group, one._2] <= one.high + 0.03
    assert set(frame.verdict) <= {"trust", "caution"}


@pytest.mark.parametrize("method", ["CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE"])
def test_scored_by_every_method(tmp_path, run, method):
    scored_files(tmp_path)
    code, out, err = run(*SCORED, "-o", "-", "--method", method)
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out)).share.sum() == pytest.approx(1.0)
    code, out, err = run(*SCORED, "--method", method)
    assert ("No intervals: " in out) == (method not in ("ACC", "PACC", "SLD"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_whole_numbers_are_classes_however_they_are_written(tmp_path, run, ending):
    """A column of integers with a gap somewhere comes out of pandas as 0.0 and 1.0."""
    codes, P = scored_items(500, 2, 0, separation=1.2)
    frame = pd.DataFrame({"y": codes, "score_0": P[:, 0], "score_1": P[:, 1], "said": P.argmax(axis=1)})
    floats = frame.astype(float).rename(columns={"score_1": "score_1.0"})
    for name, table in (("int", frame), ("float", floats)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        table.to_parquet(tmp_path / f"{name}.parquet", index=False)
    answers = []
    for labelled, new, more in (
        ("int", "int", ()),
        ("float", "float", ()),
        ("int", "int", ("--decisions", "said")),
        ("int", "float", ("--decisions", "said")),
        ("float", "int", ("--decisions", "said")),
    ):
        arguments = "estimate", "--scored", f"{labelled}.{ending}", f"{new}.{ending}", "--label", "y", "-o", "-", *more
        code, out, err = run(*arguments)
        assert code == 0, err
        answers.append(out)
    assert answers[0] == answers[1]
    assert answers[2] == answers[3] == answers[4]
    assert "\nall,0," in answers[0]
    (tmp_path / "matrix.csv").write_text("true,0.0,1.0\n0,80,20\n1,20,80\n")
    (tmp_path / "counts.csv").write_text("class,count\n0,500\n1.0,500\n")
    assert run("estimate", "--confusion", "matrix.csv", "counts.csv")[0] == 0


def test_odd_labels_of_parquet(tmp_path, run, refused):
    codes, P = scored_items(300, 2, 0, separation=1.2)
    days = [date(2020, 1, 1 + code) for code in codes]
    columns = {"score_2020-01-01": P[:, 0], "score_2020-01-02": P[:, 1]}
    pd.DataFrame({"y": days, **columns}).to_parquet(tmp_path / "days.parquet")
    assert "2020-01-02" in run("estimate", "--scored", "days.parquet", "days.parquet", "--label", "y", "-o", "-")[1]
    pd.DataFrame({"y": [None, *codes[1:].astype(float)], **columns}).to_parquet(tmp_path / "gap.parquet")
    refused("row 1, column 'y' has no label", "estimate", "--scored", "gap.parquet", "days.parquet", "--label", "y")
    pd.DataFrame({"y": codes, "t": [["a", "b"]] * 300}).to_parquet(tmp_path / "lists.parquet")
    refused("holds no texts but list", "fit", "lists.parquet", "--label", "y", "--text", "t", "-o", "m.headcount")


def test_a_confusion_matrix_stands_alone(tmp_path, refused):
    (tmp_path / "matrix.csv").write_text("true,a,b\na,80,20\nb,20,80\n")
    (tmp_path / "counts.csv").write_text("class,count\na,500\nb,500\n")
    for more in (("--scored", "--label", "y"), ("--decisions", "d"), ("--dask", "tcp://127.0.0.1:1")):
        refused("--confusion takes a matrix and counts", "estimate", "--confusion", "matrix.csv", "counts.csv", *more)


def test_more_classes_decisions_and_checks(tmp_path, run):
    scored_files(tmp_path, 3)
    assert run(*SCORED, "--by", "g")[0] == 0
    assert run("check", "--scored", "labelled.csv", "new.csv", "--label", "y")[0] == 0
    code, out, err = run(*SCORED, "--decisions", "said", "--by", "g", "-o", "-")
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out)).verdict.tolist() == ["not checked"] * 9


def test_only_a_confusion_matrix_and_counts(tmp_path, run):
    scored_files(tmp_path)
    labelled, new = pd.read_csv(tmp_path / "labelled.csv"), pd.read_csv(tmp_path / "new.csv")
    pd.crosstab(labelled.y, labelled.said).to_csv(tmp_path / "confusion.csv")
    counts = new.groupby(["g", "said"]).size().reset_index()
    counts.columns = ["g", "class", "count"]
    counts.to_csv(tmp_path / "counts.csv", index=False)
    arguments = "estimate", "--confusion", "confusion.csv", "counts.csv", "--by", "g", "-o", "-"
    code, out, err = run(*arguments)
    assert code == 0, err
    whole = run(*SCORED, "--decisions", "said", "--by", "g", "-o", "-")[1]
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), pd.read_csv(io.StringIO(whole)))
    assert run(*arguments[:4])[0] == 0


def test_black_boxes_that_can_not_be_used(tmp_path, refused):
    scored_files(tmp_path)
    refused("--scored needs the column of true labels", "estimate", "--scored", "labelled.csv", "new.csv")
    refused("has no column 'q_neg', 'q_pos'", *SCORED, "--scores", "q_*")
    refused("name the classes 'neg', 'mid'", *SCORED, "--scores", "neg=score_neg,mid=score_pos")
    refused("name 3 columns for 2 classes", *SCORED, "--scores", "a,b,c")
    refused("either columns of scores (scores) or a column of decisions", *SCORED, "--scores", "a", "--decisions", "said")
    refused("PACC needs scores", *SCORED, "--decisions", "said", "--method", "PACC")
    refused("trains its own classifier", *SCORED, "--method", "SVM(KLD)")
    refused("There is no method 'XYZ'", *SCORED, "--method", "XYZ")
    frame = pd.read_csv(tmp_path / "labelled.csv")
    frame.loc[4, "said"] = "else"
    frame.loc[6, "score_neg"] = 7.0
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    refused("labelled.csv, line 6, column 'said': 'else' is not among the classes", *SCORED, "--decisions", "said")
    refused("labelled.csv, line 8, columns 'score_neg', 'score_pos': the scores 7,", *SCORED)
    frame.loc[8, "y"] = None
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    refused("labelled.csv, line 10, column 'y' has no label", *SCORED)


@pytest.mark.parametrize(
    ("confusion", "counts", "words"),
    [
        ("y,a,b\na,9,1\nc,2,8\n", "class,count\na,5\n", "is not a confusion matrix"),
        (
            "y,a,b\na,9,1.5\nb,2,8\n",
            "class,count\na,5\n",
            "confusion.csv, line 2, column 'b': 1.5 is not a valid count",
        ),
        ("y,a,b\na,1,0\nb,2,8\n", "class,count\na,5\n", "class 'a' has fewer than 2 labelled items"),
        ("y,a,b\na,90000000,0\nb,2,8\n", "class,count\na,5\n", "counts more than 20,000,000 items"),
        ("y,a,b\na,9,1\nb,2,8\n", "class,n\na,5\n", "has no column 'count'"),
        ("y,a,b\na,9,1\nb,2,8\n", "class,count\na,5\nc,5\n", "counts.csv, line 3, column 'class': 'c' is not among"),
        (
            "y,a,b\na,9,1\nb,2,8\n",
            "class,count\na,-5\n",
            "counts.csv, line 2, column 'count': -5 is not a valid count",
        ),
    ],
)
def test_confusion_matrices_that_are_none(tmp_path, refused, confusion, counts, words):
    (tmp_path / "confusion.csv").write_text(confusion)
    (tmp_path / "counts.csv").write_text(counts)
    refused(words, "estimate", "--confusion", "confusion.csv", "counts.csv")


# ------------------------------------------------------------------------------------------------- bad input


def spoiled(folder, change):
    frame = pd.read_csv(folder / "labelled.csv")
    change(frame)
    frame.to_csv(folder / "labelled.csv", index=False)


def lonely(frame):
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
        (lonely, "labelled.csv, line 12, column 'stars': this is the only item of class 'odd'; at least 10 of each"),
        (empty_text, "labelled.csv, line 22, column 'review' is empty"),
        (no_label, "labelled.csv, line 32, column 'stars' has no label"),
        (many_labels, "column 'stars' holds 400 different labels"),
        (one_label, "holds only one label, 'good'"),
    ],
)
def test_labelled_tables_that_can_not_be_used(reviews, refused, change, words):
    spoiled(reviews, change)
    refused(words, *FIT)


def test_ten_thousand_labels(tmp_path, refused):
    pd.DataFrame({"x": range(20000), "y": np.arange(20000) // 2}).to_csv(tmp_path / "many.csv", index=False)
    refused(
        "many.csv, column 'y' holds 10,000 different labels", "fit", "many.csv", "--label", "y", "-o", "m.headcount"
    )


def test_halves_are_labels_like_others(tmp_path, run):
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


def test_columns_and_files_that_are_not_there(reviews, refused):
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
    refused("not both", "fit", "labelled.csv", "--text", "review", "--features", "row", "--label", "stars", "-o", "m")
    refused("nothing to learn from", "fit", "labelled.csv", "--features", "stars", "--label", "stars", "-o", "m")
    refused("There is no learner 'x'", *FIT[:8], "--learner", "x")


def test_numbers_that_are_none(tmp_path, refused):
    (tmp_path / "n.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20 + "oops,a\n")
    refused("n.csv, line 42, column 'x': 'oops' is not a number", "fit", "n.csv", "--label", "y", "-o", "m")
    (tmp_path / "n.csv").write_text("x,y\n" + "1,a\n2,b\n" * 20 + "inf,a\n")
    refused("n.csv, line 42, column 'x': the number is infinite", "fit", "n.csv", "--label", "y", "-o", "m")


def test_new_tables_that_can_not_be_used(model, refused):
    folder = model.parent
    out = "-o", "shares.csv", "--html", "p.html", "--plot", "p.svg"
    (folder / "odd.csv").write_text("words\ngood\n")
    refused(
        "odd.csv has no column 'review', from which the model reads text", "estimate", "m.headcount", "odd.csv", *out
    )
    (folder / "bad.csv").write_bytes(b"review,day\ngood,2016-01-01\ncaf\xe9,2016-01-01\n")
    refused("bad.csv, line 3, column 'review': the byte 0xe9", "estimate", "m.headcount", "bad.csv", *out)
    (folder / "ragged.csv").write_text("review,day\ngood,2016-01-01\ngood\n")
    refused("ragged.csv, line 3: expected 2 fields", "estimate", "m.headcount", "ragged.csv", *out)
    (folder / "late.csv").write_text("review,day\ngood,2016-01-01\ngood,soon\n")
    refused(
        "late.csv, line 3, column 'day': 'soon' is not a date",
        "estimate",
        "m.headcount",
        "late.csv",
        "--by",
        "day:week",
        *out,
    )
    cut = (folder / "new.parquet").read_bytes()
    (folder / "cut.parquet").write_bytes(cut[: len(cut) // 2])
    refused("ends in the middle", "estimate", "m.headcount", "cut.parquet", *out)
    refused("results are written as .csv", "estimate", "m.headcount", "new.csv", "-o", "shares.xlsx")
    refused("plots are written as .svg", "estimate", "m.headcount", "new.csv", "--plot", "p.gif")
    refused("level must be between 0 and 1", "estimate", "m.headcount", "new.csv", "--level", "95")
    refused(
        "no/p.html can't be written: No such file",
        "estimate",
        "m.headcount",
        "new.csv",
        "-o",
        "s.csv",
        "--html",
        "no/p.html",
    )
    refused("go with --scored", "estimate", "m.headcount", "new.csv", "--label", "stars")
    refused("There is no Dask scheduler", "estimate", "m.headcount", "new.csv", "--dask", "not an address")


def test_a_folder_in_the_way(model, refused):
    (model.parent / "taken").mkdir()
    (model.parent / "taken.csv").mkdir()
    refused("taken.csv is a folder", "estimate", "m.headcount", "new.csv", "-o", "taken.csv")


def test_a_model_with_a_planted_pickle(model, refused):
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr("extra.pkl", pickle.dumps({"a": 1}))
    refused("m.headcount is refused: besides a model it holds ['extra.pkl']", "estimate", "m.headcount", "new.csv")
    refused("is refused", "inspect", "m.headcount")
    model.write_bytes(pickle.dumps([1]))
    refused("is not a model file", "estimate", "m.headcount", "new.csv")


@pytest.mark.parametrize("command", ["fit", "estimate", "compare", "check", "inspect"])
def test_each_help_shows_an_example(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"Example: headcount {command} " in " ".join(out.split())


def test_who_knows_that_the_shift_is_mild(reviews, run, refused):
    code, out, err = run(*FIT, "--shift", "mild")
    assert code == 0, err
    assert "CC" in out.split("behind the best")[1]
    assert json.loads(run("inspect", "m.headcount", "--json")[1])["ranking"][0]["ae"] < 0.1
    code, out, _ = run("estimate", "m.headcount", "new.csv", "--assume-no-shift")
    assert code == 0
    refused("shift must be 'any' or 'mild'; got 'wild'", *FIT, "--shift", "wild")


def test_intervals_that_assume_no_shift_say_so(tmp_path, run):
    scored_files(tmp_path)
    out = run(*SCORED, "--method", "PCC", "--assume-no-shift")[1]
    assert "The intervals assume that the shares have not changed" in out
    assert "No intervals" not in out


def test_what_was_skipped_is_told(reviews, run):
    code, out, err = run(*FIT[:8], "--budget", "0.001", "-j", "1")
    assert code == 0, err
    assert "Skipped forest: not for text" in out
    assert "the time budget was spent (" in out
    assert "Next: headcount estimate" in out


def test_a_person_sees_how_far_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("Reading") as progress:
        progress(1000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress_bar("Reading") as progress:
        assert progress is None


def test_many_classes_are_a_row_each(tmp_path, run):
    P = np.full((700, 7), 0.05) + 0.65 * np.eye(7)[np.arange(700) % 7]
    frame = pd.DataFrame(P, columns=[f"score_{j}" for j in range(7)]).assign(y=np.arange(700) % 7)
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    frame.to_csv(tmp_path / "new.csv", index=False)
    code, out, err = run(*SCORED)
    assert code == 0, err
    assert out.count("14.3 %") == 7


def test_standard_output_without_bytes(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    to_stdout(b"shares\n")
    assert out.getvalue() == "shares\n"


def test_numbers_with_gaps_are_filled_kept_and_estimated(tmp_path, run):
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


def scored_table(n, seed=0):
    y, P = scored_items(n, 2, seed)
    return pd.DataFrame({"score_0": P[:, 0], "score_1": P[:, 1], "y": y})


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


def test_groups_are_the_same_whatever_their_type(tmp_path, run):
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


def test_a_folder_of_empty_files(tmp_path, refused):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    (tmp_path / "folder").mkdir()
    scored_table(3).drop(columns="y")[:0].to_parquet(tmp_path / "folder" / "a.parquet")
    refused("There are no rows in 'folder'", "estimate", "--scored", "labelled.csv", "folder", "--label", "y")


def test_a_table_that_ends_inside_quotes(model, refused, tmp_path):
    (tmp_path / "cut.csv").write_text('day,review\n1,"a fine one"\n2,"two\nlines"\n3,"cut in the mid')
    refused(
        "cut.csv ends in the middle: the quote that opens in line 5 is not closed", "estimate", "m.headcount", "cut.csv"
    )


def test_what_can_not_be_grouped_by(tmp_path, refused):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    new = scored_table(60, 1).drop(columns="y")
    new["g"] = [[1, 2]] * 60
    new.to_parquet(tmp_path / "new.parquet")
    command = "estimate", "--scored", "labelled.csv", "new.parquet", "--label", "y", "--by", "g"
    refused("column 'g' holds lists or records", *command)


def test_one_class_is_no_confusion_matrix(tmp_path, refused):
    (tmp_path / "confusion.csv").write_text("true,a\na,90\n")
    (tmp_path / "counts.csv").write_text("class,count\na,5\n")
    refused("only one class", "estimate", "--confusion", "confusion.csv", "counts.csv")
    (tmp_path / "confusion.csv").write_text("true,a,b\na,1e400,3\nb,2,90\n")
    refused("is not a valid count", "estimate", "--confusion", "confusion.csv", "counts.csv")


def test_a_folder_is_no_model_file_to_write(reviews, refused):
    (reviews / "folder").mkdir()
    refused("is a folder", *FIT[:7], "folder", *FIT[8:])
    refused("budget", *FIT, "--budget", "0")


def test_names_that_look_like_formulas_and_many_classes_are_drawn(tmp_path, run):
    rng = np.random.default_rng(0)
    names = [r"$\frac$", "_hidden", "$200 & $300", *(f"class {i}" for i in range(12))]
    P = rng.dirichlet(np.full(len(names), 0.2), 1500)
    table = pd.DataFrame(P, columns=[f"score_{name}" for name in names])
    table["y"] = [names[j] for j in P.argmax(axis=1)]
    table["g"] = [f"group {i % 3}" for i in range(1500)]
    table.to_csv(tmp_path / "labelled.csv", index=False)
    command = (
        "estimate",
        "--scored",
        "labelled.csv",
        "labelled.csv",
        "--label",
        "y",
        "--by",
        "g",
        "--html",
        "p.html",
        "--plot",
        "p.svg",
    )
    code, _, err = run(*command)
    assert code == 0, err
    plot = (tmp_path / "p.svg").read_text()
    assert "more, with smaller shares" in plot
    assert r"$\frac$" in (tmp_path / "p.html").read_text()


def test_the_page_of_a_counting_method_does_not_say_that_it_corrects(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = "estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "--html", "p.html", "--method"
    code, _, err = run(*command, "PCC", "--assume-no-shift")
    assert code == 0, err
    page = (tmp_path / "p.html").read_text()
    assert "does not correct the classifier's mistakes" in page
    assert "assumes that the shares have not changed" in page
    assert "contain the true share" not in " ".join(page.split())
    run(*command, "PACC")
    page = (tmp_path / "p.html").read_text()
    assert "the method PACC corrects them" in page
    assert "contain the true share" in " ".join(page.split())


def test_compare_tells_of_groups_that_can_not_be_trusted(tmp_path, run):
    rng = np.random.default_rng(1)
    P = np.column_stack([p := rng.beta(30, 30, 800), 1 - p])
    table = pd.DataFrame({"score_0": P[:, 0], "score_1": P[:, 1], "y": rng.integers(0, 2, 800), "g": ["a", "b"] * 400})
    table.to_csv(tmp_path / "labelled.csv", index=False)
    command = (
        "compare",
        "--scored",
        "labelled.csv",
        "labelled.csv",
        "--label",
        "y",
        "--by",
        "g",
        "--from",
        "a",
        "--to",
        "b",
    )
    code, out, err = run(*command)
    assert code == 0, err
    assert "a: caution. The classifier hardly tells some classes apart" in out
    code, out, _ = run(*command, "--json")
    assert json.loads(out)["verdicts"]["a"]["verdict"] == "caution"


def test_the_reason_why_nothing_is_checked_is_true(tmp_path, run):
    table = scored_table(400)
    few = pd.concat([table[table["y"] == 0], table[table["y"] == 1][:9]])
    few.to_csv(tmp_path / "labelled.csv", index=False)
    code, out, err = run("estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "--json")
    assert code == 0, err
    group = json.loads(out)["groups"]["all"]
    if group["verdict"] == "not checked":
        assert "has only 9 labelled items" in group["advice"][0]


@pytest.mark.filterwarnings("default::headcount.exceptions.HeadcountWarning")
def test_scores_of_the_other_class_are_told_of(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = "estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "-o", "-", "--scores"
    code, _, err = run(*command, "0=score_1,1=score_0")
    assert code == 0
    assert err.startswith("headcount: The scores of class 0 (column 'score_1') are lower for items of that class")
    assert err.count("\n") == 1
    assert run(*command, "0=score_0,1=score_1")[2] == ""


def test_what_the_system_ends_leaves_nothing_behind(tmp_path):
    import os
    import signal
    import subprocess
    import time

    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = [
        sys.executable,
        "-m",
        "headcount",
        "estimate",
        "--scored",
        "labelled.csv",
        "-",
        "--label",
        "y",
        "-o",
        "out.csv",
    ]
    environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, env=environment, stderr=subprocess.DEVNULL
    ) as running:
        rows = scored_table(50).drop(columns="y").to_csv(index=False).encode()
        running.stdin.write(rows)
        running.stdin.flush()
        end = time.monotonic() + 60
        while not list((tmp_path / "tmp").glob("headcount-*")) and time.monotonic() < end:
            time.sleep(0.1)
        assert list((tmp_path / "tmp").glob("headcount-*"))
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 143
    assert list((tmp_path / "tmp").glob("headcount-*")) == []
    assert not (tmp_path / "out.csv").exists()


def test_results_are_never_written_over_what_they_are_made_from(tmp_path, refused):
    scored_files(tmp_path)
    refused("is an input of this command and would be overwritten", *SCORED, "-o", "new.csv")
    refused("is an input of this command and would be overwritten", *SCORED, "--html", "labelled.csv")
    refused("is named twice", *SCORED, "-o", "a.csv", "--html", "./a.csv")
    refused("is named twice", *SCORED, "--html", "a.svg", "--plot", "a.svg")
    refused("is an input of this command", "compare", *SCORED[1:4], "new.csv", "--label", "y", "-o", "labelled.csv")
    refused("is an input of this command", "fit", "labelled.csv", "--label", "y", "-o", "labelled.csv")


def test_options_that_can_not_be_meant(tmp_path, refused):
    scored_files(tmp_path)
    for level in ("95", "0", "1", "nan"):
        refused("level must be between 0 and 1", *SCORED, "--level", level, "--min-items", "10000")
    refused("--jobs must not be 0", "fit", "labelled.csv", "--label", "y", "-o", "m", "-j", "0")
    refused("--budget must be a finite number", "fit", "labelled.csv", "--label", "y", "-o", "m", "--budget", "inf")
    refused("name a class more than once", *SCORED, "--scores", "neg=score_neg,neg=score_pos")
    two = "compare", *SCORED[1:4], "new.csv", "--label", "y"
    refused("The groups to compare are values of a column", *two, "--from", "a", "--to", "b")
    refused("too few items to be compared", *two, "--min-items", "5000")


def test_what_may_not_be_read_is_told(tmp_path, refused, monkeypatch):
    scored_files(tmp_path)

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied", "new.csv")

    monkeypatch.setattr(Path, "is_dir", forbidden)
    refused("new.csv can't be used: Permission denied", *SCORED)


def test_a_pipe_is_read_like_a_file(tmp_path, run):
    scored_files(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    content = (tmp_path / "new.csv").read_bytes()
    writer = threading.Thread(target=lambda: (tmp_path / "pipe.csv").write_bytes(content))
    writer.start()
    code, out, err = run(*SCORED[:3], "pipe.csv", *SCORED[4:], "-o", "-")
    writer.join(5)
    assert code == 0, err
    assert out == run(*SCORED, "-o", "-")[1]


@pytest.mark.parametrize("full", [True, False])
def test_outputs_that_nobody_takes(tmp_path, full):
    scored_files(tmp_path)
    command = [sys.executable, "-m", "headcount", *SCORED]
    shell = f"{shlex.join(command)} " + ("> /dev/full" if full else "| true")
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {shell}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert (done.returncode, "can't be used: No space left" in done.stderr) == ((2, True) if full else (0, False))


def test_counts_beyond_all_bounds_and_classifiers_that_say_nothing(tmp_path, run, refused):
    (tmp_path / "m.csv").write_text("true,a,b\na,50,50\nb,50,50\n")
    (tmp_path / "c.csv").write_text("class,count\na,500\nb,500\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, out, err = run("estimate", "--confusion", "m.csv", "c.csv")
    assert code == 0
    assert "caution" in out
    assert all(line.startswith("headcount: ") for line in err.splitlines()), err
    (tmp_path / "m.csv").write_text("true,a,b\na,80,20\nb,20,80\n")
    (tmp_path / "c.csv").write_text("class,count\na,1e300\nb,500\n")
    refused("line 2, column 'count': 1e+300 is not a valid count", "estimate", "--confusion", "m.csv", "c.csv")


def test_a_counting_method_that_is_chosen_is_checked_too(tmp_path, run):
    X, y = blobs(1500, 2, 0)
    noise = 5.0 * np.random.default_rng(0).standard_normal(X.shape)
    frame = pd.DataFrame(X + noise, columns=list("abcd")).assign(y=y)
    frame.to_csv(tmp_path / "l.csv", index=False)
    frame[frame.y == 1].to_csv(tmp_path / "ones.csv", index=False)
    assert run("fit", "l.csv", "--label", "y", "--method", "PCC", "--learner", "lr", "-o", "m.headcount")[0] == 0
    assert json.loads(run("check", "m.headcount", "l.csv", "--json")[1])[0]["verdict"] in ("trust", "caution")
    found = json.loads(run("estimate", "m.headcount", "ones.csv", "--json")[1])["groups"]["all"]
    assert found["verdict"] == "caution"
    assert "this method does not adjust" in " ".join(found["advice"])
    out = run("estimate", "m.headcount", "ones.csv")[1]
    assert "--assume-no-shift" in out
    assert "assume='no-shift'" not in out


def test_numbers_taken_for_texts(tmp_path, refused):
    frame = pd.DataFrame({"a": np.random.default_rng(0).random(200), "y": [0, 1] * 100})
    frame.to_csv(tmp_path / "n.csv", index=False)
    refused("n.csv, column 'a': No term occurs", "fit", "n.csv", "--text", "a", "--label", "y", "-o", "m.headcount")


def test_more_places_that_results_do_not_go_to(tmp_path, refused):
    scored_files(tmp_path)
    (tmp_path / "parts").mkdir()
    pd.read_csv(tmp_path / "new.csv").to_parquet(tmp_path / "parts" / "a.parquet")
    for name in ("a", "b"):
        refused("would be overwritten", *SCORED[:3], "parts", *SCORED[4:], "-o", f"parts/{name}.parquet")
    refused("--html needs a file", *SCORED, "--html", "-")
    refused("can be read only once", *SCORED[:2], "-", "-", *SCORED[4:])


def test_a_confusion_matrix_names_each_class_once(tmp_path, refused):
    (tmp_path / "m.csv").write_text("true,2,2.0\n2,80,20\n2.0,20,80\n")
    (tmp_path / "c.csv").write_text("class,count\n2,500\n")
    refused("m.csv is not a confusion matrix: its rows are for '2', '2'", "estimate", "--confusion", "m.csv", "c.csv")


def test_classes_that_differ_by_a_nought_stay_apart(tmp_path, run):
    generator = np.random.default_rng(0)
    labels = np.array(["2", "2.0", "x"])[generator.integers(0, 3, 600)]
    pd.DataFrame({"y": labels, "said": labels}).to_csv(tmp_path / "l.csv", index=False)
    command = "estimate", "--scored", "l.csv", "l.csv", "--label", "y", "--decisions", "said", "--json"
    shares = json.loads(run(*command)[1])["groups"]["all"]["shares"]
    assert {name: round(one["share"], 3) for name, one in shares.items()} == {
        name: round(float((labels == name).mean()), 3) for name in ("2", "2.0", "x")
    }
