"""Compiled: intervals of a mean of class values, by the same distance as those of classes, minimised over shares with that mean."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray
from headcount.intervals._profile_kernels import (
    MAX_STEPS,
    ROUNDS,
    beyond_quantile,
    bracket,
    covariance,
    is_found,
    nearest_mixture,
    nearest_of_all,
    nearest_shares,
    next_end,
    root_shape,
    whiten,
    write_beside,
)


@kernel(error_model="numpy")
def move_mean(p: FloatArray, values: FloatArray, v: float) -> None:
    """Replace shares by those with mean v, between p and the class of the least or the greatest value."""
    mean = 0.0
    for i in range(p.size):
        mean += p[i] * values[i]
    extreme = np.argmax(values) if v > mean else np.argmin(values)
    off = values[extreme] - mean
    step = min(max((v - mean) / off, 0.0), 1.0) if off != 0.0 else 0.0
    for i in range(p.size):
        p[i] *= 1.0 - step
    p[extreme] += step


@kernel(error_model="numpy")
def _signed_root(
    values: FloatArray,
    v: float,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    sizes: FloatArray,
    n: float,
    within: bool,
    p: FloatArray,
) -> float:
    """Return the signed root of the distance at the mean v beyond the least one; p holds a start, then the nearest shares."""
    d, k = G.shape
    move_mean(p, values, v)
    C, X, E, e = np.empty((d, d)), np.empty((d, k + 1)), np.ones((2, k)), np.ones(2)
    columns, y = np.empty((d, k)), np.empty(d)
    e[1] = v
    for j in range(k):
        E[1, j] = values[j]
    at = 0.0
    for _ in range(ROUNDS):
        covariance(p, G, S, sizes, n, within, C)
        write_beside(G, z, X)
        whiten(C, X)
        for a in range(d):
            for j in range(k):
                columns[a, j] = X[a, j]
            y[a] = X[a, k]
        at = nearest_mixture(columns, y, E, e, p)
    best = p.copy()
    least = nearest_of_all(X, best)
    mean = 0.0
    for i in range(k):
        mean += best[i] * values[i]
    return np.copysign(np.sqrt(max(at - least, 0.0)), mean - v)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def mean_bounds(
    values: FloatArray,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    normal: float,
    table: FloatArray,
    start: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write the ends of the interval of each sample's mean; G, S, spread, third have one entry for all samples or one each."""
    for s in range(z.shape[0]):
        m = s if G.shape[0] > 1 else 0
        nearest = start[s].copy()
        nearest_shares(z[s], G[m], S[m], sizes, n[s], within, nearest)
        middle = 0.0
        for i in range(values.size):
            middle += nearest[i] * values[i]
        for side in (-1.0, 1.0):
            search = bracket(middle, -normal, values.min() if side < 0.0 else values.max())
            end = middle
            for _ in range(MAX_STEPS):
                end = next_end(search)
                p = nearest.copy()
                root = _signed_root(values, end, z[s], G[m], S[m], sizes, n[s], within, p)
                shape = root_shape(values, end, p, spread[m], third[m], sizes, n[s], within)
                if is_found(search, end, beyond_quantile(side, root, shape, normal, table)):
                    break
            if side < 0.0:
                low[s] = end
            else:
                high[s] = end
