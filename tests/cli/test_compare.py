"""`headcount compare`: text, JSON and files; what can't be compared is refused."""

import json

import numpy as np
import pandas as pd
import pytest


def test_compare_prints_text_json_and_files(model, run):
    arguments = "compare", "m.headcount", "new.csv", "--by", "day:month", "--from", "2016-01", "--to", "2016-02"
    code, out, _ = run(*arguments)
    assert code == 0
    assert "Change from 2016-01 to 2016-02" in out
    changes = json.loads(run(*arguments, "--json")[1])["changes"]
    assert sum(record["change"] for record in changes) == pytest.approx(0.0, abs=1e-9)
    assert changes[0]["change_low"] <= changes[0]["change"] <= changes[0]["change_high"]
    assert run(*arguments, "-o", "-")[1].startswith("class,change,change_low,change_high,p_value\nbad,")
    assert run(*arguments, "-o", "c.csv")[0] == 0
    both = run("compare", "m.headcount", "new.csv", "new.parquet", "--json")[1]
    assert json.loads(both)["changes"][0]["change"] == pytest.approx(0.0, abs=1e-9)
    assert json.loads(run("compare", "m.headcount", "new.csv", "new.csv", "--json")[1])["to"] == "new.csv (second)"


def test_compare_needs_two_files_or_groups(model, refused):
    refused("Name two files to compare", "compare", "m.headcount", "new.csv")
    by = "compare", "m.headcount", "new.csv", "--by", "shop"
    refused("Name the two groups to compare", *by)
    refused("Name the two groups to compare", *by, "--to", "x")
    refused("There is no group 'q'", *by, "--from", "x", "--to", "q")


def test_unclear_families_of_comparisons_are_refused(model, refused):
    by = "compare", "m.headcount", "new.csv", "--by", "day:month"
    refused("must be 'first', 'previous' or 'all'; got 'each'", *by, "--against", "each")
    refused("--against compares all of them", *by, "--against", "first", "--from", "2016-01", "--to", "2016-02")
    refused("needs --against first", *by, "--against", "previous", "--from", "2016-01")
    refused("There is no group '2017-01'", *by, "--from", "2017-01")
    refused("Group '2016-05' has too few items", *by, "--from", "2016-05")
    refused("All groups have too few items", *by, "--against", "all", "--min-items", "200")
    refused("several with --against", "compare", "m.headcount", "new.csv", "new.csv", "new.csv")
    refused("Name two files to compare", "compare", "m.headcount", "new.csv", "--against", "first")


def test_all_groups_are_compared_at_once(model, run):
    arguments = "compare", "m.headcount", "new.csv", "--by", "day:month", "--against", "previous"
    code, out, err = run(*arguments)
    assert code == 0, err
    heading = (
        "Changes between 2 groups, each with the previous one: 2 comparisons, with intervals that hold together at 95 %"
    )
    assert out.startswith(heading)
    assert "p (corrected)" in out
    assert "Left out, too few items (--min-items): 2016-05." in out
    answer = json.loads(run(*arguments, "--json")[1])
    assert (answer["against"], answer["groups"], answer["left_out"]) == (
        "previous",
        ["2016-01", "2016-02"],
        ["2016-05"],
    )
    assert answer["comparisons"] == len(answer["changes"]) == 2
    assert list(answer["verdicts"]) == ["2016-01", "2016-02"]
    header = "first,second,class,change,change_low,change_high,p_value,p_single\n2016-01,2016-02,bad,"
    assert run(*arguments, "-o", "-")[1].startswith(header)
    assert run(*arguments, "-o", "c.parquet")[0] == 0
    assert pd.read_parquet("c.parquet").to_dict("records") == answer["changes"]


def test_a_first_group_alone_is_compared_with_all_others(model, run):
    arguments = "compare", "m.headcount", "new.csv", "--by", "shop"
    code, out, err = run(*arguments, "--from", "y")
    assert code == 0, err
    assert "each with y: 4 comparisons" in out
    changes = json.loads(run(*arguments, "--from", "y", "--json")[1])["changes"]
    assert [(row["first"], row["second"]) for row in changes[::2]] == [("y", "x"), ("y", "z")]
    assert json.loads(run(*arguments, "--against", "all", "--json")[1])["comparisons"] == 6


def test_groups_of_one_verdict_are_named_together(tmp_path, run):
    (tmp_path / "confusion.csv").write_text("true,neg,pos\nneg,90,10\npos,20,80\n")
    rows = [f"g{i:02},{name},{count}" for i in range(15) for name, count in (("neg", 60), ("pos", 40))]
    (tmp_path / "counts.csv").write_text("\n".join(["group,class,count", *rows]))
    code, out, err = run("compare", "--confusion", "confusion.csv", "counts.csv", "--by", "group", "--against", "first")
    assert code == 0, err
    assert "28 comparisons" in out
    assert out.count("was not checked.") == 1
    assert out.count("decisions alone") == 1


def test_compare_reports_untrustworthy_groups(tmp_path, run):
    """Group a has scores near a half, where labelled items have hardly any."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 800)
    p = np.where(y == 1, rng.beta(2, 8, 800), rng.beta(8, 2, 800))
    table = pd.DataFrame({"score_0": p, "score_1": 1 - p, "y": y})
    new = table.assign(g=["a", "b"] * 400)
    middle = (new.g == "a") & (new.index < 400)
    new.loc[middle, "score_0"] = rng.uniform(0.45, 0.55, middle.sum())
    new["score_1"] = 1 - new.score_0
    new.to_csv(tmp_path / "new.csv", index=False)
    table.to_csv(tmp_path / "labelled.csv", index=False)
    command = (
        "compare",
        "--scored",
        "labelled.csv",
        "new.csv",
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
    assert "- No combination of the known classes explains what the classifier says" in out
    assert "\n  a (p < 0.001)" in out
    code, out, _ = run(*command, "--json")
    assert json.loads(out)["verdicts"]["a"]["verdict"] == "do not trust"


def monthly(folder, shares):
    """Write a confusion matrix, and counts of decisions by month that are exactly those of these shares of pos."""
    (folder / "confusion.csv").write_text("true,neg,pos\nneg,900,100\npos,200,800\n")
    rows = []
    for month, share in shares.items():
        decided = round(1000 * (0.1 + 0.7 * share))
        rows += [f"{month},neg,{1000 - decided}", f"{month},pos,{decided}"]
    (folder / "counts.csv").write_text("\n".join(["month,class,count", *rows]) + "\n")
    return "compare", "--confusion", "confusion.csv", "counts.csv", "--by", "month", "--trend"


def test_a_trend_is_said_in_words_and_numbers(tmp_path, run):
    command = monthly(tmp_path, {"2025-01": 0.2, "2025-02": 0.3, "2025-03": 0.4, "2025-05": 0.6, "": 0.9})
    code, out, err = run(*command)
    assert code == 0, err
    assert out.startswith("Trend over 4 periods, 2025-01 to 2025-05\n")
    assert "+10.00 points" in out
    assert "rises" in out
    assert "falls" in out
    assert "Left out, too few items (--min-items) or no time: (none)." in out
    answer = json.loads(run(*command, "--json")[1])
    assert answer["per"] == "month"
    slope = answer["slopes"][1]
    assert slope["slope"] == pytest.approx(0.1, abs=1e-4)
    assert slope["slope_low"] < 0.1 < slope["slope_high"]
    assert slope["p_value"] < 1e-6
    assert run(*command, "-o", "-")[1].startswith("class,slope,slope_low,slope_high,p_value\nneg,")
    flat = monthly(tmp_path, {"2025-01": 0.3, "2025-02": 0.31, "2025-03": 0.29})
    assert "no clear trend" in run(*flat)[1]


def test_what_has_no_trend_is_refused(tmp_path, refused):
    command = monthly(tmp_path, {"north": 0.2, "south": 0.3, "west": 0.4})
    refused("A trend is over time: group by dates (--by date:month) or by a column of numbers", *command)
    refused("--trend is over the groups of one column", *command[:4], "--trend")
    refused("--trend is over the groups of one column", *command, "--against", "first")
    command = monthly(tmp_path, {"2025-01": 0.2, "2025-02": 0.3})
    refused("A trend needs at least 3 samples", *command)


@pytest.mark.parametrize("asked", [("--from", "1", "--to", "2"), ("--against", "previous"), ("--trend",)])
def test_classes_of_changes_come_in_the_order_that_is_asked_for(tmp_path, run, refused, asked):
    (tmp_path / "confusion.csv").write_text("true,bad,fair,good\nbad,90,10,5\nfair,20,80,10\ngood,5,10,90\n")
    counts = (
        {"bad": 300, "fair": 250, "good": 150},
        {"bad": 250, "fair": 250, "good": 200},
        {"bad": 200, "fair": 200, "good": 300},
    )
    rows = "".join(f"{wave},{name},{n}\n" for wave, of_wave in enumerate(counts, 1) for name, n in of_wave.items())
    (tmp_path / "waves.csv").write_text("wave,class,count\n" + rows)
    arguments = (
        "compare",
        "--confusion",
        str(tmp_path / "confusion.csv"),
        str(tmp_path / "waves.csv"),
        "--by",
        "wave",
        *asked,
    )
    key = "slopes" if "--trend" in asked else "changes"
    sorted_rows = json.loads(run(*arguments, "--json")[1])[key]
    code, out, err = run(*arguments, "--json", "--classes", "good,fair,bad")
    assert code == 0, err
    wanted = ["good", "fair", "bad"]
    assert json.loads(out)[key] == sorted(
        sorted_rows, key=lambda row: (row.get("first", ""), wanted.index(row["class"]))
    )
    refused("must name each class once; got 'good', 'bad'", *arguments, "--classes", "good,bad")


def test_a_trend_over_numbers_is_per_title_of_their_column(tmp_path, run):
    (tmp_path / "confusion.csv").write_text("true,neg,pos\nneg,90,10\npos,20,80\n")
    rows = "".join(f"{wave},neg,{700 - 100 * wave}\n{wave},pos,{300 + 100 * wave}\n" for wave in (1, 2, 3))
    (tmp_path / "waves.csv").write_text("wave,class,count\n" + rows)
    arguments = "compare", "--confusion", str(tmp_path / "confusion.csv"), str(tmp_path / "waves.csv"), "--by", "wave"
    out = run(*arguments, "--trend")[1]
    assert "change per wave" in out


def test_groups_that_are_numbers_are_named_with_their_column(tmp_path, run):
    (tmp_path / "confusion.csv").write_text("true,neg,pos\nneg,900,100\npos,200,800\n")
    (tmp_path / "waves.csv").write_text("wave,class,count\n1,neg,500\n1,pos,500\n2,neg,250\n2,pos,750\n")
    for command in ("estimate", "check"):
        out = run(command, "--confusion", tmp_path / "confusion.csv", tmp_path / "waves.csv", "--by", "wave")[1]
        assert "wave 2 (" in out.partition("far from those of the labelled items")[2]
