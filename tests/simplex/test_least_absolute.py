"""Least absolute differences over mixtures, beside a linear programme of scipy's."""

import numpy as np
import pytest
from scipy.optimize import linprog

from headcount.exceptions import DataError
from headcount.simplex import mixture_least_absolute


def least(M, q):
    """Return the least sum of absolute differences."""
    d, k = M.shape
    A = np.block([[M, -np.eye(d)], [-M, -np.eye(d)]])
    cost, total = np.r_[np.zeros(k), np.ones(d)], np.r_[np.ones(k), np.zeros(d)][None]
    return linprog(cost, A_ub=A, b_ub=np.r_[q, -q], A_eq=total, b_eq=[1.0], bounds=(0, None)).fun


def histograms(generator, d, k, n):
    """Cumulated frequencies of few items: many differences are equal, and many corners are those of several planes."""
    M = np.cumsum(generator.multinomial(20, np.full(d, 1.0 / d), size=k).T / 20, axis=0)
    return M, np.cumsum(generator.multinomial(10, np.full(d, 1.0 / d), size=n) / 10, axis=1)


PROBLEMS = {
    "any numbers": lambda g, d, k, n: (g.normal(size=(d, k)), g.normal(size=(n, d))),
    "histograms": histograms,
    "mixtures": lambda g, d, k, n: (lambda M: (M, g.dirichlet(np.full(k, 0.3), n) @ M.T))(histograms(g, d, k, n)[0]),
    "equal classes": lambda g, d, k, n: (np.repeat(g.integers(0, 3, (d, 1)), k, axis=1) * 1.0, g.random((n, d))),
    "whole numbers": lambda g, d, k, n: (g.integers(0, 3, (d, k)) * 1.0, g.integers(0, 3, (n, d)) * 1.0),
}


@pytest.mark.kernels
@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_sum_is_that_of_a_linear_programme(kind):
    generator = np.random.default_rng(0)
    for _ in range(30):
        d, k = int(generator.integers(1, 40)), int(generator.integers(2, 10))
        M, Q = PROBLEMS[kind](generator, d, k, 2)
        P = mixture_least_absolute(M, Q)
        assert (P >= 0).all()
        np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-12)
        for q, p in zip(Q, P, strict=True):
            assert np.abs(M @ p - q).sum() <= least(M, q) + 1e-7


def test_by_hand():
    # One number, 0 for the first class and 1 for the second: 0.3 is reached by a share of 0.3. Beyond the ends the end is nearest.
    shares = mixture_least_absolute(np.array([[0.0, 1.0]]), np.array([[0.3], [2.0], [-1.0]]))
    np.testing.assert_allclose(shares[:, 1], [0.3, 1.0, 0.0], atol=1e-9)


def test_matrices_that_do_not_match_are_refused():
    with pytest.raises(DataError, match="do not match"):
        mixture_least_absolute(np.ones((3, 2)), np.ones((4, 2)))
    with pytest.raises(DataError, match="finite"):
        mixture_least_absolute(np.full((3, 2), np.nan), np.ones((4, 3)))
