"""Intervals of SLD with calibrated posteriors: densities of validation items, delta method and bootstrap."""

import numpy as np
import pytest

from headcount import SLD, Samples, difference, estimate
from headcount.checks import check, label_shift_test
from headcount.learners import BiasCorrectedTemperature
from tests.conftest import frozen, scored_items


def fitted(k=2, n=300, **options):
    codes, P = scored_items(n, k, seed=0, separation=1.2)
    return SLD(frozen(range(k)), **({"calibration": "bcts"} | options)).fit(P, codes)


def target_sample(n=500, k=2, seed=1):
    return scored_items(n, k, seed, separation=1.2, shares=np.arange(1, k + 1) / np.arange(1, k + 1).sum())[1]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_densities_of_validation_items_are_those_that_the_others_give(k):
    """The one-step jackknife against calibrations that are learnt again without each item."""
    q = fitted(k, 120)
    P, codes = q.validation_outputs_.posteriors, q.validation_codes_
    densities = q.validation_densities()
    for i in range(0, 120, 7):
        others = np.flatnonzero(np.arange(120) != i)
        without = BiasCorrectedTemperature.learnt(P[others], codes[others])
        np.testing.assert_allclose(densities[i] * q.prior_, without.posteriors(P[i : i + 1])[0], atol=3e-3)
    in_sample = q.densities(q.validation_outputs_)
    assert np.abs(densities - in_sample).max() > 1e-4


@pytest.mark.parametrize("k", [2, 3])
def test_the_order_of_the_classes_does_not_change_the_calibration(k):
    codes, P = scored_items(200, k, seed=0, separation=1.2)
    order = np.roll(np.arange(k), 1)
    learnt = BiasCorrectedTemperature.learnt(P, codes).posteriors(P)
    renamed = BiasCorrectedTemperature.learnt(P[:, order], np.argsort(order)[codes]).posteriors(P[:, order])
    np.testing.assert_allclose(renamed, learnt[:, order], atol=1e-9)


def test_zeros_count_as_half_the_least_other_posterior():
    P = np.array([[1.0, 0.0], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0]] * 10)
    learnt = BiasCorrectedTemperature.learnt(P, np.array([0, 0, 1, 1] * 9 + [1, 0, 0, 1]))
    assert learnt.least == 0.01  # half of .1, but no more than .01
    assert BiasCorrectedTemperature.learnt(P[1:3], np.array([0, 1])).least == 1e-12


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("estimand", ["population", "sample"])
def test_delta_and_bootstrap_agree_and_include_the_error_of_the_labelled_items(k, estimand):
    few, many = fitted(k, 200), fitted(k, 20_000)
    target = target_sample(2000, k)
    for method in ("delta", "bootstrap"):
        wide = estimate(few, target, method=method, estimand=estimand, random_state=0)
        narrow = estimate(many, target, method=method, estimand=estimand, random_state=0)
        assert ((wide.high - wide.low) > 1.3 * (narrow.high - narrow.low)).all()
    delta = estimate(few, target, estimand=estimand)
    np.testing.assert_allclose(wide.high - wide.low, delta.high - delta.low, rtol=0.15)


def test_many_samples_equal_each_alone_and_the_same_seed_repeats_them():
    q, target = fitted(3), target_sample(600, 3)
    samples = Samples.from_matrix(np.arange(600).reshape(3, 200))
    together = estimate(q, target, samples)
    for s in range(3):
        alone = estimate(q, target[samples[s]])
        np.testing.assert_allclose(together.low[s], alone.low)
    first, second = (estimate(q, target, samples, method="bootstrap", random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.low, second.low)


def test_calibrated_shares_can_be_checked_and_compared():
    q, target = fitted(2, 1000), target_sample(1000)
    assert label_shift_test(q, target).p_value[0] > 0.001
    assert check(q, target).verdict in ("trust", "caution")
    change = difference(estimate(q, target), estimate(q, target_sample(500, seed=2)))
    assert change.low[1] < change.high[1]


@pytest.mark.parametrize("n", [4, 6])
def test_intervals_are_0_to_1_with_very_few_labelled_items(n):
    """A class with one validation item: its sampling error can't be estimated."""
    generator = np.random.default_rng(0)
    y = np.resize([0, 1], n)
    X = generator.standard_normal((n, 4)) + 1.5 * y[:, None]
    q = SLD(calibration="bcts", random_state=0).fit(X, y)
    for method in ("delta", "bootstrap"):
        result = estimate(q, generator.standard_normal((100, 4)), method=method, random_state=0)
        assert result.low.max() == 0.0
        assert result.high.min() == 1.0


def test_intervals_cover_the_truth_with_20_labelled_items():
    """20 labelled items, 8 of them for calibration, true share 0.5; 200 simulations, Monte Carlo error 1.5 points."""
    generator, n_covered = np.random.default_rng(0), 0
    for _ in range(200):
        y, target = np.resize([0, 1], 20), generator.integers(0, 2, 500)
        X, X_target = (generator.standard_normal((len(c), 4)) + 1.5 * c[:, None] * np.eye(4)[0] for c in (y, target))
        result = estimate(SLD(calibration="bcts", random_state=0).fit(X, y), X_target)
        n_covered += result.low[1] <= 0.5 <= result.high[1]
    assert n_covered / 200 >= 0.91


def test_a_sample_of_one_item_does_not_change_the_other_intervals():
    q, target = fitted(3), target_sample(300, 3)
    alone = estimate(q, target, Samples.from_lists([range(200)]))
    both = estimate(q, target, Samples.from_lists([range(200), [250]]))
    np.testing.assert_allclose(both.low[0], alone.low[0], rtol=1e-12)  # products of matrices round by their shape
    assert both.low[1].max() == 0.0


def test_the_error_of_a_shared_calibration_cancels_in_a_difference():
    """Two samples, one quantifier: the error of its calibration is in both estimates and cancels."""
    q, target = fitted(2, 60), target_sample(2000)
    a, b = (estimate(q, target[half]) for half in (slice(0, 1000), slice(1000, 2000)))
    shared = difference(a, b)
    separate = difference(a, estimate(fitted(2, 61), target[1000:]))
    assert shared.high[1] - shared.low[1] < separate.high[1] - separate.low[1]


def test_a_refit_without_calibration_drops_the_validation_items():
    codes, P = scored_items(100, 2, seed=0)
    q = fitted(2).set_params(calibration=None, prior="uniform").fit(P, codes)
    assert not hasattr(q, "validation_outputs_")
    with pytest.raises(ValueError, match="keeps no posteriors"):
        label_shift_test(q, P)
