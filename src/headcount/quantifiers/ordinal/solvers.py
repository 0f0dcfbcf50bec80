"""`EarthMover`: the mixture of class profiles at the least earth mover's distance from a sample, over ordered cells."""

import numpy as np

from headcount._typing import FloatArray
from headcount.quantifiers.solvers import Solver
from headcount.simplex import mixture_least_absolute, mixture_least_squares

__all__ = ["EarthMover", "NearestFrequencies"]


class NearestFrequencies(Solver):
    """The p on the simplex for which the cell frequencies M p are nearest to q by the sum of squared differences."""

    compares_cells = True
    squares = True

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return mixture_least_squares(M, q)


class EarthMover(Solver):
    """The p on the simplex for which the cumulated M p are nearest to the cumulated q by the sum of absolute differences.

    Of cells in order that is the earth mover's distance. It has no equation; the interval is that of the sum of squared
    differences, extended where the estimate lies outside.
    """

    compares_cells = True
    nested_cells = True
    squares = True

    def compared(self, frequencies: FloatArray) -> FloatArray:
        """Return the sums up to each cell but the last, where all are 1."""
        functions: FloatArray = np.cumsum(frequencies, axis=-1)[..., :-1]
        return functions

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return mixture_least_absolute(self.compared(M.T).T, self.compared(q))
