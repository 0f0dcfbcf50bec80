"""`ClusterTotals`: sums over the items of each cluster, found by the hash of its name and merged by addition."""

import numpy as np

from headcount._interpreted import run
from headcount._typing import AnyArray, FloatArray, IntArray

__all__ = ["UNIT_BITS", "ClusterTotals"]

UNIT_BITS = 30
"""Totals are whole numbers of 2^-30: an item adds less than 2^35 for each coordinate, so that 2^28 items of a cluster have room."""
_FIRST_SLOTS, _MANY_SLOTS = 1 << 12, 1 << 20
"""Slots of the first index; an index grows to four times as many, from so many on to twice as many."""


class ClusterTotals:
    """Total of the factors, and of the factors times the vectors, of the items of each cluster in each place.

    A place is a group of items, a stratum and a scale of weights, as a number. The table takes about ``50 + 12 (1 + d)`` bytes for
    each cluster and place, and no more however many items there are.

    Parameters
    ----------
    width : int
        Coordinates of an item, d.

    Examples
    --------
    >>> totals = ClusterTotals(1)
    >>> places, hashes = np.zeros(3, dtype=np.int64), np.array([7, 9, 7], dtype=np.uint64)
    >>> totals.add(np.array([[0.5, 0.25, 1.0]]), np.ones(3), places, hashes)
    >>> sorted((totals.exact_totals / 2**30).tolist())
    [[1.0, 0.25], [2.0, 1.5]]
    """

    def __init__(self, width: int) -> None:
        self.width, self.filled = width, 0
        self._hashes, self._places = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)
        self._totals = np.empty((0, 1 + width), dtype=np.int64)
        self._index = np.zeros((0, 2), dtype=np.uint64)
        self._resize(_FIRST_SLOTS)

    def __len__(self) -> int:
        return self.filled

    @property
    def hashes(self) -> AnyArray:
        """Hash of the name of each row's cluster."""
        return self._hashes[: self.filled]

    @property
    def places(self) -> IntArray:
        """Place of each row."""
        return self._places[: self.filled]

    @property
    def exact_totals(self) -> IntArray:
        """Totals of each row in units of 2^-30."""
        return self._totals[: self.filled]

    def add(self, C: FloatArray, factors: FloatArray, places: IntArray, hashes: AnyArray) -> None:
        """Add items: coordinates (a row each), factors, places, and hashes of the names of their clusters."""
        from headcount.stream import _design_kernels

        rows = self._rows(hashes, places)
        run(_design_kernels.add_to_clusters, 4.0 * C.size, C, rows, factors, 2.0**UNIT_BITS, self._totals)

    def merge(self, other: "ClusterTotals", places: IntArray) -> None:
        """Add the totals of another table, whose place i is ``places[i]`` here."""
        if other.filled:
            from headcount.stream import _design_kernels

            rows, added = self._rows(other.hashes, places[other.places]), other._totals[: other.filled]
            run(_design_kernels.merge_totals, 3.0 * added.size, added, rows, self._totals)

    def _rows(self, hashes: AnyArray, places: IntArray) -> IntArray:
        """Return the row of each item's cluster, making room for those that are new."""
        from headcount.stream import _design_kernels

        keys, rows = np.empty(len(hashes), dtype=np.uint64), np.empty(len(hashes), dtype=np.int64)
        done = 0
        with np.errstate(over="ignore"):  # hashes are computed modulo 2^64, as plain Python too
            run(_design_kernels.cluster_keys, 6.0 * len(hashes), hashes, places, keys)
            while True:
                known = self._hashes, self._places, self.filled, self._index, rows
                done, self.filled = run(_design_kernels.find_rows, 6.0 * len(keys), keys, hashes, places, done, *known)
                if done == len(keys):
                    break
                self._resize((2 if len(self._index) >= _MANY_SLOTS else 4) * len(self._index))
        return rows

    def _resize(self, slots: int) -> None:
        """Give the index so many slots, and room for as many rows as leave a quarter of them free."""
        from headcount.stream import _design_kernels

        for name in ("_hashes", "_places", "_totals"):
            old = getattr(self, name)
            new = np.zeros((3 * slots // 4, *old.shape[1:]), dtype=old.dtype)
            new[: self.filled] = old[: self.filled]
            setattr(self, name, new)
        index = np.zeros((slots, 2), dtype=np.uint64)
        run(_design_kernels.move_keys, 3.0 * len(self._index), self._index, index)
        self._index = index
