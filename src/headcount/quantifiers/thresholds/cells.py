"""`ThresholdCells`: the representation of an item by how many of several thresholds its posterior reaches."""

from functools import reduce
from operator import add

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.representations import Cells

__all__ = ["ThresholdCells"]

_MOST_IN_SQL = 200
"""Thresholds that an expression in SQL may hold."""


class ThresholdCells(Cells):
    """Cell c holds the items whose posterior of the second class reaches exactly c of the thresholds.

    Counts of the cells, added up from the last one, are the numbers of items above each threshold.

    Parameters
    ----------
    thresholds : array of shape (n_thresholds,)
        In ascending order. An item is above a threshold that its posterior equals.

    Examples
    --------
    >>> out = Outputs.from_posteriors([0.1, 0.5, 0.9], ["neg", "pos"])
    >>> ThresholdCells(np.array([0.5, 0.8])).codes(out).tolist()
    [0, 1, 2]
    """

    needs: Need = "posteriors"
    is_partition = True

    def __init__(self, thresholds: FloatArray) -> None:
        self.thresholds = thresholds
        self.sums_to_one = self.adds_products = len(thresholds) == 1

    def width(self, n_classes: int) -> int:
        """Return the number of cells: one more than there are thresholds."""
        return len(self.thresholds) + 1

    def codes(self, outputs: Outputs) -> IntArray:
        """Return how many of the thresholds the posterior of each item reaches."""
        scores = np.ascontiguousarray(outputs.need(self.needs)[:, 1])
        return np.searchsorted(self.thresholds, scores, side="right").astype(np.int32)

    def sql(self, n_classes: int) -> tuple[str, ...] | None:
        """Return SQL for the cell: a sum of comparisons, one for each threshold."""
        if not 0 < len(self.thresholds) <= _MOST_IN_SQL:
            return None
        return (" + ".join(f"CASE WHEN p1 >= {float(t)!r} THEN 1 ELSE 0 END" for t in self.thresholds),)

    def projected(self, outputs: Outputs, A: FloatArray) -> FloatArray:
        """Return A times the vector of each item: the columns of A of its cells."""
        folds = outputs.folds or (outputs,)
        mean: FloatArray = reduce(add, (A.T[self.codes(fold)] for fold in folds)) / len(folds)
        return mean
