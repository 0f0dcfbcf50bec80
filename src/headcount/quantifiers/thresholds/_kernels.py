"""Compiled: the median over thresholds of the adjusted counts of samples."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

_STEPS, _FEW = 60, 16
"""Bounds on the median that are tried at most, after which values are equal but for rounding; so few values are sorted instead."""
_BELOW_ONE = 1.0 - 2.0**-53
"""The largest number below 1."""


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
def median_adjusted(
    cells: AnyArray, parts: FloatArray, counted: IntArray, fpr: FloatArray, inverse: FloatArray, medians: FloatArray
) -> None:
    """Compute the median over thresholds t of (q(t) - FPR(t)) / (TPR(t) - FPR(t)), clipped, for each row of cells.

    ``counted`` are the positions of the thresholds, ascending; q(t) is the sum of the cells behind threshold t, times the row's
    part.
    """
    n, n_all = counted.size, cells.shape[1] - 1
    rates, factors, beyond = np.zeros(n_all), np.zeros(n_all), np.full(n_all, 2.0)
    for i in range(n):
        rates[counted[i]], factors[counted[i]], beyond[counted[i]] = fpr[i], inverse[i], 0.0
    above, values, kept = np.empty(n_all, dtype=cells.dtype), np.empty(n_all), np.empty(n)
    for s in range(cells.shape[0]):
        total = cells[s, n_all]
        above[n_all - 1] = total
        for cell in range(n_all - 1, 0, -1):
            total += cells[s, cell]
            above[cell - 1] = total
        part = parts[s]
        for i in range(n_all):  # those that do not count are put above all others
            values[i] = min(max((above[i] * part - rates[i]) * factors[i], 0.0), 1.0) + beyond[i]
        medians[s] = _median(values, n, kept)
