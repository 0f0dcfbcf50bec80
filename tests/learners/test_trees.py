"""Boosted trees as plain arrays, and classifiers that vote."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from headcount import SLD
from headcount.learners import BoostedTrees, Vote
from headcount.modelfile import Columns, Model, load_model, save_model
from tests.conftest import blobs


@parametrize_with_checks([BoostedTrees(n_rounds=3)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
def test_posteriors_are_those_of_scikit_learn(k):
    X, y = blobs(300, k, 0)
    X[::5, 0] = np.nan
    weights = np.random.default_rng(0).random(300)
    expected = HistGradientBoostingClassifier(max_iter=20, early_stopping=False, random_state=0).fit(X, y, weights)
    trees = BoostedTrees(n_rounds=20, random_state=0).fit(X, y, weights)
    new = np.vstack([X, np.full((1, X.shape[1]), np.nan)])
    np.testing.assert_allclose(trees.predict_proba(new), expected.predict_proba(new), rtol=1e-12)
    np.testing.assert_array_equal(trees.predict(new), expected.predict(new))


def test_nodes_come_after_those_above_them():
    trees = BoostedTrees(n_rounds=5).fit(*blobs(300, 3, 0))
    inner = np.flatnonzero(trees.feature_ >= 0)
    assert trees.roots_.shape == (5, 3)
    assert (trees.left_[inner] > inner).all()
    assert (trees.right_[inner] > inner).all()


def test_a_vote_is_the_mean_of_its_members():
    X, y = blobs(200, 3, 0)
    weights = np.linspace(0.1, 2.0, 200)
    members = [GaussianNB(), LogisticRegression()]
    expected = np.mean([clone(one).fit(X, y, weights).predict_proba(X) for one in members], axis=0)
    vote = clone(Vote(members))
    with pytest.raises(NotFittedError):
        vote.predict(X)
    np.testing.assert_allclose(vote.fit(X, y, weights).predict_proba(X), expected)
    np.testing.assert_array_equal(vote.predict(X), expected.argmax(axis=1))


def test_a_model_over_a_vote_with_boosting_is_saved_and_read(tmp_path):
    X, y = blobs(300, 2, 0)
    vote = Vote([LogisticRegression(), BoostedTrees(n_rounds=5, random_state=0)])
    quantifier = SLD(vote, calibration="bcts", smoothing=1.0, random_state=0).fit(X, y)
    save_model(Model(quantifier, Columns("numbers", tuple("abcd"), "y")), tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount").quantifier
    assert loaded.smoothing == 1.0
    np.testing.assert_array_equal(loaded.predict(X), quantifier.predict(X))
