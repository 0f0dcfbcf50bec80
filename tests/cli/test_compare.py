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
