"""Compiled: the share of two classes that minimises a sum of absolute differences, as a weighted median found by selection."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray


@kernel(error_model="numpy")
def _weighted_median(t: FloatArray, w: FloatArray, m: int) -> float:
    """Return the middle of the values x that minimise sum_i w_i |x - t_i|, by selection; both arrays are reordered."""
    total = 0.0
    for i in range(m):
        total += w[i]
    half, tie = total / 2, 1e-12 * total
    first, last, before = 0, m, 0.0  # the median is among [first, last), and the weight of those below is known
    below, above = -np.inf, np.inf
    while True:
        pivot = t[(first + last) // 2]
        low, i, high = first, first, last
        smaller, equal = 0.0, 0.0
        while i < high:
            value, weight = t[i], w[i]
            if value < pivot:
                t[i], w[i] = t[low], w[low]
                t[low], w[low] = value, weight
                smaller += weight
                low += 1
                i += 1
            elif value > pivot:
                high -= 1
                t[i], w[i] = t[high], w[high]
                t[high], w[high] = value, weight
            else:
                equal += weight
                i += 1
        if before + smaller > half + tie:
            above, last = pivot, low
        elif before + smaller + equal < half - tie:
            below, before, first = pivot, before + smaller + equal, high
        else:
            # Flat down to the next smaller value if exactly half of the weight lies below, up to the next larger one likewise.
            left, right = pivot, pivot
            if before + smaller >= half - tie:
                left = below
                for j in range(first, low):
                    left = max(left, t[j])
            if before + smaller + equal <= half + tie:
                right = above
                for j in range(high, last):
                    right = min(right, t[j])
            return (max(left, 0.0) + min(right, 1.0)) / 2  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def least_absolute(M: FloatArray, Q: FloatArray, positive: FloatArray) -> None:
    """Write the share p of the second class that minimises sum_b |q_b - (1 - p) M_b0 - p M_b1| for each row q of Q.

    It is the median of the zeros of the terms, weighted by their slopes, confined to [0, 1].
    """
    t, w = np.empty(M.shape[0]), np.empty(M.shape[0])
    for s in range(Q.shape[0]):
        m = 0
        for b in range(M.shape[0]):
            slope = M[b, 1] - M[b, 0]
            if abs(slope) > 1e-14:
                t[m] = min(max((Q[s, b] - M[b, 0]) / slope, 0.0), 1.0)
                w[m] = abs(slope)
                m += 1
        positive[s] = 0.5 if m == 0 else _weighted_median(t, w, m)
