"""Compiled: the median over thresholds of the adjusted counts of samples."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

_HALVINGS, _FEW = 40, 16
"""Halvings of [0, 1] at most, after which values are equal but for rounding; so few values are sorted rather than halved."""


@kernel(error_model="numpy")
def median_adjusted(
    q: FloatArray, counted: IntArray, fpr: FloatArray, inverse: FloatArray, medians: FloatArray
) -> None:
    """Compute the median over thresholds t of (q(t) - FPR(t)) / (TPR(t) - FPR(t)), clipped, for each row of cells.

    ``counted`` are the positions of the thresholds, ascending; q(t) is the sum of the cells behind threshold t. The values
    between two bounds, which hold the middle ranks, are found by halving; counting below a bound takes no branches.
    """
    n = counted.size
    values, kept = np.empty(n), np.empty(n)
    first, last = (n - 1) // 2, n // 2
    for s in range(q.shape[0]):
        total = 0.0
        cell = q.shape[1] - 1
        for i in range(n - 1, -1, -1):
            while cell > counted[i]:
                total += q[s, cell]
                cell -= 1
            values[i] = min(max((total - fpr[i]) * inverse[i], 0.0), 1.0)
        low, high = -1.0, 1.0  # the middle ranks are in (low, high]
        below, up_to = 0, n  # values up to low, and up to high
        for _ in range(_HALVINGS):
            if up_to - below <= _FEW:
                break
            middle = (max(low, 0.0) + high) / 2
            not_above = 0
            for i in range(n):
                not_above += int(values[i] <= middle)
            if not_above <= first:
                low, below = middle, not_above
            elif not_above > last:
                high, up_to = middle, not_above
            else:
                break  # one middle rank is on each side
        left = 0
        for i in range(n):
            value = values[i]
            if low < value <= high:
                place = left
                while place > 0 and kept[place - 1] > value:
                    kept[place] = kept[place - 1]
                    place -= 1
                kept[place] = value
                left += 1
        medians[s] = (kept[first - below] + kept[last - below]) / 2
