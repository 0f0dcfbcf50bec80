"""Which fits depend on a seed, and which runs count as different ones."""

from dataclasses import replace

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import CC, MLPE, PACC, SLD
from headcount.selection import Run
from headcount.study.chance import distinct_runs, seeds_of


@pytest.mark.parametrize(
    ("quantifier", "names"),
    [
        (CC(LogisticRegression()), set()),
        (CC(LinearSVC()), set()),
        (CC(make_pipeline(StandardScaler(), LogisticRegression())), set()),
        (CC(RandomForestClassifier()), {"classifier__random_state"}),
        (CC(make_pipeline(RandomForestClassifier())), {"classifier__randomforestclassifier__random_state"}),
        (PACC(LogisticRegression()), {"random_state"}),
        (PACC(RandomForestClassifier()), {"random_state", "classifier__random_state"}),
        (SLD(LogisticRegression()), set()),
        (SLD(LogisticRegression(), calibration="bcts"), {"random_state"}),
        (MLPE(), set()),
    ],
)
def test_seeds_that_a_fit_depends_on(quantifier, names):
    assert set(seeds_of(quantifier)) == names


def test_runs_count_by_their_seeds(plan):
    runs = [Run("PACC", "lr", {}, run) for run in range(3)]
    assert distinct_runs(plan, runs) == ([0, 1, 2], True)
    assert distinct_runs(plan, [Run("CC", "lr", {}, 0)]) == ([0], False)
    assert distinct_runs(plan, [Run("CC", "rf", {}, 0)]) == ([0], True)


def test_runs_with_one_seed_are_one_run(plan):
    methods = tuple(
        replace(method, parameters={"random_state": 7}) if method.name == "PACC" else method for method in plan.methods
    )
    runs = [Run("PACC", "lr", {}, run) for run in range(3)]
    assert distinct_runs(replace(plan, methods=methods), runs) == ([0], True)
