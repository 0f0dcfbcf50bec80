"""Compiled: the distance of two samples from mixtures, minimised over all shares with a given difference, and its inversion.

The errors of both samples, z - G p each, are taken together; see `headcount.intervals._profile_kernels` for one sample.
"""

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
    move_share,
    nearest_mixture,
    nearest_shares,
    next_end,
    whiten,
)


@kernel(error_model="numpy")
def joint_covariance(
    p: FloatArray,
    G: FloatArray,
    S: FloatArray,
    shared: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
    C: FloatArray,
) -> None:
    """Write the covariance of both samples' z - G p, which have the errors of the labelled side in common.

    Entry (l, a, b) of ``shared`` is the covariance of coordinate a for the first sample and b for the second in class l; it is 0
    if the samples have no labelled items in common.
    """
    d, k = G.shape[1], G.shape[2]
    for i in range(2):
        part = np.empty((d, d))
        covariance(p[i], G[i], S[i], sizes[i], n[i], within, part)
        for a in range(d):
            for b in range(d):
                C[i * d + a, i * d + b] = part[a, b]
    for a in range(d):
        for b in range(d):
            value = 0.0
            for j in range(k):
                value += p[0, j] * p[1, j] * shared[j, a, b] / sizes[0, j]
            C[a, d + b] = value
            C[d + b, a] = value


@kernel(error_model="numpy")
def _signed_root_of_difference(
    j: int,
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
    """Return the signed root of the distance at a difference p_2j - p_1j beyond the least one; p: a start, then nearest shares.

    Free are the first sample's share of class j, from its least possible value on, and the other shares of both samples.
    """
    d, k = G.shape[1], G.shape[2]
    least = max(0.0, -delta)
    first = min(max((p[0, j] + p[1, j] - delta) / 2.0, least), 1.0 - max(delta, 0.0))
    move_share(p[0], j, first)
    move_share(p[1], j, first + delta)
    m = 2 * k - 1
    C, X = np.empty((2 * d, 2 * d)), np.empty((2 * d, 2 * k + 1))
    tied, x, y = np.empty((2 * d, m)), np.empty(m), np.empty(2 * d)
    E, e = np.zeros((2, m)), np.empty(2)
    for l in range(k):  # noqa: E741 (the class)
        E[0, l] = 1.0
        E[1, k - 1 + l] = 1.0
    E[1, k - 1] = 0.0
    E[1, 0] = 1.0
    e[0], e[1] = 1.0 - least, 1.0 - least - delta
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
            tied[a, 0] = X[a, j] + X[a, k + j]
            y[a] = X[a, 2 * k] - least * X[a, j] - (least + delta) * X[a, k + j]
        x[0] = p[0, j] - least
        c = 1
        for i in range(2):
            for l in range(k):  # noqa: E741
                if l != j:
                    for a in range(2 * d):
                        tied[a, c] = X[a, i * k + l]
                    x[c] = p[i, l]
                    c += 1
        at = nearest_mixture(tied, y, E, e, x)
        p[0, j], p[1, j] = x[0] + least, x[0] + least + delta
        c = 1
        for i in range(2):
            for l in range(k):  # noqa: E741
                if l != j:
                    p[i, l] = x[c]
                    c += 1
    columns, both, best = np.empty((2 * d, 2 * k)), np.zeros((2, 2 * k)), np.empty(2 * k)
    for i in range(2):
        for l in range(k):  # noqa: E741
            both[i, i * k + l] = 1.0
            best[i * k + l] = p[i, l]
    for a in range(2 * d):
        for c in range(2 * k):
            columns[a, c] = X[a, c]
        y[a] = X[a, 2 * k]
    lowest = nearest_mixture(columns, y, both, np.ones(2), best)
    return np.copysign(np.sqrt(max(at - lowest, 0.0)), best[k + j] - best[j] - delta)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def shape_of_difference(
    values: FloatArray,
    p: FloatArray,
    spread: FloatArray,
    third: FloatArray,
    common: FloatArray,
    sizes: FloatArray,
    n: FloatArray,
    within: bool,
) -> tuple[float, float, float]:
    """Return the shape of the signed root of a difference between two means of class values; see `root_shape`.

    ``common``: covariance of both samples' directions in each class.
    """
    k = p.shape[1]
    variance, noise, skewed, along = 0.0, 0.0, 0.0, 0.0
    together = False
    for l in range(k):  # noqa: E741 (the class)
        together |= common[l] != 0.0
    for i in range(2):
        sign, mean = 2.0 * i - 1.0, 0.0
        for l in range(k):  # noqa: E741
            mean += p[i, l] * values[l]
        for l in range(k):  # noqa: E741
            off = 0.0 if within else values[l] - mean
            variance += p[i, l] * off * off / n[i]
            skewed += sign * p[i, l] * (third[i, l] + 3.0 * off * spread[i, l] + off * off * off) / (n[i] * n[i])
    for l in range(k):  # noqa: E741
        target = p[0, l] * spread[0, l] / n[0] + p[1, l] * spread[1, l] / n[1]
        if together:
            labelled = (
                p[0, l] * p[0, l] * spread[0, l]
                + p[1, l] * p[1, l] * spread[1, l]
                - 2.0 * p[0, l] * p[1, l] * common[l]
            )
            part = target + max(labelled, 0.0) / sizes[0, l]
            noise += part * part / max(sizes[0, l] - 1.0, 1.0)
            gap, mean_third = p[1, l] - p[0, l], (third[0, l] + third[1, l]) / 2.0
            skewed -= gap * gap * gap * mean_third / (sizes[0, l] * sizes[0, l])
            along -= gap * mean_third / sizes[0, l] * (p[0, l] / n[0] + p[1, l] / n[1] + gap * gap / sizes[0, l])
            variance += part
            continue
        for i in range(2):
            part = (p[i, l] / n[i] + p[i, l] * p[i, l] / sizes[i, l]) * spread[i, l]
            variance += part
            noise += part * part / max(sizes[i, l] - 1.0, 1.0)
            sign = 2.0 * i - 1.0
            skewed -= sign * p[i, l] * p[i, l] * p[i, l] * third[i, l] / (sizes[i, l] * sizes[i, l])
            along -= sign * p[i, l] * p[i, l] * third[i, l] / sizes[i, l] * (1.0 / n[i] + p[i, l] / sizes[i, l])
    if variance <= 0.0:
        return 0.0, 0.0, 0.0
    scale = variance * np.sqrt(variance)
    return noise / (variance * variance), skewed / scale, along / scale


@kernel(error_model="numpy")
def _difference_excess(
    side: float,
    j: int,
    delta: float,
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
    p: FloatArray,
) -> float:
    """Return by how much the signed root at a difference is beyond its quantile on one side: positive if it is rejected."""
    root = _signed_root_of_difference(j, delta, z, G, S, shared, sizes, n, within, p)
    values = np.zeros(p.shape[1])
    values[j] = 1.0
    shape = shape_of_difference(values, p, spread, third, common, sizes, n, within)
    return beyond_quantile(side, root, shape, normal, table)  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def difference_bounds(
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
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write the ends of the interval of each class's difference, second sample minus first."""
    k = G.shape[2]
    nearest = start.copy()
    for i in range(2):
        nearest_shares(z[i], G[i], S[i], sizes[i], n[i], within, nearest[i])
    for j in range(k):
        if k == 2 and j == 0:
            continue
        for side in (-1.0, 1.0):
            search = bracket(nearest[1, j] - nearest[0, j], -normal, side)
            end = side
            for _ in range(MAX_STEPS):
                end = next_end(search)
                p = nearest.copy()
                excess = _difference_excess(
                    side,
                    j,
                    end,
                    z,
                    G,
                    S,
                    shared,
                    spread[:, :, j],
                    third[:, :, j],
                    common[:, j],
                    sizes,
                    n,
                    within,
                    normal,
                    table,
                    p,
                )
                if is_found(search, end, excess):
                    break
            if side < 0.0:
                low[j] = end
            else:
                high[j] = end
    if k == 2:
        low[0], high[0] = -high[1], -low[1]


@kernel(error_model="numpy")
def no_difference(
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
    roots: FloatArray,
    shapes: FloatArray,
) -> None:
    """Write the signed root of no difference of each class, and its shape."""
    nearest = start.copy()
    for i in range(2):
        nearest_shares(z[i], G[i], S[i], sizes[i], n[i], within, nearest[i])
    for j in range(G.shape[2]):
        p = nearest.copy()
        roots[j] = _signed_root_of_difference(j, 0.0, z, G, S, shared, sizes, n, within, p)
        values = np.zeros(G.shape[2])
        values[j] = 1.0
        shapes[j] = shape_of_difference(values, p, spread[:, :, j], third[:, :, j], common[:, j], sizes, n, within)
