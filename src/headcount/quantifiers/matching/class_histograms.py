"""The representation of an item by the bins that its posteriors fall into, a histogram for each class."""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.histograms import EDGE
from headcount.quantifiers.representations import Cells

__all__ = ["ClassHistograms"]


class ClassHistograms(Cells):
    """A histogram of the posterior of each class; of two classes one suffices, that of the second.

    >>> P = Outputs.from_posteriors(np.array([[0.1, 0.2, 0.7]]), ["a", "b", "c"])
    >>> ClassHistograms(4).vectors(P).tolist()
    [[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]]
    """

    needs: Need = "posteriors"

    def __init__(self, bins: int) -> None:
        self.bins = bins

    def width(self, n_classes: int) -> int:
        """Return the number of bins of all histograms."""
        return self.bins * (1 if n_classes == 2 else n_classes)

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the bin of each item in each histogram."""
        P = outputs.need(self.needs)
        if P.shape[1] == 2:
            P = P[:, 1:]
        bins = np.minimum(P * self.bins + EDGE, self.bins - 1).astype(np.int32)
        codes: IntArray = bins + np.arange(P.shape[1], dtype=np.int32) * np.int32(self.bins)
        return codes

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the bin in each histogram, counted on from those before it."""
        b = self.bins
        columns = range(1, 2) if n_classes == 2 else range(n_classes)
        return tuple(
            f"{i * b} + CASE WHEN p{j} * {b}.0 + {EDGE!r} >= {b}.0 THEN {b - 1} ELSE FLOOR(p{j} * {b}.0 + {EDGE!r}) END"
            for i, j in enumerate(columns)
        )

    def cumulated(self, frequencies: FloatArray) -> FloatArray:
        """Return distribution functions at the inner edges of the bins; of two classes those of both posteriors."""
        by_class = frequencies.reshape(*frequencies.shape[:-1], -1, self.bins)
        sums = np.cumsum(by_class, axis=-1)
        inner = sums[..., :-1]
        if by_class.shape[-2] == 1:  # the first class's posterior is 1 less the second's
            inner = np.concatenate([inner, sums[..., -1:] - inner], axis=-1)
        functions: FloatArray = inner.reshape(*frequencies.shape[:-1], -1)
        return functions
