"""`headcount check`: text and JSON."""

import json


def test_check_prints_text_and_json(model, run):
    code, out, _ = run("check", "m.headcount", "new.csv", "--by", "day:month")
    assert code == 0
    assert "2016-05 (3 items): too few items" in out
    records = json.loads(run("check", "m.headcount", "new.csv", "--json")[1])
    assert records[0]["n"] == 303
    assert 0 <= records[0]["p_label_shift"] <= 1
    assert 0.5 < records[0]["separation"] <= 1
