"""Compiled: least absolute differences over mixtures, by descent along the edges of the simplex that the differences cut.

A vertex is where k - 1 of the planes p_j = 0 and (M p - q)_i = 0 meet within sum p = 1. From one of them the sum falls along an
edge, on which one plane is left, up to the weighted median of the points where other differences change sign (Barrodale and Roberts
1973).
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

_APART = 1e-10
"""Targets are moved by up to this, each by another amount, so that no more than k - 1 planes meet in a point."""
_GOLDEN = 0.6180339887498949
_FLAT = 1e-12
"""Slopes that fall by less than this are level."""


@kernel(error_model="numpy")
def _invert(A: FloatArray, B: FloatArray) -> bool:
    """Write the inverse of A, which is overwritten, to B, by Gauss and Jordan with pivots; False if it is singular."""
    k = A.shape[0]
    for i in range(k):
        for j in range(k):
            B[i, j] = 1.0 if i == j else 0.0
    for c in range(k):
        best = c
        for i in range(c + 1, k):
            if abs(A[i, c]) > abs(A[best, c]):
                best = i
        if abs(A[best, c]) < 1e-14:
            return False
        if best != c:
            for j in range(k):
                A[c, j], A[best, j] = A[best, j], A[c, j]
                B[c, j], B[best, j] = B[best, j], B[c, j]
        pivot = 1.0 / A[c, c]
        for j in range(k):
            A[c, j] *= pivot
            B[c, j] *= pivot
        for i in range(k):
            factor = A[i, c]
            if i != c and factor != 0.0:
                for j in range(k):
                    A[i, j] -= factor * A[c, j]
                    B[i, j] -= factor * B[c, j]
    return True


@kernel(error_model="numpy")
def _slopes(M: FloatArray, off: FloatArray, is_active: IntArray, g: FloatArray) -> None:
    """Write to g the gradient of the sum of absolute differences, of those that are not kept at 0."""
    d, k = M.shape
    for j in range(k):
        g[j] = 0.0
    for i in range(d):
        if not is_active[i]:
            sign = 1.0 if off[i] > 0.0 else -1.0
            for j in range(k):
                g[j] += sign * M[i, j]


@kernel(error_model="numpy")
def nearest_by_absolute(M: FloatArray, Q: FloatArray, P: FloatArray) -> None:
    """Write to each row of P the shares p on the simplex that minimise sum_i |(M p - q)_i| for that row q of Q.

    The planes are numbered: i of differences, d + j of p_j = 0.
    """
    d, k = M.shape
    A, B = np.empty((k, k)), np.empty((k, k))
    p, g, along = np.empty(k), np.empty(k), np.empty(k)
    target, off, change = np.empty(d), np.empty(d), np.empty(d)
    reach, rows = np.empty(d), np.empty(d, dtype=np.int64)
    active, is_active = np.empty(k - 1, dtype=np.int64), np.empty(d, dtype=np.int64)
    for s in range(Q.shape[0]):
        for i in range(d):
            target[i] = Q[s, i] + _APART * (((i + 1) * _GOLDEN) % 1.0 - 0.5)
            is_active[i] = 0
        nearest, least = 0, np.inf
        for j in range(k):
            total = 0.0
            for i in range(d):
                total += abs(M[i, j] - target[i])
            if total < least:
                nearest, least = j, total
        size = 0
        for j in range(k):
            p[j] = 1.0 if j == nearest else 0.0
            if j != nearest:
                active[size] = d + j
                size += 1
        for i in range(d):
            off[i] = M[i, nearest] - target[i]
        for _ in range(20 * (d + k)):
            for r in range(k - 1):
                plane = active[r]
                for j in range(k):
                    A[r, j] = M[plane, j] if plane < d else (1.0 if j == plane - d else 0.0)
            for j in range(k):
                A[k - 1, j] = 1.0
            if not _invert(A, B):
                break
            _slopes(M, off, is_active, g)
            # Column r of the inverse leaves plane r to its upper side, and stays on the others.
            best, slope, direction = -1, -_FLAT * d, 1.0
            for r in range(k - 1):
                rate = 0.0
                for j in range(k):
                    rate += g[j] * B[j, r]
                if active[r] >= d:
                    if rate < slope:
                        best, slope, direction = r, rate, 1.0
                elif 1.0 - abs(rate) < slope:
                    best, slope, direction = r, 1.0 - abs(rate), (-1.0 if rate > 0.0 else 1.0)
            if best < 0:
                break
            longest, wall = np.inf, -1
            for j in range(k):
                along[j] = direction * B[j, best]
                if along[j] < -1e-13:
                    is_wall = False
                    for r in range(k - 1):
                        is_wall = is_wall or active[r] == d + j
                    if not is_wall and p[j] < longest * -along[j]:
                        longest, wall = max(p[j], 0.0) / -along[j], j
            count = 0
            for i in range(d):
                change[i] = 0.0
                if not is_active[i]:
                    for j in range(k):
                        change[i] += M[i, j] * along[j]
                    if abs(change[i]) > 1e-13 and change[i] * off[i] < 0.0:
                        step = -off[i] / change[i]
                        if step < longest:
                            reach[count], rows[count] = step, i
                            count += 1
            order = np.argsort(reach[:count])
            entering, step = (d + wall if wall >= 0 else -1), longest
            for m in range(count):
                i = rows[order[m]]
                slope += 2.0 * abs(change[i])
                if slope >= 0.0:
                    entering, step = i, reach[order[m]]
                    break
            if entering < 0:
                break
            for j in range(k):
                p[j] += step * along[j]
            leaving = active[best]
            if leaving < d:
                is_active[leaving] = 0
            active[best] = entering
            for i in range(d):
                off[i] += step * change[i]
            if leaving < d:
                off[leaving] = direction * step
            if entering < d:
                is_active[entering] = 1
                off[entering] = 0.0
            else:
                p[entering - d] = 0.0
        total = 0.0
        for j in range(k):
            p[j] = max(p[j], 0.0)
            total += p[j]
        for j in range(k):
            P[s, j] = p[j] / total
