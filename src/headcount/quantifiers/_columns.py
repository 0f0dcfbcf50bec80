"""Compiled: add up batches of posteriors stored by class, the fast path of streaming.

``C`` has a row for each class and a column for each item, so that items are contiguous. A batch has at most 2^20 items:
their fixed-point coordinates (units of 2^-40, as in `headcount.protocols.exact`) then fit into 64-bit sums.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

_SCALE = 2.0**40
_ROUNDING, _ROW_SUM = 1e-9, 1e-3
"""How far below 0 a posterior may be, and how far from 1 their sum: as in `Outputs`."""
_TWO_52 = 2.0**52
_TWO_52_BITS = int(np.array(_TWO_52).view(np.int64))
"""A whole number below 2^52 plus 2^52 has the number in its last bits: several are converted at a time that way."""
_CENTRE = 1.5 * 2.0**52
_CENTRE_BITS = int(np.array(_CENTRE).view(np.int64))
"""The same for whole numbers between -2^51 and 2^51."""
_BLOCK = 512
"""Items worked on together: their running maxima stay in the first-level cache and are computed several at a time."""


@kernel()
def first_invalid(C: FloatArray) -> int:
    """Return the first item whose column is not a vector of posteriors, or -1; set to 0 what is negative by rounding."""
    k, n = C.shape
    total, least = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for i in range(size):
            total[i], least[i] = 0.0, 0.0
        for j in range(k):
            row = C[j, start : start + size]
            for i in range(size):
                total[i] += row[i]
                least[i] = min(least[i], row[i])
        invalid = False
        negative = False
        for i in range(size):
            invalid |= not (least[i] >= -_ROUNDING and abs(total[i] - 1.0) <= _ROW_SUM)
            negative |= least[i] < 0.0
        if invalid:
            for i in range(size):
                if not (least[i] >= -_ROUNDING and abs(total[i] - 1.0) <= _ROW_SUM):
                    return start + i
        if negative:
            for j in range(k):
                for i in range(start, start + size):
                    C[j, i] = max(C[j, i], 0.0)
    return -1


@kernel(error_model="numpy")
def sum_posteriors(C: FloatArray, groups: IntArray, sums: IntArray, products: IntArray, sizes: IntArray) -> None:
    """Count the items of each group, add up their posteriors and, if there is room, the products of two (lower triangle).

    ``sums`` and ``products`` have a row for each coordinate, so that the groups that are added to lie side by side.
    """
    k, n = C.shape
    values = np.empty(_BLOCK)
    units = values.view(np.int64)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        group = groups[start : start + size]
        for i in range(size):
            sizes[group[i]] += 1
        pair = 0
        for j in range(k):
            row, total = C[j, start : start + size], sums[j]
            for i in range(size):
                values[i] = np.floor(row[i] * _SCALE + 0.5) + _TWO_52
            for i in range(size):
                total[group[i]] += units[i] - _TWO_52_BITS
            if products.size:
                for other in range(j + 1):
                    factor, total = C[other, start : start + size], products[pair]
                    for i in range(size):
                        values[i] = np.floor(row[i] * factor[i] * _SCALE + 0.5) + _TWO_52
                    for i in range(size):
                        total[group[i]] += units[i] - _TWO_52_BITS
                    pair += 1


@kernel(error_model="numpy")
def sum_weighted(
    C: FloatArray,
    rows: IntArray,
    factors: FloatArray,
    unit: float,
    sums: IntArray,
    products: IntArray,
    totals: IntArray,
) -> None:
    """Add up factors, factors times coordinates and, if there is room, factors times products of two (lower triangle), by row.

    ``C`` has a row for each coordinate and a column for each item. A number x is added as floor(x * unit + 1/2); the caller chooses
    a unit that makes it less than 2^45, and adds at most 2^18 items in a call.
    """
    d, n = C.shape
    values = np.empty(_BLOCK)
    units = values.view(np.int64)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        row, factor = rows[start : start + size], factors[start : start + size]
        for i in range(size):
            values[i] = np.floor(factor[i] * unit + 0.5) + _CENTRE
        for i in range(size):
            totals[row[i]] += units[i] - _CENTRE_BITS
        pair = 0
        for j in range(d):
            coordinate, total = C[j, start : start + size], sums[j]
            for i in range(size):
                values[i] = np.floor(coordinate[i] * factor[i] * unit + 0.5) + _CENTRE
            for i in range(size):
                total[row[i]] += units[i] - _CENTRE_BITS
            if products.size:
                for other in range(j + 1):
                    second, total = C[other, start : start + size], products[pair]
                    for i in range(size):
                        values[i] = np.floor(coordinate[i] * second[i] * factor[i] * unit + 0.5) + _CENTRE
                    for i in range(size):
                        total[row[i]] += units[i] - _CENTRE_BITS
                    pair += 1


@kernel()
def count_cells(C: FloatArray, groups: IntArray, cuts: FloatArray, units: IntArray, counts: IntArray) -> None:
    """Count items by group, class of the largest posterior (the first of equal ones), and cuts that it reaches.

    An item counts 1 or, if ``units`` are given, as many units as it has there.
    """
    k, n = C.shape
    width = cuts.size + 1
    largest = np.empty(_BLOCK)
    cell = np.empty(_BLOCK, dtype=np.int64)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        group = groups[start : start + size]
        for i in range(size):
            largest[i], cell[i] = C[0, start + i], 0
        for j in range(1, k):
            row = C[j, start : start + size]
            for i in range(size):
                cell[i] = j * width if row[i] > largest[i] else cell[i]
                largest[i] = max(largest[i], row[i])
        for cut in cuts:
            for i in range(size):
                cell[i] += int(largest[i] >= cut)
        if units.size:
            unit = units[start : start + size]
            for i in range(size):
                counts[group[i], cell[i]] += unit[i]
        else:
            for i in range(size):
                counts[group[i], cell[i]] += 1


@kernel()
def count_bins(
    p: FloatArray,
    groups: IntArray,
    bins: IntArray,
    starts: IntArray,
    edge: float,
    units: IntArray,
    counts: IntArray,
) -> None:
    """Count the items of each group in the bins of several histograms of p over [0, 1], as `count_cells` does."""
    bin_of = np.empty(_BLOCK, dtype=np.int32)
    for start in range(0, p.size, _BLOCK):
        size = min(_BLOCK, p.size - start)
        group, value = groups[start : start + size], p[start : start + size]
        for h in range(bins.size):
            n_bins, last, first = float(bins[h]), np.int32(bins[h] - 1), np.int32(starts[h])
            for i in range(size):
                bin_of[i] = min(np.int32(value[i] * n_bins + edge), last) + first
            if units.size:
                unit = units[start : start + size]
                for i in range(size):
                    counts[group[i], bin_of[i]] += unit[i]
            else:
                for i in range(size):
                    counts[group[i], bin_of[i]] += 1
