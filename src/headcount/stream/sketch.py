r"""A sketch of vectors for likelihoods: items that are nearly equal are kept as one cell, with their number and mean.

Two items share a cell if for each class their coordinates are equal up to a factor of at most rho = 1 + 2^-bits. The mean
log-likelihood of shares p is a mean of log f with f linear in the coordinates, so that f of a cell's mean is the mean of f over the
cell, whose values lie within a factor of rho: putting the mean in place of the items changes the mean log-likelihood by at most
d^2 / 8 with d = log rho (Hoeffding 1963), for all shares at once. The shares that maximise the sketch's likelihood are therefore
within d^2 / 8 of the maximum of the items' likelihood (and, where the information is at least v in every direction, within
d / (2 sqrt(v)) of the shares there). This is for coordinates as they are
stored, rounded to whole units of 2^-40 (about 1e-12) and at least one unit.

Coordinates are added up as integers. The cells are made wider only when there are too many, which depends on the items alone. So
the same items give the same sketch, to the bit, in whatever order and in however many parts they are added.
"""

from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.protocols.exact import LIMB_BITS, ExactSums

__all__ = ["FINEST", "WIDEST", "Sketch"]

FINEST, WIDEST = 8, -6
"""Bits of the mantissa that tell cells apart; negative ones are bits of the exponent, of which the widest cells keep none."""
_FIRST_SLOTS, _MOST_NUMBERS = 1 << 14, 1 << 23
"""Slots that a table begins with, and the most numbers that it may hold: 64 MiB."""


class Sketch:
    """Vectors of groups of items in cells, merged by addition; the cells grow wider when there are too many.

    Parameters
    ----------
    n_classes : int
    bits : int, default=8
        Of a coordinate's mantissa that a cell keeps: the more, the finer the cells.
    most_cells : int, optional
        Cells that may be filled before they are made wider.

    Examples
    --------
    >>> sketch = Sketch(2)
    >>> sketch.add(np.array([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]]), np.zeros(3, dtype=np.int32))
    >>> groups, counts, means = sketch.cells()
    >>> sorted(counts.tolist()), sketch.log_width < 0.005
    ([1, 2], True)
    """

    def __init__(self, n_classes: int, bits: int = FINEST, most_cells: int | None = None) -> None:
        self.n_classes, self.bits = n_classes, bits
        largest = 1 << int(np.log2(_MOST_NUMBERS // (2 * n_classes + 3)))
        self.most_cells = _capacity(largest) if most_cells is None else most_cells
        self._empty(min(_FIRST_SLOTS, 1 << int(np.ceil(np.log2(4 * self.most_cells / 3 + 1)))))

    def _empty(self, slots: int) -> None:
        self._keys = np.zeros(slots, dtype=np.uint64)
        self._groups = np.zeros(slots, dtype=np.int32)
        self._counts = np.zeros(slots, dtype=np.int64)
        self._sums = np.zeros((slots, 2 * self.n_classes), dtype=np.int64)
        self._filled = 0

    @property
    def log_width(self) -> float:
        """Largest difference between the logarithms of two coordinates in a cell."""
        return float(np.log1p(2.0**-self.bits) if self.bits >= 0 else 2.0**-self.bits * np.log(2.0))

    def add(self, C: FloatArray, groups: IntArray) -> None:
        """Add items: vectors of shape (n_classes, n_items), each on the simplex, and each item's group."""
        from headcount.stream import _kernels

        self._add(_kernels.add_items, C, groups)

    def _add(self, kernel: Any, *entries: Any) -> None:
        """Add entries, making room whenever a new cell is needed and there is none."""
        done = 0
        while True:
            most = min(self.most_cells, _capacity(len(self._keys)))
            table = self._keys, self._groups, self._counts, self._sums
            with np.errstate(over="ignore"):  # hashes are computed modulo 2^64, as plain Python too
                done, self._filled = kernel(*entries, done, self.bits, most, self._filled, *table)
            if done == entries[0].shape[1]:
                return
            self._make_room()

    def _make_room(self) -> None:
        """Double the table while it may grow; then double the width of the cells."""
        if _capacity(len(self._keys)) < self.most_cells:
            self._rebuild(2 * len(self._keys), self.bits)
        elif self.bits <= WIDEST:
            raise DataError(
                f"There are more groups than a sketch of posteriors has room for ({self.most_cells:,} cells): use PACC, or "
                "fewer groups."
            )
        else:
            self._rebuild(len(self._keys), self.bits - 1)

    def _rebuild(self, slots: int, bits: int) -> None:
        cells = self._filled_cells()
        self.bits = bits
        self._empty(slots)
        self.add_cells(*cells)

    def _filled_cells(self) -> tuple[IntArray, IntArray, IntArray]:
        used = np.flatnonzero(self._counts)
        return self._groups[used], self._counts[used], self._sums[used]

    def add_cells(self, groups: IntArray, counts: IntArray, sums: IntArray) -> None:
        """Add cells that are at most as wide as these: group, number of items and the two limbs of each coordinate's sum."""
        from headcount.stream import _kernels

        # The mean of integers in a cell, rounded down, lies in the same cell: widening never moves an item to another cell.
        quotient, remainder = np.divmod(sums[:, ::2], counts[:, None])
        V = (quotient << LIMB_BITS) + ((remainder << LIMB_BITS) + sums[:, 1::2]) // counts[:, None]
        self._add(_kernels.add_cells, np.ascontiguousarray(V.T.astype(np.float64)), groups, counts, sums)

    def cells(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Return group, number of items and mean vector of each cell, group by group, in an order that the items determine."""
        groups, counts, sums = self._filled_cells()
        means = ExactSums(sums[:, ::2], sums[:, 1::2]).values() / counts[:, None]
        order = np.lexsort(
            (counts, *means.T[::-1], groups)
        )  # not by hash, which depends on the order in which groups came
        return groups[order], counts[order], means[order]

    def sizes(self, n_groups: int) -> FloatArray:
        """Return the number of items of each group."""
        used = np.flatnonzero(self._counts)
        return np.bincount(self._groups[used], self._counts[used], n_groups).astype(np.float64)

    def merge(self, other: "Sketch", rows: IntArray) -> None:
        """Add another sketch's items, whose group g is group ``rows[g]`` here."""
        if other.bits < self.bits:
            self._rebuild(len(self._keys), other.bits)
        groups, counts, sums = other._filled_cells()
        self.add_cells(rows[groups].astype(np.int32), counts, sums)


def _capacity(slots: int) -> int:
    """Return how many slots of a table may be filled before probing gets slow."""
    return 3 * slots // 4
