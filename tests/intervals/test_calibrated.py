"""Intervals of SLD that calibrates its posteriors: the calibration's error, its derivatives, and both methods."""

import numpy as np
import pytest

from headcount import SLD, Outputs, Samples, difference, estimate
from headcount.checks import check, label_shift_test
from headcount.intervals.likelihood import LikelihoodModel
from headcount.learners import BiasCorrectedTemperature
from headcount.protocols import as_samples
from tests.conftest import frozen, scored_items


def fitted(k=2, n=300, **options):
    codes, P = scored_items(n, k, seed=0, separation=1.2)
    return SLD(frozen(range(k)), **({"calibration": "bcts"} | options)).fit(P, codes)


def pile(n=500, k=2, seed=1):
    return scored_items(n, k, seed, separation=1.2, shares=np.arange(1, k + 1) / np.arange(1, k + 1).sum())[1]


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_derivatives_by_the_parameters_are_those_of_the_shares(k):
    q, outputs = fitted(k), Outputs.from_posteriors(pile(k=k), range(k))
    model = LikelihoodModel(q, outputs, as_samples(None, outputs.n_items))
    theta, step = q.calibration_.theta, 1e-5
    for a, direction in enumerate(np.eye(k)):
        ends = []
        for sign in (1, -1):
            q.calibration_ = BiasCorrectedTemperature(theta + sign * step * direction)
            q.tol = 1e-12
            ends.append(q.aggregate(outputs)[0])
        q.calibration_ = BiasCorrectedTemperature(theta)
        np.testing.assert_allclose(
            model.calibration.derivatives[0][:, a], (ends[0] - ends[1]) / (2 * step), rtol=1e-3, atol=1e-6
        )


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("estimand", ["population", "pile"])
def test_delta_and_bootstrap_agree_and_count_the_labelled_side(k, estimand):
    few, many = fitted(k, 200), fitted(k, 20_000)
    target = pile(2000, k)
    for method in ("delta", "bootstrap"):
        wide = estimate(few, target, method=method, estimand=estimand, random_state=0)
        narrow = estimate(many, target, method=method, estimand=estimand, random_state=0)
        assert ((wide.high - wide.low) > 1.3 * (narrow.high - narrow.low)).all()
    delta = estimate(few, target, estimand=estimand)
    np.testing.assert_allclose(wide.high - wide.low, delta.high - delta.low, rtol=0.15)


def test_many_samples_are_as_each_alone_and_the_same_in_every_run():
    q, target = fitted(3), pile(600, 3)
    samples = Samples.from_matrix(np.arange(600).reshape(3, 200))
    together = estimate(q, target, samples)
    for s in range(3):
        alone = estimate(q, target[samples[s]])
        np.testing.assert_allclose(together.low[s], alone.low)
    first, second = (estimate(q, target, samples, method="bootstrap", random_state=5) for _ in range(2))
    np.testing.assert_array_equal(first.low, second.low)


def test_it_keeps_what_the_checks_need():
    q, target = fitted(2, 1000), pile(1000)
    assert label_shift_test(q, target).p_value[0] > 0.001
    assert check(q, target).verdict in ("trust", "caution")
    apart = difference(estimate(q, target), estimate(q, pile(500, seed=2)))
    assert apart.low[1] < apart.high[1]
