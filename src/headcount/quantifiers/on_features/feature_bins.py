"""`FeatureBins`: the representation of an item by the bins that its features fall into, and the equation of intervals over them."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.histograms import Histograms
from headcount.quantifiers.on_features.base import dense_blocks
from headcount.quantifiers.representations import Cells
from headcount.simplex import sum_zero_basis

__all__ = ["FeatureBins", "bin_equation", "left_out_scores"]

_EDGE = 1e-9
"""A value that equals a bin's lower edge up to rounding belongs to that bin."""


class FeatureBins(Cells):
    """Histograms of each feature between its least and largest value among the labelled items, for one or more numbers of bins.

    Values outside this range are in the first or the last bin. Of numbers of bins that fold into others only the others are
    counted. The coordinates of a feature are those of `Histograms`, those of the next feature follow.
    """

    needs: Need = "features"
    adds_products = False

    def __init__(self, bins: Sequence[int], used: IntArray, low: FloatArray, high: FloatArray) -> None:
        self.histograms = Histograms(bins)
        self.used, self.low, self.high = used, low, high
        self.is_partition = len(used) == 1 and len(self.histograms.counted) == 1

    @property
    def n_features(self) -> int:
        """The number of features that are not constant."""
        return len(self.used)

    def width(self, n_classes: int) -> int:
        """Return the number of bins of all features' histograms."""
        return self.n_features * self.histograms.width(n_classes)

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the bin of each item in each histogram of each feature."""
        counted, width = self.histograms.counted, self.histograms.width(2)
        codes = np.empty((outputs.n_items, self.n_features, len(counted)), dtype=np.int32)
        first = np.arange(self.n_features) * width
        features = outputs.need(self.needs)
        for rows, X in dense_blocks(features, self.used):
            place = np.clip((X - self.low) / (self.high - self.low), 0.0, 1.0)
            for column, b in enumerate(counted):
                codes[rows, :, column] = np.minimum(place * b + _EDGE, b - 1).astype(np.int32)
                codes[rows, :, column] += (first + self.histograms.starts[b]).astype(np.int32)
        return codes.reshape(outputs.n_items, -1)

    def folded(self, frequencies: FloatArray, b: int) -> FloatArray:
        """Return the histograms of b bins out of rows of counted ones: shape (n_rows, n_features, b)."""
        rows = frequencies.reshape(-1, self.histograms.width(2))
        return self.histograms.folded(rows, b).reshape(len(frequencies), self.n_features, b)

    def coarsened(self, vectors: FloatArray) -> FloatArray:
        """Return the histograms with the fewest bins, those of all features in a row."""
        return self.folded(vectors, min(self.histograms.bins)).reshape(len(vectors), -1)

    def refined(self, A: FloatArray) -> FloatArray:
        """Return the matrix that gives for counted histograms what A gives for those with the fewest bins."""
        b = min(self.histograms.bins)
        whole = next(c for c in self.histograms.counted if c % b == 0)
        full = np.zeros((len(A), self.n_features, self.histograms.width(2)))
        start = self.histograms.starts[whole]
        full[:, :, start : start + whole] = np.repeat(A.reshape(len(A), self.n_features, b), whole // b, axis=2)
        return full.reshape(len(A), -1)

    def projected(self, outputs: Outputs, A: FloatArray) -> FloatArray:
        """Return A times the vector of each item: the sum of the columns of A of its bins."""
        codes, columns = self.codes(outputs), np.ascontiguousarray(A.T)
        projected = np.zeros((len(codes), len(A)))
        for column in codes.T:
            projected += columns[column]
        return projected


def bin_equation(representation: FeatureBins, M: FloatArray) -> FloatArray:
    """Return A whose product with an item's vector is the derivative of a weighted sum of squares, in directions of the simplex.

    With T the histograms of the classes and W the inverse of their mean, the weighted sum of squares (q - T p)' W (q - T p)
    equals the distances that agree with chi-square, such as Hellinger's and Topsoe's, to second order near equal shares.
    """
    T = representation.coarsened(M.T).T
    score = T / (T.mean(axis=1, keepdims=True) + 1e-300)
    return representation.refined(sum_zero_basis(M.shape[1]).T @ score.T / representation.n_features)


def left_out_scores(representation: FeatureBins, outputs: Outputs, codes: IntArray, k: int) -> FloatArray:
    """Return what `bin_equation` gives for each labelled item, by the histograms of the other labelled items."""
    b = min(representation.histograms.bins)
    bins = representation.codes(outputs).reshape(len(codes), representation.n_features, -1)
    whole = next(c for c in representation.histograms.counted if c % b == 0)
    column = representation.histograms.counted.index(whole)
    width, start = representation.histograms.width(2), representation.histograms.starts[whole]
    sizes = np.bincount(codes, minlength=k).astype(np.float64)
    own, rows = np.eye(k)[codes], np.arange(len(codes))
    total = np.zeros((len(codes), k))
    left = np.maximum(np.tile(sizes, (len(codes), 1)) - own, 1.0)  # an only item of its class stays
    for f in range(representation.n_features):
        cells = (bins[:, f, column] - f * width - start) // (whole // b)
        counts = np.zeros((b, k))
        np.add.at(counts, (cells, codes), 1.0)
        others = counts[cells]
        others[rows, codes] -= sizes[codes] > 1
        T = others / left
        total += T / (T.mean(axis=1, keepdims=True) + 1e-300)
    scores: FloatArray = total @ sum_zero_basis(k) / representation.n_features
    return scores
