"""Reference values of the methods for ordered classes, by independent routes, and what they declare."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import rankdata

import headcount as hc
from headcount import ACOrd, CvMy, DMy, EDy, EDyMAP, Outputs, PDFOrd, UniformPrevalence, estimate
from headcount.exceptions import DataError
from headcount.quantifiers import method_named
from headcount.quantifiers.ordinal.osld import smoothing_matrix
from tests.conftest import blobs, scored_items

K = 4


def task(seed=0, n=400, size=60):
    """Return fitted-on outputs and codes, a pool's outputs, and samples of it."""
    codes, P = scored_items(n, K, seed)
    pool_codes, pool = scored_items(n, K, seed + 1)
    samples, true = UniformPrevalence(8, sample_size=size, random_state=seed).draw(pool_codes)
    classes = np.arange(1, K + 1)
    return Outputs.from_posteriors(P, classes), codes + 1, Outputs.from_posteriors(pool, classes), samples, true


def class_means(V, y):
    return np.column_stack([V[y == j].mean(axis=0) for j in range(1, K + 1)])


def least(objective, k=K):
    """Minimise over the simplex by sequential quadratic programming from many starts."""
    sums = {"type": "eq", "fun": lambda p: p.sum() - 1.0}
    starts = [np.full(k, 1.0 / k), *(0.9 * np.eye(k) + 0.1 / k)]
    found = [
        minimize(objective, p, bounds=[(0, 1)] * k, constraints=sums, options={"ftol": 1e-15, "maxiter": 500})
        for p in starts
    ]
    return min((one for one in found if abs(one.x.sum() - 1) < 1e-6), key=lambda one: one.fun)


@pytest.mark.kernels
def test_edy_by_the_earth_movers_distance_is_that_of_cumulated_posteriors():
    train, y, pool, samples, _ = task()
    quantifier = EDy(distance="emd").fit(train, y)
    F, G = (np.cumsum(one.posteriors, axis=1)[:, :-1] for one in (train, pool))
    between = np.abs(F[:, None, :] - F[None, :, :]).sum(axis=2) / (K - 1)
    for j in range(1, K + 1):
        for m in range(1, K + 1):
            block = between[np.ix_(y == j, y == m)]
            mean = block.sum() / (block.size - (len(block) if j == m else 0))
            np.testing.assert_allclose(quantifier.M_[m - 1, j - 1], mean, atol=1e-9)
    shares = quantifier.aggregate(pool, samples)
    to = np.stack([np.abs(G[:, None] - F[y == j]).sum(axis=2).mean(axis=1) for j in range(1, K + 1)], axis=1) / (K - 1)
    for rows, p in zip(samples, shares, strict=True):
        q = to[rows].mean(axis=0)
        energy = lambda p, q=q: 2 * p @ q - p @ quantifier.M_ @ p  # noqa: E731
        assert energy(p) <= least(energy).fun + 1e-8


@pytest.mark.kernels
def test_ranks_of_cvmy_are_those_of_the_validation_items_with_halves_for_equals():
    train, y, pool, _, _ = task()
    representation = CvMy().fit(train, y).representation
    ranks = np.column_stack([rankdata(column) for column in train.posteriors.T])
    np.testing.assert_allclose(representation.coordinates(train.posteriors), (ranks - 0.5) / len(y))
    column = train.posteriors[:, 0]
    below = np.array([np.mean(column < value) for value in pool.posteriors[:, 0]])
    np.testing.assert_allclose(representation.coordinates(pool.posteriors)[:, 0], below)


def test_ac_ord_and_pdf_ord_have_the_least_earth_movers_distance():
    train, y, pool, samples, _ = task()
    one_hot = [np.eye(K)[one.posteriors.argmax(axis=1)] for one in (train, pool)]
    scores = [one.posteriors @ np.arange(K) for one in (train, pool)]
    bins = [np.eye(32 * (K - 1))[np.minimum(s * 32 + 1e-9, 32 * (K - 1) - 1).astype(int)] for s in scores]
    for quantifier, (V, W) in ((ACOrd(), one_hot), (PDFOrd(), bins)):
        shares = quantifier.fit(train, y).aggregate(pool, samples)
        M = np.cumsum(class_means(V, y), axis=0)[:-1]
        for rows, p in zip(samples, shares, strict=True):
            q = np.cumsum(W[rows].mean(axis=0))[:-1]
            assert np.abs(M @ p - q).sum() <= least(lambda p, q=q, M=M: np.abs(M @ p - q).sum()).fun + 1e-6


def test_hdy_by_the_earth_movers_distance_adds_up_those_of_the_classes():
    train, y, pool, samples, _ = task()
    quantifier = DMy(distance="l1", cdf=True).fit(train, y)
    shares = quantifier.aggregate(pool, samples)
    steps = (
        quantifier.reduce(pool, samples)
        .means()
        .reshape(len(shares), K, -1)
        .cumsum(axis=2)[..., :-1]
        .reshape(len(shares), -1)
    )
    M = np.column_stack([quantifier.M_[:, j].reshape(K, -1).cumsum(axis=1)[:, :-1].ravel() for j in range(K)])
    for q, p in zip(steps, shares, strict=True):
        assert np.abs(M @ p - q).sum() <= least(lambda p, q=q: np.abs(M @ p - q).sum()).fun + 1e-6


@pytest.mark.kernels
@pytest.mark.parametrize("strength", [0.0, 1.0, 5.0])
def test_edy_map_minimises_its_objective_at_its_own_covariance(strength):
    train, y, pool, samples, _ = task()
    quantifier = EDyMAP(strength=strength).fit(train, y)
    statistics = quantifier.reduce(pool, samples)
    shares = quantifier.solve(statistics)
    M, drawn = quantifier.M_, strength * K * (K + 1)
    for q, n, p in zip(statistics.means(), statistics.weights, shares, strict=True):
        S = np.einsum("j,jab->ab", p / n + p**2 / quantifier.sizes_, quantifier.covariances_)
        W = np.linalg.inv(S)
        objective = lambda p, q=q, W=W: (q - M @ p) @ W @ (q - M @ p) + drawn * ((p - 1 / K) ** 2).sum()  # noqa: E731
        assert abs(least(objective).x - p).max() < 0.01  # S of the round before


def test_edy_map_draws_to_even_shares_and_with_many_items_does_not():
    train, y, pool, _, _ = task()
    few, many = pool.take(np.arange(3)), pool.take(np.arange(300))
    even = [abs(EDyMAP(strength=s).fit(train, y).predict(few) - 1 / K).max() for s in (0.0, 1.0, 1e6)]
    assert even[0] > even[1] > even[2]
    assert even[2] < 1e-3
    free, drawn = (EDyMAP(strength=s).fit(train, y).predict(many) for s in (0.0, 1.0))
    assert abs(free - drawn).max() < 0.05


@pytest.mark.kernels
def test_osld_without_interpolation_is_sld_by_rounds():
    train, y, pool, samples, _ = task()
    options = {"calibration": "bcts", "tol": 1e-8, "max_iter": 5000}
    smooth = hc.OSLD(interpolation=0.0, **options).fit(train, y).aggregate(pool, samples)
    plain = hc.SLD(solver="em", **options).fit(train, y).aggregate(pool, samples)
    np.testing.assert_allclose(smooth, plain, atol=1e-10)


@pytest.mark.kernels
def test_osld_ends_where_a_round_with_smoothing_changes_nothing():
    train, y, pool, samples, _ = task()
    quantifier = hc.OSLD(calibration="bcts", degree=1, interpolation=0.3, tol=1e-12, max_iter=5000).fit(train, y)
    S = smoothing_matrix(K, 1, 0.3)
    F = quantifier.densities(pool)
    for rows, p in zip(samples, quantifier.aggregate(pool, samples), strict=True):
        prior = np.maximum(S @ p, 1e-12)
        prior /= prior.sum()
        posteriors = F[rows] * prior
        np.testing.assert_allclose((posteriors / posteriors.sum(axis=1, keepdims=True)).mean(axis=0), p, atol=1e-9)


def test_smoothing_keeps_polynomials_and_sums():
    x = np.arange(5.0)
    for degree, shares in ((0, np.full(5, 0.2)), (1, x / x.sum()), (2, x**2 / (x**2).sum())):
        np.testing.assert_allclose(smoothing_matrix(5, degree, 1.0) @ shares, shares, atol=1e-12)
    np.testing.assert_allclose(smoothing_matrix(5, 2, 0.4).sum(axis=0), 1.0)
    np.testing.assert_allclose(smoothing_matrix(3, 7, 1.0), np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    "quantifier", [ACOrd(), PDFOrd(), CvMy(), EDy(distance="emd"), EDyMAP(), DMy(distance="l1", cdf=True)]
)
def test_each_has_an_interval_which_contains_the_estimate(quantifier):
    train, y, pool, samples, _ = task()
    answer = estimate(quantifier.fit(train, y), pool, samples)
    assert (answer.low <= answer.shares + 1e-12).all()
    assert (answer.shares <= answer.high + 1e-12).all()
    assert (answer.high - answer.low).max() < 1.0


def test_the_strength_of_unfolding_is_chosen_by_a_search():
    X, y = blobs(300, 5, 0)
    search = hc.QuantifierSearch(
        hc.RUN(loss="squares", vectors="posteriors", random_state=0),
        {"strength": [0.0, 1e-3, 1e-1, 10.0]},
        scoring="nmd",
        protocol=UniformPrevalence(20, sample_size=50, random_state=0),
        random_state=0,
    ).fit(X, y)
    assert search.best_params_["strength"] in (0.0, 1e-3, 1e-1, 10.0)
    assert len(search.results_) == 4


def test_names_of_publications_are_known():
    assert method_named("o-ACC").make().get_params()["vectors"] == "decisions"
    assert method_named("o-PACC").make().get_params()["loss"] == "squares"
    assert [method_named(name).name for name in ("o-SLD", "AC-ord", "PDF_EMD")] == ["OSLD", "ACOrd", "PDFOrd"]
    X, y = blobs(300, 5, 0)
    with pytest.raises(DataError, match="only in alphabetical order"):
        hc.RUN(strength=1.0).fit(X, np.array(list("edcba"))[y])
