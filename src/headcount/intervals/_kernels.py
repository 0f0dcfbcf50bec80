"""Compiled: the ends of SLD's interval for two classes, by likelihood ratios; its replicates beyond the simplex; its moments."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.quantifiers._kernels import _slope, gather, newton_two

_STEPS, _NEAR = 60, 1e-11


@kernel(error_model="numpy")
def _prepared(P: FloatArray, inverse: FloatArray, rows: IntArray, weights: FloatArray) -> AnyArray:
    """Return a matrix of three rows: likelihood ratios of the first class, those of the second, and weights of mean 1."""
    if weights.size:
        counted = weights > 0.0
        rows, weights = rows[counted], weights[counted]
    table = np.empty((3, rows.size))
    gather(P, inverse, rows, table[:2])
    factor = weights.sum() / (weights * weights).sum() if weights.size else 1.0
    for i in range(rows.size):
        table[2, i] = weights[i] * factor if weights.size else 1.0
    return table


@kernel(error_model="numpy")
def _root_of_ratio(r: FloatArray, d: FloatArray, w: FloatArray, best: float, p: float, pile: bool) -> float:
    """Return the root of twice the log likelihood ratio of the best share to p: at the true p, about |standard normal|."""
    twice = 0.0
    information = 0.0
    total = 0.0
    for i in range(r.size):
        here, there = r[i] + p * d[i], r[i] + best * d[i]
        twice += 2.0 * w[i] * np.log(there / here)
        information += w[i] * d[i] * d[i] / (here * there)
        total += w[i]
    if pile:  # the composition of the pile is not at stake: its part of the variance goes
        twice /= max(1.0 - p * (1.0 - p) * information / total, 1e-6)
    return np.sqrt(max(twice, 0.0))  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def _end(r: FloatArray, d: FloatArray, w: FloatArray, best: float, bound: float, z: float, pile: bool) -> float:
    """Return the share between the best one and an end of [0, 1] at which the root of the ratio reaches z, or that end.

    The root grows nearly in proportion to the distance from the best share: the first guess is where it would reach z if it did,
    and the next ones are taken from straight lines (regula falsi, by the Illinois rule). Of a pile the root may fall again, for few
    items near the end: then that end is taken, and the interval is the wider one.
    """
    inside, below = best, -z
    outside, above = bound, _root_of_ratio(r, d, w, best, bound, pile) - z
    if above <= 0.0:
        return bound
    curvature = 0.0
    for i in range(r.size):
        slope = d[i] / (r[i] + best * d[i])
        curvature += w[i] * slope * slope
    guess = best + np.copysign(z / np.sqrt(curvature), bound - best)
    side = 0
    for _ in range(_STEPS):
        if not min(inside, outside) < guess < max(inside, outside):
            guess = (inside + outside) / 2
        height = _root_of_ratio(r, d, w, best, guess, pile) - z
        if height <= 0.0:
            above *= 0.5 if side < 0 else 1.0
            inside, below, side = guess, height, -1
        else:
            below *= 0.5 if side > 0 else 1.0
            outside, above, side = guess, height, 1
        if abs(height) < _NEAR or abs(outside - inside) < _NEAR:
            break
        guess = inside - below * (outside - inside) / (above - below)
    return guess if abs(guess - bound) > 1e-9 else bound


@kernel(error_model="numpy")
def ratio_bounds(
    P: FloatArray,
    prior: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    weights: FloatArray,
    z: FloatArray,
    pile: bool,
    low: FloatArray,
    high: FloatArray,
) -> None:
    """Write to low and high the second class's shares between which the root of the likelihood ratio is at most each sample's z."""
    inverse = 1.0 / prior
    for s in range(low.size):
        own = weights[indptr[s] : indptr[s + 1]] if weights.size else weights
        table = _prepared(P, inverse, indices[indptr[s] : indptr[s + 1]], own)
        w = table[2]
        best, _, _ = newton_two(table[:2], w, prior[1], 1e-10, 200)
        r, d = table[0], table[1]  # newton_two leaves differences in the second row
        low[s] = _end(r, d, w, best, 0.0, z[s], pile)
        high[s] = _end(r, d, w, best, 1.0, z[s], pile)


@kernel(error_model="numpy")
def free_shares(
    P: FloatArray, prior: FloatArray, indices: IntArray, indptr: IntArray, weights: FloatArray, centre: FloatArray
) -> None:
    """Write to centre the second class's most likely share, one Newton step beyond where [0, 1] ends."""
    inverse = 1.0 / prior
    for s in range(centre.size):
        own = weights[indptr[s] : indptr[s + 1]] if weights.size else weights
        table = _prepared(P, inverse, indices[indptr[s] : indptr[s + 1]], own)
        best, _, _ = newton_two(table[:2], table[2], prior[1], 1e-8, 200)
        first, second = _slope(table[0], table[1], table[2], best)
        step = first / second if second > 0.0 else 0.0
        centre[s] = best + step if np.isfinite(step) else best


@kernel(error_model="numpy")
def moments(
    P: FloatArray,
    prior: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    weights: FloatArray,
    shares: FloatArray,
    first: FloatArray,
    second: FloatArray,
) -> None:
    """Write each sample's mean of T and of T T', where T are an item's likelihoods under each class over that of the mixture."""
    k = prior.size
    T = np.empty(k)
    for s in range(shares.shape[0]):
        total = 0.0
        first[s] = 0.0
        second[s] = 0.0
        for i in range(indptr[s], indptr[s + 1]):
            w = weights[i] if weights.size else 1.0
            if w == 0.0:
                continue
            mixed = 0.0
            for c in range(k):
                T[c] = P[indices[i], c] / prior[c]
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
