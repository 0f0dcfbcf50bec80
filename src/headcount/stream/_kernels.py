"""Compiled: sort vectors of items into the cells of a sketch.

A cell is a group of items and, for each class, the exponent and the first bits of the mantissa of a coordinate, which is an
integer in units of 2^-40. It is found by a 64-bit hash in an index whose size is a power of 2: that two cells have the same hash is
not to be expected.
"""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

PRIME, COARSEST = (1 << 31) - 1, 0
"""Of the lots that cells draw, and the bits of a mantissa that these go by: the widest cells."""
STIRRED = 1_402_024_253, 586_950_981
"""Added where a lot is squared."""
_SCALE, _LIMB_BITS = 2.0**40, 20
"""Of fixed-point coordinates, as in `headcount.protocols.exact`."""
_BLOCK = 512
"""Items whose hashes are computed together, several at a time."""
_MIX_A, _MIX_B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_A, _SHIFT_B = np.uint64(32), np.uint64(29)
"""Constants of the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""


@kernel()
def cell_hashes(V: FloatArray, groups: IntArray, bits: IntArray) -> AnyArray:
    """Hash each item's cell; the coordinates V are whole numbers of units, and a cell keeps ``bits[group]`` of a mantissa."""
    one = np.uint64(1)
    words = V.view(np.uint64)
    k, n = V.shape
    hashes, shifts = np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.uint64)
    for i in range(n):
        hashes[i] = (np.uint64(groups[i]) + one) * _MIX_B
        shifts[i] = np.uint64(52 - bits[groups[i]])
    for j in range(k):
        for i in range(n):
            h = (hashes[i] ^ ((words[j, i] >> shifts[i]) + one)) * _MIX_A
            hashes[i] = h ^ (h >> _SHIFT_A)
    for i in range(n):
        h = hashes[i] * _MIX_B
        hashes[i] = max(h ^ (h >> _SHIFT_B), one)
    return hashes


@kernel()
def lots(V: FloatArray, factors: IntArray) -> IntArray:
    """Draw a lot below `PRIME` for each item; those in the same one of the widest cells, of any group, have the same.

    It takes products of 64-bit integers and remainders alone, so that any database can draw the same lots.
    """
    k, n = V.shape
    words = V.view(np.uint64)
    shift = np.uint64(52 - COARSEST)
    lot = np.zeros(n, dtype=np.int64)
    for j in range(k):
        for i in range(n):
            lot[i] += np.int64(words[j, i] >> shift) * factors[j]
    for i in range(n):
        h = lot[i] % PRIME
        h = (h * h + STIRRED[0]) % PRIME
        lot[i] = (h * h + STIRRED[1]) % PRIME
    return lot


@kernel()
def cell_means(counts: IntArray, sums: IntArray) -> FloatArray:
    """Return the mean of each cell's items in whole units, rounded down: it lies in the same cell, also in a wider one."""
    k, n = sums.shape[1] // 2, counts.size
    V = np.empty((k, n))
    for i in range(n):
        count = counts[i]
        for j in range(k):
            high, low = sums[i, 2 * j], sums[i, 2 * j + 1]
            if count > 1:
                rest = ((high % count) << _LIMB_BITS) + low
                high, low = high // count, rest // count
            V[j, i] = (high << _LIMB_BITS) + low
    return V


@kernel()
def index_cells(keys: AnyArray, index: IntArray) -> None:
    """Write the place of each cell into an empty index; 0 stands for none, and places count from 1."""
    one = np.uint64(1)
    mask = np.uint64(index.size) - one
    for cell in range(keys.size):
        slot = keys[cell] & mask
        while index[slot] != 0:
            slot = (slot + one) & mask
        index[slot] = cell + 1


@kernel()
def add_cells(
    V: FloatArray,
    groups: IntArray,
    cell_counts: IntArray,
    cell_sums: IntArray,
    drawn: IntArray,
    bounds: IntArray,
    first: int,
    bits: IntArray,
    filled: int,
    index: IntArray,
    keys: AnyArray,
    table_groups: IntArray,
    counts: IntArray,
    sums: IntArray,
    rest: IntArray,
) -> tuple[int, int]:
    """Add cells with means V to a table, from cell ``first`` on; return where it is full, and how many cells it has.

    ``index`` is a hash table of the places of cells in the other arrays. ``sums`` has two columns a class, the limbs of the sum of
    its coordinate. The added cells are at most as wide as the table's. Those whose lot, in ``drawn``, is not below their group's
    bound are added to the group's row of ``rest``: count, and sums. The cells may be those of the table itself, to be merged in
    place with an empty index: none is overwritten before it was read.
    """
    one = np.uint64(1)
    mask = np.uint64(index.size) - one
    hashes = cell_hashes(V, groups, bits)
    for i in range(first, V.shape[1]):
        if drawn[i] >= bounds[groups[i]]:
            rest[groups[i], 0] += cell_counts[i]
            for column in range(sums.shape[1]):
                rest[groups[i], column + 1] += cell_sums[i, column]
            continue
        slot = hashes[i] & mask
        while index[slot] != 0 and keys[index[slot] - 1] != hashes[i]:
            slot = (slot + one) & mask
        if index[slot] == 0:
            if filled >= keys.size:
                return i, filled
            keys[filled], table_groups[filled], counts[filled] = hashes[i], groups[i], cell_counts[i]
            for column in range(sums.shape[1]):
                sums[filled, column] = cell_sums[i, column]
            filled += 1
            index[slot] = filled
        else:
            cell = index[slot] - 1
            counts[cell] += cell_counts[i]
            for column in range(sums.shape[1]):
                sums[cell, column] += cell_sums[i, column]
    return V.shape[1], filled


@kernel()
def add_items(
    C: FloatArray,
    groups: IntArray,
    multiples: IntArray,
    factors: IntArray,
    bounds: IntArray,
    first: int,
    bits: IntArray,
    filled: int,
    index: IntArray,
    keys: AnyArray,
    table_groups: IntArray,
    counts: IntArray,
    sums: IntArray,
    rest: IntArray,
) -> tuple[int, int]:
    """Add items with vectors C, from item ``first`` on, as `add_cells` does cells of one item each.

    If ``multiples`` are given, an item counts as so many. A coordinate below one unit counts as one unit: a density of 0 would rule
    a class out for good.
    """
    k, n = C.shape
    limbs, ones = np.empty((_BLOCK, 2 * k), dtype=np.int64), np.ones(_BLOCK, dtype=np.int64)
    mask = (np.int64(1) << _LIMB_BITS) - 1
    drawn = np.zeros(_BLOCK, dtype=np.int64)
    sampled = bounds.min() < PRIME
    for start in range(first, n, _BLOCK):
        size = min(_BLOCK, n - start)
        V, group = np.empty((k, size)), groups[start : start + size]
        for j in range(k):
            for i in range(size):
                V[j, i] = max(np.floor(C[j, start + i] * _SCALE + 0.5), 1.0)
                value = np.int64(V[j, i])
                limbs[i, 2 * j] = value >> _LIMB_BITS
                limbs[i, 2 * j + 1] = value & mask
        if multiples.size:
            ones = multiples[start : start + size]
            for i in range(size):
                for column in range(2 * k):
                    limbs[i, column] *= ones[i]
        if sampled:
            drawn = lots(V, factors)
        table = index, keys, table_groups, counts, sums, rest
        done, filled = add_cells(V, group, ones, limbs, drawn, bounds, 0, bits, filled, *table)
        if done < size:
            return start + done, filled
    return n, filled
