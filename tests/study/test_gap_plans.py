"""The plan of the published scripts, the plans of the gap in studies/, and objects as parameters in a plan."""

import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold

from headcount.exceptions import DataError
from headcount.quantifiers.solvers import LeastSquares
from headcount.selection import Run
from headcount.study import read_plan
from headcount.study.representations import make_transformer
from headcount.study.tasks import make_member

STUDIES = Path(__file__).parents[2] / "studies"
LEARNER = """
name = "objects"
data_sets = ["synthetic-kindle"]
[learners.lr]
class = "headcount.NewtonLogisticRegression"
[[methods]]
name = "mine"
method = "ACC"
learners = ["lr"]
parameters = { validation = VALUE }
"""


def test_paper_code_differs_from_the_paper_only_where_the_scripts_do():
    paper, code = read_plan("paper"), read_plan("paper-code")
    assert code.protocol == paper.protocol
    assert code.data_sets == paper.data_sets
    assert [(row.method.name, row.learner_name, row.method.targets, row.method.runs) for row in code.rows()] == [
        (row.method.name, row.learner_name, row.method.targets, row.method.runs) for row in paper.rows()
    ]
    assert {row.learner_name: len(row.settings()) for row in code.rows() if row.learner} == {
        "svm": 20, "lr": 20, "rf": 30, "mnb": 21, "cnn": 16,
    }  # fmt: skip
    used = {(row.learner or row.method).representation for row in code.rows() if row.method.name != "MLPE"}
    assert used == {"headcount.features.published.PublishedTfidf", "ids"}
    methods = {method.name: method.make() for method in code.methods}
    assert (methods["SLD"].solver, methods["SLD"].tol, methods["SLD"].min_iter) == ("em", 1e-4, 10)
    assert methods["HDy"].n_candidates == 100


def test_features_of_the_scripts_weigh_rare_terms_less_than_those_of_the_text():
    texts = ["film good"] * 6 + ["film rare"] * 3
    text = make_transformer("tfidf").set_params(min_count=1).fit_transform(texts).toarray()[-1]
    code = make_transformer("headcount.features.published.PublishedTfidf").fit_transform(texts).toarray()[-1]
    film, _, rare = range(3)
    assert text[film] == 0  # it is in every text
    assert code[rare] / code[film] == pytest.approx(1 + np.log(10 / 4))


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.toml")), ids=lambda path: path.stem)
def test_plans_of_studies_can_be_read(path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(STUDIES), *sys.path])
    plan = read_plan(path)
    assert plan.name == path.stem
    for row in plan.rows():
        make_transformer((row.learner or row.method).representation)
        make_member(plan, Run(row.method.name, row.learner_name, {}, 0))


def test_a_parameter_can_be_an_object():
    plan = read_plan(STUDIES / "gap-splits.toml")
    member = make_member(plan, Run("ACC 5 folds by film", "lr", {}, 0))
    assert isinstance(member.quantifier.validation, StratifiedKFold)
    assert member.described()["quantifier"]["parameters"]["validation"]["class"].endswith("StratifiedKFold")
    learner = read_plan(STUDIES / "gap-calibration.toml").learner("svm.3-folds").make()
    assert isinstance(learner, CalibratedClassifierCV)
    assert learner.cv == 3
    assert learner.estimator.tol == 1e-4


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            '{ class = "sklearn.model_selection.StratifiedKFold", parameters = { n_folds = 3 } }',
            "can't be given .*n_folds",
        ),
        ('{ class = "sklearn.model_selection.NoSuchSplit" }', "can't be imported"),
    ],
)
def test_a_mistake_in_an_object_is_said(tmp_path, value, message):
    path = tmp_path / "objects.toml"
    path.write_text(LEARNER.replace("VALUE", value))
    with pytest.raises(DataError, match=message):
        read_plan(path)


def test_with_two_classes_clipping_and_least_squares_are_the_same():
    """The scripts solve, clip and divide by the sum: no factor of the gap."""
    generator = np.random.default_rng(0)
    tpr, fpr, share = 0.86, 0.13, generator.random(1000)
    M, q = np.array([[1 - fpr, 1 - tpr], [fpr, tpr]]), np.column_stack([1 - share, share])
    clipped = np.clip(np.linalg.solve(M, q.T).T, 0, 1)
    clipped /= clipped.sum(axis=1, keepdims=True)
    assert np.allclose(LeastSquares().solve(q, M), clipped, atol=1e-9)
    assert (clipped == 0).any()
