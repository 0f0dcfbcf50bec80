"""The representation that checks use: an item is the class decided for and how sure the decision is."""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.representations import Cells, count_cells
from headcount.quantifiers.statistics import Statistics

__all__ = ["ScoreCells"]

_CUTS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.995)
"""Where confidence is cut, from 0 (the largest posterior is 1 / k) to 1 (it is 1). They are many, because a regularised classifier
may have small posteriors only; cells of few items are merged by the test."""


class ScoreCells(Cells):
    """Cells of the items decided for each class, by their largest posterior.

    Parameters
    ----------
    cuts : array of shape (n_cuts,)
        Largest posteriors at which a new cell begins.
    decided : bool
        Whether only decisions are known: each item is then as sure as can be.
    """

    def __init__(self, cuts: FloatArray, decided: bool = False) -> None:
        self.cuts, self.decided = cuts, decided
        self.needs: Need = "decisions" if decided else "posteriors"

    @classmethod
    def for_classes(cls, n_classes: int, decided: bool) -> "ScoreCells":
        """Return cells for a number of classes.

        The cuts do not depend on the labelled items, so that counts of files made with different labelled items are of the same
        cells.
        """
        return cls(1.0 / n_classes + (1.0 - 1.0 / n_classes) * np.array(_CUTS), decided)

    def width(self, n_classes: int) -> int:
        """Return the number of cells."""
        return n_classes * (len(self.cuts) + 1)

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the cell of each item."""
        if self.decided:
            return outputs.need("decisions") * (len(self.cuts) + 1) + len(self.cuts)
        P = outputs.need("posteriors")
        confidence = np.searchsorted(self.cuts, P.max(axis=1), side="right")
        codes: IntArray = (P.argmax(axis=1) * (len(self.cuts) + 1) + confidence).astype(np.int32)
        return codes

    def reduce_columns(self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False) -> Statistics:
        """Count the items of each group in each cell."""
        return count_cells(C, self._reached(), groups, n_groups)

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics:
        """Add up the factors of the items of each group in each cell."""
        return count_cells(C, self._reached(), groups, n_groups, factors)

    def _reached(self) -> FloatArray:
        """Return the cuts; of decisions alone, cuts that every item reaches."""
        return np.full(len(self.cuts), -np.inf) if self.decided else self.cuts

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the cell: of the decided class, and within it by how many cuts the largest posterior reaches."""
        last = len(self.cuts)
        if self.decided:
            return (f"decision * {last + 1} + {last}",)
        reached = " ".join(f"WHEN largest >= {float(self.cuts[i])!r} THEN {i + 1}" for i in reversed(range(last)))
        return (f"decision * {last + 1} + CASE {reached} ELSE 0 END",)
