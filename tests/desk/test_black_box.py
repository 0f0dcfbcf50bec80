"""Models of black boxes: scores, decisions, confusion matrices."""

import io
import json
import re
import warnings
from datetime import date

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import SCORED, scored_files, scored_table
from tests.conftest import scored_items


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
def test_score_columns_can_be_named_in_every_way(tmp_path, run, more):
    scored_files(tmp_path)
    code, out, err = run(*SCORED, "--by", "g", "-o", "-", *more)
    assert code == 0, err
    frame = pd.read_csv(io.StringIO(out))
    truth = pd.read_csv(tmp_path / "new.csv").groupby("g").y.value_counts(normalize=True)
    for one in frame.itertuples():
        assert one.share_low - 0.03 <= truth[one.group, one._2] <= one.share_high + 0.03
    assert set(frame.verdict) <= {"trust", "caution"}


@pytest.mark.parametrize("method", ["CC", "PCC", "ACC", "PACC", "SLD", "HDy", "MLPE"])
def test_every_method_works_on_scores(tmp_path, run, method):
    scored_files(tmp_path)
    code, out, err = run(*SCORED, "-o", "-", "--method", method)
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out)).share.sum() == pytest.approx(1.0)
    code, out, err = run(*SCORED, "--method", method)
    assert ("There are no intervals" in out) == (method in ("CC", "PCC", "MLPE"))


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_integer_classes_match_however_they_are_written(tmp_path, run, ending):
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


def test_dates_gaps_and_lists_as_labels_of_parquet(tmp_path, run, refused):
    codes, P = scored_items(300, 2, 0, separation=1.2)
    days = [date(2020, 1, 1 + code) for code in codes]
    columns = {"score_2020-01-01": P[:, 0], "score_2020-01-02": P[:, 1]}
    pd.DataFrame({"y": days, **columns}).to_parquet(tmp_path / "days.parquet")
    assert "2020-01-02" in run("estimate", "--scored", "days.parquet", "days.parquet", "--label", "y", "-o", "-")[1]
    pd.DataFrame({"y": [None, *codes[1:].astype(float)], **columns}).to_parquet(tmp_path / "gap.parquet")
    refused("row 1, column 'y' has no label", "estimate", "--scored", "gap.parquet", "days.parquet", "--label", "y")
    pd.DataFrame({"y": codes, "t": [["a", "b"]] * 300}).to_parquet(tmp_path / "lists.parquet")
    refused("holds no texts but list", "fit", "lists.parquet", "--label", "y", "--text", "t", "-o", "m.headcount")


def test_three_classes_with_scores_and_with_decisions(tmp_path, run):
    scored_files(tmp_path, 3)
    assert run(*SCORED, "--by", "g")[0] == 0
    assert run("check", "--scored", "labelled.csv", "new.csv", "--label", "y")[0] == 0
    code, out, err = run(*SCORED, "--decisions", "said", "--by", "g", "-o", "-")
    assert code == 0, err
    assert pd.read_csv(io.StringIO(out)).verdict.tolist() == ["not checked"] * 9


def test_a_confusion_matrix_and_counts_equal_the_decisions_themselves(tmp_path, run):
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


def test_unusable_scores_decisions_and_methods_are_refused(tmp_path, refused):
    scored_files(tmp_path)
    refused("--scored needs the column of true labels", "estimate", "--scored", "labelled.csv", "new.csv")
    refused("has no column 'q_neg', 'q_pos'", *SCORED, "--scores", "q_*")
    refused("name the classes 'neg', 'mid'", *SCORED, "--scores", "neg=score_neg,mid=score_pos")
    refused("name 3 columns for 2 classes", *SCORED, "--scores", "a,b,c")
    refused(
        "either columns of scores (--scores) or a column of decisions", *SCORED, "--scores", "a", "--decisions", "said"
    )
    refused("PACC needs scores", *SCORED, "--decisions", "said", "--method", "PACC")
    refused("SVM(KLD) trains a classifier of its own, so it can't use the scores", *SCORED, "--method", "SVM(KLD)")
    refused("HDx works without a classifier, so it can't use the scores of one", *SCORED, "--method", "HDx")
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
        ("y,a,b\na,90000000,0\nb,2,8\n", "class,count\na,5\n", "counts more than 5,000,000 items"),
        ("y,a,b\na,9,1\nb,2,8\n", "class,n\na,5\n", "has no column 'count'"),
        ("y,a,b\na,9,1\nb,2,8\n", "class,count\na,5\nc,5\n", "counts.csv, line 3, column 'class': 'c' is not among"),
        (
            "y,a,b\na,9,1\nb,2,8\n",
            "class,count\na,-5\n",
            "counts.csv, line 2, column 'count': -5 is not a valid count",
        ),
    ],
)
def test_invalid_confusion_matrices_and_counts_are_refused(tmp_path, refused, confusion, counts, words):
    (tmp_path / "confusion.csv").write_text(confusion)
    (tmp_path / "counts.csv").write_text(counts)
    refused(words, "estimate", "--confusion", "confusion.csv", "counts.csv")


def test_a_confusion_matrix_needs_two_classes_and_finite_counts(tmp_path, refused):
    (tmp_path / "confusion.csv").write_text("true,a\na,90\n")
    (tmp_path / "counts.csv").write_text("class,count\na,5\n")
    refused("only one class", "estimate", "--confusion", "confusion.csv", "counts.csv")
    (tmp_path / "confusion.csv").write_text("true,a,b\na,1e400,3\nb,2,90\n")
    refused("is not a valid count", "estimate", "--confusion", "confusion.csv", "counts.csv")


def test_a_confusion_matrix_names_each_class_once(tmp_path, refused):
    (tmp_path / "m.csv").write_text("true,2,2.0\n2,80,20\n2.0,20,80\n")
    (tmp_path / "c.csv").write_text("class,count\n2,500\n")
    refused("m.csv is not a confusion matrix: its rows are for '2', '2'", "estimate", "--confusion", "m.csv", "c.csv")


def test_classes_that_differ_only_in_decimals_stay_apart(tmp_path, run):
    generator = np.random.default_rng(0)
    labels = np.array(["2", "2.0", "x"])[generator.integers(0, 3, 600)]
    pd.DataFrame({"y": labels, "said": labels}).to_csv(tmp_path / "l.csv", index=False)
    command = "estimate", "--scored", "l.csv", "l.csv", "--label", "y", "--decisions", "said", "--json"
    shares = json.loads(run(*command)[1])["groups"]["all"]["shares"]
    assert {name: round(one["share"], 3) for name, one in shares.items()} == {
        name: round(float((labels == name).mean()), 3) for name in ("2", "2.0", "x")
    }


def test_huge_counts_are_refused_and_useless_classifiers_say_nothing(tmp_path, run, refused):
    (tmp_path / "m.csv").write_text("true,a,b\na,50,50\nb,50,50\n")
    (tmp_path / "c.csv").write_text("class,count\na,500\nb,500\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        code, out, err = run("estimate", "--confusion", "m.csv", "c.csv")
    assert code == 0
    assert "0.0 to 100.0" in out
    assert "not checked" in out
    assert all(line.startswith("headcount: ") for line in err.splitlines()), err
    (tmp_path / "m.csv").write_text("true,a,b\na,80,20\nb,20,80\n")
    (tmp_path / "c.csv").write_text("class,count\na,1e300\nb,500\n")
    refused("line 2, column 'count': 1e+300 is not a valid count", "estimate", "--confusion", "m.csv", "c.csv")


@pytest.mark.filterwarnings("default::headcount.exceptions.HeadcountWarning")
@pytest.mark.parametrize("never", ["a", "b", "c"])
def test_a_class_that_is_never_decided_is_no_bug(tmp_path, run, never):
    """Its frequency has no variance among the labelled items: what else could be divided by?"""
    classes = ["a", "b", "c"]
    decided = [name for name in classes if name != never]
    rows = [[name, *(0 if column == never else 40 if column == name else 7 for column in classes)] for name in classes]
    (tmp_path / "m.csv").write_text("\n".join(",".join(map(str, row)) for row in [["true", *classes], *rows]))
    for names in (decided, classes):
        (tmp_path / "n.csv").write_text("\n".join(["class,count", *(f"{name},50" for name in names)]))
        code, out, err = run("estimate", "--confusion", "m.csv", "n.csv", "--json")
        assert code == 0, err
        verdict = json.loads(out)["groups"]["all"]["verdict"]
        assert (verdict == "do not trust") == (names == classes), verdict  # no mixture of classes has such decisions


@pytest.mark.filterwarnings("default::headcount.exceptions.HeadcountWarning")
def test_swapped_score_columns_give_a_warning(tmp_path, run):
    scored_table(300).to_csv(tmp_path / "labelled.csv", index=False)
    command = "estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y", "-o", "-", "--scores"
    code, _, err = run(*command, "0=score_1,1=score_0")
    assert code == 0
    assert err.startswith("headcount: The scores of class 0 (column 'score_1') are lower for items of that class")
    assert err.count("\n") == 1
    assert run(*command, "0=score_0,1=score_1")[2] == ""


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (("2.5", "-1.25"), "the scores 2.5, -1.25 are not probabilities, .* logits .*softmax"),
        (("60", "40"), "percentages: divide them by 100"),
        (("0.7", "0.7"), "Divide the scores of each row by their sum"),
        (("", "0.7"), "A score is missing"),
    ],
)
def test_what_scores_look_like_is_said(tmp_path, run, scores, words):
    (tmp_path / "labelled.csv").write_text("y,score_neg,score_pos\nneg,0.9,0.1\npos,0.2,0.8\nneg,0.8,0.2\npos,0,1\n")
    (tmp_path / "new.csv").write_text(f"score_neg,score_pos\n0.5,0.5\n{','.join(scores)}\n")
    code, _, err = run(*SCORED)
    assert code == 2
    assert re.search(rf"new.csv, line 3.*{words}", err)
    assert "sigmoid" not in err


def test_a_single_column_of_logits_needs_the_sigmoid(tmp_path, refused):
    (tmp_path / "labelled.csv").write_text("y,score_pos\nneg,0.1\npos,0.8\nneg,0.2\npos,0.9\n")
    (tmp_path / "new.csv").write_text("score_pos\n2.5\n")
    words = "which must be between 0 and 1. They look like logits (raw scores): use the sigmoid"
    refused(words, *SCORED, "--scores", "score_pos")


def test_a_single_column_of_percentages_is_told_from_logits(tmp_path, refused):
    (tmp_path / "labelled.csv").write_text("y,score_pos\nneg,1.2\npos,97.5\nneg,20\npos,90\n")
    (tmp_path / "new.csv").write_text("score_pos\n50\n")
    words = "the scores 1.2 are not probabilities, which must be between 0 and 1. They look like percentages: divide them by 100."
    refused(words, *SCORED, "--scores", "score_pos")


def test_a_table_that_is_no_confusion_matrix_is_described_in_few_words(tmp_path, refused):
    pd.DataFrame({"answer": ["yes", "no"] * 20, "a": 1, "b": 2}).to_csv(tmp_path / "answers.csv", index=False)
    (tmp_path / "counts.csv").write_text("class,count\nyes,200\nno,800\n")
    words = "its rows are for 'yes', 'no', 'yes', 'no', 'yes' and 35 more and its columns for 'a', 'b'. It needs"
    refused(words, "estimate", "--confusion", "answers.csv", "counts.csv")


def test_a_confusion_matrix_written_by_pandas(tmp_path, run):
    matrix = pd.DataFrame([[80, 20], [10, 90]], index=["neg", "pos"], columns=["neg", "pos"])
    (tmp_path / "counts.csv").write_text("class,count\nneg,200\npos,800\n")
    matrix.to_csv(tmp_path / "plain.csv")
    matrix.rename_axis("true").to_csv(tmp_path / "named.csv")
    plain, named = (run("estimate", "--confusion", f"{name}.csv", "counts.csv") for name in ("plain", "named"))
    assert plain[0] == 0, plain[2]
    assert "__index" not in plain[1]
    assert plain[1].replace("class ", "true ", 1).split() == named[1].split()


def test_several_labels_in_a_cell_are_not_taken_for_a_class(tmp_path, refused, run):
    y = (["price", "taste", "price|taste", "taste|service", "service"] * 20)[:100]
    frame = pd.DataFrame({"y": y, "p": 0.5})
    frame.to_csv(tmp_path / "labelled.csv", index=False)
    refused(
        "labelled.csv, line 4, column 'y': 'price|taste' looks like several labels in one cell, as in 40 of 100 rows.",
        *("estimate", "--scored", "labelled.csv", "labelled.csv", "--label", "y"),
    )
    refused("several labels in one cell", "fit", "labelled.csv", "--label", "y", "-o", "m.headcount")
    scored_files(tmp_path)
    for name in ("labelled.csv", "new.csv"):
        text = (tmp_path / name).read_text().replace("neg", "bad|poor")
        (tmp_path / name).write_text(text)
    assert run(*SCORED)[0] == 0  # one class of such a name


def test_an_answer_that_is_no_class_counts_too(tmp_path, run, refused):
    """Of 1,000 items 30 % are positive: 70 * (60, 10, 30) + 30 * (10, 70, 20), in hundredths of the matrix's rows."""
    (tmp_path / "m.csv").write_text("true,neg,pos,unsure\nneg,600,100,300\npos,100,700,200\n")
    (tmp_path / "c.csv").write_text("class,count\nneg,450\npos,280\nunsure,270\n")
    command = "estimate", "--confusion", "m.csv", "c.csv"
    shares = json.loads(run(*command, "--json")[1])["groups"]["all"]["shares"]
    assert shares["pos"]["share"] == pytest.approx(0.3, abs=1e-6)
    assert shares["pos"]["share_low"] < 0.25
    assert shares["pos"]["share_high"] > 0.35
    (tmp_path / "c.csv").write_text("class,count\nneg,450\npos,280\nmaybe,270\n")
    refused("'maybe' is not among the classes of the labelled items ('neg', 'pos', 'unsure')", *command)
    (tmp_path / "m.csv").write_text("true,neg,pos,sum\nneg,600,100,700\npos,100,700,800\n")
    refused("m.csv, column 'sum': these look like the totals of the rows", *command)
    (tmp_path / "m.csv").write_text("true,neg,unsure\nneg,600,100\npos,100,700\n")
    refused("m.csv is not a confusion matrix", *command)
