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
    assert changes[0]["low"] <= changes[0]["change"] <= changes[0]["high"]
    assert run(*arguments, "-o", "-")[1].startswith("class,change,low,high,p_value\nbad,")
    assert run(*arguments, "-o", "c.csv")[0] == 0
    both = run("compare", "m.headcount", "new.csv", "new.parquet", "--json")[1]
    assert json.loads(both)["changes"][0]["change"] == pytest.approx(0.0, abs=1e-9)
    assert json.loads(run("compare", "m.headcount", "new.csv", "new.csv", "--json")[1])["to"] == "new.csv (second)"


def test_compare_needs_two_files_or_groups(model, refused):
    refused("Name two files to compare", "compare", "m.headcount", "new.csv")
    refused("Name the two groups to compare", "compare", "m.headcount", "new.csv", "--by", "shop", "--from", "x")
    refused("There is no group 'q'", "compare", "m.headcount", "new.csv", "--by", "shop", "--from", "x", "--to", "q")


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
    assert "a: do not trust. The scores do not look like any mixture" in out
    code, out, _ = run(*command, "--json")
    assert json.loads(out)["verdicts"]["a"]["verdict"] == "do not trust"
