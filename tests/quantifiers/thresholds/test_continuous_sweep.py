"""ContinuousSweep against scipy's quadrature, and its variance against a double integral."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from headcount import ContinuousSweep, estimate
from headcount.exceptions import IdentifiabilityWarning
from headcount.quantifiers.thresholds.normal_rates import largest_difference, swept_scores
from tests.conftest import frozen, scored_items


def log_odds(P):
    return np.log(np.clip(P[:, 1], 1e-4, 1 - 1e-4) / np.clip(1 - P[:, 1], 1e-4, 1 - 1e-4))


def fitted(seed=0, separation=1.2, **options):
    codes, P = scored_items(200, 2, seed, separation)
    return ContinuousSweep(frozen([0, 1]), **options).fit(P, codes), codes, P


def rates_of(q):
    (m0, s0), (m1, s1) = q.normals_
    return (lambda t: norm.sf(t, m0, s0)), (lambda t: norm.sf(t, m1, s1))


@pytest.mark.parametrize("barrier", ["least variance", 0.1, 0.3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_estimate_is_the_mean_adjusted_count_between_the_barriers(seed, barrier):
    q, codes, P = fitted(seed, barrier=barrier)
    scores = log_odds(P)
    for j in (0, 1):
        assert q.normals_[j] == pytest.approx([scores[codes == j].mean(), scores[codes == j].std(ddof=1)])
    fpr, tpr = rates_of(q)
    left, right = q.swept_[0][[0, -1]]
    for end in (left, right):
        assert tpr(end) - fpr(end) == pytest.approx(q.barrier_, abs=1e-9)
    sample = log_odds(scored_items(60, 2, 50 + seed, 1.2, shares=[0.6, 0.4])[1])
    edges = np.concatenate([[left], np.sort(sample[(sample > left) & (sample < right)]), [right]])
    area = 0.0
    for a, b in pairwise(edges):
        count = (sample >= (a + b) / 2).mean()
        area += quad(lambda t, count=count: (count - fpr(t)) / (tpr(t) - fpr(t)), a, b, epsabs=1e-12)[0]
    P_sample = 1 / (1 + np.exp(-sample))
    expected = np.clip(area / (right - left), 0, 1)
    assert q.predict(np.column_stack([1 - P_sample, P_sample]))[1] == pytest.approx(expected, abs=1e-9)


def test_the_variance_is_the_double_integral_of_the_covariances_of_counts():
    q, _, _ = fitted()
    fpr, tpr = rates_of(q)
    t = np.linspace(*q.swept_[0][[0, -1]], 801)
    for share in (0.0, 0.2, 0.9):
        above = share * tpr(t) + (1 - share) * fpr(t)
        covariances = np.minimum.outer(above, above) - np.outer(above, above)
        ratios = covariances / np.outer(tpr(t) - fpr(t), tpr(t) - fpr(t))
        expected = np.trapezoid(np.trapezoid(ratios, t, axis=1), t) / (t[-1] - t[0]) ** 2
        assert q.variance(40, share) == pytest.approx(expected / 40, rel=1e-5)


def test_the_variance_is_that_of_samples_of_normal_scores():
    q, _, _ = fitted(barrier=0.2)
    generator = np.random.default_rng(0)
    share, n, repeats = 0.4, 50, 4000
    codes = generator.random((repeats, n)) < share
    scores = np.where(codes, *(generator.normal(*q.normals_[j], (repeats, n)) for j in (1, 0))).ravel()
    p = 1 / (1 + np.exp(-scores))
    shares = q.aggregate(q.outputs(np.column_stack([1 - p, p])), np.arange(repeats * n).reshape(repeats, n))[:, 1]
    # the standard error of a variance is about sqrt(2 / 4000) = 2.2 % of it
    assert shares.var() == pytest.approx(q.variance(n, share), rel=0.1)
    assert shares.mean() == pytest.approx(share, abs=5 * np.sqrt(q.variance(n, share) / repeats))


def test_the_barrier_has_the_least_variance_of_those_tried():
    q, codes, P = fitted()
    shares = np.linspace(0, 1, 201)

    def mean_variance(one):
        return np.mean([one.variance(1, share) for share in shares])

    _, largest = largest_difference(q.normals_)
    others = [
        ContinuousSweep(frozen([0, 1]), barrier=part * largest).fit(P, codes) for part in (0.05, 0.2, 0.4, 0.7, 0.9)
    ]
    assert all(mean_variance(q) <= mean_variance(other) * (1 + 1e-9) for other in others)


@pytest.mark.parametrize("deviations", [(1.0, 1.0), (0.5, 2.0), (2.0, 0.5), (1.0, 1.001)])
@pytest.mark.parametrize("distance", [1.5, -1.5, 0.0])
def test_the_largest_difference_of_rates_is_found(deviations, distance):
    normals = np.array([[0.3, deviations[0]], [0.3 + distance, deviations[1]]])
    t = np.linspace(-15, 15, 60_001)
    differences = norm.sf(t, *normals[1]) - norm.sf(t, *normals[0])
    _, largest = largest_difference(normals)
    assert abs(largest) == pytest.approx(np.abs(differences).max(), abs=1e-7)
    if abs(largest) > 0.01:
        table = swept_scores(normals, abs(largest) / 3)
        assert table.means[1] - table.means[0] == pytest.approx(table.t[-1] - table.t[0], rel=1e-9)


def test_scores_that_are_the_wrong_way_round_give_the_right_shares():
    codes, P = scored_items(2000, 2, 0)
    q = ContinuousSweep(frozen([0, 1])).fit(P[:1000, ::-1], codes[:1000])
    assert q.predict(P[1000:, ::-1])[1] == pytest.approx(codes[1000:].mean(), abs=0.03)


def test_the_interval_is_that_of_item_scores_whatever_their_distribution():
    q, codes, P = fitted(3)
    _, sample = scored_items(90, 2, 4, 1.2)
    answer = estimate(q, sample)
    t, H, _ = q.swept_
    scores, labelled = (np.interp(log_odds(one), t, H / H[-1]) for one in (sample, P))
    assert answer.evidence.z[0, 0] == pytest.approx(scores.mean(), abs=1e-5)
    means = [labelled[codes == j].mean() for j in (0, 1)]
    centre = (scores.mean() - means[0]) / (means[1] - means[0])
    assert answer.evidence.centre[0, 1] == pytest.approx(centre, abs=1e-4)
    assert answer.low[1] < min(centre, answer.shares[1])
    assert max(centre, answer.shares[1]) < answer.high[1]


def test_a_class_with_one_item_and_posteriors_of_0_and_1_work():
    P = np.array([[1.0, 0.0], [0.8, 0.2], [0.0, 1.0]])
    q = ContinuousSweep(frozen([0, 1])).fit(P, [0, 0, 1])
    assert q.normals_[0, 1] == q.normals_[1, 1]
    assert np.isfinite(q.predict(P)).all()
    assert np.isfinite(estimate(q, P).low).all()


def test_equal_scores_and_high_barriers_warn():
    P = np.tile([[0.3, 0.7], [0.6, 0.4]], (10, 1))
    with pytest.warns(IdentifiabilityWarning, match="the same mean and spread"):
        q = ContinuousSweep(frozen([0, 1])).fit(P, np.repeat([0, 1], 10))
    assert q.predict(P).tolist() == [0.5, 0.5]
    with pytest.warns(IdentifiabilityWarning, match=r"at most 0\.\d+, below the barrier of 0\.99: half that"):
        q, _, _ = fitted(barrier=0.99)
    assert q.barrier_ == pytest.approx(largest_difference(q.normals_)[1] / 2)


@pytest.mark.parametrize("options", [{"barrier": 1.0}, {"barrier": 0}, {"scores": "ranks"}])
def test_parameters_out_of_range_raise_a_sentence(options):
    with pytest.raises(ValueError, match="parameter of ContinuousSweep must be"):
        fitted(**options)


def test_posteriors_may_be_taken_for_normal():
    q, codes, P = fitted(scores="posteriors")
    assert q.normals_[1, 0] == pytest.approx(P[codes == 1, 1].mean())
