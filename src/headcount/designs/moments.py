"""`DesignMoments`: what the variance of a weighted mean under a design takes of a sample: moments of cluster totals by stratum."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs.linearised import DesignVariance

__all__ = ["DesignMoments"]


@dataclass(frozen=True, eq=False)
class DesignMoments:
    r"""First and second moments of the cluster totals of a sample, stratum by stratum.

    The total of cluster c is :math:`e_c = \sum_{i \in c} w_i (1, \psi_i)`: its weight and its weighted sum of item vectors. With
    the number :math:`m_h` of clusters of stratum h, :math:`\sum_c e_c` and :math:`\sum_c e_c e_c'` the linearised covariance of the
    weighted mean of any linear function of :math:`\psi` follows, so that items and clusters need not be kept. Without clusters each
    item is one.

    Attributes
    ----------
    clusters, items : arrays of shape (n_strata,)
        Number of clusters, and of items, of the sample in each stratum.
    first : array of shape (n_strata, 1 + d)
    second : array of shape (n_strata, 1 + d, 1 + d)
    parts : array of shape (n_strata,), optional
        Part of the stratum's population that was drawn; by default next to nothing.

    References
    ----------
    Lumley (2004). Analysis of complex survey samples. Journal of Statistical Software 9(8).

    Examples
    --------
    Three independent items with the values 1, 2 and 6: the variance of their mean is the sample variance, 7, divided by 3.

    >>> totals = np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 6.0]])
    >>> moments = DesignMoments.of_totals(totals, np.zeros(3, dtype=int), np.array([3.0]))
    >>> moments.covariance(np.eye(1)).covariance.round(6).tolist()
    [[2.333333]]
    """

    clusters: FloatArray
    items: FloatArray
    first: FloatArray
    second: FloatArray
    parts: FloatArray | None = None

    @classmethod
    def of_totals(
        cls, totals: FloatArray, strata: IntArray, items: FloatArray, parts: FloatArray | None = None
    ) -> "DesignMoments":
        """Return the moments of these cluster totals, one row a cluster; ``strata`` are positions among those of ``items``."""
        n = len(items)
        clusters = np.bincount(strata, minlength=n).astype(np.float64)
        first = np.stack([np.bincount(strata, column, n).astype(np.float64) for column in totals.T], axis=1)
        d = totals.shape[1]
        second = np.empty((n, d, d))
        for i in range(d):
            for j in range(i + 1):
                second[:, i, j] = second[:, j, i] = np.bincount(strata, totals[:, i] * totals[:, j], n)
        return cls(clusters, items, first, second, parts)

    @property
    def weight(self) -> float:
        """Total weight of the items."""
        return float(self.first[:, 0].sum())

    @property
    def mean(self) -> FloatArray:
        """Weighted mean of the item vectors."""
        mean: FloatArray = self.first[:, 1:].sum(axis=0) / self.weight
        return mean

    def centring(self, L: FloatArray) -> FloatArray:
        """Return the matrix that turns a cluster's total into its contribution to the error of the mean of L psi."""
        matrix: FloatArray = np.column_stack([-L @ self.mean, L]) / self.weight
        return matrix

    def contributions(self, L: FloatArray, totals: FloatArray, strata: IntArray) -> FloatArray:
        """Return what clusters with these totals contribute to the error of the mean of L psi; their squares are its variance."""
        centres = self._centres()[strata]
        scaled: FloatArray = (totals - centres) @ self.centring(L).T * np.sqrt(self.scale[strata])[:, None]
        return scaled

    def _centres(self) -> FloatArray:
        """Return the mean total of the clusters of each stratum; that of all clusters where a stratum has one."""
        m = self.clusters
        centres: FloatArray = self.first / np.maximum(m, 1.0)[:, None]
        centres[m == 1.0] = self.first.sum(axis=0) / m.sum()
        return centres

    def covariance(self, L: FloatArray) -> DesignVariance:
        """Return the linearised covariance of the weighted mean of L times the item vectors, with its degrees of freedom.

        A stratum with one cluster is centred at the mean of all clusters (R's ``lonely.psu = "adjust"``).
        """
        present = self.clusters > 0
        m, s, G = self.clusters[present], self.first[present], self.second[present]
        centres = self._centres()[present]
        spread = (
            G
            - np.einsum("ha,hb->hab", s, centres)
            - np.einsum("ha,hb->hab", centres, s)
            + m[:, None, None] * np.einsum("ha,hb->hab", centres, centres)
        )
        scale = self.scale[present]
        C = self.centring(L)
        covariance: FloatArray = C @ np.einsum("h,hab->ab", scale, spread) @ C.T
        n_clusters = int(m.sum())
        return DesignVariance(covariance, n_clusters, max(n_clusters - len(m), 1))

    @property
    def scale(self) -> FloatArray:
        """Factor of the sum of squares of each stratum: m / (m - 1), and what a finite population leaves of it."""
        m = self.clusters
        scale = np.where(m > 1.0, m / np.maximum(m - 1.0, 1.0), 1.0)
        if self.parts is not None:
            scale = scale * (1.0 - np.minimum(self.parts, 1.0))
        factors: FloatArray = scale
        return factors
