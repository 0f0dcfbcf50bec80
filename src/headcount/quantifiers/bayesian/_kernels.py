"""Compiled: draws of shares from their posterior, given counts of a sample's items and of labelled items in cells.

With profiles F (column j: how the items of class j are spread over cells) and shares p, the posterior density is proportional to

    prod_j p_j^(a_j - 1)  prod_cj F_cj^(A_cj - 1)  prod_c r_c^(n_c),    r = F p,

where A holds the labelled counts plus the prior's. It is explored by Metropolis steps. The likelihood fixes r but not how it is
made up, so two of the four kinds of steps leave r as it is: with few labelled items and a large sample, all others are short.
"""

from math import exp, log, sqrt

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray

_ACCEPTED = 0.35
"""Rate of accepted steps that their lengths are adapted to."""
_LEAST = 1e-290
_EM_ROUNDS = 30


@kernel(error_model="numpy")
def _step(u: float) -> float:
    """Return the quantile of Student's distribution with two degrees of freedom: most steps short, some long."""
    z = 2.0 * u - 1.0
    return z * sqrt(2.0 / (1.0 - z * z)) if abs(z) < 1.0 else 0.0


@kernel(error_model="numpy")
def _other(u: float, n: int, a: int) -> int:
    """Return one of n positions, but not a."""
    b = min(int(u * (n - 1)), n - 2)
    return b + 1 if b >= a else b


@kernel(error_model="numpy")
def _settle(F: FloatArray, p: FloatArray, r: FloatArray) -> None:
    """Set r = F p, with profiles and shares that sum to 1: steps that stretch differences of profiles would blow up rounding."""
    for c in range(F.shape[0]):
        r[c] = 0.0
    total_p = 0.0
    for j in range(F.shape[1]):
        total_p += p[j]
    for j in range(F.shape[1]):
        total = 0.0
        for c in range(F.shape[0]):
            total += F[c, j]
        p[j] /= total_p
        for c in range(F.shape[0]):
            F[c, j] /= total
            r[c] += F[c, j] * p[j]


@kernel(error_model="numpy")
def draw_shares(
    counts: FloatArray,
    A: FloatArray,
    alpha: FloatArray,
    U: FloatArray,
    n_warmup: int,
    out: FloatArray,
) -> None:
    """Draw shares for each sample: ``out[s, t]`` is draw t for the counts ``counts[s]``.

    All samples use the same random numbers, a row of U for each sweep, so that an answer does not depend on other samples.
    """
    m, k = A.shape
    F, p, r, moved = np.empty((m, k)), np.empty(k), np.empty(m), np.empty(m)
    lengths = np.empty(2 * k + m * k + m)
    for s in range(counts.shape[0]):
        n = counts[s]
        _start(n, A, alpha, F, p, r)
        for i in range(lengths.size):
            lengths[i] = -3.0
        for sweep in range(U.shape[0]):
            u = U[sweep]
            gain = (1.0 + sweep) ** -0.6 if sweep < n_warmup else 0.0
            _settle(F, p, r)
            at = 0
            for a in range(k):  # Move weight between two shares: a step of the logit of one among both.
                b = _other(u[at], k, a)
                total = p[a] + p[b]
                x = log(p[a] / p[b]) + exp(lengths[a]) * _step(u[at + 1])
                new_a, new_b = total / (1.0 + exp(-x)), total / (1.0 + exp(x))
                accepted = 0.0
                if new_a > _LEAST and new_b > _LEAST:
                    gain_log = alpha[a] * log(new_a / p[a]) + alpha[b] * log(new_b / p[b])
                    for c in range(m):
                        moved[c] = r[c] + (new_a - p[a]) * F[c, a] + (new_b - p[b]) * F[c, b]
                        if n[c] > 0.0:
                            gain_log += n[c] * log(max(moved[c], 1e-300) / r[c])
                    if log(u[at + 2]) < gain_log:
                        accepted = 1.0
                        p[a], p[b] = new_a, new_b
                        for c in range(m):
                            r[c] = moved[c]
                lengths[a] += gain * (accepted - _ACCEPTED)
                at += 3
            for a in range(k):  # Move the profile of a away from that of b, and its share inversely: r stays.
                b = _other(u[at], k, a)
                x = exp(lengths[k + a]) * _step(u[at + 1])
                factor = exp(min(max(x, -30.0), 30.0))
                new_a = p[a] / factor
                new_b = p[b] + p[a] - new_a
                accepted = 0.0
                if new_b > _LEAST and new_a > _LEAST:
                    gain_log = (alpha[a] - 1.0) * log(new_a / p[a]) + (alpha[b] - 1.0) * log(new_b / p[b])
                    gain_log += (m - 2.0) * log(factor)
                    for c in range(m):
                        moved[c] = F[c, b] + factor * (F[c, a] - F[c, b])
                        if moved[c] <= _LEAST:
                            gain_log = -np.inf
                            break
                        gain_log += (A[c, a] - 1.0) * log(moved[c] / F[c, a])
                    if log(u[at + 2]) < gain_log:
                        accepted = 1.0
                        p[a], p[b] = new_a, new_b
                        for c in range(m):
                            F[c, a] = moved[c]
                lengths[k + a] += gain * (accepted - _ACCEPTED)
                at += 3
            for a in range(k):  # Move weight between two cells of one profile.
                for c in range(m):
                    i = 2 * k + a * m + c
                    d = _other(u[at], m, c)
                    total = F[c, a] + F[d, a]
                    x = log(F[c, a] / F[d, a]) + exp(lengths[i]) * _step(u[at + 1])
                    new_c, new_d = total / (1.0 + exp(-x)), total / (1.0 + exp(x))
                    accepted = 0.0
                    if new_c > _LEAST and new_d > _LEAST:
                        gain_log = A[c, a] * log(new_c / F[c, a]) + A[d, a] * log(new_d / F[d, a])
                        r_c = max(r[c] + p[a] * (new_c - F[c, a]), 1e-300)
                        r_d = max(r[d] + p[a] * (new_d - F[d, a]), 1e-300)
                        if n[c] > 0.0:
                            gain_log += n[c] * log(r_c / r[c])
                        if n[d] > 0.0:
                            gain_log += n[d] * log(r_d / r[d])
                        if log(u[at + 2]) < gain_log:
                            accepted = 1.0
                            F[c, a], F[d, a], r[c], r[d] = new_c, new_d, r_c, r_d
                    lengths[i] += gain * (accepted - _ACCEPTED)
                    at += 3
            for c in range(m):  # Move weight between two cells of one profile, and back in another one: r stays.
                i = 2 * k + k * m + c
                d, a = _other(u[at], m, c), min(int(u[at + 1] * k), k - 1)
                b = _other(u[at + 2], k, a)
                x = exp(lengths[i]) * _step(u[at + 3])
                ca, da = F[c, a] + x / p[a], F[d, a] - x / p[a]
                cb, db = F[c, b] - x / p[b], F[d, b] + x / p[b]
                accepted = 0.0
                if min(min(ca, da), min(cb, db)) > _LEAST:
                    gain_log = (A[c, a] - 1.0) * log(ca / F[c, a]) + (A[d, a] - 1.0) * log(da / F[d, a])
                    gain_log += (A[c, b] - 1.0) * log(cb / F[c, b]) + (A[d, b] - 1.0) * log(db / F[d, b])
                    if log(u[at + 4]) < gain_log:
                        accepted = 1.0
                        F[c, a], F[d, a], F[c, b], F[d, b] = ca, da, cb, db
                lengths[i] += gain * (accepted - _ACCEPTED)
                at += 5
            for j in range(k if sweep >= n_warmup else 0):
                out[s, sweep - n_warmup, j] = p[j]


@kernel(error_model="numpy")
def _start(n: FloatArray, A: FloatArray, alpha: FloatArray, F: FloatArray, p: FloatArray, r: FloatArray) -> None:
    """Set the profiles to their mean by the labelled items, and the shares to likely ones for these profiles."""
    m, k = A.shape
    weight = 0.0
    for j in range(k):
        total = 0.0
        for c in range(m):
            total += A[c, j]
        for c in range(m):
            F[c, j] = max(A[c, j] / total, 1e-12)
        p[j] = 1.0 / k
        weight += alpha[j]
    for c in range(m):
        weight += n[c]
    for _ in range(_EM_ROUNDS):
        _settle(F, p, r)
        for j in range(k):
            total = alpha[j]
            for c in range(m):
                total += n[c] * F[c, j] * p[j] / r[c]
            p[j] = total / weight
