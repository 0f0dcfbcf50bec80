"""`headcount plan`: the table, the file to be filled in, a further round, early plans, and which input is refused."""

import json

import numpy as np
import pandas as pd
import pytest

from headcount.model_assisted import assisted_shares
from tests.cli.conftest import scored_files

PLAN = "plan", "labelled.csv", "new.csv", "--scored", "--label", "y"


@pytest.fixture
def scored(tmp_path):
    scored_files(tmp_path)
    return tmp_path


def _filled(name, folder, part=None):
    """Fill in the labels of a file, all or some, and write it again."""
    frame, truth = pd.read_csv(folder / name), pd.read_csv(folder / "new.csv").y
    frame["label"] = truth.to_numpy()[frame.headcount_item - 1]
    if part is not None:
        frame.loc[frame.index >= part, "label"] = np.nan
    frame.to_csv(folder / name, index=False)
    return frame


def test_a_plan_is_told_written_filled_in_and_continued(scored, run):
    code, out, err = run(*PLAN, "--sample", "--labels", 60, "-o", "first.csv")
    assert code == 0, err
    assert "Label the 60 items" in out
    assert "--labels-from first.csv" in out
    first = pd.read_csv(scored / "first.csv")
    new = pd.read_csv(scored / "new.csv")
    assert first.columns.tolist() == [*new.columns, "headcount_item", "headcount_probability", "label"]
    assert len(first) == 60
    assert first.label.isna().all()
    pd.testing.assert_frame_equal(first[new.columns], new.iloc[first.headcount_item - 1].reset_index(drop=True))
    assert first.headcount_probability.nunique() > 5
    _filled("first.csv", scored)
    code, out, err = run(*PLAN, "--sample", "--half-width", 0.03, "--labels-from", "first.csv", "-o", "second.csv")
    assert code == 0, err
    assert "more items" in out
    second = _filled("second.csv", scored)
    assert set(first.headcount_item) < set(second.headcount_item)
    assert second.headcount_item.is_unique
    order = second.sort_values("headcount_item")
    rows = order.headcount_item.to_numpy() - 1
    codes = (order.label == "pos").astype(int).to_numpy()
    scores = new[["score_neg", "score_pos"]].to_numpy()
    answer = assisted_shares(codes, rows, scores[:, None], 2, probabilities=order.headcount_probability.to_numpy())
    assert (answer.high - answer.low)[1] / 2 == pytest.approx(0.03, rel=0.25)
    assert abs(answer.shares[1] - (new.y == "pos").mean()) < 0.06  # two half-widths


def test_each_group_has_a_plan_of_its_own(scored, run):
    code, out, err = run(*PLAN, "--sample", "--by", "g", "--half-width", 0.06, "-o", "to_label.csv", "--json")
    assert code == 0, err
    answer = json.loads(out)
    assert [group["group"] for group in answer["groups"]] == ["a", "b", "c"]
    written = pd.read_csv(scored / "to_label.csv")
    assert written.groupby("g").size().tolist() == [group["labels"] for group in answer["groups"]]
    for group in answer["groups"]:
        assert group["half_width"] <= 0.06
        assert group["labels"] <= group["labels_uniform"] <= group["labels_alone"]
        assert group["label_shift_needed"] is None or group["label_shift_needed"] > 0
    again = run(*PLAN, "--sample", "--by", "g", "--half-width", 0.06, "-o", "again.csv")
    assert again[0] == 0
    assert (scored / "again.csv").read_bytes() == (scored / "to_label.csv").read_bytes()


def test_even_probabilities_and_conditions(scored, run):
    code, _, err = run(*PLAN, "--uniform", "--labels", 30, "--where", "g=b", "-o", "e.csv", "--seed", 1)
    assert code == 0, err
    frame = pd.read_csv(scored / "e.csv")
    assert set(frame.g) == {"b"}
    np.testing.assert_allclose(frame.headcount_probability, 30 / 300)
    assert (pd.read_csv(scored / "new.csv").g[frame.headcount_item - 1] == "b").all()


def test_items_may_be_named_by_a_column(scored, run):
    new = pd.read_csv(scored / "new.csv").assign(key=lambda f: [f"k{i}" for i in range(len(f))])
    new.to_csv(scored / "new.csv", index=False)
    code, out, err = run(*PLAN, "--labels", 40, "--id", "key", "-o", "first.csv")
    assert code == 0, err
    assert "--id key" in out
    first = pd.read_csv(scored / "first.csv")
    assert "headcount_item" not in first
    first["label"] = new.set_index("key").y[first.key].to_numpy()
    first.to_csv(scored / "first.csv", index=False)
    code, _, err = run(*PLAN, "--labels", 20, "--id", "key", "--labels-from", "first.csv", "-o", "more.csv")
    assert code == 0, err
    more = pd.read_csv(scored / "more.csv")
    assert more.label.notna().sum() == 40
    assert more.key.nunique() == 60


def test_more_labels_than_items_label_all(scored, run):
    code, out, err = run(*PLAN, "--sample", "--by", "g", "--labels", 1000, "-o", "all.csv")
    assert code == 0, err
    assert "1,000 labels are more than there are items: a, b, c. Label all of them." in out
    assert len(pd.read_csv(scored / "all.csv")) == 900


def test_what_can_not_be_reached_is_told(scored, run):
    code, out, err = run(*PLAN, "--half-width", 0.01)
    assert code == 0, err
    assert "Not reached even with all items labelled" in out
    assert "(--sample)" in out


def test_small_groups_are_left_out(scored, run):
    frame = pd.read_csv(scored / "new.csv")
    frame.loc[:9, "g"] = "tiny"
    frame.to_csv(scored / "new.csv", index=False)
    code, out, err = run(*PLAN, "--by", "g", "--labels", 20)
    assert code == 0, err
    assert "Left out, fewer than 30 items (--min-items): tiny." in out


def test_early_plans(scored, run):
    code, out, err = run("plan", "--auc", 0.85, "--half-width", 0.03, "--share", 0.2)
    assert code == 0, err
    assert "684" in out
    answer = json.loads(run("plan", "--auc", 0.85, "--half-width", 0.03, "--json")[1])
    assert len(answer["plans"]) == 4
    code, out, err = run("plan", "--pilot", "labelled.csv", "--label", "y", "--half-width", 0.04, "--json")
    assert code == 0, err
    pilot = json.loads(out)["plans"][0]
    assert set(pilot["shares"]) == {"neg", "pos"}
    assert pilot["labels_with_model"] < pilot["labels_alone"]


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("above 0 and below 0.5", ("--half-width", 0)),
        ("above 0 and below 0.5", ("--half-width", -1)),
        ("for 3 % points write 0.03", ("--half-width", 3)),
        ("not below 0.5", ("--half-width", 0.5)),
        ("too few", ("--labels", 5)),
        ("either the half-width", ()),
        ("either the half-width", ("--half-width", 0.03, "--labels", 50)),
        ("no column 'nope'", ("--labels", 50, "--id", "nope")),
        ("no column 'nope'", ("--labels", 50, "--by", "nope")),
        ("has no value twice", ("--labels", 50, "--id", "g")),
        ("the classes of the model are", ("--labels", 50, "--class", "nope")),
        ("too few items to plan labels for", ("--labels", 50, "--min-items", 5000)),
        ("No row", ("--labels", 50, "--where", "g=nope")),
        ("goes with --auc or --pilot", ("--labels", 50, "--share", 0.2)),
        ("input of this command", ("--labels", 50, "-o", "new.csv")),
        ("a folder: name a file", ("--labels", 50, "-o", "folder.csv")),
        ("written as .csv", ("--labels", 50, "-o", "x.foo")),
        ("level must be between", ("--labels", 50, "--level", 2)),
        ("no column 'headcount_item'", ("--labels", 50, "--labels-from", "labelled.csv")),
    ],
)
def test_mistakes_are_sentences(scored, refused, words, arguments):
    (scored / "folder.csv").mkdir()
    refused(words, *PLAN, *arguments)


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("AUC must be above 0.5", ("--auc", 0.5, "--half-width", 0.03)),
        ("For 85 % write 0.85", ("--auc", 85, "--half-width", 0.03)),
        ("A share must be above 0", ("--auc", 0.8, "--half-width", 0.03, "--share", 1)),
        ("For 20 % write 0.2", ("--auc", 0.8, "--half-width", 0.03, "--share", 20)),
        ("Name the half-width", ("--auc", 0.8)),
        ("not both", ("--auc", 0.8, "--pilot", "labelled.csv", "--half-width", 0.03)),
        ("needs the column of its labels", ("--pilot", "labelled.csv", "--half-width", 0.03)),
        ("--labels goes without", ("--auc", 0.8, "--labels", 20)),
        ("Name a model", ("--half-width", 0.03)),
    ],
)
def test_mistakes_of_early_plans(scored, refused, words, arguments):
    refused(words, "plan", *arguments)


def test_wrong_files_of_labels_are_refused(scored, run, refused):
    assert run(*PLAN, "--labels", 40, "-o", "first.csv")[0] == 0
    again = *PLAN, "--labels", 20, "--labels-from", "first.csv"
    refused("holds no labels", *again)
    frame = _filled("first.csv", scored)
    for column, value, words in (
        ("label", "nope", "not among the classes"),
        ("headcount_item", 5000, "there is no item '5000'"),
        ("headcount_item", frame.headcount_item[1], "in the file twice"),
        ("headcount_probability", 0.0, "above 0 and at most 1"),
    ):
        frame.assign(**{column: [value, *frame[column][1:]]}).to_csv(scored / "first.csv", index=False)
        refused(words, *again)
    frame.rename(columns={"g": "label", "label": "x"}).to_csv(scored / "new.csv", index=False)
    refused("needs for itself", *PLAN, "--labels", 20)


def test_an_output_that_is_no_regular_file_is_refused(scored, refused):
    import os

    os.mkfifo(scored / "pipe.csv")
    refused("a pipe, not a regular file", *PLAN, "--labels", 50, "-o", "pipe.csv")
    refused("can be read only once", "plan", "labelled.csv", "-", "--scored", "--label", "y", "--labels", 50)


def test_rows_left_empty_count_as_not_drawn(scored, run):
    assert run(*PLAN, "--labels", 60, "--uniform", "-o", "first.csv")[0] == 0
    _filled("first.csv", scored, part=30)
    code, _, err = run(*PLAN, "--labels", 20, "--uniform", "--labels-from", "first.csv", "-o", "more.csv")
    assert code == 0, err
    more = pd.read_csv(scored / "more.csv")
    np.testing.assert_allclose(more.headcount_probability, 50 / 900)
