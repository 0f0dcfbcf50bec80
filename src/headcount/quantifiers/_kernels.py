"""Compiled: maximum likelihood shares of samples whose items' densities under each class are known.

With R_ic the density of item i under class c, the likelihood of the items given shares p is prod_i sum_c p_c R_ic: its
logarithm is concave in p. Rounds of expectation maximisation, p_c <- p_c mean_i(R_ic / s_i) with s_i = sum_c p_c R_ic, climb it
slowly; Newton steps climb it fast. Items are in the inner loops, contiguous in memory, so that several are computed at a time.
"""

from typing import NamedTuple

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

_SUMS = {"reassoc", "contract", "nsz"}
"""Let the compiler reorder sums: that is what allows several items to be computed at a time."""

FIRST_ROUNDS = 4


class WorkArrays(NamedTuple):
    """Memory of `most_likely_many`, made by its caller: each array that a kernel makes takes time to compile."""

    w: FloatArray
    inverse: FloatArray
    u: FloatArray
    row: FloatArray
    p: FloatArray
    g: FloatArray
    b: FloatArray
    z: FloatArray
    new: FloatArray
    trial: FloatArray
    H: FloatArray
    L: FloatArray
    free: IntArray

    @classmethod
    def empty(cls, n: int, k: int) -> "WorkArrays":
        """Make them for samples of up to ``n`` items and ``k`` classes."""
        items, shares, matrices = [(n,)] * 4, [(k,)] * 6, [(k, k)] * 2
        return cls._make([*map(np.empty, [*items, *shares, *matrices]), np.empty(k, dtype=np.int64)])


@kernel()
def gather(F: FloatArray, indices: IntArray, R: FloatArray) -> None:
    """Write the densities of a sample's items to the columns of R."""
    for c in range(F.shape[1]):
        for i in range(indices.size):
            R[c, i] = F[indices[i], c]


@kernel(error_model="numpy", fastmath=_SUMS)
def _slope(r: FloatArray, d: FloatArray, w: FloatArray, p: float) -> tuple[float, float]:
    """Return the first derivative of sum_i w_i log(r_i + p d_i), and minus the second."""
    first = 0.0
    second = 0.0
    for i in range(r.size):
        t = d[i] / (r[i] + p * d[i])
        first += w[i] * t
        second += w[i] * t * t
    return first, second


@kernel(error_model="numpy")
def newton_two(R: FloatArray, w: FloatArray, start: float, tol: float, max_iter: int) -> tuple[float, int, float]:
    """Maximise over the second class's share p in [0, 1]; return it, the number of steps and the last change.

    The derivative falls in p, so its sign brackets the maximum; a Newton step that leaves the bracket is cut to its end, if
    that has not been tried, else to its middle.
    """
    r, d = R[0], R[1]
    for i in range(r.size):
        d[i] -= r[i]
    low, high = 0.0, 1.0
    tried_low, tried_high = False, False
    p = min(max(start, 0.05), 0.95)  # from near an end, steps away from it would be small
    change = 1.0
    for n in range(1, max_iter + 1):
        first, second = _slope(r, d, w, p)
        if second <= 1e-24 * r.size:  # the items say nothing
            return start, n, 0.0
        if (p == 0.0 and first <= 0.0) or (p == 1.0 and first >= 0.0):
            return p, n, 0.0
        if first > 0.0:
            low, tried_low = p, True
        else:
            high, tried_high = p, True
        step = first / second if second > 0.0 else 0.0
        new = p + step if np.isfinite(step) else (low + high) / 2
        if new <= low:
            new = (low + high) / 2 if tried_low else low
        elif new >= high:
            new = (low + high) / 2 if tried_high else high
        if step == 0.0:
            new = p
        change = abs(new - p)
        p = new
        if change < tol:
            return p, n, change
    return p, max_iter, change


@kernel(error_model="numpy", fastmath=_SUMS)
def _weigh(R: FloatArray, w: FloatArray, p: FloatArray, inverse: FloatArray, u: FloatArray, g: FloatArray) -> bool:
    """Compute 1 / s_i with s_i = sum_c p_c R_ic, u_i = w_i / s_i and g_c = sum_i u_i R_ic; False if an s_i is not positive."""
    k, n = R.shape
    for i in range(n):
        u[i] = 0.0
    for c in range(k):
        share = p[c]
        if share != 0.0:
            for i in range(n):
                u[i] += share * R[c, i]
    positive = 0
    for i in range(n):
        positive += u[i] > 0.0
        inverse[i] = 1.0 / u[i]
        u[i] = w[i] * inverse[i]
    if positive < n:
        return False
    for c in range(k):
        total = 0.0
        for i in range(n):
            total += R[c, i] * u[i]
        g[c] = total
    return True


@kernel(error_model="numpy", fastmath=_SUMS)
def _curvature(R: FloatArray, inverse: FloatArray, u: FloatArray, row: FloatArray, H: FloatArray) -> None:
    """Compute H_cd = sum_i w_i R_ic R_id / s_i^2, for d <= c, three d at a time to spare loads of the row."""
    k, n = R.shape
    for c in range(k):
        for i in range(n):
            row[i] = R[c, i] * u[i] * inverse[i]
        threes = (c + 1) // 3 * 3
        for d in range(0, threes, 3):
            h0, h1, h2 = 0.0, 0.0, 0.0
            for i in range(n):
                h0 += row[i] * R[d, i]
                h1 += row[i] * R[d + 1, i]
                h2 += row[i] * R[d + 2, i]
            H[c, d], H[c, d + 1], H[c, d + 2] = h0, h1, h2
        for d in range(threes, c + 1):
            h0 = 0.0
            for i in range(n):
                h0 += row[i] * R[d, i]
            H[c, d] = h0


@kernel(inline="always")
def _solve(H: FloatArray, b: FloatArray, free: IntArray, size: int, L: FloatArray, z: FloatArray) -> None:
    """Solve H z = b for the free variables by Cholesky's method; H is positive definite by its ridge."""
    for i in range(size):
        for j in range(i + 1):
            value = H[free[i], free[j]]
            for m in range(j):
                value -= L[i, m] * L[j, m]
            L[i, j] = value / L[j, j] if i > j else np.sqrt(max(value, 1e-300))
    for i in range(size):
        value = b[free[i]]
        for m in range(i):
            value -= L[i, m] * z[m]
        z[i] = value / L[i, i]
    for i in range(size - 1, -1, -1):
        value = z[i]
        for m in range(i + 1, size):
            value -= L[m, i] * z[m]
        z[i] = value / L[i, i]


@kernel()
def _quadratic(H: FloatArray, b: FloatArray, x: FloatArray, free: IntArray, L: FloatArray, z: FloatArray) -> None:
    """Minimise x'Hx / 2 - b'x over x >= 0 from a feasible x, by Lawson and Hanson's active sets (1974)."""
    k = x.size
    size = np.int64(0)  # not the literal 0, for which _solve would be compiled once more
    for c in range(k):
        if x[c] > 0.0:
            free[size] = c
            size += 1
    for _ in range(3 * k + 3):
        while True:
            _solve(H, b, free, size, L, z)
            step = 1.0
            for i in range(size):
                if z[i] <= 0.0:
                    have = x[free[i]]
                    step = min(step, have / (have - z[i]))
            kept = np.int64(0)
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
        best = -1
        steepest = 1e-12
        for c in range(k):
            if x[c] == 0.0:
                slope = b[c]
                for i in range(size):
                    slope -= H[c, free[i]] * x[free[i]]
                if slope > steepest:
                    steepest = slope
                    best = c
        if best < 0:
            return
        free[size] = best
        size += 1
        x[best] = 1e-300


@kernel(error_model="numpy", inline="always")
def newton_many(R: FloatArray, work: WorkArrays, tol: float, max_iter: int) -> tuple[int, float]:
    """Maximise over the simplex, from ``work.p``, in place; return the number of steps and the last change.

    Items have the weights ``work.w``.

    A few rounds first, then sequential quadratic programming on f(p) = -mean log(s) + sum(p), whose minimum over p >= 0 sums
    to 1 by itself (Kim, Carbonetto, Stephens and Anitescu 2020). f is convex along a step, so its slope tells how far to go.
    """
    k, n = R.shape
    w, inverse, u, row, p, g, b, z, new, trial, H, L, free = work
    total = 0.0
    for i in range(n):
        total += w[i]
    _weigh(R, w, p, inverse, u, g)
    for _ in range(FIRST_ROUNDS):
        for c in range(k):
            p[c] *= g[c] / total
        _weigh(R, w, p, inverse, u, g)
    change = 1.0
    for iteration in range(1, max_iter + 1):
        _curvature(R, inverse, u, row, H)
        trace = 0.0
        for c in range(k):
            g[c] /= total
            trace += H[c, c] / total
        ridge = 1e-10 * trace / k
        for c in range(k):
            for d in range(c + 1):
                H[c, d] /= total
                H[d, c] = H[c, d]
            H[c, c] += ridge
            b[c] = 2.0 * g[c] - 1.0 + ridge * p[c]
            new[c] = p[c]
        _quadratic(H, b, new, free, L, z)
        slope = 0.0
        change = 0.0
        for c in range(k):
            slope += (1.0 - g[c]) * (new[c] - p[c])
            change += abs(new[c] - p[c]) / k
        if change < tol:
            for c in range(k):
                trial[c] = new[c]
            if _weigh(R, w, trial, inverse, u, g):
                for c in range(k):
                    p[c] = trial[c]
            return iteration, change
        step = 1.0
        for _ in range(40):
            for c in range(k):
                trial[c] = p[c] + step * (new[c] - p[c])
            if _weigh(R, w, trial, inverse, u, g):
                there = 0.0
                for c in range(k):
                    there += (1.0 - g[c] / total) * (new[c] - p[c])
                if there <= 0.5 * abs(slope):
                    break
                step *= max(0.1, slope / (slope - there))
            else:
                step *= 0.5
        for c in range(k):
            p[c] = trial[c]
    return max_iter, change


@kernel(error_model="numpy")
def rounds(R: FloatArray, w: FloatArray, p: FloatArray, tol: float, min_iter: int, max_iter: int) -> tuple[int, float]:
    """Run SLD's own rounds from p, in place, until a change is below tol after more than min_iter of them."""
    k, n = R.shape
    inverse, u, g = np.empty(n), np.empty(n), np.empty(k)
    total = 0.0
    for i in range(n):
        total += w[i]
    change = 1.0
    for iteration in range(1, max_iter + 1):
        _weigh(R, w, p, inverse, u, g)
        change = 0.0
        for c in range(k):
            new = p[c] * g[c] / total
            change += abs(new - p[c]) / k
            p[c] = new
        if change < tol and iteration > min_iter:
            return iteration, change
    return max_iter, change


@kernel(error_model="numpy", inline="always")
def _weighted_items(
    F: FloatArray, indices: IntArray, factors: FloatArray, first: int, last: int, w: FloatArray
) -> FloatArray:
    """Return the densities of a sample's items, one column each, and write their weights to w.

    Items without weight have no say, whatever their densities.
    """
    k, n = F.shape[1], np.int64(0)
    for t in range(first, last):
        if factors.size == 0 or factors[t] > 0.0:
            w[n] = factors[t] if factors.size else 1.0
            n += 1
    R = np.empty((k, n))
    i = np.int64(0)
    for t in range(first, last):
        if factors.size == 0 or factors[t] > 0.0:
            for c in range(k):
                R[c, i] = F[indices[t], c]
            i += 1
    return R


@kernel(inline="always")
def _largest(indptr: IntArray) -> int:
    largest = np.int64(0)
    for s in range(indptr.size - 1):
        largest = max(largest, indptr[s + 1] - indptr[s])
    return int(largest)


@kernel(inline="always")
def _write_shares(p: FloatArray, shares: FloatArray, s: int) -> None:
    total = 0.0
    for c in range(p.size):
        total += p[c]
    for c in range(p.size):
        shares[s, c] = p[c] / total


# One kernel for each way, because a kernel with all of them takes twice as long to compile.


@kernel(error_model="numpy")
def most_likely_two(
    F: FloatArray,
    start: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    tol: float,
    max_iter: int,
    shares: FloatArray,
    n_iter: IntArray,
    changes: FloatArray,
) -> None:
    """Find the most likely shares of two classes for each sample, by Newton steps."""
    w, p = np.empty(_largest(indptr)), np.empty(2)
    for s in range(shares.shape[0]):
        R = _weighted_items(F, indices, factors, indptr[s], indptr[s + 1], w)
        p[1], n_iter[s], changes[s] = newton_two(R, w[: R.shape[1]], start[1], tol, max_iter)
        p[0] = 1.0 - p[1]
        _write_shares(p, shares, s)


@kernel(error_model="numpy")
def most_likely_many(
    F: FloatArray,
    start: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    tol: float,
    max_iter: int,
    work: WorkArrays,
    shares: FloatArray,
    n_iter: IntArray,
    changes: FloatArray,
) -> None:
    """Find the most likely shares for each sample, by Newton steps from the given start."""
    p = work.p
    for s in range(shares.shape[0]):
        R = _weighted_items(F, indices, factors, indptr[s], indptr[s + 1], work.w)
        for c in range(p.size):
            p[c] = start[c]
        n_iter[s], changes[s] = newton_many(R, work, tol, max_iter)
        _write_shares(p, shares, s)


@kernel(error_model="numpy")
def most_likely_by_rounds(
    F: FloatArray,
    start: FloatArray,
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
    """Find the most likely shares for each sample, by rounds of expectation maximisation from the given start."""
    w, p = np.empty(_largest(indptr)), np.empty(start.size)
    for s in range(shares.shape[0]):
        R = _weighted_items(F, indices, factors, indptr[s], indptr[s + 1], w)
        for c in range(p.size):
            p[c] = start[c]
        n_iter[s], changes[s] = rounds(R, w[: R.shape[1]], p, tol, min_iter, max_iter)
        _write_shares(p, shares, s)
