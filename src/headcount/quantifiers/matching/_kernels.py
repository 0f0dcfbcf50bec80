"""Compiled: the mixture of class profiles that is nearest to a sample's frequencies, by a distance that is convex in the mixture.

With frequencies q and mixture m = M p, a distance is sum_b phi(m_b, q_b). Newton steps on the simplex minimise it: each solves
the quadratic model by active sets. The gap p.g - min_j g_j, with g the gradient, bounds how far the distance is from the least.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray
from headcount.simplex._kernels import cholesky, solve_cholesky

HELLINGER, TOPSOE, PROBABILISTIC_SYMMETRIC = 0, 1, 2
_GAP, _CHANGE = 1e-15, 1e-9
_RIDGE = 1e-9
"""Added to curvatures, relative to their mean: where the distance is flat, rounding must not move the shares."""
_LOG_2 = float(np.log(2.0))
_SUMS = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums, so that several cells are computed at a time."""


@kernel(error_model="numpy")
def _cell(distance: int, m: float, q: float) -> tuple[float, float, float]:
    """Return phi(m, q) and its first and second derivatives by m, for positive q and m; the last distance allows m = 0."""
    if distance == HELLINGER:
        root = np.sqrt(q / m)
        return m + q - 2.0 * root * m, 1.0 - root, 0.5 * root / m
    both = m + q
    if distance == TOPSOE:
        log = np.log(2.0 * m / both)
        return m * log + q * np.log(2.0 * q / both), log, q / (m * both)
    off = (m - q) / both
    return 2.0 * off * off * both, 2.0 * off * (m + 3.0 * q) / both, 16.0 * q * q / (both * both * both)


@kernel()
def _empty_slope(distance: int) -> float:
    """Return the derivative where q is 0: phi is linear in m there."""
    if distance == TOPSOE:
        return _LOG_2
    return 2.0 if distance == PROBABILISTIC_SYMMETRIC else 1.0


@kernel(error_model="numpy", fastmath=_SUMS)
def _mix(M: FloatArray, p: FloatArray, m: FloatArray) -> None:
    """Write the mixture of the rows of M."""
    k, d = M.shape
    for b in range(d):
        m[b] = 0.0
    for j in range(k):
        share = p[j]
        for b in range(d):
            m[b] += share * M[j, b]


@kernel(error_model="numpy", fastmath=_SUMS)
def _products(M: FloatArray, first: FloatArray, g: FloatArray) -> None:
    """Write the product of each row of M with a vector."""
    k, d = M.shape
    for j in range(k):
        total = 0.0
        for b in range(d):
            total += M[j, b] * first[b]
        g[j] = total


@kernel(error_model="numpy", fastmath=_SUMS)
def _curvature(M: FloatArray, second: FloatArray, row: FloatArray, H: FloatArray) -> None:
    """Write M diag(second) M'."""
    k, d = M.shape
    for i in range(k):
        for b in range(d):
            row[b] = M[i, b] * second[b]
        for j in range(i + 1):
            total = 0.0
            for b in range(d):
                total += row[b] * M[j, b]
            H[i, j] = total
            H[j, i] = total


@kernel(error_model="numpy")
def _slopes(
    M: FloatArray,
    q: FloatArray,
    p: FloatArray,
    distance: int,
    m: FloatArray,
    first: FloatArray,
    g: FloatArray,
    second: FloatArray,
) -> tuple[float, bool]:
    """Write the gradient by p and the second derivatives by m_b; return the distance, and whether all are finite."""
    _mix(M, p, m)
    total, empty = 0.0, _empty_slope(distance)
    for b in range(q.size):
        if q[b] <= 0.0:
            first[b], second[b] = empty, 0.0
            total += empty * m[b]
        elif m[b] > 0.0 or distance == PROBABILISTIC_SYMMETRIC:
            value, first[b], second[b] = _cell(distance, m[b], q[b])
            total += value
        else:
            first[b], second[b] = 0.0, 0.0
            for j in range(p.size):
                if M[j, b] > 0.0:  # else no mixture reaches the cell
                    return np.inf, False
    _products(M, first, g)
    return total, True


@kernel(error_model="numpy")
def least_quadratic(
    H: FloatArray,
    b: FloatArray,
    x: FloatArray,
    free: IntArray,
    A: FloatArray,
    L: FloatArray,
    z: FloatArray,
    y: FloatArray,
) -> None:
    """Minimise x'Hx / 2 - b'x over the simplex, in place from a feasible x, by active sets; H is positive definite."""
    k = x.size
    size = 0
    for c in range(k):
        if x[c] > 0.0:
            free[size] = c
            size += 1
    for _ in range(3 * k + 3):
        level = 0.0  # multiplier of the sum
        while True:
            for i in range(size):
                z[i], y[i] = b[free[i]], 1.0
                for j in range(i + 1):
                    A[i, j] = H[free[i], free[j]]
            if cholesky(A, L, size, 0.0, 0.0) < size:
                return
            solve_cholesky(L, z, size)
            solve_cholesky(L, y, size)
            total, ones = -1.0, 0.0
            for i in range(size):
                total += z[i]
                ones += y[i]
            if not ones > 0.0:  # too small a matrix for double precision
                return
            level = total / ones
            step = 1.0
            for i in range(size):
                z[i] -= level * y[i]
                have = x[free[i]]
                if z[i] <= 0.0 and have > z[i]:
                    step = min(step, have / (have - z[i]))
            kept = 0
            for i in range(size):
                c = free[i]
                moved = x[c] + step * (z[i] - x[c])
                if z[i] > 0.0 or moved > 1e-15:
                    x[c] = moved
                    free[kept] = c
                    kept += 1
                else:
                    x[c] = 0.0
            if kept == size:
                break
            size = kept
        best, steepest, scale = -1, 0.0, abs(level)
        for c in range(k):
            scale = max(scale, abs(b[c]))
        for c in range(k):
            if x[c] == 0.0:
                slope = b[c] - level
                for i in range(size):
                    slope -= H[c, free[i]] * x[free[i]]
                if slope > steepest + 1e-13 * scale:
                    steepest = slope
                    best = c
        if best < 0:
            return
        free[size] = best
        size += 1
        x[best] = 1e-300


@kernel(error_model="numpy")
def nearest_two(M: FloatArray, Q: FloatArray, distance: int, max_iter: int, positive: FloatArray) -> None:
    """Write the share p of the second class whose mixture (1 - p) M_0 + p M_1 is nearest to each row of Q, from a given start.

    The derivative rises in p, so its sign brackets the minimum; a Newton step that leaves the bracket is cut to its end, if that
    has not been tried, else to its middle.
    """
    d = M.shape[1]
    base, slope, have = np.empty(d), np.empty(d), np.empty(d)
    empty = _empty_slope(distance)
    for s in range(Q.shape[0]):
        constant = 0.0
        size = 0
        for b in range(d):
            change = M[1, b] - M[0, b]
            if change != 0.0 and Q[s, b] > 0.0:
                base[size], slope[size], have[size] = M[0, b], change, Q[s, b]
                size += 1
            elif change != 0.0:
                constant += empty * change
        low, high = 0.0, 1.0
        tried_low, tried_high = False, False
        p = min(max(positive[s], 0.02), 0.98)  # steps away from an end are small
        for _ in range(max_iter):
            first, second = constant, 0.0
            for b in range(size):
                mixed = max(base[b] + p * slope[b], 0.0)
                if mixed == 0.0 and distance != PROBABILISTIC_SYMMETRIC:  # at an end: the cell is reached inside
                    first = -np.inf if slope[b] > 0.0 else np.inf
                    break
                _, one, two = _cell(distance, mixed, have[b])
                first += one * slope[b]
                second += two * slope[b] * slope[b]
            if abs(first) <= _GAP or (p == 0.0 and first >= 0.0) or (p == 1.0 and first <= 0.0):
                break
            if first < 0.0:
                low, tried_low = p, True
            else:
                high, tried_high = p, True
            step = -first / second if second > 0.0 else -np.sign(first)
            new = p + step if np.isfinite(first) else (low + high) / 2
            if new <= low:
                new = (low + high) / 2 if tried_low else low
            elif new >= high:
                new = (low + high) / 2 if tried_high else high
            change = abs(new - p)
            p = new
            if change <= _CHANGE:
                break
        positive[s] = p


@kernel(error_model="numpy")
def nearest(M: FloatArray, Q: FloatArray, distance: int, max_iter: int, P: FloatArray) -> None:
    """Write to each row of P, which holds where to start, the shares whose mixture of rows of M is nearest to that row of Q."""
    k, d = M.shape
    H, A, L = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    g, there, b, z, y = np.empty(k), np.empty(k), np.empty(k), np.empty(k), np.empty(k)
    m, row, second = np.empty(d), np.empty(d), np.empty(d)
    new, trial = np.empty(k), np.empty(k)
    free = np.empty(k, dtype=np.int64)
    for s in range(Q.shape[0]):
        q, p = Q[s], P[s]
        value, _ = _slopes(M, q, p, distance, m, row, g, second)
        for _ in range(max_iter):
            mean, least = 0.0, np.inf
            for j in range(k):
                mean += p[j] * g[j]
                least = min(least, g[j])
            if mean - least <= _GAP:
                break
            _curvature(M, second, row, H)
            trace = 0.0
            for i in range(k):
                trace += H[i, i]
            ridge = max(_RIDGE * trace / k, 1e-12)
            for i in range(k):
                H[i, i] += ridge
                b[i] = -g[i]
                for j in range(k):
                    b[i] += H[i, j] * p[j]
                new[i] = p[i]
            least_quadratic(H, b, new, free, A, L, z, y)
            slope, change, total = 0.0, 0.0, 0.0
            for j in range(k):
                total += new[j]
            for j in range(k):
                new[j] /= total
                slope += g[j] * (new[j] - p[j])
                change = max(change, abs(new[j] - p[j]))
            if slope >= 0.0:
                break
            step, reached = 1.0, value
            for _ in range(60):
                for j in range(k):
                    trial[j] = p[j] + step * (new[j] - p[j])
                reached, finite = _slopes(M, q, trial, distance, m, row, there, second)
                if finite:
                    along = 0.0
                    for j in range(k):
                        along += there[j] * (new[j] - p[j])
                    # The distance is convex along the step: it has fallen if it is still falling.
                    if along <= -0.1 * slope and (along <= 0.0 or reached <= value + 1e-15):
                        break
                    step *= min(max(0.1, slope / (slope - along)), 0.9)
                else:
                    step *= 0.5
            for j in range(k):
                p[j], g[j] = trial[j], there[j]
            value = reached
            if step == 1.0 and change <= _CHANGE:
                break
