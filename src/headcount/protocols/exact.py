"""`ExactSums`: sums of fixed-point numbers, which do not depend on the order in which they were added.

A coordinate x is stored as the integer floor(x * 2^40 + 1/2). One 64-bit sum of such integers overflows at 8.4 million items,
so a sum is kept in two 64-bit limbs, ``high * 2^20 + low``. Integers add up to the same bits whatever the order, the
number of threads, the size of the batches or the machine; only the last step, the division by 2^40, rounds.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import DataError

__all__ = ["LARGEST", "ExactSums", "to_units"]

SCALE = 2.0**40
LIMB_BITS = 20
_LIMB_MASK = (1 << LIMB_BITS) - 1
_NUMBERS_AT_A_TIME = 1 << 16
"""Sums that are turned into floats at a time, so that what lies between stays in the cache."""
LARGEST = 8.0
"""Largest coordinate: 2^20 of them fit into one 64-bit sum, 2^10 into a double."""


def to_units(values: FloatArray, largest: float = LARGEST) -> FloatArray:
    """Return coordinates in units of 2^-40: whole numbers, kept as doubles, which hold them exactly.

    >>> (to_units(np.array([[0.25, 1.0]])) / 2**40).tolist()
    [[0.25, 1.0]]
    """
    units: FloatArray = np.floor(values * SCALE + 0.5)
    if not np.abs(units).max(initial=0.0) <= largest * SCALE:
        raise DataError(
            f"A representation holds values that are not finite, or larger than {largest:g}: scale its vectors to [0, 1]."
        )
    return units


@dataclass(eq=False)
class ExactSums:
    """Sums in units of 2^-40, each in two limbs; arrays of the same shape.

    >>> a = ExactSums.from_floats(np.array([[0.5, 0.25]]))
    >>> (a + a).values().tolist()
    [[1.0, 0.5]]
    """

    high: IntArray
    low: IntArray | None
    """None: all zero, as of whole numbers, of which there are many and which need no second limb."""

    @classmethod
    def from_units(cls, units: IntArray, bits: int = 2 * LIMB_BITS) -> "ExactSums":
        """Split 64-bit sums, in units of 2^-bits (20 to 40), into limbs."""
        high = bits - LIMB_BITS
        return cls(units >> high, (units & ((1 << high) - 1)) << (2 * LIMB_BITS - bits))

    @classmethod
    def from_counts(cls, counts: AnyArray) -> "ExactSums":
        """Return whole numbers as sums."""
        return cls(counts.astype(np.int64, copy=False) << LIMB_BITS, None)

    @classmethod
    def from_floats(cls, values: FloatArray) -> "ExactSums":
        """Return the nearest sums to numbers of any size below 2^43."""
        whole = np.floor(values)
        return cls.from_counts(whole) + cls.from_units(np.floor((values - whole) * SCALE + 0.5).astype(np.int64))

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> "ExactSums":
        """Return sums of nothing."""
        return cls(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64))

    def __add__(self, other: "ExactSums") -> "ExactSums":
        lows = [low for low in (self.low, other.low) if low is not None]
        return ExactSums(self.high + other.high, sum(lows[1:], lows[0]) if lows else None)

    def divided(self, n: int) -> "ExactSums":
        """Return whole numbers divided by n: each one counts as many units as make the nearest number to 1 / n.

        >>> (ExactSums.from_counts(np.array([3, 8])).divided(4)).values().tolist()
        [0.75, 2.0]
        """
        counts, units = self.high >> LIMB_BITS, round(SCALE / n)
        return ExactSums(counts * (units >> LIMB_BITS), counts * (units & _LIMB_MASK))

    def __getitem__(self, key: Any) -> "ExactSums":
        return ExactSums(self.high[key], None if self.low is None else self.low[key])

    def __len__(self) -> int:
        return len(self.high)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of sums."""
        return self.high.shape

    def add_at(self, rows: IntArray, other: "ExactSums") -> None:
        """Add row i of ``other`` to row ``rows[i]``, in place; the rows must be distinct."""
        self.high[rows] += other.high
        if other.low is not None:
            self.low = np.zeros(self.shape, dtype=np.int64) if self.low is None else self.low
            self.low[rows] += other.low

    def add_repeatedly_at(self, rows: IntArray, other: "ExactSums") -> None:
        """Add row i of ``other`` to row ``rows[i]``, in place; several may be added to one row."""
        np.add.at(self.high, rows, other.high)
        if other.low is not None:
            self.low = np.zeros(self.shape, dtype=np.int64) if self.low is None else self.low
            np.add.at(self.low, rows, other.low)

    def grown(self, n_rows: int) -> "ExactSums":
        """Return the sums with rows of zeros appended, ``n_rows`` in all."""
        pad = [(0, n_rows - len(self)), *((0, 0) for _ in self.shape[1:])]
        return ExactSums(np.pad(self.high, pad), None if self.low is None else np.pad(self.low, pad))

    def whole(self) -> IntArray | None:
        """Return the sums in units of 2^-20 if all are whole numbers."""
        if self.low is not None and (self.low.any() or (self.high & _LIMB_MASK).any()):
            return None
        return self.high

    def values(self) -> FloatArray:
        """Return the sums as floats; equal sums give equal bits, however their limbs came about."""
        if self.low is None:
            return np.multiply(self.high, 2.0**-LIMB_BITS, dtype=np.float64)
        if self.high.size <= _NUMBERS_AT_A_TIME:
            return _joined(self.high, self.low)
        floats, rows = np.empty(self.shape), max(1, _NUMBERS_AT_A_TIME * len(self) // self.high.size)
        for start in range(0, len(self), rows):
            part = slice(start, start + rows)
            floats[part] = _joined(self.high[part], self.low[part])
        return floats


def _joined(high: IntArray, low: IntArray) -> FloatArray:
    """Return the floats of sums in two limbs."""
    floats: FloatArray = (high + (low >> LIMB_BITS)) * 2.0**-LIMB_BITS + (low & _LIMB_MASK) * (1.0 / SCALE)
    return floats
