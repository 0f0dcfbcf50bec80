"""A fit that did not converge is recorded in the store, and results list it."""

from headcount.study import Results, Store, read_plan, run_study
from headcount.study.store import load
from tests.study.conftest import PLAN

ROUGH = PLAN.replace('LogisticRegression"\n', 'LogisticRegression"\nparameters = { max_iter = 2 }\n')


def test_fits_that_did_not_converge_are_listed(tmp_path, data_folder):
    (tmp_path / "plan.toml").write_text(ROUGH)
    plan = read_plan(tmp_path / "plan.toml").only(learners=["lr"])
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    results = Results(plan, tmp_path / "store")
    rows = results.not_converged()
    assert {row[:4] for row in rows} >= {(0, "CC", "lr", "small"), (1, "PACC", "lr", "small")}
    assert {text.partition(",")[0] for *_, text in rows} == {"choosing", "testing"}
    row = next(row for row in rows if row.text.startswith("choosing, C=10.0, class_weight=balanced: "))
    assert "failed to converge" in row.text
    outcomes = [load(path).outcome for path in Store(tmp_path / "store").records()]
    texts = [text for outcome in outcomes for text in outcome.get("not_converged", ())]
    assert any(text.startswith("lr C=10.0, class_weight=balanced: ") for text in texts)


def test_nothing_is_recorded_where_all_fits_converge(tmp_path, data_folder):
    (tmp_path / "plan.toml").write_text(PLAN)
    plan = read_plan(tmp_path / "plan.toml").only(learners=["own"])
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert Results(plan, tmp_path / "store").not_converged() == []
    assert not any("not_converged" in load(path).outcome for path in Store(tmp_path / "store").records())
