"""Bias-corrected temperature scaling: it undoes overconfidence, stays finite, and its derivatives are right."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount.learners import BiasCorrectedTemperature
from tests.conftest import scored_items


@pytest.mark.parametrize("k", [2, 3, 5])
def test_it_undoes_overconfidence_and_bias(k):
    codes, P = scored_items(20_000, k, seed=0, separation=1.0)
    distorted = P**3 * np.arange(1, k + 1)
    distorted /= distorted.sum(axis=1, keepdims=True)
    learnt = BiasCorrectedTemperature.learnt(distorted, codes)
    assert learnt.theta[0] == pytest.approx(1 / 3, abs=0.02)
    np.testing.assert_allclose(learnt.posteriors(distorted), P, atol=0.04)
    shares = np.bincount(codes) / len(codes)
    np.testing.assert_allclose(learnt.posteriors(distorted).mean(axis=0), shares, atol=1e-4)


def test_for_two_classes_it_equals_logistic_regression_on_the_log_odds():
    codes, P = scored_items(500, 2, seed=1, separation=1.0)
    odds = np.log(P[:, 1] / P[:, 0])[:, None]
    plain = LogisticRegression(C=np.inf, tol=1e-10).fit(odds, codes)
    scaling = BiasCorrectedTemperature.learnt(P, codes)
    assert scaling.theta[0] == pytest.approx(plain.coef_[0, 0], abs=1e-3)
    assert scaling.theta[1] == pytest.approx(plain.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("P", [np.eye(2), np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((2, 2), 0.5)], ids=str)
def test_it_stays_finite_where_no_item_is_misclassified_or_all_posteriors_are_equal(P):
    learnt = BiasCorrectedTemperature.learnt(np.repeat(P, 20, axis=0), np.repeat([0, 1], 20))
    assert np.isfinite(learnt.theta).all()
    assert np.isfinite(learnt.posteriors(np.eye(2))).all()


def test_scores_and_information_are_derivatives_of_the_log_likelihood():
    codes, P = scored_items(50, 3, seed=2, separation=1.0)
    theta, step = np.array([0.8, 0.3, -0.2]), 1e-5

    def scores(at):
        return BiasCorrectedTemperature(at).scores(P, codes)

    def log_likelihood(at):
        return np.log(BiasCorrectedTemperature(at).posteriors(P)[np.arange(50), codes])

    for a, direction in enumerate(np.eye(3)):
        up, down = theta + step * direction, theta - step * direction
        slope = (log_likelihood(up) - log_likelihood(down)) / (2 * step)
        np.testing.assert_allclose(scores(theta)[:, a], slope, atol=1e-8)
        curvature = -(scores(up) - scores(down)).sum(axis=0) / (2 * step)
        np.testing.assert_allclose(BiasCorrectedTemperature(theta).information(P)[a], curvature, atol=1e-6)
