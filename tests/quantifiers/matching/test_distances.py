"""The nearest mixture against plain formulas, scipy's SLSQP from several starts, and a fine grid."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from headcount.quantifiers.matching.distances import DISTANCES, distance, nearest_shares

pytestmark = pytest.mark.kernels
CONVEX = [name for name in DISTANCES if name != "l1"]


def plain_distance(name, q, m):
    """The formulas of the documentation, cell by cell."""
    total = 0.0
    for a, b in zip(m, q, strict=True):
        if name == "hellinger":
            total += (a**0.5 - b**0.5) ** 2
        elif name == "topsoe":
            total += (a * np.log(2 * a / (a + b)) if a > 0 else 0) + (b * np.log(2 * b / (a + b)) if b > 0 else 0)
        elif name == "probsymm":
            total += 2 * (a - b) ** 2 / (a + b) if a + b > 0 else 0
        elif name == "l2":
            total += (a - b) ** 2
        else:
            total += abs(a - b)
    return total


def least_by_slsqp(name, q, M, starts, generator):
    k = M.shape[1]
    best = np.inf
    for start in generator.dirichlet(np.ones(k), starts):
        found = minimize(
            lambda p: distance(name, q, M @ np.maximum(p, 0)),
            start,
            method="SLSQP",
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-13, "maxiter": 300},
        )
        p = np.maximum(found.x, 0)
        best = min(best, plain_distance(name, q, M @ (p / p.sum())))
    return best


def problem(k, d, n_samples, generator, sparse):
    """Profiles and samples of few and many items; with empty cells, and cells that no profile reaches, if sparse."""
    M = generator.dirichlet(np.full(d, 0.3 if sparse else 1.0), k).T
    if sparse:
        M[M < 0.02] = 0.0
        M /= M.sum(axis=0)
    q = []
    for _ in range(n_samples):
        mixture = M @ generator.dirichlet(np.full(k, 0.4))
        n = generator.choice([1, 5, 100, 1000])
        q.append(generator.multinomial(n, mixture / mixture.sum()) / n)
    q = np.array(q)
    if sparse:
        q = 0.95 * q + 0.05 * np.eye(d)[generator.integers(0, d, n_samples)]
    return M, q


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_equal_their_formulas(name):
    generator = np.random.default_rng(0)
    q, m = generator.dirichlet(np.ones(6), 2)
    q[0] = m[0] = m[1] = q[2] = 0.0
    assert distance(name, q, m) == pytest.approx(plain_distance(name, q, m), rel=1e-12)
    assert distance(name, q, q) == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("name", CONVEX)
@pytest.mark.parametrize(("k", "sparse"), [(2, False), (3, True), (6, False), (6, True)])
def test_no_mixture_is_nearer(name, k, sparse):
    generator = np.random.default_rng(k)
    M, q = problem(k, 12, 4, generator, sparse)
    shares = nearest_shares(name, q, M)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    for one, p in zip(q, shares, strict=True):
        # Far within the bound of 1e-6 that is promised.
        assert plain_distance(name, one, M @ p) <= least_by_slsqp(name, one, M, 3, generator) + 1e-10


@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize("sparse", [False, True])
def test_no_share_of_two_classes_on_a_grid_is_nearer(name, sparse):
    M, q = problem(2, 10, 25, np.random.default_rng(3), sparse)
    grid = np.linspace(0, 1, 2001)
    mixtures = np.column_stack([1 - grid, grid]) @ M.T
    for one, p in zip(q, nearest_shares(name, q, M), strict=True):
        assert distance(name, one, M @ p) <= distance(name, one, mixtures).min() + 1e-12


@pytest.mark.parametrize("name", CONVEX)
def test_mixtures_are_recovered(name):
    generator = np.random.default_rng(4)
    for k in (2, 5):
        M = generator.dirichlet(np.ones(15), k).T
        true = generator.dirichlet(np.full(k, 0.5), 6)
        true[0] = np.eye(k)[1]
        np.testing.assert_allclose(nearest_shares(name, true @ M.T, M), true, atol=1e-7)


@pytest.mark.parametrize("name", CONVEX)
def test_classes_that_look_the_same_share_equally(name):
    M = np.array([[0.7, 0.2, 0.2], [0.3, 0.8, 0.8]])
    shares = nearest_shares(name, np.array([[0.3, 0.7], [1.0, 0.0]]), M)
    # The small penalty by which least squares decide, where the search starts, moves shares by about 1e-6.
    np.testing.assert_allclose(shares, [[0.2, 0.4, 0.4], [1.0, 0.0, 0.0]], atol=5e-6)
    np.testing.assert_allclose(nearest_shares(name, np.array([[0.3, 0.7]]), M[:, 1:]), [[0.5, 0.5]], atol=5e-6)


@given(
    zeros=st.lists(st.integers(-2, 12), min_size=1, max_size=12),
    slopes=st.lists(st.integers(-3, 3), min_size=12, max_size=12),
)
def test_the_least_sum_of_absolute_values_is_a_weighted_median(zeros, slopes):
    """Against all breakpoints; of equally good shares the middle one is the answer."""
    zeros, slopes = np.array(zeros) / 10, np.array(slopes[: len(zeros)], dtype=float)
    M = np.column_stack([np.zeros(len(zeros)), slopes])
    (answer,) = nearest_shares("l1", (zeros * slopes)[None], M)[:, 1]
    candidates = np.concatenate([[0.0, 1.0], np.clip(zeros, 0, 1)])
    areas = np.abs(np.outer(candidates, slopes) - zeros * slopes).sum(axis=1)
    best = candidates[areas <= areas.min() + 1e-9]
    assert answer == pytest.approx((best.min() + best.max()) / 2, abs=1e-9)
