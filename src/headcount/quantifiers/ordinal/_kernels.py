"""Compiled: rounds of expectation maximisation whose shares are smoothed along the order before they are the next prior."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray
from headcount.quantifiers._kernels import _largest, _weigh, _weighted_items, _write_shares

_LEAST = 1e-12
"""A polynomial may be negative where shares are small: a prior of 0 could not be left again."""


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
