"""Compiled: intervals of the difference between means of class values of two samples; for single classes `_difference_kernels`."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray
from headcount.intervals._difference_kernels import joint_covariance, shape_of_difference
from headcount.intervals._profile_kernels import (
    MAX_STEPS,
    ROUNDS,
    beyond_quantile,
    bracket,
    is_found,
    nearest_mixture,
    nearest_shares,
    next_end,
    whiten,
)
from headcount.intervals._value_kernels import move_mean


@kernel(error_model="numpy")
def _difference_of_means(values: FloatArray, x: FloatArray) -> float:
    """Return the second mean less the first, for the shares of both samples one after the other."""
    k = values.size
    difference = 0.0
    for l in range(k):  # noqa: E741 (the class)
        difference += values[l] * (x[k + l] - x[l])
    return difference


@kernel(error_model="numpy")
def _start_with_difference(values: FloatArray, delta: float, p: FloatArray) -> None:
    """Replace the shares of both samples by some whose means differ by delta, moving both by about as much."""
    total = 0.0
    for i in range(2):
        for l in range(values.size):  # noqa: E741
            total += values[l] * p[i, l]
    least, most = values.min(), values.max()
    first = min(max((total - delta) / 2.0, max(least, least - delta)), min(most, most - delta))
    move_mean(p[0], values, first)
    move_mean(p[1], values, first + delta)


@kernel(error_model="numpy")
def _signed_root(
    values: FloatArray,
    delta: float,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    shared: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    p: FloatArray,
) -> float:
    """Return the signed root of the distance at a difference of means beyond the least one; p: a start, then nearest shares."""
    d, k = G.shape[1], G.shape[2]
    _start_with_difference(values, delta, p)
    C, X = np.empty((2 * d, 2 * d)), np.empty((2 * d, 2 * k + 1))
    E, e = np.zeros((3, 2 * k)), np.ones(3)
    columns, y, x = np.empty((2 * d, 2 * k)), np.empty(2 * d), np.empty(2 * k)
    for l in range(k):  # noqa: E741
        E[0, l] = 1.0
        E[1, k + l] = 1.0
        E[2, l] = -values[l]
        E[2, k + l] = values[l]
    e[2] = delta
    at = 0.0
    for _ in range(ROUNDS):
        joint_covariance(p, G, S, shared, sizes, n, within, C)
        for i in range(2):
            for a in range(d):
                for l in range(k):  # noqa: E741
                    X[i * d + a, i * k + l] = G[i, a, l]
                    X[i * d + a, (1 - i) * k + l] = 0.0
                X[i * d + a, 2 * k] = z[i, a]
        whiten(C, X)
        for a in range(2 * d):
            for c in range(2 * k):
                columns[a, c] = X[a, c]
            y[a] = X[a, 2 * k]
        for i in range(2):
            for l in range(k):  # noqa: E741
                x[i * k + l] = p[i, l]
        at = nearest_mixture(columns, y, E, e, x)
        for i in range(2):
            for l in range(k):  # noqa: E741
                p[i, l] = x[i * k + l]
    lowest = nearest_mixture(columns, y, E[:2], e[:2], x)
    gap = _difference_of_means(values, x) - delta
    return np.copysign(np.sqrt(max(at - lowest, 0.0)), gap)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def mean_difference_bounds(
    values: FloatArray,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    shared: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    common: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    normal: float,
    table: FloatArray,
    start: FloatArray,
    ends: FloatArray,
) -> None:
    """Write both ends of the interval of the difference, second mean minus first; values are from 0 to 1."""
    nearest = start.copy()
    both = np.empty(2 * values.size)
    for i in range(2):
        nearest_shares(z[i], G[i], S[i], sizes[i], n[i], within, nearest[i])
        for l in range(values.size):  # noqa: E741
            both[i * values.size + l] = nearest[i, l]
    for side in (-1.0, 1.0):
        search = bracket(_difference_of_means(values, both), -normal, side)
        end = side
        for _ in range(MAX_STEPS):
            end = next_end(search)
            p = nearest.copy()
            root = _signed_root(values, end, z, G, S, shared, sizes, n, within, p)
            shape = shape_of_difference(values, p, spread, third, common, sizes, n, within)
            if is_found(search, end, beyond_quantile(side, root, shape, normal, table)):
                break
        ends[0 if side < 0.0 else 1] = end


@kernel(error_model="numpy")
def no_difference_of_means(
    values: FloatArray,
    z: FloatArray,
    G: FloatArray,
    S: FloatArray,
    shared: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    common: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    start: FloatArray,
    found: FloatArray,
) -> None:
    """Write the signed root of no difference, then its shape."""
    p = start.copy()
    for i in range(2):
        nearest_shares(z[i], G[i], S[i], sizes[i], n[i], within, p[i])
    found[0] = _signed_root(values, 0.0, z, G, S, shared, sizes, n, within, p)
    found[1], found[2], found[3] = shape_of_difference(values, p, spread, third, common, sizes, n, within)
