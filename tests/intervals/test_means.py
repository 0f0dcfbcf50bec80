"""Means of class values: linear in the values, the interval of a share for a single class, held as often as those of shares."""

import numpy as np
import pytest

from headcount import ACC, PACC, SLD, estimate
from headcount.exceptions import DataError
from tests.conftest import frozen, scored_items

pytestmark = pytest.mark.kernels


def answered(method=PACC, k=4, shares=None, seed=0, n=300, assume=None, **options):
    codes, P = scored_items(n, k, seed, 1.5)
    quantifier = method(frozen(range(k)), **options).fit(P, codes)
    return estimate(quantifier, scored_items(n, k, seed + 1, 1.5, shares)[1], assume=assume)


@pytest.mark.parametrize("method", [PACC, ACC, lambda c: SLD(c, calibration="bcts")])
def test_the_mean_of_an_indicator_is_the_share_of_its_class(method):
    answer = answered(method, shares=[0.1, 0.2, 0.3, 0.4])
    for j in range(4):
        mean = answer.mean(np.eye(4)[j])
        assert mean.mean == pytest.approx(answer.shares[j])
        assert mean.low == pytest.approx(answer.low[j], abs=0.005)
        assert mean.high == pytest.approx(answer.high[j], abs=0.005)


def test_scaling_and_shifting_the_values_does_so_with_the_interval():
    answer = answered(shares=[0.1, 0.2, 0.3, 0.4])
    stars, scaled = answer.mean([1, 2, 3, 4]), answer.mean([7, 5, 3, 1])
    assert stars.low < stars.mean < stars.high
    expected = 9 - 2 * stars.mean, 9 - 2 * stars.high, 9 - 2 * stars.low
    assert (scaled.mean, scaled.low, scaled.high) == pytest.approx(expected, abs=1e-5)
    assert answer.mean() == pytest.approx(answer.mean([0, 1, 2, 3]))  # the classes are numbers
    assert answer.mean([2, 2, 2, 2])[:3] == (2, 2, 2)


def test_the_mean_of_two_classes_is_that_of_a_share():
    answer = answered(k=2)
    assert answer.mean([10, 0])[1:3] == pytest.approx((10 * answer.low[0], 10 * answer.high[0]))


def test_the_mean_is_known_better_than_its_shares_tell():
    """The errors of shares, whose sum is 1, cancel in part, which adding up intervals does not see."""
    answer = answered(shares=[0.25] * 4, n=400)
    mean = answer.mean([0, 1, 2, 3])
    assert mean.high - mean.low < 0.6 * ((answer.high - answer.low) @ [0, 1, 2, 3])


def test_many_samples_have_a_mean_each():
    codes, P = scored_items(300, 3, 0, 1.5)
    quantifier = PACC(frozen(range(3))).fit(P, codes)
    rows = np.arange(300).reshape(3, 100)
    together = estimate(quantifier, P, rows).mean([1, 2, 3])
    assert together.low.shape == (3,)
    for s in range(3):
        alone = estimate(quantifier, P[rows[s]]).mean([1, 2, 3])
        assert (together.mean[s], together.low[s], together.high[s]) == pytest.approx(alone[:3], abs=1e-6)


def test_a_likelihood_has_no_interval_of_a_mean_of_three_classes():
    mean = answered(SLD, k=3, assume="calibrated", prior="uniform").mean([1, 2, 3])
    assert 1 <= mean.mean <= 3
    assert np.isnan(mean.low)
    assert np.isnan(mean.high)


def test_values_that_can_not_be_averaged_are_refused():
    answer = answered(k=3)
    with pytest.raises(DataError, match="value of each of the 3 classes is needed"):
        answer.mean([1, 2])
    with pytest.raises(DataError, match="finite value"):
        answer.mean([1, 2, np.inf])
    codes, P = scored_items(300, 2, 0, 1.5)
    names = np.array(["bad", "good"])
    named = estimate(PACC(frozen(["bad", "good"])).fit(P, names[codes]), P)
    with pytest.raises(
        DataError, match=r"'bad', 'good' are not numbers: give the value of each class, such as bad=0,good=1"
    ):
        named.mean()


@pytest.mark.slow
@pytest.mark.parametrize("method", [PACC, ACC])
def test_intervals_of_means_hold(method):
    generator = np.random.default_rng(11)
    held, values = [], np.array([1.0, 2.0, 3.0, 4.0])
    for seed in range(200):
        shares = generator.dirichlet(np.ones(4))
        codes, P = scored_items(200, 4, 2 * seed, 1.5)
        quantifier = method(frozen(range(4))).fit(P, codes)
        mean = estimate(quantifier, scored_items(300, 4, 2 * seed + 1, 1.5, shares)[1]).mean(values)
        held.append(mean.low <= values @ shares <= mean.high)
    assert np.mean(held) > 0.90
