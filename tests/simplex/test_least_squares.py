import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from headcount.exceptions import DataError
from headcount.simplex import mixture_least_squares


def objective(M, q, p):
    return ((M @ p - q) ** 2).sum()


def duality_gap(M, q, p):
    """Upper bound on f(p) - f*, by convexity: grad.(p - best vertex)."""
    gradient = 2 * M.T @ (M @ p - q)
    return gradient @ p - gradient.min()


def random_case(seed, k, d, kind):
    generator = np.random.default_rng(seed)
    M = generator.dirichlet(np.full(d, 0.5), size=k).T
    if kind == "dependent":
        M[:, -1] = M[:, 0]
    if kind == "affinely dependent" and k > 2:
        M[:, -1] = (M[:, 0] + M[:, 1]) / 2
    if kind == "nearly dependent":
        M[:, -1] = M[:, 0] + 1e-9 * generator.standard_normal(d)
    if kind == "all the same":
        M[:] = M[:, :1]
    return M, generator.dirichlet(np.full(d, 0.3), size=8)


@pytest.mark.kernels
@settings(max_examples=120)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(2, 8),
    extra=st.integers(-1, 4),
    kind=st.sampled_from(["full", "dependent", "affinely dependent", "nearly dependent", "all the same"]),
)
def test_the_answer_is_on_the_simplex_and_optimal(seed, k, extra, kind):
    M, Q = random_case(seed, k, max(2, k + extra), kind)
    P = mixture_least_squares(M, Q)
    assert (P >= 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-12)
    for q, p in zip(Q, P, strict=True):
        assert duality_gap(M, q, p) < 1e-9


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 6])
def test_agrees_with_a_general_solver(k):
    M, Q = random_case(k, k, k, "full")
    P = mixture_least_squares(M, Q)
    for q, p in zip(Q, P, strict=True):
        reference = minimize(
            lambda x, q=q: objective(M, q, x),
            np.full(k, 1 / k),
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        assert objective(M, q, p) <= objective(M, q, reference.x) + 1e-12
        np.testing.assert_allclose(p, reference.x, atol=1e-4)


@pytest.mark.kernels
@given(seed=st.integers(0, 10**6), k=st.integers(2, 10))
def test_recovers_the_shares_of_an_exact_mixture(seed, k):
    generator = np.random.default_rng(seed)
    M = 0.7 * np.eye(k) + 0.3 * generator.dirichlet(np.ones(k), size=k).T
    p = generator.dirichlet(np.full(k, 0.5), size=4)
    p[0] = np.eye(k)[0]
    np.testing.assert_allclose(mixture_least_squares(M, p @ M.T), p, atol=1e-7)


@pytest.mark.kernels
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-7, 1e-10, 1e8])
@pytest.mark.parametrize("k", [3, 5])
def test_recovers_the_shares_at_any_scale_of_the_differences(k, scale):
    generator = np.random.default_rng(0)
    base = generator.dirichlet(np.ones(k))[:, None]
    differences = np.eye(k) - 1 / k
    M = base * max(scale, 1.0) + scale * differences
    p = generator.dirichlet(np.ones(k), size=5)
    rounding = 1e-13 * max(scale, 1.0) / scale
    np.testing.assert_allclose(mixture_least_squares(M, p @ M.T), p, atol=max(1e-9, 10 * rounding))


def test_shapes_that_do_not_match_and_values_that_are_not_finite_are_refused():
    with pytest.raises(DataError, match="do not match"):
        mixture_least_squares(np.eye(3), np.array([[0.5, 0.5]]))
    with pytest.raises(DataError, match="finite"):
        mixture_least_squares(np.eye(2), np.array([[0.5, np.nan]]))


@pytest.mark.kernels
def test_forty_classes_are_solved():
    M, Q = random_case(3, 40, 40, "full")
    P = mixture_least_squares(M, Q)
    assert max(duality_gap(M, q, p) for q, p in zip(Q, P, strict=True)) < 1e-9
