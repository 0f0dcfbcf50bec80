"""Compiled: likelihood ratio intervals, replicates beyond the simplex, moments of the likelihood."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.intervals._profile_kernels import bracket, is_found, minimise_quadratic, next_end
from headcount.quantifiers._kernels import _slope, gather, newton_two

_MAX_STEPS, _TOL = 60, 1e-11


@kernel(error_model="numpy")
def _prepared(F: FloatArray, rows: IntArray, factors: FloatArray) -> AnyArray:
    """Return a matrix of three rows: densities under the first class, under the second, and factors of the items."""
    if factors.size:
        counted = factors > 0.0
        rows, factors = rows[counted], factors[counted]
    table = np.empty((3, rows.size))
    gather(F, rows, table[:2])
    for i in range(rows.size):
        table[2, i] = factors[i] if factors.size else 1.0
    return table


@kernel(error_model="numpy")
def _root_of_ratio(r: FloatArray, d: FloatArray, w: FloatArray, best: float, p: float, within: bool) -> float:
    """Return the root of twice the log likelihood ratio of the best share to p: at the true p, about |standard normal|."""
    twice = 0.0
    information = 0.0
    total = 0.0
    for i in range(r.size):
        here, there = r[i] + p * d[i], r[i] + best * d[i]
        twice += 2.0 * w[i] * np.log(there / here)
        information += w[i] * d[i] * d[i] / (here * there)
        total += w[i]
    if within:  # the sample's composition is not at stake: its part of the variance goes
        twice /= max(1.0 - p * (1.0 - p) * information / total, 1e-6)
    return np.sqrt(max(twice, 0.0))  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def _end(r: FloatArray, d: FloatArray, w: FloatArray, best: float, bound: float, z: float, within: bool) -> float:
    """Return the share between the best one and an end of [0, 1] at which the root of the ratio reaches z, or that end.

    The root grows nearly in proportion to the distance from the best share: the first guess is where it would reach z if it did,
    and the next ones are taken from straight lines (regula falsi, by the Illinois rule). For the sample itself the root may fall
    again, for few items near the end: then that end is taken, and the interval is the wider one.
    """
    inside, below = best, -z
    outside, above = bound, _root_of_ratio(r, d, w, best, bound, within) - z
    if above <= 0.0:
        return bound
    curvature = 0.0
    for i in range(r.size):
        slope = d[i] / (r[i] + best * d[i])
        curvature += w[i] * slope * slope
    guess = best + np.copysign(z / np.sqrt(curvature), bound - best)
    side = 0
    for _ in range(_MAX_STEPS):
        if not min(inside, outside) < guess < max(inside, outside):
            guess = (inside + outside) / 2
        height = _root_of_ratio(r, d, w, best, guess, within) - z
        if height <= 0.0:
            above *= 0.5 if side < 0 else 1.0
            inside, below, side = guess, height, -1
        else:
            below *= 0.5 if side > 0 else 1.0
            outside, above, side = guess, height, 1
        if abs(height) < _TOL or abs(outside - inside) < _TOL:
            break
        guess = inside - below * (outside - inside) / (above - below)
    return guess if abs(guess - bound) > 1e-9 else bound


@kernel(error_model="numpy")
def ratio_bounds(
    F: FloatArray,
    start: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    z: FloatArray,
    within: bool,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write to low and high the second class's shares between which the root of the likelihood ratio is at most each sample's z."""
    for s in range(low.size):
        part = factors[indptr[s] : indptr[s + 1]] if factors.size else factors
        table = _prepared(F, indices[indptr[s] : indptr[s + 1]], part)
        w = table[2]
        best, _, _ = newton_two(table[:2], w, start[1], 1e-10, 200)
        r, d = table[0], table[1]  # newton_two leaves differences in the second row
        low[s] = _end(r, d, w, best, 0.0, z[s], within)
        high[s] = _end(r, d, w, best, 1.0, z[s], within)


@kernel(error_model="numpy")
def free_shares(
    F: FloatArray, start: FloatArray, indices: IntArray, indptr: IntArray, factors: FloatArray, centre: FloatArray
) -> None:
    """Write to centre the second class's most likely share, one Newton step beyond where [0, 1] ends."""
    for s in range(centre.size):
        part = factors[indptr[s] : indptr[s + 1]] if factors.size else factors
        table = _prepared(F, indices[indptr[s] : indptr[s + 1]], part)
        best, _, _ = newton_two(table[:2], table[2], start[1], 1e-8, 200)
        first, second = _slope(table[0], table[1], table[2], best)
        step = first / second if second > 0.0 else 0.0
        centre[s] = best + step if np.isfinite(step) else best


@kernel(error_model="numpy")
def moments(
    F: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    shares: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> None:
    """Write each sample's mean of T and of T T', where T are an item's densities under each class over that of the mixture."""
    k = F.shape[1]
    T = np.empty(k)
    for s in range(shares.shape[0]):
        total = 0.0
        for c in range(k):
            first[s, c] = 0.0
            for e in range(k):
                second[s, c, e] = 0.0
        for i in range(indptr[s], indptr[s + 1]):
            w = factors[i] if factors.size else 1.0
            if w == 0.0:
                continue
            mixed = 0.0
            for c in range(k):
                T[c] = F[indices[i], c]
                mixed += T[c] * shares[s, c]
            for c in range(k):
                T[c] /= mixed
            for c in range(k):
                first[s, c] += w * T[c]
                for e in range(c + 1):
                    second[s, c, e] += w * T[c] * T[e]
            total += w
        for c in range(k):
            first[s, c] /= total
            for e in range(c + 1):
                second[s, c, e] /= total
                second[s, e, c] = second[s, c, e]


@kernel(error_model="numpy")
def _log_likelihood(F: FloatArray, w: FloatArray, p: FloatArray) -> float:
    total = 0.0
    for i in range(F.shape[0]):
        mixed = 0.0
        for c in range(p.size):
            mixed += F[i, c] * p[c]
        total += w[i] * np.log(mixed) if mixed > 0.0 else -np.inf
    return total


@kernel(error_model="numpy")
def _constrained_maximum(F: FloatArray, w: FloatArray, j: int, v: float, p: FloatArray) -> float:
    """Maximise the log-likelihood over shares with p_j = v; p holds a start with positive shares, then the maximum.

    Each step maximises the quadratic approximation over the simplex, and is halved until the likelihood does not fall.
    """
    k = p.size
    m = k - 1
    rest = 0.0
    for c in range(k):
        rest += p[c] if c != j else 0.0
    for c in range(k):
        p[c] = (0.9 * p[c] / rest + 0.1 / m) * (1.0 - v) if rest > 0.0 else (1.0 - v) / m
    p[j] = v
    others, E, e = np.empty(m, dtype=np.int64), np.ones((1, m)), np.ones(1)
    for a in range(m):
        others[a] = a + 1 if a >= j else a
    e[0] = 1.0 - v
    best = _log_likelihood(F, w, p)
    H, g, x, T = np.empty((m, m)), np.empty(m), np.empty(m), np.empty(k)
    for _ in range(_MAX_STEPS):
        for a in range(m):
            g[a] = 0.0
            for b in range(m):
                H[a, b] = 0.0
        for i in range(F.shape[0]):
            mixed = 0.0
            for c in range(k):
                mixed += F[i, c] * p[c]
            for a in range(m):
                T[a] = F[i, others[a]] / mixed
                g[a] += w[i] * T[a]
                for b in range(a + 1):
                    H[a, b] += w[i] * T[a] * T[b]
        for a in range(m):
            for b in range(a):
                H[b, a] = H[a, b]
            x[a] = p[others[a]]
        for a in range(m):
            for b in range(m):
                g[a] += H[a, b] * x[b]
        minimise_quadratic(H, g, E, e, x)
        step, gained = 1.0, False
        moved = p.copy()
        for _ in range(30):
            for a in range(m):
                moved[others[a]] = p[others[a]] + step * (x[a] - p[others[a]])
            value = _log_likelihood(F, w, moved)
            if value >= best:
                gained = value - best > 1e-9 * max(1.0, abs(best))
                for c in range(k):
                    p[c] = moved[c]
                best = value
                break
            step *= 0.5
        if not gained:
            break
    return best  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def profile_bounds(
    F: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    z: FloatArray,
    shares: FloatArray,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write the ends of each class's interval: shares at which the root of the profile likelihood ratio is at most z."""
    k = F.shape[1]
    for s in range(indptr.size - 1):
        rows = indices[indptr[s] : indptr[s + 1]]
        part, w = F[rows], np.ones(rows.size)
        if factors.size:
            w = factors[indptr[s] : indptr[s + 1]].copy()
        greatest = _log_likelihood(part, w, shares[s])
        for j in range(k):
            for bound in (0.0, 1.0):
                search = bracket(shares[s, j], -z[s, j], bound)
                end = bound
                for _ in range(_MAX_STEPS):
                    end = next_end(search)
                    p = shares[s].copy()
                    # Not the ends of [0, 1] themselves: items that only class j explains make the likelihood 0 there.
                    reached = _constrained_maximum(part, w, j, min(max(end, 1e-9), 1.0 - 1e-9), p)
                    if is_found(search, end, np.sqrt(max(2.0 * (greatest - reached), 0.0)) - z[s, j]):
                        break
                if bound == 0.0:
                    low[s, j] = end
                else:
                    high[s, j] = end
