r"""A sketch of posteriors for likelihoods: items that are nearly alike are kept as one, with their number and mean.

Two items share a cell if for each class their posteriors are equal but for a factor of at most rho = 1 + 2^-bits. The mean
log-likelihood of shares p is a mean of log f with f linear in the posteriors, so that f of a cell's mean is the mean of f over the
cell, whose values lie within a factor of rho: putting the mean in place of the items changes the mean log-likelihood by at most
d^2 / 8 with d = log rho (Hoeffding 1963), for all shares at once. The shares that maximise the sketch's likelihood are therefore
within d^2 / 8 of the maximum of the items' own (and, where the information is at least v in every direction, within
d / (2 sqrt(v)) of the shares there).
Posteriors below 1e-12 are taken for alike. Where SLD calibrates posteriors by a factor t, log f is no longer concave in them; its
second derivatives by their logarithms are at most t^2 and its first at most t, which makes the bound (t^2 / 2 + t / 8) d^2.
"""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import BiasCorrectedTemperature

__all__ = ["Sketch"]

_FINEST, _WIDEST = 8, -6
"""Bits of the mantissa that tell cells apart; less than none are bits of the exponent, of which the widest cells keep none."""
_FIRST_SLOTS, _MOST_NUMBERS = 1 << 14, 1 << 23
"""Cells that a sketch begins with, and the numbers that its cells may hold in all: 64 MiB."""


class Sketch:
    """Posteriors of groups of items in cells, merged by addition; the cells grow wider when there are too many.

    Parameters
    ----------
    n_classes : int
    bits : int, default=8
        Of a posterior's mantissa that a cell keeps: the finer, the more cells.
    most_cells : int, optional
        Cells that may be filled before they are made wider.

    Examples
    --------
    >>> sketch = Sketch(2)
    >>> sketch.add(np.array([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]]), np.zeros(3, dtype=np.int32))
    >>> groups, weights, means = sketch.cells()
    >>> sorted(weights.tolist()), sketch.bound() < 1e-5
    ([1.0, 2.0], True)
    """

    def __init__(self, n_classes: int, bits: int = _FINEST, most_cells: int | None = None) -> None:
        self.n_classes, self.bits = n_classes, bits
        largest = 1 << int(np.log2(_MOST_NUMBERS // (n_classes + 3)))
        self.most_cells = _filling(largest) if most_cells is None else most_cells
        self._empty(min(_FIRST_SLOTS, 1 << int(np.ceil(np.log2(4 * self.most_cells / 3 + 1)))))

    def _empty(self, slots: int) -> None:
        self._keys = np.zeros(slots, dtype=np.uint64)
        self._groups = np.zeros(slots, dtype=np.int32)
        self._held = np.zeros((slots, self.n_classes + 1))  # sums of posteriors, then the number of items
        self._filled = 0

    def bound(self, calibration: BiasCorrectedTemperature | None = None) -> float:
        """Return the most by which the mean log-likelihood of any shares differs from that of the items themselves."""
        factor = 0.0 if calibration is None else float(calibration.theta[0])
        least = 1.0 if calibration is None else 4.0 * factor**2 + abs(factor)
        width = np.log1p(2.0**-self.bits) if self.bits >= 0 else 2.0**-self.bits * np.log(2.0)
        return float(width**2 / 8.0 * least)

    def add(self, C: FloatArray, groups: IntArray, weights: FloatArray | None = None) -> None:
        """Add items: posteriors of shape (n_classes, n_items), and each item's group."""
        from headcount.stream import _kernels

        own = np.empty(0) if weights is None else weights
        done = 0
        while True:
            most = min(self.most_cells, _filling(len(self._keys)))
            held = self._keys, self._groups, self._held
            with np.errstate(over="ignore"):  # hashes are reckoned modulo 2^64, as plain Python too
                done, self._filled = _kernels.into_cells(C, groups, own, done, self.bits, most, self._filled, *held)
            if done == C.shape[1]:
                return
            self._make_room()

    def _make_room(self) -> None:
        """Double the table while it may grow; then double the width of the cells."""
        slots = len(self._keys)
        groups, weights, means = self._found()
        if _filling(slots) < self.most_cells:
            slots *= 2
        elif self.bits <= _WIDEST:
            raise DataError(
                f"There are more groups than a sketch of posteriors has room for ({self.most_cells:,} cells): use PACC, or "
                "fewer groups."
            )
        else:
            self.bits -= 1
        self._empty(slots)
        self.add(np.ascontiguousarray(means.T), groups, weights)

    def cells(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return group, number of items and mean posteriors of each cell, group by group."""
        groups, weights, means = self._found()
        small = groups.size == 0 or groups.max() < 1 << 16
        order = np.argsort(
            groups.astype(np.uint16) if small else groups, kind="stable"
        )  # 16 bits are sorted in linear time
        return groups[order], weights[order], means[order]

    def _found(self) -> tuple[IntArray, FloatArray, FloatArray]:
        used = np.flatnonzero(self._keys)
        weights = self._held[used, -1]
        return self._groups[used], weights, self._held[used, :-1] / weights[:, None]

    def merged(self, other: "Sketch", rows: IntArray) -> None:
        """Add another sketch's items, whose group g is group ``rows[g]`` here."""
        groups, weights, means = other._found()
        while self.bits > other.bits:
            self._widen()
        self.add(np.ascontiguousarray(means.T), rows[groups].astype(np.int32), weights)

    def _widen(self) -> None:
        groups, weights, means = self._found()
        self.bits -= 1
        self._empty(len(self._keys))
        self.add(np.ascontiguousarray(means.T), groups, weights)


def _filling(slots: int) -> int:
    """Return how many slots of a table may be filled before those are hard to find."""
    return 3 * slots // 4
