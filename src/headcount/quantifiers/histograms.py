"""The representation of an item by the bins that its posterior falls into, for several numbers of bins at once."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.quantifiers.representations import Cells, counted, factor_units
from headcount.quantifiers.statistics import Statistics

__all__ = ["Histograms"]

EDGE = 1e-9
"""A posterior that equals a bin's lower edge up to rounding belongs to that bin."""


class Histograms(Cells):
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

    def width(self, n_classes: int) -> int:
        """Return the number of bins of all histograms that are counted."""
        return sum(self.counted)

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the bin of each item in each histogram."""
        posterior = outputs.need(self.needs)[:, 1]
        codes = np.empty((len(posterior), len(self.counted)), dtype=np.int32)
        for column, b in enumerate(self.counted):
            codes[:, column] = np.minimum(posterior * b + EDGE, b - 1) + self.starts[b]
        return codes

    def reduce_columns(self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False) -> Statistics:
        """Count the items of each group in each bin."""
        return self._counted_columns(C, groups, n_groups, None)

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics:
        """Add up the factors of the items of each group in each bin."""
        return self._counted_columns(C, groups, n_groups, factors)

    def _counted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray | None
    ) -> Statistics:
        from headcount.quantifiers import _columns

        counts = np.zeros((n_groups, sum(self.counted)), dtype=np.int64)
        starts = np.array([self.starts[b] for b in self.counted])
        _columns.count_bins(C[1], groups, np.array(self.counted), starts, EDGE, factor_units(factors), counts)
        sizes = counts[:, : self.counted[0]].sum(axis=1)  # each histogram holds all items
        return counted(counts, sizes, factors is not None)

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the bin in each histogram that is counted, counted on from those before it."""
        return tuple(
            f"{self.starts[b]} + CASE WHEN p1 * {b}.0 + {EDGE!r} >= {b}.0 THEN {b - 1} ELSE FLOOR(p1 * {b}.0 + {EDGE!r}) END"
            for b in self.counted
        )

    def coarsened(self, vectors: FloatArray) -> FloatArray:
        """Return the histograms with the fewest bins."""
        return self.folded(vectors, min(self.bins))

    def folded(self, histograms: FloatArray, b: int) -> FloatArray:
        """Return the histograms of b bins out of rows of counted ones."""
        whole = next(c for c in self.counted if c % b == 0)
        columns = histograms[:, self.starts[whole] : self.starts[whole] + whole]
        fold = whole // b
        folded = columns[:, ::fold].copy()
        for offset in range(1, fold):
            folded += columns[:, offset::fold]
        return folded
