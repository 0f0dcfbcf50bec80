"""Descriptions of tasks: parameters by value without defaults; those of format 1 stay what they were, so that results are found."""

import functools
import re
from importlib.resources import files

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from headcount import PACC, ArtificialPrevalence
from headcount.selection import Run
from headcount.study import description, read_plan
from headcount.study.description import described, modules_in, stored_path
from headcount.study.store import key_of
from headcount.study.tasks import chosen_tasks, select_tasks, truth_task_in_format_1

# Computed at commit 53885ef. Parameters of scikit-learn's estimators are taken out: they differ between its versions.
STORED_SELECT = {
    0: "4d103bea1d1ee0b2319b688aa15f3dda",  # CC, PCC over svm
    80: "70de1f26f9b043361a8cb991d47a1dc7",  # CC, PCC, SLD over lr
    100: "da37e433e4718f62c6e83e68c56a4b77",  # ACC, PACC, HDy over lr
    160: "3ea068f8c078934621967990445be01b",  # CC, PCC over rf
    264: "0897ddba599f45df496def0ae0b103c4",  # QuaNet over cnn
    273: "d7ba1ad10ed64a995a9c5ee440955cc7",  # SVM(AE)
}
STORED_TEST = [
    "1f8b3e205c38e6297ea9c5ccfd416f2f",  # PACC and HDy over lr, in one task
    "1d01a19e343b4941ec0f57ca5961c699",
    "06f9473dfc269ae7cf6cc5d0934f02cc",
    "b713dc7afe6fab116b0e0e55e6bcb261",
]


def without_sklearn_parameters(value):
    if isinstance(value, dict):
        if str(value.get("class", "")).startswith("sklearn."):
            return value["class"]
        return {key: without_sklearn_parameters(entry) for key, entry in value.items()}
    return [without_sklearn_parameters(entry) for entry in value] if isinstance(value, list) else value


def with_former_linear_learners(tmp_path):
    """Return the plan of the stand-ins with the linear learners that it had in format 1."""
    text = (files("headcount.study") / "plans/stand-ins.toml").read_text()
    grid = text[text.index("grid = { C") : text.index("\n", text.index("grid = { C"))]
    former = (
        f'[learners.svm]\nclass = "sklearn.svm.LinearSVC"\nparameters = {{ random_state = 0 }}\n{grid}\n\n'
        f'[learners.lr]\nclass = "sklearn.linear_model.LogisticRegression"\n{grid}\n\n'
    )
    start, end = text.index("[learners.svm]"), text.index("[learners.rf]")
    rest = re.sub(r"\nchoose_once = true.*", "", text[end:])
    now = "embedding_size = 8, channels = 8, document_size = 16, batch_size = 250, max_epochs = 2, patience = 2"
    assert now in rest
    rest = rest.replace(now, "embedding_size = 32, channels = 32, document_size = 16, max_epochs = 5, patience = 2")
    file = tmp_path / "stand-ins.toml"
    file.write_text(text[:start] + former + rest)
    return read_plan(file)


def test_tasks_of_the_stand_ins_have_the_keys_that_they_were_stored_under_in_format_1(tmp_path):
    plan = with_former_linear_learners(tmp_path)
    tasks = select_tasks(plan, "synthetic-imdb")
    assert len(tasks) == 275
    keys = {i: key_of(without_sklearn_parameters(tasks[i].in_format_1())) for i in STORED_SELECT}
    assert keys == STORED_SELECT
    lr = {"C": 1.0, "class_weight": None}
    runs = [
        Run("PACC", "lr", lr, 2),
        Run("HDy", "lr", lr, 2),
        Run("SVM(AE)", "", {"C": 10.0}),
        Run("MLPE", "", {}),
        Run("QuaNet", "cnn", {"dropout": 0.5}, 1),
    ]
    tasks = chosen_tasks(plan, "synthetic-imdb", runs)
    assert [key_of(without_sklearn_parameters(task.in_format_1())) for task in tasks] == STORED_TEST
    assert key_of(truth_task_in_format_1(plan, "synthetic-imdb")) == "69db0dbd44ce5948771943adb4855a70"


class Moved(BaseEstimator):
    """An estimator of the library that has moved and got a new parameter."""

    def __init__(self, C=1.0, classes=None):
        self.C = C
        self.classes = classes


@pytest.fixture
def moved(monkeypatch):
    monkeypatch.setattr(Moved, "__module__", "headcount.quantifiers.new_place")
    monkeypatch.setitem(
        description.OLD_PATHS, "headcount.quantifiers.new_place.Moved", "headcount.quantifiers.old_place.Moved"
    )
    return Moved


def test_a_class_that_moved_is_described_by_the_path_it_was_stored_under(moved):
    assert stored_path(moved) == "headcount.quantifiers.old_place.Moved"
    assert described(moved())["class"] == "headcount.quantifiers.old_place.Moved"
    assert described({"inner": [moved]}) == {"inner": ["headcount.quantifiers.old_place.Moved"]}


def test_parameters_at_their_defaults_are_omitted():
    """A class can get a parameter with a default, and a plan can state a default, without losing results."""
    assert described(Moved())["parameters"] == {}
    assert described(Moved(C=2.0, classes=["a", "b"]))["parameters"] == {"C": 2.0, "classes": ["a", "b"]}
    assert described(Moved(C=np.float64(1.0)))["parameters"] == {}
    assert described(PACC(LogisticRegression(C=1.0)))["parameters"]["classifier"]["parameters"] == {}
    assert "sample_size" not in described(ArtificialPrevalence(21, sample_size=500))["parameters"]
    steps = described(make_pipeline(StandardScaler(with_mean=False), LogisticRegression()))["parameters"]["steps"]
    assert [parameters for _, entry in steps for parameters in [entry["parameters"]]] == [{"with_mean": False}, {}]


def test_a_value_of_another_type_is_not_the_default():
    """For a forest, one feature is not all of them."""
    assert described(Moved(C=1))["parameters"] == {"C": 1}
    assert described(Moved(C=True))["parameters"] == {"C": True}
    assert key_of(described(RandomForestClassifier(max_features=1.0))) != key_of(
        described(RandomForestClassifier(max_features=1))
    )


def test_values_without_an_order_or_a_name_have_one_description():
    assert described({"b", "a"}) == ["a", "b"]
    assert described(functools.partial(np.clip, a_min=0)) == {"partial": "numpy.clip", "of": [[], {"a_min": 0}]}
    assert described(slice(1, 2)) == "slice(1, 2, None)"


def test_modules_of_an_estimator_and_its_parameters():
    pipeline = make_pipeline(StandardScaler(), Moved(classes={"key": functools.partial(np.clip, key_of)}))
    assert set(modules_in(PACC(pipeline))) == {
        "headcount.quantifiers.pacc",
        "sklearn.pipeline",
        "sklearn.preprocessing._data",
        "headcount.study.store",
        np.clip.__module__,
        __name__,
    }
