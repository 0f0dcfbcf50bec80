"""A small study with everything that the page shows: two data sets, three learners, eight methods."""

import textwrap

import pytest

from headcount.study import Results, read_plan, run_study
from tests.study.conftest import data_folder, write_small_set

__all__ = ["data_folder", "study_results"]

WHOLE = """
name = "whole"
title = "A <small> & whole study"
data_sets = ["even", "uneven"]
seed = 5

[protocol]
n_prevalences = 5
sample_size = 40
validation_repeats = 2
test_repeats = 4

[learners.svm]
class = "sklearn.svm.LinearSVC"
parameters = { random_state = 0 }
grid = { C = [0.1, 10.0] }

[learners.lr]
class = "sklearn.linear_model.LogisticRegression"
grid = { C = [0.1, 10.0], class_weight = ["none", "balanced"] }

[learners.mnb]
class = "sklearn.naive_bayes.MultinomialNB"
grid = { alpha = [0.1, 1.0] }

[[methods]]
names = ["CC", "PCC"]
learners = ["svm", "lr", "mnb"]
targets = ["none", "accuracy", "f1", "ae"]

[[methods]]
names = ["ACC", "PACC"]
learners = ["svm", "lr", "mnb"]
targets = ["none", "accuracy", "f1", "ae"]
runs = 2

[[methods]]
names = ["SLD", "HDy"]
learners = ["lr"]
targets = ["ae"]

[[methods]]
names = ["SVM(AE)"]
targets = ["ae"]
parameters = { classifier__path = [0.1, 10.0] }
grid = { C = [0.1, 10.0] }

[[methods]]
names = ["MLPE"]
"""


@pytest.fixture(scope="session")
def study_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    write_small_set(folder, "even", positive=0.5)
    write_small_set(folder, "uneven", positive=0.8, seed=1)
    (folder / "whole.toml").write_text(textwrap.dedent(WHOLE))
    plan = read_plan(folder / "whole.toml")
    summary = run_study(plan, folder / "store", n_jobs=1, data_dir=folder)
    assert not summary.failures
    return Results(plan, folder / "store")
