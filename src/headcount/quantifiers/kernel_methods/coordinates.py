"""Posteriors in other coordinates, in which distances between items know the order of the classes or the ranks of items."""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.quantifiers.kernel_methods.class_means import MeansToPoints
from headcount.quantifiers.kernel_methods.points import EUCLIDEAN, MANHATTAN, means_to_classes, positions

__all__ = ["MeanEarthMovers", "MeanRankDistances"]

_ITEMS_PER_CHUNK = 1 << 12


class MeanEarthMovers(MeansToPoints):
    """The mean earth mover's distance between an item's posteriors and the points of each class.

    Between two distributions over ordered classes it is the sum of absolute differences of their cumulated probabilities; here it
    is divided by its largest value, that between the lowest and the highest class.

    Parameters
    ----------
    points, ends
        As `sorted_points` returns them.
    """

    def __init__(self, points: FloatArray, ends: IntArray) -> None:
        super().__init__(np.ascontiguousarray(_cumulated(points.T).T), ends, MANHATTAN)

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return means_to_classes(_cumulated(outputs.need(self.needs)), self.points, self.ends, self.kind)

    def validation_vectors(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vectors of the items that are the points, each without itself."""
        own = positions(codes)
        return means_to_classes(_cumulated(outputs.need(self.needs)), self.points, self.ends, self.kind, own=own)


def _cumulated(P: FloatArray) -> FloatArray:
    cumulated: FloatArray = np.cumsum(P, axis=1)[:, :-1] / (P.shape[1] - 1)
    return cumulated


class MeanRankDistances(MeansToPoints):
    """The mean Euclidean distance between an item and the points of each class, of posteriors replaced by their ranks, by column.

    Parameters
    ----------
    points, ends
        As `sorted_points` returns them. A rank is the share of points whose posterior is smaller; of equals half counts.
    """

    def __init__(self, points: FloatArray, ends: IntArray) -> None:
        self.columns = [_rank_table(column) for column in points]
        ranks = self._ranks(points.T) if points.size else points.T
        super().__init__(np.ascontiguousarray(ranks.T), ends, EUCLIDEAN)

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return means_to_classes(self._ranks(outputs.need(self.needs)), self.points, self.ends, self.kind)

    def validation_vectors(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vectors of the items that are the points, each without itself."""
        ranks, own = self._ranks(outputs.need(self.needs)), positions(codes)
        return means_to_classes(ranks, self.points, self.ends, self.kind, own=own)

    def _ranks(self, P: FloatArray) -> FloatArray:
        ranks = np.empty(P.shape)

        def rank(start: int, stop: int) -> None:
            for c, (values, at, below) in enumerate(self.columns):
                column = P[start:stop, c]
                places = np.searchsorted(values, column)
                ranks[start:stop, c] = np.where(
                    values[np.minimum(places, len(values) - 1)] == column, at[places], below[places]
                )

        in_chunks(rank, len(P), _ITEMS_PER_CHUNK)
        return ranks


def _rank_table(column: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct values, and the rank of an item that equals each of them or lies below it; and of one above all."""
    values, counts = np.unique(column, return_counts=True)
    below = np.concatenate([[0.0], np.cumsum(counts)]) / len(column)
    return values, np.concatenate([(below[:-1] + below[1:]) / 2.0, [1.0]]), below
