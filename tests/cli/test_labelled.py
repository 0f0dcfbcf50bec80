"""`headcount estimate` with labels of new items: the answers, where labels may be, and what is refused in one line."""

import json

import numpy as np
import pandas as pd
import pytest

from headcount.desk import estimate_tables
from tests.modelfile.test_modelfile import texts


@pytest.fixture
def fitted(run, tmp_path, reviews):
    """A model, and the new table with its true labels, some of them filled in."""
    fit = (
        "fit",
        "labelled.csv",
        "--text",
        "review",
        "--label",
        "stars",
        "--method",
        "PACC",
        "--learner",
        "lr",
        "-o",
        "m.headcount",
    )
    assert run(*fit)[0] == 0
    words, y = texts(600, 11)
    table = pd.DataFrame(
        {"review": words, "day": ["2016-01-05"] * 300 + ["2016-02-07"] * 300, "row_id": [f"r{i}" for i in range(600)]}
    )
    truth = np.where(y == 1, "good", "bad")
    generator = np.random.default_rng(0)
    table["checked"] = ""
    for start, n in ((0, 40), (300, 60)):
        rows = start + generator.choice(300, n, replace=False)
        table.loc[rows, "checked"] = truth[rows]
    table.to_csv("some.csv", index=False)
    table.drop(columns="checked").to_csv("bare.csv", index=False)
    plan = table[table.checked != ""].copy()
    plan.insert(0, "headcount_item", plan.index + 1)
    plan["headcount_probability"] = np.where(plan.index < 300, 40 / 300, 60 / 300)
    plan["label"] = plan.pop("checked")
    plan.to_csv("plan.csv", index=False)
    return table, truth, plan


def test_labels_in_a_column_give_the_design_based_answer_first_and_label_shift_beside_it(fitted, run):
    _, truth, _ = fitted
    code, out, err = run("estimate", "m.headcount", "some.csv", "--by", "day:month", "--labels", "checked", "--total")
    assert code == 0, err
    first, second = out.index("From 100 labels of new items"), out.index("If only the shares have changed")
    assert first < second < out.index("Do the two contradict each other?")
    assert "All 2 groups have a design-based answer" in out
    assert "labelled" in out[first:second]
    assert "trust" in out[second:]
    assert "(all)" in out
    code, out, _ = run("estimate", "m.headcount", "some.csv", "--by", "day:month", "--labels", "checked", "--json")
    answer = json.loads(out)
    assert answer["answer"] == "design-based"
    group = answer["groups"]["2016-01"]
    assert group["labels"] == 40
    assert group["verdict"] == "labelled"
    share = (truth[:300] == "good").mean()
    for shares in (group["shares"], group["label_shift"]["shares"]):
        assert shares["good"]["share_low"] < share < shares["good"]["share_high"]
    width = [
        s["good"]["share_high"] - s["good"]["share_low"] for s in (group["shares"], group["label_shift"]["shares"])
    ]
    assert width[1] < width[0]
    assert group["contradiction"]["p"] > 0.01
    assert 0.0 < group["contradiction"]["detectable"]["good"] < 0.5
    assert len(group["label_shift"]["covariance"]) == 2


def test_records_pages_and_plots_hold_both_answers(fitted, run, tmp_path):
    outputs = ("-o", "o.csv", "--html", "o.html", "--plot", "o.svg")
    code, _, err = run("estimate", "m.headcount", "some.csv", "--by", "day:month", "--labels", "checked", *outputs)
    assert code == 0, err
    table = pd.read_csv(tmp_path / "o.csv")
    assert table.labels.tolist() == [40, 40, 60, 60]
    assert (table.share_low < table.label_shift).all()
    assert (table.verdict == "labelled").all()
    assert set(table.label_shift_verdict) == {"trust"}
    assert table.p_contradiction.between(0.001, 1).all()
    page = (tmp_path / "o.html").read_text()
    assert "If only the shares have changed" in page
    assert "100 labels of these items" in page
    assert "under label shift" in (tmp_path / "o.svg").read_text()


def test_a_file_of_labels_gives_what_a_column_gives_by_row_and_by_id(fitted, run):
    def shares(*arguments):
        code, out, err = run("estimate", "m.headcount", *arguments, "--by", "day:month", "--json")
        assert code == 0, err
        return [group["shares"]["good"]["share"] for group in json.loads(out)["groups"].values()]

    by_column = shares("some.csv", "--labels", "checked")
    assert np.allclose(shares("bare.csv", "--labels-from", "plan.csv"), by_column, atol=1e-9)
    assert np.allclose(shares("bare.csv", "--labels-from", "plan.csv", "--id", "row_id"), by_column, atol=1e-9)


def test_rows_of_several_files_are_numbered_on_and_conditions_leave_labels_out(fitted, run):
    table, _, _ = fitted
    for part, rows in (("a", slice(0, 300)), ("b", slice(300, 600))):
        table.iloc[rows].drop(columns="checked").to_csv(f"{part}.csv", index=False)
    code, out, err = run("estimate", "m.headcount", "a.csv", "b.csv", "--labels-from", "plan.csv", "--json")
    assert code == 0, err
    assert json.loads(out)["groups"]["all"]["labels"] == 100
    code, out, err = run(
        "estimate", "m.headcount", "bare.csv", "--labels-from", "plan.csv", "--where", "day<2016-02-01", "--json"
    )
    assert code == 0, err
    answer = json.loads(out)
    assert answer["groups"]["all"]["labels"] == 40
    assert any("60 labels are of rows that the conditions" in note for note in answer["notes"])


def test_few_labels_and_empty_rows_are_said(fitted, run):
    table, truth, plan = fitted
    plan.loc[plan.index < 300, "label"] = [*plan.label[plan.index < 300][:4], *[""] * 36]
    plan.to_csv("plan.csv", index=False)
    code, out, err = run("estimate", "m.headcount", "bare.csv", "--labels-from", "plan.csv", "--by", "day:month")
    assert code == 0, err
    assert "36 of 100 rows of the file of labels have no label" in out
    assert "4 labels: a design-based answer needs at least 10, drawn at random. Label 6 more." in out
    assert "1 of 2 groups has a design-based answer" in out
    groups = estimate_tables("m.headcount", "bare.csv", by="day:month", labels_from="plan.csv")
    assert np.isnan(groups.shares[0]).all()
    assert np.isfinite(groups.labelled.label_shift.shares).all()
    table["checked"] = np.where(truth == "bad", "", "good")
    table.to_csv("some.csv", index=False)
    code, out, err = run("estimate", "m.headcount", "some.csv", "--labels", "checked")
    assert code == 0, err
    assert "labels are of the class good" in out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": "fine"}, "the label 'fine' is not among the classes of the model"),
        ({"headcount_item": 601}, "there is no item '601' in the new table, whose rows are numbered 1 to 600"),
        ({"headcount_item": 0}, "there is no item '0'"),
        ({"headcount_item": "repeated"}, "is labelled twice, here and in plan.csv, line"),
        ({"headcount_item": ""}, "is empty: it says which item"),
        ({"headcount_probability": 0.0}, "the inclusion probability is 0; it must be above 0"),
        ({"headcount_probability": 1.2}, "the inclusion probability is 1.2"),
        ({"headcount_probability": ""}, "the inclusion probability is missing"),
    ],
)
def test_a_row_of_a_file_of_labels_that_cannot_be_used_is_named(fitted, refused, change, words):
    plan = fitted[2].astype(object)
    for column, value in change.items():
        plan.loc[plan.index[5], column] = plan[column].iloc[6] if value == "repeated" else value
    plan.to_csv("plan.csv", index=False)
    refused(words, "estimate", "m.headcount", "bare.csv", "--labels-from", "plan.csv")


def test_columns_of_labels_that_cannot_be_used_are_refused(fitted, refused):
    table, _, plan = fitted
    table.assign(checked=table.checked.replace("good", "great")).to_csv("wrong.csv", index=False)
    refused("wrong.csv, line", "estimate", "m.headcount", "wrong.csv", "--labels", "checked")
    table.assign(chance=1.5).to_csv("wrong2.csv", index=False)
    refused(
        "labelled item is 1.5",
        "estimate",
        "m.headcount",
        "wrong2.csv",
        "--labels",
        "checked",
        "--probability",
        "chance",
    )
    refused("has no column 'absent'", "estimate", "m.headcount", "some.csv", "--labels", "absent")
    table.assign(checked="").to_csv("empty.csv", index=False)
    refused("holds no labels", "estimate", "m.headcount", "empty.csv", "--labels", "checked")
    plan.assign(label="").to_csv("empty_plan.csv", index=False)
    refused("holds no labels", "estimate", "m.headcount", "bare.csv", "--labels-from", "empty_plan.csv")
    plan.drop(columns="headcount_item").to_csv("no_item.csv", index=False)
    refused("has no column 'headcount_item'", "estimate", "m.headcount", "bare.csv", "--labels-from", "no_item.csv")
    plan.drop(columns="headcount_probability").assign(headcount_stratum="a").to_csv("strata.csv", index=False)
    refused("no inclusion probabilities", "estimate", "m.headcount", "bare.csv", "--labels-from", "strata.csv")
    plan.assign(row_id=["nobody", *plan.row_id[1:]]).to_csv("ids.csv", index=False)
    refused(
        "no row with row_id 'nobody'",
        "estimate",
        "m.headcount",
        "bare.csv",
        "--labels-from",
        "ids.csv",
        "--id",
        "row_id",
    )
    table.assign(row_id="same").to_csv("same.csv", index=False)
    plan.assign(row_id=["same", *plan.row_id[1:]]).to_csv("ids.csv", index=False)
    refused("several rows", "estimate", "m.headcount", "same.csv", "--labels-from", "ids.csv", "--id", "row_id")


def test_options_that_do_not_go_with_labels_are_refused(fitted, refused, tmp_path):
    some = ("estimate", "m.headcount", "some.csv", "--by", "day:month")
    refused("name one", *some, "--labels", "checked", "--labels-from", "plan.csv")
    refused("--probability is about labels", *some, "--probability", "checked")
    refused("--id names the items of a file", *some, "--labels", "checked", "--id", "row_id")
    refused("--compare takes no labels", *some, "--labels", "checked", "--compare", "first")
    refused("--statistics", *some, "--labels", "checked", "--statistics")
    refused("can't be about labels", "estimate", "m.headcount", "some.csv", "--labels", "review")
    (tmp_path / "confusion.csv").write_text("true,bad,good\nbad,80,20\ngood,10,90\n")
    (tmp_path / "counts.csv").write_text("class,count\nbad,200\ngood,800\n")
    refused("single items", "estimate", "--confusion", "confusion.csv", "counts.csv", "--labels", "class")


def test_scored_tables_take_labels_too(run, tmp_path):
    generator = np.random.default_rng(3)
    for name, n, share in (("old", 500, 0.5), ("new", 800, 0.2)):
        y = generator.random(n) < share
        score = 1 / (1 + np.exp(-2.0 * (2.0 * y - 1 + generator.standard_normal(n))))
        table = pd.DataFrame({"y": np.where(y, "pos", "neg"), "score_neg": 1 - score, "score_pos": score})
        if name == "new":
            table.loc[generator.random(n) > 0.1, "y"] = ""
            truth = y.mean()
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    for more in ((), ("--decisions", "decided")):
        if more:
            for name in ("old", "new"):
                table = pd.read_csv(tmp_path / f"{name}.csv")
                table["decided"] = np.where(table.score_pos > 0.5, "pos", "neg")
                table.to_csv(tmp_path / f"{name}.csv", index=False)
        code, out, err = run(
            "estimate", "--scored", "old.csv", "new.csv", "--label", "y", *more, "--labels", "y", "--json"
        )
        assert code == 0, err
        group = json.loads(out)["groups"]["all"]
        assert group["shares"]["pos"]["share_low"] < truth < group["shares"]["pos"]["share_high"]
        assert (
            group["label_shift"]["shares"]["pos"]["share_low"]
            < truth
            < group["label_shift"]["shares"]["pos"]["share_high"]
        )
