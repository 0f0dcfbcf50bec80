"""Losses of linear classifiers: value, slopes and curvature as functions of the scores (n_items, n_scores)."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from headcount._typing import FloatArray, IntArray

__all__ = ["At", "Logistic", "Loss", "Multinomial", "SquaredHinge"]


class At(Protocol):
    """A loss at given scores."""

    value: float
    slopes: FloatArray
    """Derivatives by the scores."""

    @property
    def diagonal(self) -> FloatArray:
        """Second derivatives by each score, of the shape of the scores."""

    def curve(self, V: FloatArray) -> FloatArray:
        """Multiply directions of scores by the second derivatives of each item."""

    def intercept_hessian(self) -> FloatArray:
        """Second derivatives by a constant that is added to each column of scores."""


class Loss(Protocol):
    """A loss of the scores of all items, weighted by item."""

    n_scores: int
    regularised_intercept: bool
    """Whether the intercept counts as the weight of a constant feature."""
    forcing: float
    """Relative residual of the linear system of a Newton step."""
    smooth: bool
    """Whether solutions for several C lie on a smooth path."""

    def at(self, scores: FloatArray) -> At:
        """Return the loss at these scores."""


@dataclass
class _OneScore:
    """A loss of one score an item."""

    value: float
    slopes: FloatArray
    diagonal: FloatArray

    def curve(self, V: FloatArray) -> FloatArray:
        return self.diagonal * V

    def intercept_hessian(self) -> FloatArray:
        return np.asarray(self.diagonal.sum(axis=0)[:, None])


@dataclass
class Logistic:
    """``weight * log(1 + exp(-y s))`` with y = -1 or 1."""

    signs: FloatArray
    weights: FloatArray
    n_scores = 1
    regularised_intercept = False
    forcing = 0.1
    smooth = True

    def at(self, scores: FloatArray) -> At:
        """Return the loss at these scores."""
        from scipy.special import expit

        margins = self.signs * scores
        wrong = expit(-margins)
        value = float((self.weights * np.logaddexp(0.0, -margins)).sum())
        return _OneScore(value, -self.weights * self.signs * wrong, self.weights * wrong * expit(margins))


@dataclass
class SquaredHinge:
    """``weight * max(0, 1 - y s)^2`` with y = -1 or 1."""

    signs: FloatArray
    weights: FloatArray
    n_scores = 1
    regularised_intercept = True
    # Piecewise quadratic: with the right items inside the margin one step is exact, if its system is solved well.
    forcing = 1e-4
    smooth = False

    def at(self, scores: FloatArray) -> At:
        """Return the loss at these scores."""
        inside = np.maximum(1.0 - self.signs * scores, 0.0)
        value = float((self.weights * inside**2).sum())
        return _OneScore(value, -2.0 * self.weights * self.signs * inside, 2.0 * self.weights * (inside > 0.0))


@dataclass
class _AtMultinomial:
    value: float
    slopes: FloatArray
    posteriors: FloatArray
    weights: FloatArray

    @property
    def diagonal(self) -> FloatArray:
        diagonal: FloatArray = self.weights * self.posteriors * (1.0 - self.posteriors)
        return diagonal

    def curve(self, V: FloatArray) -> FloatArray:
        mean = (self.posteriors * V).sum(axis=1, keepdims=True)
        curved: FloatArray = self.weights * self.posteriors * (V - mean)
        return curved

    def intercept_hessian(self) -> FloatArray:
        weighted = self.weights * self.posteriors
        hessian: FloatArray = np.diag(weighted.sum(axis=0)) - weighted.T @ self.posteriors
        return hessian


@dataclass
class Multinomial:
    """``weight * -log softmax(s)[y]``, with a score for each class."""

    codes: IntArray
    weights: FloatArray
    n_scores: int
    regularised_intercept = False
    forcing = 0.1
    smooth = True

    def at(self, scores: FloatArray) -> At:
        """Return the loss at these scores."""
        from scipy.special import logsumexp

        log_posteriors = scores - logsumexp(scores, axis=1, keepdims=True)
        rows = np.arange(len(self.codes))
        value = -float((self.weights[:, 0] * log_posteriors[rows, self.codes]).sum())
        posteriors = np.exp(log_posteriors)
        slopes = self.weights * posteriors
        slopes[rows, self.codes] = 0.0
        slopes[rows, self.codes] = -slopes.sum(axis=1)  # p - 1 would lose all digits of a posterior near 1
        return _AtMultinomial(value, slopes, posteriors, self.weights)
