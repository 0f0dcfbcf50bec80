"""Compiled: sort vectors of items into the cells of a sketch.

A cell is a group of items and, for each class, the exponent and the first bits of the mantissa of a coordinate, which is an
integer in units of 2^-40. Cells are kept in a hash table whose size is a power of 2 and found by a 64-bit hash: that two cells have
the same hash is not to be expected.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

_SCALE, _LIMB_BITS = 2.0**40, 20
"""Of fixed-point coordinates, as in `headcount.protocols.exact`."""
_BLOCK = 512
"""Items whose hashes are computed together, several at a time."""
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)
"""Constants of the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""


@kernel()
def _hash(V: FloatArray, groups: IntArray, bits: int, hashes: AnyArray) -> None:
    """Write the hash of each item's cell; the coordinates V are whole numbers of units."""
    one = np.uint64(1)
    shift = np.uint64(52 - bits)
    words = V.view(np.uint64)
    k, n = V.shape
    for i in range(n):
        hashes[i] = (np.uint64(groups[i]) + one) * _MIX_B
    for j in range(k):
        for i in range(n):
            h = (hashes[i] ^ ((words[j, i] >> shift) + one)) * _MIX_A
            hashes[i] = h ^ (h >> _SHIFT_A)
    for i in range(n):
        h = hashes[i] * _MIX_B
        hashes[i] = max(h ^ (h >> _SHIFT_B), one)


@kernel()
def add_cells(
    V: FloatArray,
    groups: IntArray,
    cell_counts: IntArray,
    cell_sums: IntArray,
    first: int,
    bits: int,
    most: int,
    filled: int,
    keys: AnyArray,
    table_groups: IntArray,
    counts: IntArray,
    sums: IntArray,
) -> tuple[int, int]:
    """Add cells with means V to the table, from cell ``first`` on; return where it is full, and the slots filled.

    ``sums`` has two columns a class, the limbs of the sum of its coordinate. The added cells are at most as wide as the table's.
    """
    one, none = np.uint64(1), np.uint64(0)
    mask = np.uint64(keys.size) - one
    hashes = np.empty(V.shape[1], dtype=np.uint64)
    _hash(V, groups, bits, hashes)
    for i in range(first, V.shape[1]):
        slot = hashes[i] & mask
        while keys[slot] != none and keys[slot] != hashes[i]:
            slot = (slot + one) & mask
        if keys[slot] == none:
            if filled >= most:
                return i, filled
            filled += 1
            keys[slot] = hashes[i]
            table_groups[slot] = groups[i]
        counts[slot] += cell_counts[i]
        for column in range(sums.shape[1]):
            sums[slot, column] += cell_sums[i, column]
    return V.shape[1], filled


@kernel()
def add_items(
    C: FloatArray,
    groups: IntArray,
    first: int,
    bits: int,
    most: int,
    filled: int,
    keys: AnyArray,
    table_groups: IntArray,
    counts: IntArray,
    sums: IntArray,
) -> tuple[int, int]:
    """Add items with vectors C, from item ``first`` on, as `add_cells` does cells of one item each.

    A coordinate below one unit counts as one unit: a density of 0 would rule a class out for good.
    """
    k, n = C.shape
    units, limbs = np.empty((k, _BLOCK)), np.empty((_BLOCK, 2 * k), dtype=np.int64)
    ones = np.ones(_BLOCK, dtype=np.int64)
    mask = (np.int64(1) << _LIMB_BITS) - 1
    for start in range(first, n, _BLOCK):
        size = min(_BLOCK, n - start)
        V = units if size == _BLOCK else np.empty((k, size))
        for j in range(k):
            for i in range(size):
                V[j, i] = max(np.floor(C[j, start + i] * _SCALE + 0.5), 1.0)
                value = np.int64(V[j, i])
                limbs[i, 2 * j] = value >> _LIMB_BITS
                limbs[i, 2 * j + 1] = value & mask
        group = groups[start : start + size]
        done, filled = add_cells(V, group, ones, limbs, 0, bits, most, filled, keys, table_groups, counts, sums)
        if done < size:
            return start + done, filled
    return n, filled
