"""What clusters with items in several samples do to differences and trends: their errors are alike, and cancel in part."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray
from headcount.designs import ClusterErrors
from headcount.intervals.designs import DesignErrors

__all__ = ["SharedClusters"]

_LEAST, _MOST = 0.05, 4.0
"""Bounds of the factor: less, or more, is chance, where few clusters tell how alike the errors of two samples are."""


class SharedClusters:
    """Clusters of several samples, such as authors who write in several months.

    Parameters
    ----------
    designs : sequence of DesignErrors or None
        Those of one sample each; None: without a design.
    """

    def __init__(self, designs: Sequence[DesignErrors | None]) -> None:
        self._clusters: list[ClusterErrors | None] = []
        for design in designs:
            found = None if design is None else design.target_clusters[0]
            self._clusters.append(None if found is None else found())

    def effect(self, samples: Sequence[int], weights: Sequence[float], V: FloatArray) -> FloatArray:
        r"""Return how many times larger the variance of a weighted sum over samples is than if they had no cluster in common.

        With :math:`t_{sc}` what cluster c contributes to the error of sample s, the variance of :math:`\sum_s w_s V p_s` is
        :math:`\sum_c (\sum_s w_s V t_{sc})^2`; without common clusters it would be :math:`\sum_s w_s^2 \sum_c (V t_{sc})^2`.

        Parameters
        ----------
        samples : sequence of int
        weights : sequence of float
            One for each sample.
        V : array of shape (n_figures, n_classes)
        """
        parts = [(weight, self._clusters[s]) for s, weight in zip(samples, weights, strict=True)]
        known = [(weight, clusters) for weight, clusters in parts if clusters is not None]
        if len(known) < 2:
            return np.ones(len(V))
        keys, code = np.unique(np.concatenate([clusters.keys for _, clusters in known]), return_inverse=True)
        if len(keys) == len(code):
            return np.ones(len(V))
        each = np.concatenate([weight * clusters.contributions @ V.T for weight, clusters in known])
        together = np.stack([np.bincount(code, column, len(keys)) for column in each.T], axis=1)
        apart = np.square(each).sum(axis=0)
        factors = np.where(apart > 0.0, np.square(together).sum(axis=0) / np.where(apart > 0.0, apart, 1.0), 1.0)
        return np.asarray(np.clip(factors, _LEAST, _MOST), dtype=np.float64)

    def of_difference(self, first: int, second: int, V: FloatArray) -> FloatArray:
        """Return the effect on the difference of two samples, for each row of V."""
        return self.effect([first, second], [-1.0, 1.0], V)
