"""Ordered decompositions: posteriors worked out by hand, laws, and what they refuse."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from headcount import PACC, ContinuationRatio, FrankHall
from headcount.exceptions import DataError
from tests.conftest import blobs

BOTH = [FrankHall, ContinuationRatio]
TEXTS = "labels that are texts have no order, and the check passes no classes"


class Given(ClassifierMixin, BaseEstimator):
    """Gives the share of positive items among those it was fitted on plus a number that the items hold."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.share_, self.n_ = np.array([0, 1]), float(np.mean(y)), len(y)
        self.weight_ = None if sample_weight is None else float(np.sum(sample_weight))
        return self

    def predict_proba(self, X):
        positive = np.clip(self.share_ + np.asarray(X)[:, 0], 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def predict(self, X):
        return (self.predict_proba(X)[:, 1] > 0.5).astype(int)


@parametrize_with_checks(
    [kind(LogisticRegression(tol=1e-12, max_iter=10_000)) for kind in BOTH],  # exact enough for repeated items
    expected_failed_checks=lambda _: dict.fromkeys(("check_classifiers_classes",), TEXTS),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_cuts_that_cross_are_made_monotone():
    learner = FrankHall(Given())
    learner.fit(np.zeros((8, 1)), [1, 2, 2, 3, 3, 3, 4, 4])
    # Below each cut: 1/8, 3/8, 6/8. Crossing ones .5, .2, .6: maxima .5, .5, .6, minima .2, .2, .6, means .35, .35, .6.
    np.testing.assert_allclose(learner.predict_proba([[0.0]]), [[1 / 8, 2 / 8, 3 / 8, 2 / 8]])
    np.testing.assert_allclose(learner._posteriors(np.array([[0.5, 0.2, 0.6]])), [[0.35, 0.0, 0.25, 0.4]])


def test_continuation_ratios_multiply():
    learner = ContinuationRatio(Given()).fit(np.zeros((8, 1)), [1, 2, 2, 3, 3, 3, 4, 4])
    assert [member.n_ for member in learner.members_] == [8, 7, 5]
    np.testing.assert_allclose(learner.predict_proba([[0.0]]), [[1 / 8, 2 / 8, 3 / 8, 2 / 8]])
    np.testing.assert_allclose(learner._posteriors(np.array([[0.5, 0.5, 0.5]])), [[0.5, 0.25, 0.125, 0.125]])


@pytest.mark.parametrize("kind", BOTH)
def test_posteriors_are_shares_and_of_two_classes_the_classifiers_own(kind):
    X, y = blobs(200, 4, 0)
    P = kind(RandomForestClassifier(5, random_state=0)).fit(X, y).predict_proba(X)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    X, y = blobs(100, 2, 0)
    expected = LogisticRegression().fit(X, y == 0).predict_proba(X)[:, 1]
    np.testing.assert_allclose(kind(LogisticRegression()).fit(X, y).predict_proba(X)[:, 0], expected)


@pytest.mark.parametrize("kind", BOTH)
def test_texts_need_an_order_which_is_that_of_the_posteriors(kind):
    X, y = blobs(150, 3, 0)
    names = np.array(["poor", "fair", "good"])
    with pytest.raises(DataError, match="only in alphabetical order: pass the classes from lowest to highest"):
        kind().fit(X, names[y])
    with pytest.raises(DataError, match="holds no item of class"):
        kind(classes=[*names, "best"]).fit(X, names[y])
    learner = clone(kind(classes=names.tolist()))
    with pytest.raises(NotFittedError):
        learner.predict(X)
    assert learner.fit(X, names[y]).classes_.tolist() == names.tolist()
    np.testing.assert_allclose(learner.predict_proba(X), kind().fit(X, y).predict_proba(X))
    assert learner.predict(X).tolist() == names[kind().fit(X, y).predict(X)].tolist()


def test_weights_of_the_items_of_each_problem_are_passed_on():
    learner = ContinuationRatio(Given()).fit(np.zeros((4, 1)), [1, 2, 3, 3], sample_weight=[1.0, 2.0, 4.0, 8.0])
    assert [member.weight_ for member in learner.members_] == [15.0, 14.0]


@pytest.mark.parametrize("kind", BOTH)
def test_a_nominal_method_goes_over_a_decomposition(kind):
    X, y = blobs(300, 3, 0)
    shares = PACC(kind(LogisticRegression()), random_state=0).fit(X, y).predict(X[y == 1])
    assert shares[1] > 0.8
