"""Descriptions of tasks stay what they were when results were first stored, so that stored results are found."""

import pytest
from sklearn.base import BaseEstimator

from headcount.selection import Run
from headcount.study import description, read_plan
from headcount.study.description import described, stored_path
from headcount.study.store import key_of
from headcount.study.tasks import chosen_tasks, select_tasks, truth_task

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


def test_tasks_of_the_stand_ins_have_the_keys_that_they_were_stored_under():
    plan = read_plan("stand-ins")
    tasks = select_tasks(plan, "synthetic-imdb")
    assert len(tasks) == 275
    keys = {i: key_of(without_sklearn_parameters(tasks[i].description)) for i in STORED_SELECT}
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
    assert [key_of(without_sklearn_parameters(task.description)) for task in tasks] == STORED_TEST
    assert key_of(truth_task(plan, "synthetic-imdb")) == "69db0dbd44ce5948771943adb4855a70"


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


def test_a_parameter_added_later_is_described_only_when_it_is_not_at_its_default(moved):
    assert described(moved())["parameters"] == {"C": 1.0}
    assert described(moved(classes=["a", "b"]))["parameters"] == {"C": 1.0, "classes": ["a", "b"]}


def test_estimators_of_other_packages_are_described_with_all_parameters():
    assert described(Moved()) == {"class": f"{__name__}.Moved", "parameters": {"C": 1.0, "classes": None}}
