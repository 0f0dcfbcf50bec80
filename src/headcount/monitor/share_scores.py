r"""`ShareScores`: a number for each item and class whose mean over a batch is the class's share, and the errors of that mean.

An item with the vector v gets the scores y = p + B (v - G p), the shares that solve the method's equation for that item alone (see
`headcount.intervals.evidence`). Their mean over items of class l is 1 for class l and 0 for the others, up to the error of the
class means, which are known from labelled items:

.. math:: E[y_j] = p_j + \sum_l p_l e_{lj}, \qquad e_{lj} \sim N(0, b_j' S_l b_j / n_l).
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import plain
from headcount.exceptions import DataError
from headcount.intervals import why_no_interval
from headcount.intervals.evidence import evidence_at
from headcount.intervals.item_vectors import item_vectors
from headcount.learners import Outputs
from headcount.protocols import as_samples
from headcount.quantifiers import Quantifier, SampleItems, Statistics

__all__ = ["ShareScores"]

_TILTS = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])
"""Moves, in units of the scale, for which the variance must bound the cumulants."""
_KNOTS = 21
"""Shares of a class at which its variance is computed; between them it is interpolated."""


@dataclass(frozen=True, eq=False)
class ShareScores:
    """Scores of items for a fitted quantifier, with ratio vectors taken at fixed shares.

    Attributes
    ----------
    quantifier : fitted quantifier with an analytic interval
    inside : array of shape (n_classes,)
        Shares at which the vectors of items are taken, where these depend on shares.
    G, B : arrays
        Class means of the vectors, and what solves for shares (see `Evidence`).
    labelled : array of shape (n_labelled, n_classes)
        Scores of the labelled items.
    codes : array of int, shape (n_labelled,)
    spread : array of shape (n_classes, n_classes)
        Entry (l, j): variance of the scores for class j of items of class l.
    sizes : array of shape (n_classes,)
        Number of labelled items of each class.
    """

    quantifier: Quantifier
    inside: FloatArray
    G: FloatArray
    B: FloatArray
    labelled: FloatArray
    codes: IntArray
    spread: FloatArray
    sizes: FloatArray

    @classmethod
    def of(cls, quantifier: Quantifier, inside: FloatArray | None = None) -> "ShareScores":
        """Return the scores of a quantifier; ``inside`` is that of its labelled items by default."""
        name = type(quantifier).__name__
        if not quantifier.has_interval or quantifier.has_posterior:
            reason = why_no_interval(quantifier) or "its interval is that of a posterior."
            raise DataError(f"{name} can't be watched: {reason} Use PACC, ACC or SLD(calibration='bcts').")
        if getattr(quantifier, "validation_design_", None) is not None:
            raise DataError(f"{name} was fitted on labelled items with a survey design, which can't be watched yet.")
        kept = quantifier.validation_items()
        if kept is None:
            raise DataError(f"{name} keeps no labelled items, without which the error of its shares is not known.")
        outputs, codes = kept
        k = len(quantifier.classes_)
        shares = np.bincount(codes, minlength=k) / len(codes) if inside is None else inside
        statistics: Any = quantifier.reduce(outputs, as_samples(None, outputs.n_items))
        evidence = evidence_at(quantifier, statistics, shares[None, :])
        if int(evidence.rank[0]) < k - 1:
            raise DataError(
                "The labelled items do not show that the classifier can tell all classes apart, so shares can't be watched: use "
                "better features, or merge classes that look alike."
            )
        G, B = evidence.G[0], evidence.B[0]
        scores = shares + (evidence.vectors.labelled(0) - G @ shares) @ B.T
        return cls(quantifier, shares, G, B, scores, evidence.vectors.codes, evidence.spread[0], evidence.sizes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.inside)

    @property
    def labelled_shares(self) -> FloatArray:
        """Shares of the classes among the labelled items."""
        return np.asarray(np.bincount(self.codes, minlength=self.n_classes) / len(self.codes), dtype=np.float64)

    def mean(self, statistics: Statistics | SampleItems) -> FloatArray:
        """Return the mean scores of a batch: shares free to leave the simplex."""
        z = item_vectors(self.quantifier, statistics, self.inside[None, :]).means()[0]
        mean: FloatArray = self.inside + self.B @ (z - self.G @ self.inside)
        return mean

    def of_items(self, outputs: Outputs) -> FloatArray:
        """Return the scores of items, shape (n_items, n_classes)."""
        statistics: Any = self.quantifier.reduce(outputs, as_samples(None, outputs.n_items))
        vectors = item_vectors(self.quantifier, statistics, self.inside[None, :]).target(0, outputs)
        scores: FloatArray = self.inside + (vectors - self.G @ self.inside) @ self.B.T
        return scores

    def variance(self, shares: FloatArray, scale: float) -> FloatArray:
        """Return a variance for each class that bounds the cumulants of an item's score in a mixture with these shares.

        That is the smallest v of at least the variance for which log E exp(t (y - E y)) <= v t^2 / 2 at t = theta / v, for moves
        theta of up to 1.5 times the scale: the scores of a good classifier are skewed where a share is near 0 or 1.
        """
        plain_variance = shares @ self.spread + shares * (1.0 - shares)
        return np.array([self._bound(j, shares, scale, v) for j, v in enumerate(plain_variance)])

    def _bound(self, j: int, shares: FloatArray, scale: float, variance: float) -> float:
        y = self.labelled[:, j]
        weights = (shares / np.bincount(self.codes, minlength=self.n_classes))[self.codes]
        y, weights = y[weights > 0.0], weights[weights > 0.0]
        centred = y - weights @ y
        moves = scale * _TILTS
        variance = max(variance, 1e-6)

        def exceeds(v: float) -> bool:
            exponents = centred[:, None] * (moves / v)
            top = exponents.max(axis=0)
            log_mean = top + np.log(weights @ np.exp(exponents - top))
            return bool((log_mean > moves**2 / (2.0 * v)).any())

        if not exceeds(variance):
            return variance
        low, high = variance, 2.0 * variance
        while exceeds(high):
            low, high = high, 2.0 * high
        while high > 1.01 * low:
            middle = (low + high) / 2.0
            low, high = (middle, high) if exceeds(middle) else (low, middle)
        return high

    def error_variance(self, shares: FloatArray) -> FloatArray:
        """Return the variance of the labelled side's error of each class's mean score, in a mixture with these shares."""
        errors: FloatArray = (shares**2 / self.sizes) @ self.spread
        return errors

    def composition(self, j: int, share: float, others: FloatArray) -> FloatArray:
        """Return shares of all classes where class j has this share and the others are in the given ratios."""
        rest = np.where(np.arange(self.n_classes) == j, 0.0, np.maximum(others, 1e-9))
        shares: FloatArray = (1.0 - share) * rest / rest.sum()
        shares[j] = share
        return shares

    def compositions(self, j: int, share: float) -> list[FloatArray]:
        """Return the extreme shares of all classes where class j has this share: the rest is of one other class."""
        others = [one for one in range(self.n_classes) if one != j]
        return [self.composition(j, share, np.eye(self.n_classes)[one]) for one in others]

    def tables(self, j: int, scale: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return shares of class j, the largest variance of an item's score there and that of the labelled side's error."""
        key = (j, scale)
        if key not in self._tables:
            at = np.linspace(0.0, 1.0, _KNOTS)
            mixtures = [self.compositions(j, float(share)) for share in at]
            variances = [max(self.variance(p, scale)[j] for p in one) for one in mixtures]
            errors = [max(self.error_variance(p)[j] for p in one) for one in mixtures]
            self._tables[key] = at, np.array(variances), np.array(errors)
        return self._tables[key]

    @cached_property
    def _tables(self) -> dict[tuple[int, float], tuple[FloatArray, FloatArray, FloatArray]]:
        return {}

    @cached_property
    def fingerprint(self) -> str:
        """Digest of method, classes and labelled items: a state belongs to one of these."""
        kept = self.quantifier.validation_items()
        digest = sha256(type(self.quantifier).__name__.encode())
        digest.update("\0".join(label_text(plain(label)) for label in self.quantifier.classes_).encode())
        digest.update(self.codes.astype(np.int64).tobytes())
        outputs = None if kept is None else kept[0]
        parts: tuple[AnyArray | None, ...] = () if outputs is None else (outputs.posteriors, outputs.decisions)
        for part in parts:
            if part is not None:
                digest.update(np.ascontiguousarray(part, dtype=np.float64).tobytes())
        return digest.hexdigest()[:32]
