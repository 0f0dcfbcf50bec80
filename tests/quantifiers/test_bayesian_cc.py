"""BayesianCC against quadratures written here, without its steps: the same posterior from the same counts."""

import numpy as np
import pytest
from scipy import stats

from headcount import ACC, BayesianCC, Outputs, Samples, difference, estimate
from headcount.exceptions import DataError
from headcount.intervals.posterior import shortest_intervals
from headcount.quantifiers import Statistics
from headcount.quantifiers.bayesian.posterior import draw_posterior, random_numbers
from tests.conftest import blobs, frozen, scored_items


def quadrature(counts, A, alpha, n_shares=150, n_rates=100, n_frequencies=80):
    """Return mean, standard deviation and 95 % quantiles of the second share, for two classes and two cells.

    For a share p, a false positive rate f and a frequency r of the second cell, the true positive rate is t = (r - (1 - p) f) /
    p. All frequencies that the sample allows are integrated over, and all values of f for which t is a rate too. Below a half the
    same with the classes exchanged. Points are dense at the ends.
    """

    def dense_at_ends(n):
        v = (np.arange(n) + 0.5) / n * np.pi / 2
        points = np.sin(v) ** 4 / (np.sin(v) ** 4 + np.cos(v) ** 4)
        edges = np.r_[0.0, (points[1:] + points[:-1]) / 2, 1.0]
        return points, edges, np.diff(edges)

    (shares, edges, widths), (u, _, du) = dense_at_ends(n_shares), dense_at_ends(n_rates)
    allowed = stats.beta(counts[1] + 1, counts[0] + 1)
    least, most = allowed.ppf(1e-30), allowed.isf(1e-30)
    v, _, dv = dense_at_ends(n_frequencies)
    r = (least + v * (most - least))[:, None]
    dr = np.exp(allowed.logpdf(r[:, 0])) * dv
    density = []
    for p in shares:
        known, other, weight = (0, 1, p) if p > 0.5 else (1, 0, 1 - p)
        low, high = np.maximum(0.0, (r - weight) / (1 - weight)), np.minimum(1.0, r / (1 - weight))
        f = low + u * (high - low)
        t = np.clip((r - (1 - weight) * f) / weight, 1e-300, 1 - 1e-16)
        logs = stats.beta.logpdf(f, A[1, known], A[0, known]) + stats.beta.logpdf(t, A[1, other], A[0, other])
        density.append((dr @ (np.exp(logs) * (high - low) @ du)) / weight)
    density = np.array(density) * shares ** (alpha[1] - 1) * (1 - shares) ** (alpha[0] - 1) * widths
    density /= density.sum()
    mean, below = shares @ density, np.cumsum(density)
    ends = np.interp([0.025, 0.975], below, edges[1:])
    return mean, np.sqrt(np.square(shares - mean) @ density), *ends


@pytest.mark.parametrize(
    ("counts", "labelled", "alpha"),
    [
        ((30, 20), ((4, 1), (1, 4)), (1.0, 1.0)),
        ((300, 200), ((8, 1), (2, 9)), (1.0, 1.0)),
        ((30_000, 2_000), ((4, 2), (1, 3)), (1.0, 1.0)),  # the sample fixes what the labelled items leave open
        ((500, 0), ((90, 20), (10, 80)), (1.0, 1.0)),  # an absent class
        ((490, 510), ((50, 51), (50, 49)), (1.0, 1.0)),  # a classifier that tells nothing: the prior
        ((3_000_000, 2_000_000), ((5, 0), (0, 5)), (1.0, 1.0)),
        ((40, 2), ((19, 3), (1, 7)), (2.0, 0.5)),
        ((12.5, 7.5), ((3.5, 1.5), (1.5, 3.5)), (1.0, 3.0)),  # of folds
    ],
)
def test_the_posterior_is_that_of_a_quadrature(counts, labelled, alpha):
    A, alpha = np.array(labelled, dtype=float) + 1.0, np.array(alpha)
    draws = draw_posterior(np.array([counts], dtype=float), A, alpha, random_numbers(0, 40_000, 2, 2))[0, :, 1]
    mean, deviation, low, high = quadrature(counts, A, alpha)
    assert draws.mean() == pytest.approx(mean, abs=0.05 * deviation)
    assert draws.std() == pytest.approx(deviation, rel=0.06)
    np.testing.assert_allclose(np.quantile(draws, [0.025, 0.975]), [low, high], atol=0.2 * deviation)


def importance(counts, A, alpha, n=400_000):
    """Return the posterior means of the shares by weighting draws from the prior of the shares and the labelled posterior."""
    generator = np.random.default_rng(0)
    p = generator.dirichlet(alpha, n)
    F = np.stack([generator.dirichlet(A[:, j], n) for j in range(A.shape[1])], axis=2)
    log_likelihood = np.log(np.einsum("ncj,nj->nc", F, p)) @ counts
    weights = np.exp(log_likelihood - log_likelihood.max())
    return weights @ p / weights.sum(), 1.0 / np.square(weights / weights.sum()).sum()


@pytest.mark.parametrize("shape", [(3, 3), (8, 2), (2, 3), (5, 4)])
def test_more_cells_and_classes_agree_with_weighted_draws_from_the_prior(shape):
    m, k = shape
    generator = np.random.default_rng(m)
    A = generator.integers(0, 6, shape) + np.where(np.arange(m)[:, None] % k == np.arange(k), 6.0, 0.4)
    counts, alpha = generator.integers(1, 15, m).astype(float), np.linspace(0.7, 1.5, k)
    expected, effective = importance(counts, A, alpha)
    assert effective > 2000
    draws = draw_posterior(counts[None], A, alpha, random_numbers(1, 30_000, m, k))[0]
    np.testing.assert_allclose(draws.mean(axis=0), expected, atol=0.012)


@pytest.mark.kernels
def test_without_items_the_posterior_is_the_prior():
    alpha = np.array([2.0, 1.0])
    counts = np.array([[0.0, 0.0], [90.0, 10.0]])
    draws = draw_posterior(counts, np.ones((2, 2)) * 2.0 + 30.0 * np.eye(2), alpha, random_numbers(0, 800, 2, 2))
    np.testing.assert_allclose(draws[0].mean(axis=0), [2 / 3, 1 / 3], atol=0.05)
    np.testing.assert_allclose(draws.sum(axis=2), 1.0)
    assert draws[1, :, 0].mean() > 0.85


def test_the_estimate_is_the_posterior_mean_and_its_interval_the_shortest():
    codes, P = scored_items(20, 2, seed=0)
    q = BayesianCC(frozen(["a", "b"]), random_state=0).fit(P, np.array(["a", "b"])[codes])
    sample = scored_items(60, 2, seed=1, shares=[0.8, 0.2])[1]
    decided = np.bincount(sample.argmax(axis=1), minlength=2)
    np.testing.assert_array_equal(q.counts_.sum(axis=0), np.bincount(codes))
    mean, deviation, _, _ = quadrature(decided, q.counts_ + 1.0, [1.0, 1.0])
    answer = estimate(q, sample)
    assert answer.method == "posterior"
    np.testing.assert_array_equal(answer.shares, q.predict(sample))
    assert answer.shares[1] == pytest.approx(mean, abs=0.15 * deviation)
    draws = q.posterior(q.reduce(q.outputs(sample)))
    assert draws.shape == (1, 1000, 2)
    np.testing.assert_allclose(draws[0].mean(axis=0), answer.shares)
    x = np.sort(draws[0, :, 1])
    widths = [(x[i + 950] - x[i], i) for i in range(50)]
    first = min(widths)[1]
    assert answer.low[1] == (x[first] if first >= 5 else 0.0)
    assert answer.high[1] == (x[first + 950] if first <= 44 else 1.0)
    assert estimate(q, P[codes == 0]).low[1] == 0.0
    wide = estimate(q.set_params(share_prior=[1.0, 30.0]), sample)
    assert wide.shares[1] > answer.shares[1]


def test_bins_of_posteriors_count_for_two_classes():
    codes, P = scored_items(30, 2, seed=0)
    q = BayesianCC(frozen([0, 1]), bins=8, random_state=0).fit(P, codes)
    assert q.counts_.shape == (8, 2)
    np.testing.assert_array_equal(q.counts_[:, 1], np.histogram(P[codes == 1, 1], bins=8, range=(0, 1))[0])
    assert q.predict(P[codes == 1])[1] > 0.8
    codes, P = scored_items(30, 3, seed=0)
    with pytest.raises(
        DataError, match=r"bins=8 are bins of the second class's posterior, for two classes; there are 3"
    ):
        BayesianCC(frozen([0, 1, 2]), bins=8).fit(P, codes)


def test_folds_count_each_labelled_item_once():
    X, y = blobs(60, 3, seed=0)
    q = BayesianCC(random_state=0).fit(X, y)
    np.testing.assert_allclose(q.counts_.sum(axis=0), np.bincount(y))
    assert q.n_folds == 5
    statistics = q.reduce(q.outputs(blobs(40, 3, seed=1)[0]))
    np.testing.assert_allclose(statistics.sums.sum(axis=1), 40)


def test_sampling_weights_count_by_what_the_sample_is_worth():
    codes, P = scored_items(200, 2, seed=0)
    q = BayesianCC(frozen([0, 1]), random_state=0).fit(P, codes)
    outputs = q.outputs(scored_items(50, 2, seed=1)[1])
    equal, uneven = np.full(50, 40.0), np.r_[np.full(5, 400.0), np.zeros(45) + 1e-3]
    plain, weighted = estimate(q, outputs), estimate(q, outputs, Samples(np.arange(50), [0, 50], weights=equal))
    np.testing.assert_allclose(weighted.low[0], plain.low)
    few = estimate(q, outputs, Samples(np.arange(50), [0, 50], weights=uneven))
    assert (few.high - few.low).min() > 1.5 * (plain.high - plain.low).max()


def test_what_it_does_not_have_is_said():
    codes, P = scored_items(100, 2, seed=0)
    q = BayesianCC(frozen([0, 1]), n_draws=100, random_state=0).fit(P, codes)
    with pytest.raises(DataError, match="that of its posterior: omit method='bootstrap'"):
        estimate(q, P, method="bootstrap")
    with pytest.raises(DataError, match="pass estimand='population', or use ACC or PACC"):
        estimate(q, P, estimand="sample")
    with pytest.raises(DataError, match=r"n_draws=100 draws are too few .* at least 400"):
        estimate(q, P, level=0.99)
    with pytest.raises(DataError, match="no statistic to compare by"):
        difference(estimate(q, P), estimate(q, P[:50]))
    with pytest.raises(DataError, match="share_prior must be a positive number, or one for each of the 2 classes"):
        BayesianCC(frozen([0, 1]), share_prior=[1.0, 1.0, 1.0]).fit(P, codes)
    with pytest.raises(ValueError, match="'cell_prior' parameter of BayesianCC"):
        BayesianCC(frozen([0, 1]), cell_prior=0.0).fit(P, codes)
    X, y = blobs(100, 2, seed=0)
    with pytest.raises(DataError, match="No interval for BayesianCC: with refit=True"):
        estimate(BayesianCC(refit=True, random_state=0).fit(X, y), X)


def test_few_labelled_items_pull_towards_the_prior_and_many_do_not():
    sample = Outputs.from_decisions(np.repeat([0, 1], [70, 430]), [0, 1])
    for n, tolerance in ((20_000, 0.004), (20, None)):
        decided = np.r_[np.repeat([0, 1], [9 * n // 10, n // 10]), np.repeat([0, 1], [n // 10, 9 * n // 10])]
        labelled = Outputs.from_decisions(decided, [0, 1]), np.repeat([0, 1], n)
        bayes, adjusted = (m.fit(*labelled).predict(sample)[1] for m in (BayesianCC(random_state=0), ACC()))
        if tolerance is not None:
            assert bayes == pytest.approx(adjusted, abs=tolerance)
        else:
            assert 0.5 < bayes < adjusted - 0.01


def test_each_sample_has_its_own_answer_whatever_the_others():
    codes, P = scored_items(40, 2, seed=0)
    q = BayesianCC(frozen([0, 1]), n_draws=100, random_state=0).fit(P, codes)
    counts = np.random.default_rng(0).integers(1, 30, (300, 2)).astype(float)
    statistics = Statistics(counts, counts.sum(axis=1))
    together = q.solve(statistics)
    np.testing.assert_array_equal(q.solve(statistics[np.array([299, 3])]), together[[299, 3]])


@pytest.mark.parametrize("k", [2, 3])
def test_intervals_hold_as_often_as_they_say_over_shares_and_profiles_of_the_prior(k):
    generator = np.random.default_rng(k)
    U, alpha, held = random_numbers(0, 1000, k, k), np.ones(k), []
    for _ in range(250):
        p, F = generator.dirichlet(alpha), generator.dirichlet(np.ones(k), k).T
        labelled = np.column_stack([generator.multinomial(7, F[:, j]) for j in range(k)])
        counts = generator.multinomial(200, F @ p).astype(float)
        low, high = shortest_intervals(draw_posterior(counts[None], labelled + 1.0, alpha, U), 0.9)
        held.append((low[0] <= p) & (p <= high[0]))
    assert 0.86 <= np.mean(held) <= 0.94  # standard error 0.019 for two classes


def test_means_of_class_values_and_covariances_are_those_of_the_draws():
    codes, P = scored_items(40, 3, seed=0)
    q = BayesianCC(frozen([1, 2, 3]), random_state=0).fit(P, codes + 1)
    outputs, samples = q.outputs(P), Samples.from_lists([np.arange(30), np.arange(10, 40)])
    answer = estimate(q, outputs, samples)
    draws = q.posterior(q.reduce(outputs, samples))
    np.testing.assert_allclose(answer.mean().mean, draws.mean(axis=1) @ [1, 2, 3])
    low, high = shortest_intervals((draws @ [1.0, 2.0, 3.0])[:, :, None], 0.95, None)
    np.testing.assert_allclose([answer.mean().low, answer.mean().high], [low[:, 0], high[:, 0]])
    np.testing.assert_allclose(answer.take(1).covariance(), np.cov(draws[1].T))
