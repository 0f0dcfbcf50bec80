"""A small data set and a small plan, so that a whole study takes a second."""

import textwrap

import pytest

from headcount.data import SyntheticReviews
from headcount.study import read_plan

PLAN = """
name = "small"
title = "A small study"
data_sets = ["small"]
seed = 3

[protocol]
n_prevalences = 5
sample_size = 40
validation_repeats = 2
test_repeats = 4

[learners.lr]
class = "sklearn.linear_model.LogisticRegression"
grid = { C = [0.1, 1.0, 10.0], class_weight = ["none", "balanced"] }

[learners.rf]
class = "sklearn.ensemble.RandomForestClassifier"
parameters = { random_state = 0 }
grid = { n_estimators = [2, 5], max_depth = [3, "none"] }

[[methods]]
names = ["CC", "PCC"]
learners = ["lr", "rf"]
targets = ["none", "f1", "ae"]

[[methods]]
names = ["PACC"]
learners = ["lr", "rf"]
targets = ["ae"]
runs = 2

[[methods]]
names = ["SVM(AE)"]
targets = ["ae"]
parameters = { classifier__path = [0.1, 10.0] }
grid = { C = [0.1, 10.0] }

[[methods]]
names = ["MLPE"]
"""


def write_small_set(folder, name="small", n_train=240, n_test=200, seed=0, positive=0.7):
    (folder / name).mkdir(parents=True, exist_ok=True)
    recipe = SyntheticReviews(
        "a small set", n_train, n_test, positive=positive, strength=1.0, median_length=20, seed=seed
    )
    for part, corpus in zip(("train", "test"), recipe.draw(), strict=True):
        lines = (f"{label}\t{text}\n" for label, text in zip(corpus.labels, corpus.items, strict=True))
        (folder / name / f"{part}.txt").write_text("".join(lines))


@pytest.fixture(scope="session")
def data_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    write_small_set(folder)
    return folder


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(textwrap.dedent(PLAN))
    return path


@pytest.fixture
def plan(plan_file):
    return read_plan(plan_file)
