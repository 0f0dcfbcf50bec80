"""Compiled: the median over thresholds of the adjusted counts of samples."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

_STEPS, _FEW = 60, 16
"""Bounds on the median that are tried at most, after which values are equal but for rounding; so few values are sorted instead."""
_BELOW_ONE = 1.0 - 2.0**-53
"""The largest number below 1."""
_ROWS = 4
"""Samples whose cells are added up side by side: one sum would wait for each of its additions."""


@kernel(error_model="numpy")
def _median(values: FloatArray, n: int, kept: FloatArray) -> float:
    """Return the median of the n values in [0, 1]; others are larger. ``kept`` has room for n.

    The values between two bounds, which hold the middle ranks, are found by interpolating ranks between the bounds, and by halving
    where that does not help; counting up to a bound takes no branches. Clipped values are often 0 or 1, so these come first.
    """
    first, last = (n - 1) // 2, n // 2
    zeros, below_one = 0, 0
    for i in range(values.size):
        zeros += int(values[i] <= 0.0)
        below_one += int(values[i] < 1.0)
    if zeros > last:
        return 0.0
    if below_one <= first:
        return 1.0
    low, high = -1.0, 1.0  # the middle ranks are in (low, high]
    below, up_to = 0, n  # values up to low, and up to high
    if zeros <= first:
        low, below = 0.0, zeros
    if below_one > last:
        high, up_to = _BELOW_ONE, below_one
    margin = 0.0  # ranks beyond the middle that are aimed at, so that the bound that was not moved last comes near, too
    for step in range(_STEPS):
        left = up_to - below
        if left <= _FEW:
            break
        start = max(low, 0.0)
        part = 0.5 if step % 4 == 3 else ((first + last) / 2 + margin - below) / left
        middle = start + (high - start) * min(max(part, 0.01), 0.99)
        not_above = 0
        for i in range(values.size):
            not_above += int(values[i] <= middle)
        if not_above <= first:
            low, below = middle, not_above
            margin = 0.4 * _FEW + 0.05 * (up_to - below)
        elif not_above > last:
            high, up_to = middle, not_above
            margin = -0.4 * _FEW - 0.05 * (up_to - below)
        else:
            break  # one middle rank is on each side
    count = 0
    for i in range(values.size):
        value = values[i]
        if low < value <= high:
            place = count
            while place > 0 and kept[place - 1] > value:
                kept[place] = kept[place - 1]
                place -= 1
            kept[place] = value
            count += 1
    return (kept[first - below] + kept[last - below]) / 2  # type: ignore[no-any-return]


@kernel(error_model="numpy")
def _add_from_the_last(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, above: FloatArray) -> None:
    """Write to row r of ``above``, at each cell but the last, the sum of the cells behind it in the r-th of four samples."""
    of_a, of_b, of_c, of_d = 0.0, 0.0, 0.0, 0.0
    for cell in range(a.size - 1, 0, -1):
        of_a += a[cell]
        of_b += b[cell]
        of_c += c[cell]
        of_d += d[cell]
        above[0, cell - 1] = of_a
        above[1, cell - 1] = of_b
        above[2, cell - 1] = of_c
        above[3, cell - 1] = of_d


@kernel(error_model="numpy")
def median_adjusted(
    q: FloatArray, counted: IntArray, fpr: FloatArray, inverse: FloatArray, medians: FloatArray
) -> None:
    """Compute the median over thresholds t of (q(t) - FPR(t)) / (TPR(t) - FPR(t)), clipped, for each row of cells.

    ``counted`` are the positions of the thresholds, ascending; q(t) is the sum of the cells behind threshold t.
    """
    n, n_all = counted.size, q.shape[1] - 1
    rates, factors, beyond = np.zeros(n_all), np.zeros(n_all), np.full(n_all, 2.0)
    for i in range(n):
        rates[counted[i]], factors[counted[i]], beyond[counted[i]] = fpr[i], inverse[i], 0.0
    above, kept = np.empty((_ROWS, n_all)), np.empty(n)
    for start in range(0, q.shape[0], _ROWS):
        end = min(start + _ROWS, q.shape[0])
        _add_from_the_last(q[start], q[min(start + 1, end - 1)], q[min(start + 2, end - 1)], q[end - 1], above)
        for s in range(start, end):
            values = above[s - start]
            for i in range(n_all):  # those that do not count are put above all others
                values[i] = min(max((values[i] - rates[i]) * factors[i], 0.0), 1.0) + beyond[i]
            medians[s] = _median(values, n, kept)
