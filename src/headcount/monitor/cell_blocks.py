"""`CellBlocks`: evidence, over all looks, that a stream's items are of no mixture of the labelled classes.

Counts in score cells are added up in blocks of at least so many items, and two blocks in a row to one of twice the size, and so
on. Each block is tested once (`LabelledCells.test`), whatever its shares are; the test counts the error of the labelled side. The
p-value of a block is turned into an e-value, kappa p^(kappa - 1) (Vovk and Wang 2021), and the process is the sum of these with
weights that add up to 1. All blocks share the labelled side's error, so that e-values must not be multiplied; their weighted sum
only ever grows, and exceeds 1 / alpha with a probability of at most alpha by Markov's inequality, however they depend on each
other.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount.checks import LabelledCells

__all__ = ["CellBlocks"]

BLOCK_ITEMS = 500
"""Items of the smallest block."""
_KAPPA = 0.1
_SMALLEST_P = 1e-12
"""P-values of the test are not to be trusted further down."""


@dataclass(eq=False)
class CellBlocks:
    """Blocks of counts, and the sum of their weighted e-values.

    Parameters
    ----------
    cells : LabelledCells
    evidence : float
    tested : int
        Number of blocks of the smallest size that were tested.
    waiting : list
        By size, the counts and sums of a block that waits for its neighbour; the first one is not full yet.
    """

    cells: LabelledCells
    evidence: float = 0.0
    tested: int = 0
    filling: FloatArray = field(default_factory=lambda: np.empty(0))
    waiting: list[FloatArray | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not len(self.filling):
            self.filling = np.zeros(self.cells.n_cells + self.cells.k)

    def update(self, counts: FloatArray, sums: FloatArray) -> None:
        """Add a batch's counts in cells, and the sums of its posteriors."""
        self.filling = self.filling + np.concatenate([counts, sums])
        if self.filling[: self.cells.n_cells].sum() < BLOCK_ITEMS:
            return
        block, number, level = self.filling, self.tested, 0
        self.filling, self.tested = np.zeros_like(block), self.tested + 1
        self._test(block, level, number)
        while number % 2:  # the second of a pair
            first = self.waiting[level]
            if first is None:
                break
            block, self.waiting[level], number, level = first + block, None, number // 2, level + 1
            self._test(block, level, number)
        self.waiting += [None] * (level + 1 - len(self.waiting))
        self.waiting[level] = block

    def _test(self, block: FloatArray, level: int, number: int) -> None:
        """Add the e-value of a block, which is the so manyth of its size."""
        counts, sums = np.split(block, [self.cells.n_cells])
        test = self.cells.test(
            counts[None, :], counts.sum(keepdims=True), None if self.cells.decided else sums[None, :]
        )
        if not test.tested[0]:
            return
        p = max(float(test.p_value[0]), _SMALLEST_P)
        weight = 1.0 / ((level + 1.0) * (level + 2.0) * (number + 1.0) * (number + 2.0))
        self.evidence += weight * _KAPPA * p ** (_KAPPA - 1.0)

    def state(self) -> dict[str, Any]:
        """Return what later batches need, as plain values."""
        return {
            "evidence": self.evidence,
            "tested": self.tested,
            "filling": self.filling.tolist(),
            "waiting": [None if block is None else block.tolist() for block in self.waiting],
        }

    @classmethod
    def from_state(cls, cells: LabelledCells, state: dict[str, Any]) -> "CellBlocks":
        """Return the blocks that `state` was called on."""
        waiting = [None if block is None else np.array(block, dtype=np.float64) for block in state["waiting"]]
        filling = np.array(state["filling"], dtype=np.float64)
        return cls(cells, float(state["evidence"]), int(state["tested"]), filling, waiting)
