"""`headcount check`: text and JSON."""

import json


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
