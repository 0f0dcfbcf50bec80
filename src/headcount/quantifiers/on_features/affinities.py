"""Solver over affinities: an item's vector holds its mean distance from, or likeness to, the labelled items of each class."""

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.quantifiers.on_features.matching import warn_of_alike
from headcount.quantifiers.solvers import Solver
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["LeastEnergy", "least_quadratic"]

_SMALLEST = 1e-12
"""Directions in which classes differ by less, as part of the largest difference, say nothing."""


def least_quadratic(K: FloatArray, Q: FloatArray) -> FloatArray:
    """Return the p on the simplex that minimise p'Kp / 2 - p'q, for each row q of Q: K need not be definite for p of any sum.

    Written in directions z of the simplex, with K = R'R there, it is the least |R z - c|: a problem of least squares over mixtures.
    """
    k = len(K)
    D, start = sum_zero_basis(k), np.full(k, 1.0 / k)
    values, vectors = np.linalg.eigh(D.T @ K @ D)
    kept = values > _SMALLEST * max(1.0, float(np.abs(K).max()))
    if not kept.any():
        return np.tile(start, (len(Q), 1))
    roots, vectors = np.sqrt(values[kept]), vectors[:, kept]
    target = (Q - K @ start) @ D @ vectors / roots
    return mixture_least_squares(roots[:, None] * (vectors.T @ D.T), target)


class LeastEnergy(Solver):
    """The shares with the least energy distance 2 p'q - p'Mp, up to a constant, where q and M are mean distances."""

    has_equation = True

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return least_quadratic(-(M + M.T) / 2.0, -q)

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return the directions of the simplex, in which the derivative q - M p is 0."""
        return sum_zero_basis(M.shape[-1]).T

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if classes are not apart."""
        D = sum_zero_basis(len(M))
        if np.linalg.eigvalsh(-D.T @ (M + M.T) @ D / 2.0)[0] <= _SMALLEST:
            warn_of_alike(classes, name)
