"""Compiled: add up weighted items by group and by cluster, in whole numbers, so that the order of items does not matter.

A weight w is split into a factor between 2^-4 and 2^5 and a power of 2^9, its scale: w = factor * 2^(9 scale). Sums are kept for
each scale, so that weights of any size are added up to the same relative precision.
"""

from typing import Any

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

_SCALE_BITS, _LEAST_EXPONENT = 9, 4
"""Powers of 2 of one scale, and how many of them are below 1."""
_FNV_START, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
"""Of the hash FNV-1a (Fowler, Noll and Vo), whose result the finaliser of SplitMix64 spreads over all bits."""
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B, _SHIFT_C = np.uint64(30), np.uint64(27), np.uint64(31)
_FRACTIONS = 2.0**30
_SPACE, _MINUS, _ZERO, _MOST_DIGITS = 32, 45, 48, 18


@kernel()
def split_weights(weights: FloatArray, factors: FloatArray, scales: IntArray) -> int:
    """Split weights into factors and scales; return the first that is not a finite number above 0, or -1."""
    for i in range(weights.size):
        w = weights[i]
        if not (w > 0.0 and w < np.inf):
            return i
        scale, factor = 0, w
        while factor >= 32.0:
            factor *= 2.0**-_SCALE_BITS
            scale += 1
        while factor < 0.0625:
            factor *= 2.0**_SCALE_BITS
            scale -= 1
        factors[i], scales[i] = factor, scale
    return -1


@kernel(inline="always")
def _hash_of(number: int) -> Any:
    h = np.uint64(number) * _MIX_B + _MIX_A
    h = (h ^ (h >> _SHIFT_A)) * _MIX_A
    h = (h ^ (h >> _SHIFT_B)) * _MIX_B
    return h ^ (h >> _SHIFT_C)


@kernel()
def hash_texts(offsets: IntArray, data: AnyArray, hashes: AnyArray) -> int:
    """Hash each text, given as bytes; return the first that is empty or blank, or -1.

    A whole number of at most 18 digits, without zeros before it, has the hash of the number (`hash_integers`).
    """
    blank = -1
    for i in range(hashes.size):
        first, last = offsets[i], offsets[i + 1]
        h, seen, number = _FNV_START, False, np.int64(0)
        is_negative = last > first + 1 and data[first] == _MINUS
        digits = first + 1 if is_negative else first
        is_number = 0 < last - digits <= _MOST_DIGITS and not (data[digits] == _ZERO and last - first > 1)
        for position in range(first, last):
            byte = data[position]
            seen |= byte != _SPACE
            h = (h ^ np.uint64(byte)) * _FNV_PRIME
            if position >= digits:
                digit = np.int64(byte) - _ZERO
                is_number &= 0 <= digit <= 9
                number = number * 10 + digit if is_number else number
        if not seen and blank < 0:
            blank = i
        if is_number:
            hashes[i] = _hash_of(-number if is_negative else number)
            continue
        h = (h ^ (h >> _SHIFT_A)) * _MIX_A
        h = (h ^ (h >> _SHIFT_B)) * _MIX_B
        hashes[i] = h ^ (h >> _SHIFT_C)
    return blank


@kernel()
def cluster_keys(hashes: AnyArray, places: IntArray, keys: AnyArray) -> None:
    """Make one key, never 0, of the hash of a cluster and the number of the place that it was seen in."""
    one = np.uint64(1)
    for i in range(hashes.size):
        h = (hashes[i] + (np.uint64(places[i]) + one) * _MIX_B) * _MIX_A
        h = (h ^ (h >> _SHIFT_A)) * _MIX_B
        keys[i] = max(h ^ (h >> _SHIFT_C), one)


@kernel()
def move_keys(old: AnyArray, index: AnyArray) -> None:
    """Enter the keys of an index into an empty one, whose size is a power of 2; a slot has a key, or 0, and its row."""
    mask = np.uint64(len(index) - 1)
    for entry in range(len(old)):
        if old[entry, 0] == 0:
            continue
        slot = old[entry, 0] & mask
        while index[slot, 0] != 0:
            slot = (slot + np.uint64(1)) & mask
        index[slot, 0], index[slot, 1] = old[entry, 0], old[entry, 1]


@kernel()
def find_rows(
    keys: AnyArray,
    hashes: AnyArray,
    places: IntArray,
    start: int,
    known_hashes: AnyArray,
    known_places: IntArray,
    filled: int,
    index: AnyArray,
    rows: IntArray,
) -> tuple[int, int]:
    """Find the row of each key from ``start`` on, and make rows for new ones while there is room.

    Returns the position of the first key that there was no room for, and the number of rows.
    """
    mask = np.uint64(len(index) - 1)
    for i in range(start, keys.size):
        key = keys[i]
        slot = key & mask
        while index[slot, 0] != 0 and index[slot, 0] != key:
            slot = (slot + np.uint64(1)) & mask
        if index[slot, 0] == 0:
            if filled == known_hashes.size:
                return i, filled
            known_hashes[filled], known_places[filled] = hashes[i], places[i]
            index[slot, 0], index[slot, 1] = key, np.uint64(filled)
            filled += 1
        rows[i] = np.int64(index[slot, 1])
    return keys.size, filled


@kernel(error_model="numpy")
def add_to_clusters(C: FloatArray, rows: IntArray, factors: FloatArray, unit: float, totals: IntArray) -> None:
    """Add each item's factor, and its factor times its coordinates, to the totals of its cluster, a row of ``totals``."""
    d, n = C.shape
    for i in range(n):
        total, factor = totals[rows[i]], factors[i] * unit
        total[0] += np.int64(np.floor(factor + 0.5))
        for j in range(d):
            total[1 + j] += np.int64(np.floor(C[j, i] * factor + 0.5))


@kernel()
def merge_totals(added: IntArray, rows: IntArray, totals: IntArray) -> None:
    """Add each row of ``added`` to a row of the totals."""
    for i in range(rows.size):
        for j in range(added.shape[1]):
            totals[rows[i], j] += added[i, j]


@kernel()
def cluster_moments(
    totals: FloatArray, unit: float, cells: IntArray, counts: IntArray, first: IntArray, second: IntArray
) -> None:
    """Add up the totals of clusters and products of two of them (lower triangle) by cell, as whole numbers of ones and of 2^-30.

    A row of ``totals`` is a cluster, in units; ``cells`` says where it is added. The last axis of ``first`` and ``second`` holds
    the two limbs of a sum. Products are rounded one by one, so that the sums do not depend on the order of the clusters.
    """
    n, d = totals.shape
    for i in range(n):
        cell, pair = cells[i], 0
        counts[cell] += 1
        for j in range(d):
            value = totals[i, j] * unit
            whole = np.floor(value)
            first[cell, j, 0] += np.int64(whole)
            first[cell, j, 1] += np.int64(np.floor((value - whole) * _FRACTIONS + 0.5))
            for other in range(j + 1):
                product = value * (totals[i, other] * unit)
                whole = np.floor(product)
                second[cell, pair, 0] += np.int64(whole)
                second[cell, pair, 1] += np.int64(np.floor((product - whole) * _FRACTIONS + 0.5))
                pair += 1


@kernel()
def hash_integers(values: IntArray, hashes: AnyArray) -> None:
    """Hash whole numbers."""
    for i in range(values.size):
        hashes[i] = _hash_of(values[i])
