"""Compiled: adding up a batch of posteriors over groups, in one pass, and the sketch of posteriors that likelihoods need."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

_LEAST = 2.0**-40
"""Posteriors below this are one and the same cell of a sketch."""
_ROUNDING, _ROW_SUM = 1e-9, 1e-3
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)


@kernel()
def first_wrong(C: FloatArray) -> int:
    """Return the first column that is no vector of posteriors, or -1; what lies below 0 by rounding becomes 0."""
    k, n = C.shape
    for i in range(n):
        total = 0.0
        for j in range(k):
            value = C[j, i]
            if not value >= -_ROUNDING:
                return i
            if value < 0.0:
                C[j, i] = 0.0
            total += value
        if not abs(total - 1.0) <= _ROW_SUM:
            return i
    return -1


@kernel()
def add_up(C: FloatArray, groups: IntArray, sums: FloatArray, products: FloatArray) -> None:
    """Add the posteriors of each item, and their products if there is room for them, to those of its group."""
    k, n = C.shape
    for i in range(n):
        g = groups[i]
        for j in range(k):
            sums[g, j] += C[j, i]
    if products.size:
        for i in range(n):
            g = groups[i]
            for j in range(k):
                for other in range(j + 1):
                    products[g, j, other] += C[j, i] * C[other, i]


@kernel()
def decide(C: FloatArray, groups: IntArray, counts: FloatArray, cuts: FloatArray, cells: FloatArray) -> None:
    """Count the items of each group by the class of their largest posterior, and by how large it is."""
    k, n = C.shape
    width = cuts.size + 1
    for i in range(n):
        best = 0
        for j in range(1, k):
            if C[j, i] > C[best, i]:
                best = j
        counts[groups[i], best] += 1.0
        if cells.size:
            place = 0
            for cut in cuts:
                place += int(C[best, i] >= cut)
            cells[groups[i], best * width + place] += 1.0


@kernel()
def count_bins(
    p: FloatArray, groups: IntArray, bins: IntArray, starts: IntArray, edge: float, histograms: FloatArray
) -> None:
    """Count the items of each group in the bins of several histograms."""
    for i in range(p.size):
        for h in range(bins.size):
            place = min(int(p[i] * bins[h] + edge), bins[h] - 1)
            histograms[groups[i], starts[h] + place] += 1.0


@kernel()
def into_cells(
    C: FloatArray,
    groups: IntArray,
    weights: FloatArray,
    first: int,
    bits: int,
    most: int,
    filled: int,
    keys: AnyArray,
    held_groups: IntArray,
    held: FloatArray,
) -> tuple[int, int]:
    """Add items to the cells of a sketch, from item ``first`` on; return the item at which it is full, and the cells filled.

    A cell is a group and, for each class, the exponent and the first bits of the posterior's mantissa. Cells are found by a hash of
    that, in a table whose size is a power of 2; that two of them have one and the same of 2^64 hashes is not to be expected.
    """
    k, n = C.shape
    one, none = np.uint64(1), np.uint64(0)
    mask = np.uint64(keys.size) - one
    shift = np.uint64(52 - bits)
    value = np.empty(1, dtype=np.float64)
    word = value.view(np.uint64)
    for i in range(first, n):
        h = (np.uint64(groups[i]) + one) * _MIX_B
        for j in range(k):
            value[0] = max(C[j, i], _LEAST)
            h = (h ^ ((word[0] >> shift) + one)) * _MIX_A
            h = h ^ (h >> _SHIFT_A)
        h = h * _MIX_B
        h = h ^ (h >> _SHIFT_B)
        if h == none:
            h = one
        place = h & mask
        while keys[place] != none and keys[place] != h:
            place = (place + one) & mask
        if keys[place] == none:
            if filled >= most:
                return i, filled
            filled += 1
            keys[place] = h
            held_groups[place] = groups[i]
        weight = weights[i] if weights.size else 1.0
        held[place, k] += weight
        for j in range(k):
            held[place, j] += weight * C[j, i]
    return n, filled
