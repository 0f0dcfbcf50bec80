"""`headcount check`: text and JSON."""

import json

import pytest


def test_check_prints_text_and_json(model, run):
    code, out, _ = run("check", "m.headcount", "new.csv", "--by", "day:month")
    assert code == 0
    assert "2016-05 (3 items): too few items" in out
    assert "1 of 3 has too few items for an estimate." in out
    assert "  2016-05 (3 items)" in out
    answer = json.loads(run("check", "m.headcount", "new.csv", "--json")[1])
    assert answer["by"] is None
    assert answer["from"]["Items estimated"] == "new.csv"
    found = answer["groups"]["all"]
    assert found["n"] == 303
    assert 0 <= found["p_label_shift"] <= 1
    assert 0.5 < found["separation"] <= 1


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")
def test_decisions_for_one_class_alone_on_millions_of_labelled_items(tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "confusion.csv").write_text("true,c0,c1\nc0,1000000,0\nc1,1000000,0\n")
    (tmp_path / "counts.csv").write_text("class,count\nc0,194\nc1,96\n")
    code, out, err = run("check", "--confusion", "confusion.csv", "counts.csv")
    assert code in (0, 1), err
    assert "do not trust" in out
