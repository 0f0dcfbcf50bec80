"""Compiled: adding up a batch of posteriors over groups, and the sketch of posteriors that likelihoods need."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

_LEAST = 2.0**-40
"""Posteriors below this are one and the same cell of a sketch."""
_LEAST_WORD = np.array(_LEAST).view(np.uint64)[()]
"""Its bits; those of larger numbers are larger."""
_ROUNDING, _ROW_SUM = 1e-9, 1e-3
_TOGETHER = 512
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)


@kernel()
def add_up(
    C: FloatArray, groups: IntArray, cuts: FloatArray, sums: FloatArray, products: FloatArray, counts: FloatArray
) -> int:
    """Add the posteriors of each item to those of its group, and count it; return the first that is no vector of them, or -1.

    What lies below 0 by rounding becomes 0. Items are counted by the class of their largest posterior, and by how many of the
    cuts it reaches. Some items at a time are looked at, one thing of all of them after the other, so that processors can do that
    for several at once.

    Parameters
    ----------
    C : array of shape (n_classes, n_items)
    groups : array of int, shape (n_items,)
    cuts : array of shape (n_cuts,)
    sums : array of shape (n_groups, n_classes)
    products : array of shape (n_groups, n_classes, n_classes)
        Of two posteriors, below the diagonal and on it; without any room if they are not asked for.
    counts : array of shape (n_groups, n_classes * (n_cuts + 1))
    """
    k, n = C.shape
    width = cuts.size + 1
    total, least, most = np.empty(_TOGETHER), np.empty(_TOGETHER), np.empty(_TOGETHER)
    cell = np.empty(_TOGETHER, dtype=np.int64)
    for start in range(0, n, _TOGETHER):
        some = min(_TOGETHER, n - start)
        own = groups[start : start + some]
        for i in range(some):
            total[i], least[i], most[i], cell[i] = 0.0, 0.0, C[0, start + i], 0
        for j in range(k):
            row = C[j, start : start + some]
            for i in range(some):
                total[i] += row[i]
                least[i] = min(least[i], row[i])
                cell[i] = j * width if row[i] > most[i] else cell[i]
                most[i] = max(most[i], row[i])
        wrong = False
        negative = False
        for i in range(some):
            wrong |= not (least[i] >= -_ROUNDING and abs(total[i] - 1.0) <= _ROW_SUM)
            negative |= least[i] < 0.0
        if wrong:
            for i in range(some):
                if not (least[i] >= -_ROUNDING and abs(total[i] - 1.0) <= _ROW_SUM):
                    return start + i
        if negative:
            for j in range(k):
                for i in range(start, start + some):
                    C[j, i] = max(C[j, i], 0.0)
        for j in range(k):
            row = C[j, start : start + some]
            for i in range(some):
                sums[own[i], j] += row[i]
            if products.size:
                for other in range(j + 1):
                    factor = C[other, start : start + some]
                    for i in range(some):
                        products[own[i], j, other] += row[i] * factor[i]
        for cut in cuts:
            for i in range(some):
                cell[i] += int(most[i] >= cut)
        for i in range(some):
            counts[own[i], cell[i]] += 1.0
    return -1


@kernel()
def count_bins(
    p: FloatArray, groups: IntArray, bins: IntArray, starts: IntArray, edge: float, histograms: FloatArray
) -> None:
    """Count the items of each group in the bins of several histograms."""
    place = np.empty(_TOGETHER, dtype=np.int32)
    for start in range(0, p.size, _TOGETHER):
        some = min(_TOGETHER, p.size - start)
        own, value = groups[start : start + some], p[start : start + some]
        for h in range(bins.size):
            many, last, begins = float(bins[h]), np.int32(bins[h] - 1), np.int32(starts[h])
            for i in range(some):
                place[i] = min(np.int32(value[i] * many + edge), last) + begins
            for i in range(some):
                histograms[own[i], place[i]] += 1.0


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
    words = C.view(np.uint64)
    hashes = np.empty(_TOGETHER, dtype=np.uint64)
    for start in range(first, n, _TOGETHER):
        some = min(_TOGETHER, n - start)
        own = groups[start : start + some]
        for i in range(some):
            hashes[i] = (np.uint64(own[i]) + one) * _MIX_B
        for j in range(k):
            row = words[j, start : start + some]
            for i in range(some):
                h = (hashes[i] ^ ((max(row[i], _LEAST_WORD) >> shift) + one)) * _MIX_A
                hashes[i] = h ^ (h >> _SHIFT_A)
        for i in range(some):
            h = hashes[i] * _MIX_B
            h = max(h ^ (h >> _SHIFT_B), one)
            place = h & mask
            while keys[place] != none and keys[place] != h:
                place = (place + one) & mask
            if keys[place] == none:
                if filled >= most:
                    return start + i, filled
                filled += 1
                keys[place] = h
                held_groups[place] = own[i]
            weight = weights[start + i] if weights.size else 1.0
            held[place, k] += weight
            for j in range(k):
                held[place, j] += weight * C[j, start + i]
    return n, filled
