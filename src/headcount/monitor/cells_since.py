"""`CellsSince`: the items since a share may have moved, in score cells, to tell a change of the items from one of the shares."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount.checks import LabelledCells

__all__ = ["CellsSince"]


@dataclass(eq=False)
class CellsSince:
    """Counts of a period in cells, with those before each batch that a share may have moved at.

    Parameters
    ----------
    cells : LabelledCells
    n_batches : int
        Of the period.
    total : array of shape (n_cells + n_classes,)
        Counts, and sums of posteriors.
    before : dict of int to array
        The same before a batch, for batches that `update` was told to keep.
    """

    cells: LabelledCells
    n_batches: int = 0
    total: FloatArray = field(default_factory=lambda: np.empty(0))
    before: dict[int, FloatArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.total):
            self.total = np.zeros(self.cells.n_cells + self.cells.k)

    def update(self, counts: FloatArray, sums: FloatArray, starts: Collection[int]) -> None:
        """Add a batch, and keep what came before it and before earlier ones as far as they are among the starts."""
        self.before[self.n_batches] = self.total
        self.total, self.n_batches = self.total + np.concatenate([counts, sums]), self.n_batches + 1
        self.before = {batch: total for batch, total in self.before.items() if batch in starts}

    def p_value(self, start: int) -> float | None:
        """Test that the items since a batch are a mixture of the labelled classes; None if that can't be tested."""
        if start not in self.before:
            return None
        counts, sums = np.split(self.total - self.before[start], [self.cells.n_cells])
        test = self.cells.test(
            counts[None, :], counts.sum(keepdims=True), None if self.cells.decided else sums[None, :]
        )
        return float(test.p_value[0]) if test.tested[0] else None

    def state(self) -> dict[str, Any]:
        """Return what later batches need, as plain values."""
        before = [[batch, total.tolist()] for batch, total in self.before.items()]
        return {"n_batches": self.n_batches, "total": self.total.tolist(), "before": before}

    @classmethod
    def from_state(cls, cells: LabelledCells, state: dict[str, Any]) -> "CellsSince":
        """Return the counts that `state` was called on."""
        before = {int(batch): np.array(total, dtype=np.float64) for batch, total in state["before"]}
        return cls(cells, int(state["n_batches"]), np.array(state["total"], dtype=np.float64), before)
