"""`headcount judge`: text, JSON, files, page and plot; unusable tables and options."""

import json

import numpy as np
import pandas as pd
import pytest

BASE = ("judge", "answers.csv", "--human", "gold", "--judge", "a,b")


@pytest.fixture
def answers(tmp_path):
    """A table of 300 items, 60 of them labelled, with two judges, scores, months and ids."""
    generator = np.random.default_rng(0)
    truth = generator.choice(["no", "yes"], 300, p=[0.7, 0.3])
    flipped = np.where(truth == "yes", "no", "yes")
    a = np.where(generator.random(300) < 0.9, truth, flipped)
    b = np.where(generator.random(300) < 0.7, truth, flipped).astype(object)
    b[:30] = ""
    gold = np.full(300, "", dtype=object)
    rows = generator.choice(300, 60, replace=False)
    gold[rows] = truth[rows]
    p = np.where(a == "yes", 0.8, 0.1)
    table = pd.DataFrame({"item": range(300), "gold": gold, "a": a, "b": b, "p_no": 1 - p, "p_yes": p})
    table["month"] = np.array(["2024-01", "2024-02", "2024-03"])[np.r_[np.arange(280) % 2, np.full(20, 2)]]
    table["texts"] = np.where(a == "yes", "Yes, it is.", "no, it isn't")
    table.to_csv(tmp_path / "answers.csv", index=False)
    return table


def test_the_answer_comes_first_then_what_to_make_of_it_then_warnings(answers, run):
    code, out, err = run(*BASE, "--by", "month", "--half-width", "0.04")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "300 items, 60 with a human label"
    assert lines[1].split() == ["class", "share", "95", "%", "interval", "labels", "alone", "95", "%", "interval"]
    assert lines[2].startswith("no ")
    for earlier, later in (
        ("no ", "The judges add about"),
        ("The judges add about", "Keep a"),
        ("Keep a", "For ±4 points, label about"),
        ("For ±4 points", "2024-01"),
        ("2024-03", "agrees with humans"),
        ("agrees with humans", "Items with a human label (rows) by the answer of a"),
        ("Items with a human label (rows)", "- b names no class for 30 of 300 items (10%; 30 empty"),
    ):
        assert out.index(earlier) < out.index(later)
    assert "Fewer than 10 human labels, so no answer from labels, in 1 of 3 groups: '2024-03'." in out


def test_json_files_page_and_plot_have_the_same_figures(answers, run, tmp_path):
    code, out, err = run(*BASE, "--by", "month", "--json", "--html", "p.html", "--plot", "p.svg", "-o", "s.csv")
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["human"], answer["by"], answer["n"], answer["labelled"]) == ("gold", "month", 300, 60)
    shares = answer["all"]["shares"]
    assert shares["no"]["low"] <= shares["no"]["share"] <= shares["no"]["high"]
    assert shares["no"]["share"] + shares["yes"]["share"] == pytest.approx(1.0)
    assert answer["groups"]["2024-03"]["shares"]["no"]["share"] is None
    assert answer["groups"]["2024-03"]["label_shift"]["no"]["low"] >= 0.0
    assert answer["judges"]["b"]["abstained"] == 30
    table = pd.read_csv(tmp_path / "s.csv")
    assert table["share"][0] == pytest.approx(shares["no"]["share"])
    assert table["group"].tolist() == ["all", "all", *(f"2024-0{m}" for m in (1, 1, 2, 2, 3, 3))]
    page = (tmp_path / "p.html").read_text()
    assert f"{100 * shares['no']['share']:.1f} %" in page
    assert "<title>Judges corrected by gold, by month</title>" in page
    assert "too few labels" in page
    assert "<svg" in (tmp_path / "p.svg").read_text()
    code, out, _ = run(*BASE, "--format", "markdown")
    assert out.startswith("| class | share |")
    code, _, err = run(*BASE, "-o", "s.xlsx")
    assert (code, (tmp_path / "s.xlsx").exists()) == (0, True), err


def test_other_forms_of_answers(answers, run, tmp_path):
    _, plain, _ = run("judge", "answers.csv", "--human", "gold", "--judge", "a", "--json")
    expected = json.loads(plain)["all"]
    (tmp_path / "map.csv").write_text('answer,class\n"yes, it is.",yes\n"No, it isn\'t",no\n')
    _, mapped, err = run("judge", "answers.csv", "--human", "gold", "--judge", "texts", "--map", "map.csv", "--json")
    assert json.loads(mapped)["all"] == expected, err
    _, scored, err = run("judge", "answers.csv", "--human", "gold", "--scores", "no=p_no,yes=p_yes", "--json")
    assert json.loads(scored)["all"]["shares"]["no"]["share"] == pytest.approx(
        expected["shares"]["no"]["share"], abs=1e-6
    ), err
    _, pattern, err = run("judge", "answers.csv", "--human", "gold", "--judge", "[ab]", "--json")
    assert list(json.loads(pattern)["judges"]) == ["a", "b"], err
    _, some, err = run(*BASE, "--where", "month=2024-01,2024-02", "--json")
    assert json.loads(some)["n"] == 280, err
    _, turned, err = run(*BASE, "--classes", "yes,no", "--json")
    assert list(json.loads(turned)["all"]["shares"]) == ["yes", "no"], err
    _, wider, _ = run(*BASE, "--population", "--level", "0.99", "--json")
    assert json.loads(wider)["estimand"] == "population"
    assert json.loads(wider)["all"]["shares"]["no"]["low"] < expected["shares"]["no"]["low"]


def test_everything_labelled_is_said(answers, run, tmp_path):
    answers.assign(gold=answers["a"]).to_csv(tmp_path / "answers.csv", index=False)
    code, out, _ = run("judge", "answers.csv", "--human", "gold", "--judge", "b")
    assert code == 0
    assert "All 300 items have a human label: the shares are known." in out


def test_unusable_tables_and_options_are_refused(answers, refused, tmp_path):
    refused(
        "has no column 'silver' of human labels (--human)", "judge", "answers.csv", "--human", "silver", "--judge", "a"
    )
    refused("has no column 'c' of a judge (--judge)", "judge", "answers.csv", "--human", "gold", "--judge", "a,c")
    refused("There is no judge: name the columns", "judge", "answers.csv", "--human", "gold")
    refused("can't be both the human labels (--human) and a judge", *BASE[:4], "--judge", "gold")
    refused("has no column 'q' of scores", "judge", "answers.csv", "--human", "gold", "--scores", "no=q,yes=p_yes")
    refused("name the column of each class once", "judge", "answers.csv", "--human", "gold", "--scores", "no=p_no")
    refused("has no column 'key' of ids (--id)", *BASE, "--id", "key")
    refused("half_width (--half-width) must be between 0 and 0.5", *BASE, "--half-width", "3")
    refused("level must be between 0 and 1", *BASE, "--level", "95")
    refused("is not among the classes 'yes', 'maybe' (--classes)", *BASE, "--classes", "yes,maybe")
    refused("--plot p.gif", *BASE, "--plot", "p.gif")
    refused("--html needs a file", *BASE, "--html", "-")
    refused("No row meets the conditions", *BASE, "--where", "month=1999-01")

    def changed(**columns):
        answers.assign(**columns).to_csv(tmp_path / "bad.csv", index=False)
        return "judge", "bad.csv", "--human", "gold"

    refused("The judge 'e' gave no answer", *changed(e=""), "--judge", "e")
    refused("all 60 are 'yes'", *changed(gold=answers["gold"].replace("no", "yes")), "--judge", "a")
    few = answers["gold"].where(answers.index < 20, "")
    refused("at least 10 are needed, drawn at random; label", *changed(gold=few), "--judge", "a", "--classes", "no,yes")
    twice = answers["item"].replace(int(np.flatnonzero(answers["gold"])[1]), int(np.flatnonzero(answers["gold"])[0]))
    refused("is labelled twice", *changed(item=twice), "--judge", "a", "--id", "item")
    words = answers["p_no"].astype(object).where(answers.index != 7, "high")
    refused("'high'", *changed(p_no=words), "--scores", "no=p_no,yes=p_yes")
    (tmp_path / "twice.csv").write_text("answer,class\nYes,yes\nyes ,no\n")
    refused("The map gives the answer 'Yes', 'yes ' more than once", *BASE, "--map", "twice.csv")
    (tmp_path / "unknown.csv").write_text("answer,class\nYes,yep\n")
    refused("The map leads to 'yep', which is not among the classes", *BASE, "--map", "unknown.csv")
    (tmp_path / "narrow.csv").write_text("answer\nYes\n")
    refused("must have two columns, answer and class", *BASE, "--map", "narrow.csv")


def test_names_in_a_table_control_neither_terminal_nor_page(answers, run, tmp_path):
    nasty = "</script><b>\x1b[31m"
    answers.rename(columns={"a": nasty}).replace({"month": {"2024-01": nasty}}).to_csv(
        tmp_path / "nasty.csv", index=False
    )
    code, out, err = run(
        "judge", "nasty.csv", "--human", "gold", "--judge", "b", "--judge", nasty, "--by", "month", "--html", "n.html"
    )
    assert code == 0, err
    assert "\x1b" not in out
    page = (tmp_path / "n.html").read_text()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page
    assert "\x1b" not in page
