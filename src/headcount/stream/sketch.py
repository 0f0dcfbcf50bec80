r"""A sketch of vectors for likelihoods: items that are nearly equal are kept as one cell, with their number and mean.

Two items share a cell if for each class their coordinates are equal up to a factor of at most rho = 1 + 2^-bits. The mean
log-likelihood of shares p is a mean of log f with f linear in the coordinates, so that f of a cell's mean is the mean of f over the
cell, whose values lie within a factor of rho: putting the mean in place of the items changes the mean log-likelihood by at most
d^2 / 8 with d = log rho (Hoeffding 1963), for all shares at once. The shares that maximise the sketch's likelihood are therefore
within d^2 / 8 of the maximum of the items' likelihood (and, where the information is at least v in every direction, within
d / (2 sqrt(v)) of the shares there). This is for coordinates as they are
stored, rounded to whole units of 2^-40 (about 1e-12) and at least one unit.

A group has at most some thousand cells. If there are more, they are made wider, up to rho = 2; where that is not enough, as with
many classes, only those are kept whose lot is below a bound that is halved until they fit. The lot is a hash of the cell, so that
the cells that are kept are a random sample. Of the others number and sum are kept, and the sample is weighted so that its mean is
that of all items (raking, Deming and Stephan 1940): shares depend on little else, so that little of the sampling error is left.

Coordinates are added up as integers, and neither width nor bound of a group depend on anything but its own items. So the same items
give the same sketch, to the bit, in whatever order and in however many parts they are added, and whatever other groups there are.
"""

from bisect import bisect_left
from typing import Any

import numpy as np

from headcount._interpreted import run
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.protocols.exact import ExactSums

__all__ = ["FINEST", "HALVINGS", "Sketch", "lot_factors", "most_cells"]

FINEST, HALVINGS = 8, 24
"""Bits of the mantissa that tell the finest cells apart, and how often the sample of the widest cells may be halved."""
_MOST_CELLS = (3, 1 << 12), (5, 1 << 14), (None, 1 << 13)
"""Of a group, with up to so many classes; from six on, no number would do without a sample."""
_FIRST_SLOTS, _MOST_NUMBERS = 1 << 14, 1 << 26
"""Slots that a table begins with, and the most numbers that it may hold: 512 MiB."""
_RAKING_STEPS, _RAKING_ERROR, _SHORTEST, _RIDGE = 50, 1e-10, 1e-6, 1e-6


def most_cells(n_classes: int) -> int:
    """Return how many cells a group may have."""
    return next(cells for classes, cells in _MOST_CELLS if classes is None or n_classes <= classes)


def lot_factors(n_classes: int) -> list[int]:
    """Return what the coordinates of a cell are multiplied by to draw its lot."""
    from headcount.stream._kernels import PRIME

    return [
        pow(48271, 17 + 13 * j, PRIME) for j in range(n_classes)
    ]  # powers of a primitive root (Park and Miller 1993)


class Sketch:
    """Vectors of groups of items in cells, merged by addition; the cells of a group grow wider, or fewer, if there are too many.

    Parameters
    ----------
    n_classes : int
    bits : int, default=8
        Of a coordinate's mantissa that a cell keeps at first: the more, the finer the cells.
    cells_per_group : int, optional
        The most cells that a group may have.

    Examples
    --------
    >>> sketch = Sketch(2)
    >>> sketch.add(np.array([[0.5, 0.5, 0.1], [0.5, 0.5, 0.9]]), np.zeros(3, dtype=np.int32))
    >>> groups, counts, means = sketch.cells()
    >>> sorted(counts.tolist()), sketch.log_width < 0.005
    ([1.0, 2.0], True)
    """

    def __init__(self, n_classes: int, bits: int = FINEST, cells_per_group: int | None = None) -> None:
        self.n_classes, self.finest = n_classes, bits
        self.cells_per_group = most_cells(n_classes) if cells_per_group is None else cells_per_group
        self._bits, self._halvings = (np.zeros(0, dtype=np.int64) for _ in range(2))
        self._rest = np.zeros((0, 1 + 2 * n_classes), dtype=np.int64)
        self._factors = np.array(lot_factors(n_classes), dtype=np.int64)
        self._filled = 0
        self._keys, self._groups = np.empty(0, dtype=np.uint64), np.empty(0, dtype=np.int32)
        self._counts, self._sums = np.empty(0, dtype=np.int64), np.empty((0, 2 * n_classes), dtype=np.int64)
        self._resize(_FIRST_SLOTS)

    def _resize(self, slots: int) -> None:
        """Give the index so many slots, and the arrays of cells as much room as it takes before probing gets slow."""
        from headcount.stream import _kernels

        self._keys, self._groups, self._counts, self._sums = (
            _with_room(array[: self._filled], 3 * slots // 4)
            for array in (self._keys, self._groups, self._counts, self._sums)
        )
        self._index = np.zeros(slots, dtype=np.int32)
        if self._filled:
            run(_kernels.index_cells, 5.0 * self._filled, self._keys[: self._filled], self._index)

    @property
    def log_width(self) -> float:
        """Largest difference between the logarithms of two coordinates in a cell."""
        self._settle()
        return float(np.log1p(2.0 ** -min(self._bits, default=self.finest)))

    def sizes(self, n_groups: int) -> FloatArray:
        """Return the number of items of each group, including those that are left out of the sample."""
        groups, counts, _ = self._cells()
        sizes = np.bincount(groups, counts, n_groups).astype(np.float64)
        sizes[: len(self._rest)] += self._rest[:, 0]
        return sizes

    def levels(self, n_groups: int) -> IntArray:
        """Return of each group how many bits of a mantissa its cells keep, and how often its sample was halved."""
        self._settle()
        self._know_groups(n_groups)
        return np.stack([self._bits, self._halvings], axis=1)

    def add(self, C: FloatArray, groups: IntArray, multiples: IntArray | None = None) -> None:
        """Add items: vectors of shape (n_classes, n_items), each on the simplex, and each item's group.

        Parameters
        ----------
        C : array of shape (n_classes, n_items)
        groups : array of int, shape (n_items,)
        multiples : array of int, shape (n_items,), optional
            How many items each one counts as; their sum over a group must stay below 2^42.
        """
        from headcount.stream import _kernels

        if C.shape[1]:
            self._know_groups(int(groups.max()) + 1)
            multiples = np.empty(0, dtype=np.int64) if multiples is None else multiples
            self._add(_kernels.add_items, C, groups, multiples, self._factors)

    def _know_groups(self, n_groups: int) -> None:
        new = (0, max(0, n_groups - len(self._bits)))
        self._bits = np.pad(self._bits, new, constant_values=self.finest)
        self._halvings, self._rest = np.pad(self._halvings, new), np.pad(self._rest, (new, (0, 0)))

    def _add(self, kernel: Any, *entries: Any) -> None:
        """Add entries, making room whenever a new cell is needed and there is none."""
        done = 0
        while True:
            room = max(_FIRST_SLOTS, 3 * len(self._bits) * self.cells_per_group // 2)
            table = self._index, self._keys[:room], self._groups, self._counts, self._sums, self._rest
            with np.errstate(over="ignore"):  # hashes are computed modulo 2^64, as plain Python too
                done, self._filled = run(
                    kernel,
                    20.0 * entries[0].size,
                    *entries,
                    _bounds(self._halvings),
                    done,
                    self._bits,
                    self._filled,
                    *table,
                )
            if done == entries[0].shape[1]:
                return
            self._make_room()

    def _make_room(self) -> None:
        """Make the cells of groups that have too many wider, or fewer; and enlarge the table if it is still nearly full."""
        self._settle()
        if 4 * self._filled > 3 * len(self._keys):
            slots = 4 * len(self._index)
            if slots * (2 * self.n_classes + 3) > _MOST_NUMBERS:
                raise DataError(
                    f"There are too many groups for a sketch of the posteriors of {self.n_classes} classes, which would need more "
                    f"than {_MOST_NUMBERS >> 17:,} MiB: use PACC, fewer groups, or a part of them (--where)."
                )
            self._resize(slots)

    def _settle(self) -> None:
        """Find the width and the sample at which each group has no more cells than it may."""
        number = np.bincount(self._cells()[0], minlength=len(self._bits))
        crowded = np.flatnonzero(number > self.cells_per_group)
        if len(crowded):
            V, lots = self._drawn()
            by_group = np.split(np.argsort(self._cells()[0], kind="stable"), np.cumsum(number)[:-1])
            for group in crowded.tolist():
                self._coarsen(group, V[:, by_group[group]], lots[by_group[group]])
            self._merge_cells(V, lots)

    def _drawn(self) -> tuple[FloatArray, IntArray]:
        """Return the means of all cells, in units, and their lots."""
        from headcount.stream import _kernels

        V = run(_kernels.cell_means, 6.0 * self._filled * self.n_classes, *self._cells()[1:])
        return V, run(_kernels.lots, 4.0 * V.size, V, self._factors)

    def _coarsen(self, group: int, V: FloatArray, lots: IntArray) -> None:
        """Set the width and the bound of a group to the least that leave it no more cells than it may have."""
        from headcount.stream import _kernels

        same_group = np.zeros(len(lots), dtype=np.int32)

        def hashes(bits: int) -> AnyArray:
            with np.errstate(over="ignore"):
                found: AnyArray = run(_kernels.cell_hashes, 6.0 * V.size, V, same_group, np.array([bits]))
            return found

        def fits(bits: int) -> bool:
            return len(_distinct(hashes(bits))) <= self.cells_per_group

        coarsest = min(_kernels.COARSEST, self.finest)
        widest = _distinct(lots.astype(np.uint64) << np.uint64(33) | hashes(coarsest) >> np.uint64(31))
        if len(widest) <= self.cells_per_group:
            widths = range(int(self._bits[group]), coarsest - 1, -1)
            self._bits[group] = widths[bisect_left(widths, True, key=fits)]
            return
        self._bits[group] = coarsest
        drawn = widest >> np.uint64(33)
        while (
            np.searchsorted(drawn, np.uint64(_bounds(self._halvings[group]))) > self.cells_per_group
            and self._halvings[group] < HALVINGS
        ):
            self._halvings[group] += 1

    def _merge_cells(self, V: FloatArray, lots: IntArray) -> None:
        """Merge the cells that are one since they became wider, and leave out those that are not in the sample any more."""
        from headcount.stream import _kernels

        self._index[:] = 0
        table = self._index, self._keys, self._groups, self._counts, self._sums, self._rest
        with np.errstate(over="ignore"):
            _, self._filled = run(
                _kernels.add_cells,
                20.0 * V.size,
                V,
                *self._cells(),
                lots,
                _bounds(self._halvings),
                0,
                self._bits,
                0,
                *table,
            )

    def _cells(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return group, number of items, and limbs of the sums of each cell."""
        return self._groups[: self._filled], self._counts[: self._filled], self._sums[: self._filled]

    def _add_cells(self, groups: IntArray, counts: IntArray, sums: IntArray) -> None:
        """Add cells that are at most as wide as these: group, number of items and the two limbs of each coordinate's sum."""
        from headcount.stream import _kernels

        if not len(counts):
            return
        V = run(_kernels.cell_means, 3.0 * sums.size, counts, sums)
        lots = run(_kernels.lots, 4.0 * V.size, V, self._factors)
        self._add(_kernels.add_cells, V, groups, counts, sums, lots)

    def cells(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return group, weight and mean vector of each cell, group by group, in an order that the items determine.

        The weight is the number of items. Those of a sample are raked: the items that are left out are one cell more, of one item,
        and the weighted mean is that of all items of the group.
        """
        from headcount.stream import _kernels

        self._settle()
        groups, counts, sums = self._cells()
        totals = self._rest.copy()
        np.add.at(totals, groups, np.column_stack([counts, sums]))
        sampled = np.flatnonzero(self._rest[:, 0])
        with np.errstate(over="ignore"):  # of the means alone: the order in which groups came does not matter
            V = run(_kernels.cell_means, 3.0 * sums.size, counts, sums)
            hashes = run(_kernels.cell_hashes, 6.0 * V.size, V, np.zeros_like(groups), np.array([52]))
        hashes = np.append(hashes, np.zeros(len(sampled), dtype=np.uint64))
        groups = np.append(groups, sampled.astype(np.int32))
        means = np.vstack([_vectors(sums, counts), _vectors(self._rest[sampled, 1:], self._rest[sampled, 0])])
        weights: FloatArray = np.append(counts.astype(np.float64), np.ones(len(sampled)))
        order = np.lexsort((hashes, groups))
        groups, weights, means = groups[order], weights[order], means[order]
        for group, goal in zip(sampled.tolist(), _vectors(totals[sampled, 1:], totals[sampled, 0]), strict=True):
            first, last = np.searchsorted(groups, [group, group + 1])
            weights[first:last] = _raked(weights[first:last], means[first:last], goal)
        return groups, weights, means

    def merge(self, other: "Sketch", rows: IntArray) -> None:
        """Add another sketch's items, whose group g is group ``rows[g]`` here."""
        other._settle()
        known, (groups, counts, sums) = rows[: len(other._bits)], other._cells()
        self.merge_cells(known, other._bits, other._halvings, other._rest, known[groups], counts, sums)

    def merge_cells(
        self,
        rows: IntArray,
        bits: IntArray,
        halvings: IntArray,
        rest: IntArray,
        groups: IntArray,
        counts: IntArray,
        sums: IntArray,
    ) -> None:
        """Add cells of groups, and what is left out of the samples of groups.

        Parameters
        ----------
        rows, bits, halvings, rest : arrays with one row a group
            The groups; of each how many bits of a mantissa its cells keep, how often its sample was halved, and what is left out of
            it: number of items, and the two limbs of each coordinate's sum.
        groups, counts, sums : arrays with one row a cell
            Group, number of items, and the two limbs of each coordinate's sum.
        """
        self._know_groups(int(rows.max(initial=-1)) + 1)
        before = self._bits.copy(), self._halvings.copy()
        np.minimum.at(self._bits, rows, bits)
        np.maximum.at(self._halvings, rows, halvings)
        np.add.at(self._rest, rows, rest)
        changed = (self._bits < before[0]) | (self._halvings > before[1])
        if changed.any():
            self._merge_cells(*self._drawn())
        self._add_cells(groups.astype(np.int32), counts, sums)


def _vectors(sums: IntArray, counts: IntArray) -> FloatArray:
    """Return means, of sums in two limbs."""
    means: FloatArray = ExactSums(sums[:, ::2], sums[:, 1::2]).values() / counts[:, None]
    return means


def _raked(weights: FloatArray, means: FloatArray, goal: FloatArray) -> FloatArray:
    """Return weights of the same total, proportional to w exp(t m), with which the mean is at its goal.

    Newton steps, halved where they go too far, find the t that minimises log sum w exp(t (m - goal)) + ridge t^2 / 2. The ridge
    keeps a class that hardly occurs in the sample from upsetting all weights, and misses the goal by the ridge times t.
    """
    total, X, t = weights.sum(), means - goal, np.zeros(len(goal))

    def tilted(t: FloatArray) -> tuple[float, FloatArray]:
        exponents = np.einsum("ij,j", X, t)
        largest = exponents.max()
        v = weights * np.exp(exponents - largest)
        return float(largest + np.log(v.sum()) + _RIDGE * np.einsum("i,i", t, t) / 2.0), v / v.sum()

    height, v = tilted(t)
    for _ in range(_RAKING_STEPS):
        mean = np.einsum("i,ij", v, X)
        gradient = mean + _RIDGE * t
        if np.abs(gradient).max() < _RAKING_ERROR:
            break
        curvature = np.einsum("ij,il->jl", v[:, None] * X, X) - np.outer(mean, mean) + _RIDGE * np.eye(len(t))
        step, length = np.linalg.solve(curvature, gradient), 1.0
        while length > _SHORTEST and tilted(t - length * step)[0] > height:
            length /= 2.0
        t -= length * step
        height, v = tilted(t)
    return np.asarray(total * v, dtype=np.float64)


def _bounds(halvings: Any) -> Any:
    """Return the least lot that is left out after so many halvings of a sample."""
    from headcount.stream._kernels import PRIME

    return np.int64(PRIME) >> halvings


def _distinct(numbers: AnyArray) -> AnyArray:
    """Return the different ones among numbers, in order; faster than `numpy.unique`."""
    ordered = np.sort(numbers)
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])])


def _with_room(array: AnyArray, rows: int) -> AnyArray:
    """Return a copy that may grow to so many rows."""
    copy = np.empty((rows, *array.shape[1:]), dtype=array.dtype)
    copy[: len(array)] = array
    return copy
