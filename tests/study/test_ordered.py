"""Studies of ordered classes: the plan's order of names, measures and parts of the samples that go by it."""

import numpy as np
import pandas as pd
import pytest

from headcount.exceptions import DataError
from headcount.protocols import jaggedness
from headcount.study import Results, read_plan, run_study
from headcount.study.data import study_data
from tests.conftest import scored_items

PLAN = """
name = "ordered"
data_sets = ["grades"]
measures = ["nmd", "rnod", "ae"]
seed = 3
{ordered}

[protocol]
n_prevalences = 5
sample_size = 60
validation_repeats = 2
test_repeats = 4

[[protocol.parts]]
name = "smooth samples"
kind = "{kind}"
sample_size = 60
n_samples = 40

[learners.lr]
class = "sklearn.linear_model.LogisticRegression"
grid = {{ C = [0.1, 1.0] }}

[[methods]]
names = ["PACC", "CC"]
learners = ["lr"]
targets = ["nmd"]
"""
GRADES = ["poor", "fair", "good", "great"]
ORDER = "[ordered]\ngrades = ['poor', 'fair', 'good', 'great']"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    codes, P = scored_items(900, 4, 0, 1.2)
    frame = pd.DataFrame(np.log(P), columns=list("abcd"))
    frame["y"], frame["part"] = np.array(GRADES)[codes], np.where(np.arange(900) < 400, "train", "test")
    frame.to_parquet(tmp_path / "data" / "grades.parquet")
    return tmp_path


def plan_in(folder, ordered=ORDER, kind="smooth"):
    path = folder / "plan.toml"
    path.write_text(PLAN.format(ordered="", kind=kind).replace("[learners.lr]", f"{ordered}\n\n[learners.lr]"))
    return read_plan(path)


def test_a_study_keeps_the_order_of_its_plan_and_chooses_by_nmd(folder):
    plan = plan_in(folder)
    assert plan.ordered == {"grades": tuple(GRADES)}
    run_study(plan, folder / "store", data_dir=folder / "data", n_jobs=1)
    results = Results(plan, folder / "store")
    truth = results.truth("grades")
    assert (truth["classes"], truth["ordered"]) == (GRADES, True)
    assert len(truth["training"]) == 4
    true = study_data(plan, "grades", folder / "data").true
    assert jaggedness(true).max() < jaggedness(np.random.default_rng(0).dirichlet(np.ones(4), 1000)).mean()


@pytest.mark.parametrize(
    ("ordered", "words"),
    [
        ("", "NMD depends on the order of the classes, but 'fair', 'good', 'great', 'poor' are only in alphabetical"),
        ("[ordered]\ngrades = ['poor', 'good', 'great']", "must name each class once; got 'poor', 'good', 'great'"),
        ("[ordered]\ngrades = ['poor', 'poor', 'fair', 'good', 'great']", "from the lowest to the highest, each once"),
        ("[ordered]\nstars = ['poor', 'fair']", "'stars' is not among the data sets"),
    ],
)
def test_an_order_that_is_missing_or_wrong_is_refused_before_anything_is_computed(folder, ordered, words):
    with pytest.raises(DataError, match=words.replace("[", r"\[")):
        run_study(plan_in(folder, ordered), folder / "store", data_dir=folder / "data", n_jobs=1)


@pytest.mark.parametrize("kind", ["location", "spread"])
def test_parts_may_shift_along_the_order(folder, kind):
    data = study_data(plan_in(folder, kind=kind), "grades", folder / "data")
    mean = data.true @ np.arange(4)
    assert data.classes.tolist() == GRADES
    assert len(data.true) == 40
    assert np.ptp(mean) > (1.0 if kind == "location" else 0.0)


def test_kinds_of_parts_are_named_where_one_is_wrong(folder):
    with pytest.raises(DataError, match="app, upp, natural, smooth, location or spread"):
        plan_in(folder, kind="sideways")
