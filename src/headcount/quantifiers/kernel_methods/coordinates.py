"""Posteriors in other coordinates, in which distances between items know the order of the classes or the ranks of items."""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray
from headcount.quantifiers.kernel_methods.class_means import MeansToPoints
from headcount.quantifiers.kernel_methods.points import EUCLIDEAN, MANHATTAN

__all__ = ["MeanEarthMovers", "MeanRankDistances"]

_ITEMS_PER_CHUNK = 1 << 12


class MeanEarthMovers(MeansToPoints):
    """The mean earth mover's distance between an item's posteriors and the points of each class.

    Between two distributions over ordered classes it is the sum of absolute differences of their cumulated probabilities; here it
    is divided by its largest value, that between the lowest and the highest class.

    Parameters
    ----------
    points, ends, weights
        As for `means_to_classes`.
    """

    def __init__(self, points: FloatArray, ends: IntArray, weights: FloatArray | None = None) -> None:
        super().__init__(np.ascontiguousarray(self.coordinates(points.T).T), ends, MANHATTAN, weights=weights)

    def coordinates(self, P: FloatArray) -> FloatArray:
        """Return cumulated posteriors, divided by the number of steps from the lowest to the highest class."""
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
        self.rank_tables = [_rank_table(column) for column in points]
        super().__init__(np.ascontiguousarray(self.coordinates(points.T).T), ends, EUCLIDEAN)

    def coordinates(self, P: FloatArray) -> FloatArray:
        """Return ranks of posteriors among the points."""
        ranks = np.empty(P.shape)

        def rank(start: int, stop: int) -> None:
            for c, (values, at, below) in enumerate(self.rank_tables):
                column = P[start:stop, c]
                places = np.searchsorted(values, column)
                equals = values[np.minimum(places, len(values) - 1)] == column
                ranks[start:stop, c] = np.where(equals, at[places], below[places])

        in_chunks(rank, len(P), _ITEMS_PER_CHUNK)
        return ranks


def _rank_table(column: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the distinct values, and the rank of an item that equals each of them or lies below it; and of one above all."""
    values, counts = np.unique(column, return_counts=True)
    below = np.concatenate([[0.0], np.cumsum(counts)]) / len(column)
    return values, np.concatenate([(below[:-1] + below[1:]) / 2.0, [1.0]]), below
