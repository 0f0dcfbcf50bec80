"""Temperature and vector scaling: they undo overconfidence, stay finite, find scipy's optimum, and their derivatives are right."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from headcount.learners import CALIBRATIONS, BiasCorrectedTemperature
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


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("P", [np.eye(2), np.array([[0.9, 0.1], [0.1, 0.9]]), np.full((2, 2), 0.5)], ids=str)
def test_it_stays_finite_where_no_item_is_misclassified_or_all_posteriors_are_equal(P, kind):
    learnt = CALIBRATIONS[kind].learnt(np.repeat(P, 20, axis=0), np.repeat([0, 1], 20))
    assert np.isfinite(learnt.theta).all()
    assert np.isfinite(learnt.posteriors(np.eye(2))).all()


def log_posteriors(kind, parameters, P):
    """The formulas of the four calibrations, written out."""
    k, z = P.shape[1], np.log(P) - np.log(P).mean(axis=1, keepdims=True)
    factors = parameters[:1] if kind in ("ts", "bcts") else parameters[:k]
    biases = np.append(0.0, parameters[len(factors) :]) if kind in ("bcts", "vs") else 0.0
    return log_softmax(factors * z + biases, axis=1)


@pytest.mark.parametrize("kind", CALIBRATIONS)
@pytest.mark.parametrize("k", [2, 3, 6])
def test_it_is_the_optimum_that_scipy_finds(kind, k):
    codes, P = scored_items(800, k, seed=3, separation=0.9)
    P = P**2 * np.arange(1, k + 1)
    P /= P.sum(axis=1, keepdims=True)
    learnt = CALIBRATIONS[kind].learnt(P, codes)
    no_change = np.concatenate(
        [np.ones(1 if kind in ("ts", "bcts") else k), np.zeros(k - 1 if kind in ("bcts", "vs") else 0)]
    )

    def loss(parameters):
        return -log_posteriors(kind, parameters, P)[np.arange(800), codes].mean()

    found = minimize(loss, no_change, method="BFGS", options={"gtol": 1e-7})
    np.testing.assert_allclose(np.log(learnt.posteriors(P)), log_posteriors(kind, learnt.theta, P), atol=1e-9)
    assert loss(learnt.theta) < found.fun + 1e-6  # a weak prior about no change costs a little
    np.testing.assert_allclose(learnt.posteriors(P), np.exp(log_posteriors(kind, found.x, P)), atol=2e-3)


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_each_item_is_calibrated_by_the_others(kind):
    """The one-step jackknife against calibrations that are learnt again without the item."""
    codes, P = scored_items(150, 3, seed=0, separation=1.2)
    learnt = CALIBRATIONS[kind].learnt(P, codes)
    jackknifed = learnt.jackknifed_posteriors(P, codes)
    for i in range(0, 150, 11):
        others = np.flatnonzero(np.arange(150) != i)
        without = CALIBRATIONS[kind].learnt(P[others], codes[others]).posteriors(P[i : i + 1])[0]
        np.testing.assert_allclose(jackknifed[i], without, atol=5e-3)
    assert np.abs(jackknifed - learnt.posteriors(P)).max() > 2e-3


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_steepness_bounds_how_far_calibrated_odds_move(kind):
    codes, P = scored_items(300, 4, seed=1)
    learnt = CALIBRATIONS[kind].learnt(P**2 / (P**2).sum(axis=1, keepdims=True), codes)
    generator, width = np.random.default_rng(0), 0.01
    moved = P * np.exp(width * generator.random(P.shape))
    before, after = (np.log(learnt.posteriors(one)) for one in (P, moved))
    change = after - before
    assert (np.ptp(change, axis=1) <= learnt.steepness * width * (1 + 1e-9)).all()
    assert np.ptp(change, axis=1).max() > learnt.steepness * width / 3


@pytest.mark.parametrize("kind", CALIBRATIONS)
def test_scores_and_information_are_derivatives_of_the_log_likelihood(kind):
    codes, P = scored_items(50, 3, seed=2, separation=1.0)
    calibration, step = CALIBRATIONS[kind], 1e-5
    theta = np.array([0.8, 0.3, -0.2, 0.4, 0.1])[: len(calibration.learnt(P, codes).theta)]

    def scores(at):
        return calibration(at).scores(P, codes)

    def log_likelihood(at):
        return np.log(calibration(at).posteriors(P)[np.arange(50), codes])

    for a, direction in enumerate(np.eye(len(theta))):
        up, down = theta + step * direction, theta - step * direction
        slope = (log_likelihood(up) - log_likelihood(down)) / (2 * step)
        np.testing.assert_allclose(scores(theta)[:, a], slope, atol=1e-8)
        curvature = -(scores(up) - scores(down)).sum(axis=0) / (2 * step)
        np.testing.assert_allclose(calibration(theta).information(P)[a], curvature, atol=1e-6)
