"""The representation of an item by the bins that its posterior falls into, for several numbers of bins at once."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.protocols import Samples
from headcount.quantifiers.statistics import Statistics

__all__ = ["EDGE", "Histograms"]

EDGE = 1e-9
"""A posterior that is a bin's lower edge but for rounding belongs to that bin."""


class Histograms:
    """Histograms of the second class's posterior over [0, 1], one for each number of equal bins.

    A histogram of 60 bins folds exactly into those of 10, 20 and 30: only those that no other contains are counted.

    >>> Histograms((10, 20, 30, 60, 80)).counted
    (60, 80)
    """

    needs: Need = "posteriors"

    def __init__(self, bins: Sequence[int]) -> None:
        numbers = np.asarray(bins)
        if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu" or (numbers < 2).any():
            raise DataError(f"bins must be one or more whole numbers of at least 2; got {bins!r}.")
        self.bins = tuple(int(b) for b in numbers)
        self.counted = tuple(b for b in sorted(set(self.bins)) if not any(o != b and o % b == 0 for o in self.bins))
        self.starts = dict(zip(self.counted, np.cumsum([0, *self.counted]).tolist(), strict=False))

    def reduce(self, outputs: Outputs, samples: Samples) -> Statistics:
        """Count the items in each bin of each histogram."""
        posterior = outputs.need(self.needs)[:, 1]
        codes = np.empty((len(posterior), len(self.counted)), dtype=np.int32)
        for column, b in enumerate(self.counted):
            codes[:, column] = np.minimum(posterior * b + EDGE, b - 1) + self.starts[b]
        return Statistics(samples.count(codes, sum(self.counted)), samples.total_weights())

    def folded(self, histograms: FloatArray, b: int) -> FloatArray:
        """Return the histograms of b bins out of rows of counted ones."""
        whole = next(c for c in self.counted if c % b == 0)
        columns = histograms[:, self.starts[whole] : self.starts[whole] + whole]
        fold = whole // b
        folded = columns[:, ::fold].copy()
        for offset in range(1, fold):
            folded += columns[:, offset::fold]
        return folded
