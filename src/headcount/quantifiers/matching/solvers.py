"""Solvers that match a sample's histograms with a mixture of the classes' histograms, for any number of classes."""

import numpy as np

from headcount._typing import FloatArray
from headcount.quantifiers.histograms import Histograms
from headcount.quantifiers.matching.class_histograms import ClassHistograms
from headcount.quantifiers.matching.distances import nearest_shares
from headcount.quantifiers.solvers import Solver

__all__ = ["MedianOfNearest", "NearestHistograms"]


class MedianOfNearest(Solver):
    """For each number of bins the share of two classes with the least distance; the median of these shares."""

    compares_cells = True

    def __init__(self, histograms: Histograms, distance: str) -> None:
        self.histograms, self.distance = histograms, distance
        self.squares = distance == "l2"

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        profiles, numbers = np.ascontiguousarray(M.T), sorted(set(self.histograms.bins))
        nearest = []
        for b in numbers:
            folded = self.histograms.folded(profiles, b).T
            nearest.append(nearest_shares(self.distance, self.histograms.folded(q, b), folded)[:, 1])
        positive = np.median(nearest, axis=0)
        return np.column_stack([1.0 - positive, positive])


class NearestHistograms(Solver):
    """The shares with the least distance between histograms, or distribution functions, of all classes' posteriors together."""

    compares_cells = True
    nested_cells = True

    def __init__(self, histograms: ClassHistograms, distance: str, cdf: bool) -> None:
        self.histograms, self.distance, self.cdf = histograms, distance, cdf
        self.squares = distance in ("l1", "l2")  # the least sum of absolute differences has no equation

    def compared(self, frequencies: FloatArray) -> FloatArray:
        """Return the histograms, or distribution functions in their place."""
        return self.histograms.cumulated(frequencies) if self.cdf else frequencies

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return nearest_shares(self.distance, self.compared(q), self.compared(M.T).T)
