"""How alike the posteriors of a sample are to those of each member's training items, for an ensemble's dynamic selection."""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.quantifiers.representations import Cells
from headcount.quantifiers.solvers import MeanVector
from headcount.quantifiers.statistics import Statistics
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["PosteriorSimilarity"]

_BINS = 10


class _PosteriorBins(Cells):
    """An item falls into a bin of the posterior of each class; with two classes, of the second one alone."""

    needs: Need = "posteriors"

    def width(self, n_classes: int) -> int:
        return _BINS * (1 if n_classes == 2 else n_classes)

    def codes(self, outputs: Outputs) -> IntArray:
        P = outputs.need(self.needs)
        P = P[:, 1:] if P.shape[1] == 2 else P
        bins: IntArray = np.minimum((P * _BINS).astype(np.int32), _BINS - 1)
        return bins + _BINS * np.arange(P.shape[1], dtype=np.int32)


class _KeepsProfiles(MeanVector):
    """Learns on validation items; its answer is of no interest."""

    uses_profiles = True

    def check_profiles(self, *_: object) -> None:
        """Accept any profiles."""


class PosteriorSimilarity(SumsQuantifier):
    """Histograms of posteriors, of samples and of parts of the labelled items; not a method, but scored and reduced like one."""

    representation = _PosteriorBins()
    solver = _KeepsProfiles()

    def histograms(self, parts: list[IntArray]) -> FloatArray:
        """Return the histograms of parts of the labelled items, a row each."""
        V = self.representation.vectors(self.validation_outputs_)
        return np.stack([V[rows].mean(axis=0) for rows in parts])

    def affinities(self, statistics: Statistics, histograms: FloatArray) -> FloatArray:
        """Return the affinity, 1 less the squared Hellinger distance, of each sample with each part, shape (n_samples, n_parts)."""
        n_histograms = histograms.shape[1] // _BINS
        affinities: FloatArray = np.sqrt(statistics.means()) @ np.sqrt(histograms).T / n_histograms
        return affinities
