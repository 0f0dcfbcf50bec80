"""Compiled: draw the items of many samples, and add up codes or rows over the items of each sample."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, FloatArray, IntArray

BLOCK = 1024
"""Items that are added up as doubles, which is faster than as integers and exact: 1024 numbers of at most 2^43 stay below 2^53."""
_ELEVEN, _THREE, _TWENTY_FOUR, _FORTY, _ONE = (np.uint64(n) for n in (11, 3, 24, 40, 1))


@kernel()
def draw(
    state: AnyArray, always_replace: bool, counts: IntArray, members: IntArray, starts: IntArray, out: IntArray
) -> None:
    """Draw ``counts[s, g]`` members of each group g into each sample s, sample by sample and group by group.

    Group g is ``members[starts[g]:starts[g + 1]]``. Without replacement where the group has enough members, with replacement
    otherwise. Without is the first steps of a Fisher-Yates shuffle; the next sample goes on from the order that they leave
    behind, since from any order they draw every set of items with the same probability. Each drawn item uses up one uniform
    number, of numpy's generator SFC64 in the given state: the same numbers, without a detour through memory.
    """
    a, b, c, w = state[0], state[1], state[2], state[3]
    shuffled = members.copy()
    t = 0
    for s in range(counts.shape[0]):
        for g in range(counts.shape[1]):
            count = counts[s, g]
            pool = shuffled[starts[g] : starts[g + 1]]
            target = out[t : t + count]
            replace = always_replace or count > pool.size
            left = float(pool.size)
            for i in range(count):
                word = a + b + w
                w += _ONE
                a = b ^ (b >> _ELEVEN)
                b = c + (c << _THREE)
                c = ((c << _TWENTY_FOUR) | (c >> _FORTY)) + word
                place = np.uint64((word >> _ELEVEN) * (1.0 / 9007199254740992.0) * left)  # unsigned: no check for < 0
                if replace:
                    target[i] = pool[place]
                else:
                    place += np.uint64(i)
                    left -= 1.0
                    chosen = pool[place]
                    pool[place] = pool[i]
                    pool[i] = chosen
                    target[i] = chosen
            t += count


@kernel()
def count_codes(codes: IntArray, indices: IntArray, indptr: IntArray, unit: int, out: IntArray) -> None:
    """Add a unit to ``out[s, c]`` for each item of sample s that has code c."""
    if out.shape[1] == 2:  # the common case: the count stays in a register
        for s in range(out.shape[0]):
            ones = np.int64(0)  # sums of bytes would overflow in plain Python
            for t in range(indptr[s], indptr[s + 1]):
                ones += np.int64(codes[indices[t]])
            out[s, 0] += unit * (indptr[s + 1] - indptr[s] - ones)
            out[s, 1] += unit * ones
        return
    for s in range(out.shape[0]):
        for t in range(indptr[s], indptr[s + 1]):
            out[s, codes[indices[t]]] += unit


@kernel()
def count_many_codes(codes: IntArray, indices: IntArray, indptr: IntArray, unit: int, out: IntArray) -> None:
    """Add a unit to ``out[s, c]`` for each item of sample s that has code c in its row."""
    for s in range(out.shape[0]):
        for t in range(indptr[s], indptr[s + 1]):
            for column in range(codes.shape[1]):
                out[s, codes[indices[t], column]] += unit


@kernel()
def sum_pairs(units: FloatArray, indices: IntArray, indptr: IntArray, out: IntArray) -> None:
    """Like ``sum_rows`` for two columns, the common case: the sums stay in registers."""
    for s in range(out.shape[0]):
        for low in range(indptr[s], indptr[s + 1], BLOCK):
            a = 0.0
            b = 0.0
            for t in range(low, min(low + BLOCK, indptr[s + 1])):
                i = indices[t]
                a += units[i, 0]
                b += units[i, 1]
            out[s, 0] += np.int64(a)
            out[s, 1] += np.int64(b)


@kernel()
def sum_rows(units: FloatArray, indices: IntArray, indptr: IntArray, out: IntArray) -> None:
    """Add up to ``out[s]`` the rows of the items of sample s, which hold whole numbers.

    Four items at a time: the running sums are in memory, and waiting for them is what would cost the time.
    """
    k = out.shape[1]
    block = np.zeros(k)
    for s in range(out.shape[0]):
        for low in range(indptr[s], indptr[s + 1], BLOCK):
            for c in range(k):
                block[c] = 0.0
            high = min(low + BLOCK, indptr[s + 1])
            fours = low + (high - low) // 4 * 4
            for t in range(low, fours, 4):
                h, i, j, m = indices[t], indices[t + 1], indices[t + 2], indices[t + 3]
                for c in range(k):
                    block[c] += (units[h, c] + units[i, c]) + (units[j, c] + units[m, c])
            for t in range(fours, high):
                for c in range(k):
                    block[c] += units[indices[t], c]
            for c in range(k):
                out[s, c] += np.int64(block[c])


@kernel()
def sum_units(
    units: FloatArray,
    indices: IntArray,
    indptr: IntArray,
    factors: FloatArray,
    bits: int,
    high: IntArray,
    low: IntArray,
) -> None:
    """Add up fixed-point rows over each sample, each times its factor (1 if there are none), in two limbs."""
    mask = (np.int64(1) << bits) - 1
    for s in range(high.shape[0]):
        for t in range(indptr[s], indptr[s + 1]):
            i = indices[t]
            for c in range(units.shape[1]):
                value = np.int64(np.floor(units[i, c] * factors[t] + 0.5) if factors.size else units[i, c])
                high[s, c] += value >> bits
                low[s, c] += value & mask


@kernel()
def count_units(
    codes: IntArray,
    indices: IntArray,
    indptr: IntArray,
    factor_high: IntArray,
    factor_low: IntArray,
    high: IntArray,
    low: IntArray,
) -> None:
    """Add up the factors of the entries of each sample by the codes of their items; factors and sums are in two limbs."""
    for s in range(high.shape[0]):
        for t in range(indptr[s], indptr[s + 1]):
            for column in range(codes.shape[1]):
                code = codes[indices[t], column]
                high[s, code] += factor_high[t]
                low[s, code] += factor_low[t]
