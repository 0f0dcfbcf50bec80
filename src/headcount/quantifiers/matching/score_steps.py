"""The representation of an item by its posterior of the second class, rounded to one of many equal steps of [0, 1]."""

import numpy as np

from headcount._typing import IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.representations import Cells

__all__ = ["ScoreSteps"]


class ScoreSteps(Cells):
    """The posterior of the second class as a whole number of steps, rounded to the nearest.

    >>> P = Outputs.from_posteriors(np.array([[0.74, 0.26], [0.0, 1.0]]), ["a", "b"])
    >>> ScoreSteps(10).codes(P).tolist()
    [[3], [10]]
    """

    needs: Need = "posteriors"

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def width(self, n_classes: int) -> int:
        """Return the number of values that a rounded posterior can take."""
        return self.steps + 1

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the number of steps of each item's posterior, in one column."""
        rounded = np.minimum(np.floor(outputs.need(self.needs)[:, 1:2] * self.steps + 0.5), self.steps)
        codes: IntArray = rounded.astype(np.int32)
        return codes

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the number of steps."""
        b = self.steps
        return (f"CASE WHEN p1 * {b}.0 + 0.5 >= {b}.0 THEN {b} ELSE FLOOR(p1 * {b}.0 + 0.5) END",)
