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
from headcount.monitor.move_sizes import MoveSizes, bounding_variance
from headcount.protocols import as_samples
from headcount.quantifiers import Quantifier, SampleItems, Statistics

__all__ = ["ShareScores"]

_MOVES = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])
"""Moves, in units of the scale, for which the variance of a sequence must bound the cumulants."""
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
        return np.array([self._bound(j, shares[None, :], scale) for j in range(self.n_classes)])

    def _bound(self, j: int, mixtures: FloatArray, scale: float) -> float:
        """Return the variance of class j's score that holds in each of several mixtures."""
        weights, y = self._weights(mixtures), self._values(j)
        plain = max(float(self.plain_variance(shares)[j]) for shares in mixtures)
        return max(plain, *(bounding_variance(y, weights, weights @ y, float(move)) for move in scale * _MOVES))

    def plain_variance(self, shares: FloatArray) -> FloatArray:
        """Return the variance of an item's score for each class in a mixture with these shares."""
        variance: FloatArray = shares @ self.spread + shares * (1.0 - shares)
        return variance

    def _values(self, j: int) -> FloatArray:
        """Return the scores for class j of the labelled items, and of one more of each class, half of it 1 off to either side.

        A mistake that no labelled item shows may be possible, and a large tilt would take the first one for a change.
        """
        indicators = np.eye(self.n_classes)[j]
        return np.concatenate([self.labelled[:, j], indicators - 1.0, indicators + 1.0])

    def _weights(self, mixtures: FloatArray) -> FloatArray:
        """Return the probability of each of these values in mixtures of the classes, a row a mixture."""
        each = mixtures / (np.bincount(self.codes, minlength=self.n_classes) + 1.0)
        return np.concatenate([each[:, self.codes], each / 2.0, each / 2.0], axis=1)

    def moves_from(self, j: int, shares: FloatArray, scale: float) -> MoveSizes:
        """Return the moves of class j's score that are looked for in a stream with these shares."""
        weights, y = self._weights(shares[None, :]), self._values(j)
        return MoveSizes.of_values(y, weights, weights @ y, scale, up=float(1.0 - shares[j]), down=float(shares[j]))

    def moves_beyond(self, j: int, band: tuple[float, float], sign: float, scale: float) -> MoveSizes:
        """Return the moves of class j's score beyond the upper (sign 1) or lower end (-1) of a band, from any share inside."""
        low, high = band
        end, room = (high, 1.0 - high) if sign > 0 else (low, low)
        at = np.unique([low, high, *np.linspace(0.0, 1.0, _KNOTS)])
        mixtures = np.array([p for t in at[(at >= low) & (at <= high)] for p in self.compositions(j, float(t))])
        weights = self._weights(mixtures)
        return MoveSizes.of_values(
            sign * self._values(j), weights, np.full(len(weights), sign * end), scale, up=room, down=0.0
        )

    def moves_in_class(self, j: int, code: int, scale: float) -> MoveSizes:
        """Return the moves of class j's score that are looked for among items of one class."""
        weights, y = self._weights(np.eye(self.n_classes)[code][None, :]), self._values(j)
        return MoveSizes.of_values(y, weights, weights @ y, scale, up=np.inf, down=np.inf)

    def error_variance(self, shares: FloatArray) -> FloatArray:
        """Return the variance of the labelled side's error of each class's mean score, in a mixture with these shares."""
        errors: FloatArray = shares**2 @ self.class_errors
        return errors

    @cached_property
    def class_errors(self) -> FloatArray:
        """Variance of the labelled items' error of the mean scores, a row a class.

        As if one item of each class had been taken for another: a class of which no labelled item was mistaken has a rate of
        mistakes all the same, which a long stream shows.
        """
        sizes = self.sizes[:, None]
        return np.asarray((self.spread + 1.0 / sizes) / sizes, dtype=np.float64)

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
            mixtures = [np.array(self.compositions(j, float(share))) for share in at]
            variances = [self._bound(j, one, scale) for one in mixtures]
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
