"""SLD: the estimate maximises a likelihood, which also tells its error where the classifier's posteriors are calibrated.

For two classes the interval holds the shares that the likelihood ratio test does not reject; for more, one Newton step from the
estimate, free to leave the simplex, is the centre, and the information gives its covariance. Where SLD calibrates the posteriors
itself, the calibration's own error adds to it: the shares' derivatives by its parameters are known in closed form.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.intervals.parts import ErrorParts, sum_zero_basis
from headcount.learners import Outputs
from headcount.learners.temperature import logarithms
from headcount.protocols import Samples
from headcount.quantifiers import SLD
from headcount.quantifiers.statistics import GatheredPosteriors

__all__ = ["LikelihoodModel", "free_shares"]

_ITEMS_A_CHUNK = 1 << 13


@dataclass(frozen=True, eq=False)
class Calibration:
    """How the calibration's error reaches the shares.

    Attributes
    ----------
    influence : array of shape (n_labelled, n_parameters)
        What each labelled item adds to the error of the parameters, less its class's mean: how many items of a class were
        labelled is not left to chance.
    derivatives : array of shape (n_samples, n_classes, n_parameters)
        Of the shares by the parameters.
    """

    influence: FloatArray
    derivatives: FloatArray
    sizes: IntArray
    """Labelled items of each class."""

    @property
    def degrees(self) -> float:
        """Degrees of freedom of the parameters' covariance."""
        return float(max(self.sizes.sum() - 2 * len(self.sizes), 1))

    def shared(self) -> FloatArray:
        """Return, for each sample, a matrix R such that the labelled items' chance adds R R' to the covariance of its shares.

        Two samples of one quantifier have their errors R u in common, with one and the same u.
        """
        triangle: Any = np.linalg.qr(self.influence, mode="r")
        added: FloatArray = self.derivatives @ triangle.T
        return added

    def covariance(self) -> FloatArray:
        """Return what the labelled items' chance adds to the covariance of each sample's shares."""
        R = self.shared()
        added: FloatArray = R @ np.swapaxes(R, 1, 2)
        return added


class LikelihoodModel:
    """SLD's likelihood of samples: the estimate, its covariance, and what a calibration adds to it."""

    def __init__(self, quantifier: SLD, outputs: Outputs, samples: Samples) -> None:
        self.quantifier, self.outputs, self.samples = quantifier, outputs, samples
        self.P, self.prior = quantifier.calibrated(outputs).need("posteriors"), quantifier.prior_
        self.shares = quantifier.solve(GatheredPosteriors(self.P, samples))
        self.effective = samples.effective_sizes()
        first, second = _moments(self.P, self.prior, samples, self.shares)
        self.centre, inverse, self.identified = _newton_step(self.shares, first, second)
        self.covariance: FloatArray = inverse / self.effective[:, None, None]

    @cached_property
    def calibration(self) -> Calibration | None:
        """How the calibration's error reaches the shares, if there is a calibration."""
        learnt = self.quantifier.calibration_
        if learnt is None:
            return None
        logs = logarithms(self.outputs.need("posteriors"))
        derivatives = np.empty_like(self.covariance)
        for s, rows in enumerate(self.samples):
            R = self.P[rows] / self.prior
            weights = self.samples.weights_of(s)
            gradient = _gradient_by_parameters(
                R / (R @ self.shares[s])[:, None], logs[rows], weights / weights.sum(), self.shares[s]
            )
            derivatives[s] = self.covariance[s] * self.effective[s] @ gradient
        validated, codes = self.quantifier.validation_outputs_, self.quantifier.validation_codes_
        return Calibration(learnt.influence(validated.need("posteriors"), codes), derivatives, np.bincount(codes))

    def target(self, pile: bool) -> FloatArray:
        """Return the covariance that comes from which items are in the sample."""
        if not pile:
            return self.covariance
        # What the sample's own composition adds to a population's is known here.
        composition = np.einsum("sa,ab->sab", self.shares, np.eye(self.shares.shape[1])) - np.einsum(
            "sa,sb->sab", self.shares, self.shares
        )
        less: FloatArray = self.covariance - composition / self.effective[:, None, None]
        return less

    def parts(self, pile: bool) -> ErrorParts:
        """Return estimates and their covariances."""
        k = self.shares.shape[1]
        degrees = np.full(k, np.inf), np.maximum(self.effective - 1.0, 1.0)
        parts = ErrorParts(self.centre, self.shares, self.target(pile), np.zeros((k, k, k)), *degrees, self.identified)
        if self.calibration is None:
            return parts
        identified = self.identified & bool((self.calibration.sizes > 1).all())
        shared, degrees_of_shared = self.calibration.shared(), self.calibration.degrees
        return replace(parts, identified=identified, shared=shared, shared_degrees=degrees_of_shared)

    def ratio_intervals(self, z: float, pile: bool) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the second class's interval, for two classes; a calibration's error widens it in proportion."""
        from headcount.intervals import _kernels

        samples = self.samples
        low, high, reach = np.empty(len(samples)), np.empty(len(samples)), np.full(len(samples), z)
        if self.calibration is not None:
            parts = self.parts(pile)
            own = np.maximum(parts.target[:, 1, 1], 1e-300)
            reach = parts.quantile(z)[:, 1] * np.sqrt(1.0 + self.calibration.covariance()[:, 1, 1] / own)
        weights = np.empty(0) if samples.weights is None else samples.weights
        # The kernel scales weights to Kish's size; samples whose weights count items that are alike have more of them.
        reach = reach * np.sqrt(Samples.effective_sizes(samples) / self.effective)

        def bounds(a: int, b: int) -> None:
            ends = samples.indptr[a : b + 1]
            _kernels.ratio_bounds(
                self.P, self.prior, samples.indices, ends, weights, reach[a:b], pile, low[a:b], high[a:b]
            )

        in_chunks(bounds, len(samples), _chunk(samples))
        return low, high


def _chunk(samples: Samples) -> int:
    """Return how many samples a thread takes at a time."""
    return max(1, _ITEMS_A_CHUNK * len(samples) // max(1, samples.indices.size))


def _gradient_by_parameters(T: FloatArray, logs: FloatArray, weights: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the derivatives of the likelihood's gradient in the shares, by temperature and biases."""
    k = T.shape[1]
    mixed = T * shares  # posteriors under these shares
    columns = [T * (logs - (mixed * logs).sum(axis=1, keepdims=True))]
    columns += [T * (np.eye(k)[m] - mixed[:, [m]]) for m in range(1, k)]
    return np.column_stack([weights @ column for column in columns])


def _moments(P: FloatArray, prior: FloatArray, samples: Samples, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return gradient and information of each sample's mean log likelihood, at the shares."""
    from headcount.intervals import _kernels

    n, k = shares.shape
    first, second = np.empty((n, k)), np.empty((n, k, k))
    weights = np.empty(0) if samples.weights is None else samples.weights

    def add_up(a: int, b: int) -> None:
        ends = samples.indptr[a : b + 1]
        _kernels.moments(P, prior, samples.indices, ends, weights, shares[a:b], first[a:b], second[a:b])

    in_chunks(add_up, n, _chunk(samples))
    return first, second


def _newton_step(shares: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray, AnyArray]:
    """Return the shares one Newton step on, free to leave the simplex; the inverse information; whether there is enough of it."""
    directions = sum_zero_basis(shares.shape[1])
    information = directions.T @ second @ directions
    values = np.linalg.eigvalsh(information)
    inverse: FloatArray = directions @ np.linalg.pinv(information) @ directions.T
    ahead: FloatArray = shares + (inverse @ first[:, :, None])[:, :, 0]
    return ahead, inverse, values[:, 0] > 1e-10 * np.maximum(values[:, -1], 1e-10)


def free_shares(P: FloatArray, prior: FloatArray, samples: Samples) -> FloatArray:
    """Return the most likely shares of samples of items with these posteriors, one Newton step beyond where the simplex ends."""
    from headcount.intervals import _kernels

    if len(prior) > 2:
        shares = SLD()._most_likely(GatheredPosteriors(P, samples), prior).shares
        return _newton_step(shares, *_moments(P, prior, samples, shares))[0]
    centre = np.empty(len(samples))
    weights = np.empty(0) if samples.weights is None else samples.weights

    def search(a: int, b: int) -> None:
        _kernels.free_shares(P, prior, samples.indices, samples.indptr[a : b + 1], weights, centre[a:b])

    in_chunks(search, len(samples), _chunk(samples))
    return np.column_stack([1.0 - centre, centre])
