"""A one-sided test of a single number: are more items of a kind in the target than any mixture of the classes has?

With g(x) the number, phi(x) a representation whose class means M tell the classes apart, and p^ the shares that match the mean of
phi, the statistic is mean_target(g) - sum_j p^_j mean_j(g). It is linear in means of the stacked vector (phi, g): its error is that
of w' (q - M p) with w = (-m_g B, 1), where B solves for p^ (as for the intervals of the sums family).
"""

import numpy as np

from headcount._distributions import student_tail
from headcount._typing import FloatArray
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["low_confidence_test", "mixture_inverse", "student_dof"]

_MIN_EXPECTED = 8.0
"""Items of the kind that must be expected, in the target and in as many labelled items as are as noisy as those there are."""


def mixture_inverse(M: FloatArray) -> FloatArray:
    """Return B such that p0 + B (q - M p0) are the shares for which M p is nearest to q, among vectors that sum to 1."""
    directions = sum_zero_basis(M.shape[1])
    inverse: FloatArray = directions @ np.linalg.pinv(M @ directions)
    return inverse


def student_dof(parts: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the degrees of freedom of a sum of variances, each from so many items (Welch 1947, Satterthwaite 1946)."""
    total = parts.sum(axis=-1)
    dof: FloatArray = total**2 / np.maximum((parts**2 / np.maximum(sizes - 1.0, 1.0)).sum(axis=-1), 1e-300)
    return np.maximum(dof, 1.0)


def low_confidence_test(M: FloatArray, S: FloatArray, sizes: FloatArray, q: FloatArray, n: FloatArray) -> FloatArray:
    """Return the p-value of each sample having no more items of the kind than a mixture; NaN where too few are expected.

    Parameters
    ----------
    M : array of shape (n_coordinates + 1, n_classes)
        Mean vectors of the classes; the last coordinate is 1 for items of the kind, else 0.
    S : array of shape (n_classes, n_coordinates + 1, n_coordinates + 1)
        Their covariances.
    sizes : array of shape (n_classes,)
        Labelled items.
    q : array of shape (n_samples, n_coordinates + 1)
        Mean vectors of the samples.
    n : array of shape (n_samples,)
    """
    k = len(sizes)
    B = mixture_inverse(M[:-1])
    start = np.full(k, 1.0 / k)
    solved = start + (q[:, :-1] - M[:-1] @ start) @ B.T
    statistic = q[:, -1] - solved @ M[-1]
    w = np.append(-M[-1] @ B, 1.0)
    rates = (M[-1] * sizes + 0.5) / (sizes + 1.0)
    shares = mixture_least_squares(M[:-1], q[:, :-1])
    between = shares @ (w @ M) ** 2 - (shares @ (w @ M)) ** 2
    other = np.einsum("a,jab,b->j", w, S, w) - S[:, -1, -1]  # of the variance within a class: all but the kind's own
    pooled = np.tile(rates, (len(q), 1))
    for _ in range(3):
        within = np.maximum(pooled * (1.0 - pooled) + other, 1e-12)
        target = (np.einsum("sj,sj->s", shares, within) + np.maximum(between, 0.0)) / n
        parts = np.column_stack([shares**2 * within / sizes, target])
        # Rates at which the sample would be a mixture: each side moves by its part of the difference. The variance at these makes
        # a score test, as with two proportions; at the labelled items' own rates it is too small just when the difference is large.
        move = statistic[:, None] * shares * within / sizes / parts.sum(axis=1, keepdims=True)
        pooled = np.clip(rates + move, 0.1 * rates, 1.0 - 0.1 * (1.0 - rates))
    error = np.sqrt(parts.sum(axis=1))
    p_value = student_tail(statistic / error, student_dof(parts, np.column_stack([np.tile(sizes, (len(q), 1)), n])))
    expected = shares @ rates
    labelled = expected**2 / np.maximum(shares**2 @ (rates / sizes), 1e-300)
    made = (expected * n >= _MIN_EXPECTED) & (labelled >= _MIN_EXPECTED)
    return np.where(made, p_value, np.nan)
