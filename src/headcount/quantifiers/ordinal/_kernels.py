"""Compiled: rounds of expectation maximisation with shares that are smoothed along the order, and most probable shares."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray
from headcount.quantifiers._kernels import _largest, _weigh, _weighted_items, _write_shares
from headcount.quantifiers.matching._kernels import least_quadratic
from headcount.simplex._kernels import cholesky

_LEAST = 1e-12
"""A polynomial may be negative where shares are small: a prior of 0 could not be left again."""
_RIDGE = 1e-12
"""Part of itself that is added to each class's second derivative, so that classes that look the same share equally."""


@kernel(error_model="numpy")
def smoothed_rounds(
    F: FloatArray,
    start: FloatArray,
    S: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    tol: float,
    min_iter: int,
    max_iter: int,
    shares: FloatArray,
    n_iter: IntArray,
    changes: FloatArray,
) -> None:
    """Find the shares of each sample by rounds from the given start; S times the shares is the prior of the next round."""
    k = start.size
    w, p, prior = np.empty(_largest(indptr)), np.empty(k), np.empty(k)
    g = np.empty(k)
    for s in range(shares.shape[0]):
        R = _weighted_items(F, indices, factors, indptr[s], indptr[s + 1], w)
        n = R.shape[1]
        inverse, u = np.empty(n), np.empty(n)
        weight, change = 0.0, 1.0
        for i in range(n):
            weight += w[i]
        for c in range(k):
            p[c] = start[c]
        n_iter[s] = max_iter
        for iteration in range(1, max_iter + 1):
            total = 0.0
            for c in range(k):
                prior[c] = 0.0
                for j in range(k):
                    prior[c] += S[c, j] * p[j]
                prior[c] = max(prior[c], _LEAST)
                total += prior[c]
            for c in range(k):
                prior[c] /= total
            if not _weigh(R, w[:n], prior, inverse, u, g):
                break
            change = 0.0
            for c in range(k):
                new = prior[c] * g[c] / weight
                change += abs(new - p[c]) / k
                p[c] = new
            if change < tol and iteration > min_iter:
                n_iter[s] = iteration
                break
        changes[s] = change
        _write_shares(p, shares, s)


@kernel(error_model="numpy")
def most_probable(
    M: FloatArray,
    C: FloatArray,
    sizes: FloatArray,
    Q: FloatArray,
    n: FloatArray,
    drawn: float,
    rounds: int,
    P: FloatArray,
) -> None:
    """Write to each row of P the shares p that minimise (q - M p)' S^-1 (q - M p) + drawn |p - 1 / k|^2 over the simplex.

    S = sum_j (p_j / n + p_j^2 / n_j) C_j is taken at the shares of the round before, at first at equal ones.
    """
    k = M.shape[1]
    S, L, H, A, Y = np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((k, k)), np.empty((k, k + 1))
    b, z, y, free = np.empty(k), np.empty(k), np.empty(k), np.empty(k, dtype=np.int64)
    for s in range(Q.shape[0]):
        p = P[s]
        for j in range(k):
            p[j] = 1.0 / k
        for _ in range(rounds):
            for a in range(k):
                for c in range(a + 1):
                    total = 0.0
                    for j in range(k):
                        total += (p[j] / n[s] + p[j] * p[j] / sizes[j]) * C[j, a, c]
                    S[a, c] = total
            if cholesky(S, L, k, 0.0, 0.0) < k:
                break
            # The columns of M and q as multiples of their standard deviations.
            for c in range(k + 1):
                for a in range(k):
                    value = M[a, c] if c < k else Q[s, a]
                    for i in range(a):
                        value -= L[a, i] * Y[i, c]
                    Y[a, c] = value / L[a, a]
            for c in range(k):
                for d in range(k):
                    H[c, d] = 0.0
                    for a in range(k):
                        H[c, d] += Y[a, c] * Y[a, d]
                H[c, c] += drawn + _RIDGE * H[c, c]
                b[c] = drawn / k
                for a in range(k):
                    b[c] += Y[a, c] * Y[a, k]
            least_quadratic(H, b, p, free, A, L, z, y)
            total = 0.0
            for j in range(k):
                total += p[j]
            for j in range(k):
                p[j] /= total
