"""`PlacedClusters`: totals of clusters by group and stratum, and their moments, whatever the order of the clusters."""

from typing import Any

import numpy as np

from headcount._interpreted import run
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.stream.cluster_totals import UNIT_BITS, ClusterTotals

__all__ = ["PlacedClusters", "scale_factor"]


def scale_factor(scale: Any) -> Any:
    """Return what a factor of this scale is multiplied by to be a weight."""
    return np.exp2(9.0 * np.asarray(scale))


class PlacedClusters:
    """Totals of the clusters of each group and stratum, with the scales of weights added up."""

    def __init__(
        self, clusters: ClusterTotals, group: IntArray, stratum: IntArray, scale: IntArray, n_strata: int
    ) -> None:
        self._n_strata, self.n_groups = n_strata, int(group.max(initial=-1)) + 1
        self._hashes, places = clusters.hashes, clusters.places
        self._cells = (group * n_strata + stratum)[places]
        self._totals, self._unit = clusters.exact_totals, 2.0**-UNIT_BITS
        largest = int(scale.max(initial=0))
        self._factor = float(scale_factor(largest))
        if (scale != largest).any():  # a cluster has a row for each scale of its weights
            order = np.lexsort((scale[places], self._hashes, self._cells))
            self._hashes, self._cells = self._hashes[order], self._cells[order]
            new = (self._hashes[1:] != self._hashes[:-1]) | (self._cells[1:] != self._cells[:-1])
            starts = np.flatnonzero(np.append(True, new))
            relative = scale_factor(scale - largest)[places[order]] * self._unit
            self._totals = np.add.reduceat(self._totals[order] * relative[:, None], starts, axis=0)
            self._hashes, self._cells, self._unit = self._hashes[starts], self._cells[starts], 1.0

    def by_hash(self) -> tuple[AnyArray, IntArray]:
        """Return hash and stratum of all clusters, in the order of hashes."""
        order = np.argsort(self._hashes)
        return self._hashes[order], self._cells[order] % self._n_strata

    @property
    def is_one(self) -> bool:
        """Whether there is one cluster only."""
        return bool((self._hashes == self._hashes[:1]).all())

    def moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the number of clusters of each group and stratum, and the first and second moments of their totals."""
        from headcount.stream import _design_kernels

        d, n_cells = self._totals.shape[1], self.n_groups * self._n_strata
        counts = np.zeros(n_cells, dtype=np.int64)
        first, second = (np.zeros((n_cells, width, 2), dtype=np.int64) for width in (d, d * (d + 1) // 2))
        arrays = self._totals, self._unit, self._cells, counts, first, second
        run(_design_kernels.cluster_moments, float(self._totals.size * d), *arrays)
        rows, columns = np.tril_indices(d)
        full = np.empty((n_cells, d, d))
        full[:, rows, columns] = full[:, columns, rows] = _joined(second) * self._factor**2
        shape = (self.n_groups, self._n_strata)
        return (
            counts.astype(np.float64).reshape(shape),
            (_joined(first) * self._factor).reshape(*shape, d),
            full.reshape(*shape, d, d),
        )

    def of_group(self, g: int) -> tuple[AnyArray, IntArray, FloatArray]:
        """Return hash, stratum and total of each cluster of a group, in the order of hashes."""
        rows = np.flatnonzero(self._cells // self._n_strata == g)
        rows = rows[np.lexsort((self._cells[rows], self._hashes[rows]))]
        totals = self._totals[rows] * (self._unit * self._factor)
        return self._hashes[rows], self._cells[rows] % self._n_strata, np.asarray(totals, dtype=np.float64)


def _joined(limbs: IntArray) -> FloatArray:
    """Return the floats of sums of ones and of fractions of 2^-30."""
    carried = limbs[..., 1] >> UNIT_BITS
    floats: FloatArray = (limbs[..., 0] + carried) + (limbs[..., 1] - (carried << UNIT_BITS)) * 2.0**-UNIT_BITS
    return floats
