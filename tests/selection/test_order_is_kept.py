"""The order of the classes goes with the quantifier: through a search, the automatic choice, a model file."""

import numpy as np
import pytest

from headcount import ACC, PACC, AutoQuantifier, Outputs, QuantifierSearch, UniformPrevalence, estimate
from headcount.exceptions import DataError
from headcount.learners import NewtonLogisticRegression
from headcount.modelfile import Columns, Model, load_model, read_summary, save_model
from tests.conftest import blobs, scored_items

GRADES = ["poor", "fair", "good"]


@pytest.fixture(scope="module")
def graded():
    X, y = blobs(300, 3, 0)
    return X, np.array(GRADES)[y]


def test_a_search_keeps_the_order_and_may_choose_by_it(graded):
    protocol = UniformPrevalence(20, sample_size=50, random_state=0)
    search = QuantifierSearch(
        [PACC(NewtonLogisticRegression(), classes=GRADES), ACC(NewtonLogisticRegression(), classes=GRADES)],
        {"classifier__C": [0.1, 1.0]},
        scoring="rnod",
        protocol=protocol,
        random_state=0,
    ).fit(*graded)
    assert search.is_ordered
    assert search.classes_.tolist() == search.best_estimator_.classes_.tolist() == GRADES
    assert estimate(search, graded[0]).at_least("fair").share > 0.5
    nominal = QuantifierSearch(PACC(NewtonLogisticRegression()), {}, scoring="nemd", protocol=protocol, random_state=0)
    with pytest.raises(DataError, match="NEMD depends on the order of the classes"):
        nominal.fit(*graded)


def test_the_automatic_choice_and_its_model_file_keep_the_order(graded, tmp_path):
    auto = AutoQuantifier(["PACC"], ["lr"], classes=GRADES, random_state=0).fit(*graded)
    assert auto.is_ordered
    assert auto.classes_.tolist() == GRADES
    model = Model(auto.best_estimator_, Columns("numbers", tuple("abcd"), "grade"))
    save_model(model, tmp_path / "m.headcount")
    read = load_model(tmp_path / "m.headcount")
    assert read.ordered
    assert read.classes.tolist() == GRADES
    summary = read_summary(tmp_path / "m.headcount")
    assert (summary.ordered, summary.classes, summary.description["values"]) == (True, GRADES, None)
    expected = estimate(auto, graded[0]).cumulative
    found = estimate(read.quantifier, graded[0]).cumulative
    np.testing.assert_array_equal(found.low, expected.low)


def test_numbers_are_in_order_and_names_are_not_without_one(graded, tmp_path):
    X, y = graded
    assert not PACC(random_state=0).fit(X, y).is_ordered
    numbers = PACC(random_state=0).fit(X, np.searchsorted(sorted(GRADES), y) * 10)
    assert numbers.is_ordered
    save_model(Model(numbers, Columns("numbers", tuple("abcd"), "y")), tmp_path / "n.headcount")
    assert read_summary(tmp_path / "n.headcount").description["values"] == [0, 10, 20]


def test_outputs_in_another_order_than_the_classes_are_refused():
    codes, P = scored_items(200, 3, 0, 1.5)
    labels = np.array(GRADES)[codes]
    with pytest.raises(DataError, match="names others or another order"):
        PACC(classes=GRADES).fit(Outputs.from_posteriors(P[:, ::-1], GRADES[::-1]), labels)
    assert PACC(classes=GRADES).fit(Outputs.from_posteriors(P, GRADES), labels).is_ordered
