"""Inference of the densities family: the likelihood that the estimate maximises also tells its error, if the densities are right.

For two classes the interval holds the shares that the likelihood ratio test does not reject; for more, one Newton step from the
estimate, free to leave the simplex, is the centre, and the information gives its covariance. Where the densities have parameters
that were learnt on validation items, as SLD's calibration, the parameters' error adds to it.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.intervals.bootstrap import resample, resample_classes
from headcount.intervals.error_parts import ErrorParts
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.protocols.exact import to_units
from headcount.quantifiers import DensitiesQuantifier, SampleItems
from headcount.quantifiers.densities import most_likely
from headcount.simplex import sum_zero_basis

__all__ = ["LikelihoodModel"]

_ITEMS_PER_CHUNK = 1 << 13


@dataclass(frozen=True, eq=False)
class _ParameterError:
    """How the error of the densities' parameters reaches the shares.

    Attributes
    ----------
    influence : array of shape (n_labelled, n_parameters)
        What each labelled item adds to the error of the parameters, less its class's mean: how many items of a class were
        labelled is not left to chance.
    derivatives : array of shape (n_samples, n_classes, n_parameters)
        Of the shares by the parameters.
    sizes : array of int, shape (n_classes,)
        Labelled items of each class.
    """

    influence: FloatArray
    derivatives: FloatArray
    sizes: IntArray

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


class LikelihoodModel:
    """The likelihood of samples: the estimate, its covariance, and what learnt parameters add to it."""

    def __init__(self, quantifier: DensitiesQuantifier, statistics: SampleItems) -> None:
        self.quantifier, self.statistics = quantifier, statistics
        self.F, self.samples = statistics.vectors, statistics.samples
        self.start = quantifier.starting_shares()
        self.shares = quantifier.solve(statistics)
        self.effective = self.samples.effective_sizes()
        self.centre, inverse, self.identified = _newton_step(self.shares, *_moments(self.F, self.samples, self.shares))
        self.covariance: FloatArray = inverse / self.effective[:, None, None]

    @cached_property
    def parameters(self) -> _ParameterError | None:
        """How the error of the densities' parameters reaches the shares, if they have any."""
        influence = self.quantifier.parameter_influence()
        if influence is None:
            return None
        outputs = self.statistics.outputs
        if outputs is None:
            raise DataError("The interval needs the outputs that the densities were computed from.")
        derivatives = []
        for s, rows in enumerate(self.samples):
            factors = self.samples.factors_of(s)
            T = self.F[rows] / (self.F[rows] @ self.shares[s])[:, None]
            G = self.quantifier.log_density_gradients(outputs, rows)
            expected = np.einsum("ij,ijp->ip", T * self.shares[s], G)
            gradient = np.einsum("i,ij,ijp->jp", factors / factors.sum(), T, G - expected[:, None, :], optimize=True)
            derivatives.append(self.covariance[s] * self.effective[s] @ gradient)
        return _ParameterError(influence, np.stack(derivatives), np.bincount(self.quantifier.validation_codes_))

    def _target(self, within: bool) -> FloatArray:
        """Return the covariance that comes from which items are in the sample."""
        if not within:
            return self.covariance
        # What the sample's composition adds to a population's is known here.
        composition = np.einsum("sa,ab->sab", self.shares, np.eye(self.shares.shape[1])) - np.einsum(
            "sa,sb->sab", self.shares, self.shares
        )
        less: FloatArray = self.covariance - composition / self.effective[:, None, None]
        return less

    def parts(self, effective: FloatArray, within: bool) -> ErrorParts:
        """Return estimates and their covariances; ``within``: for the sample itself rather than its population."""
        k = self.shares.shape[1]
        degrees = np.full(k, np.inf), np.maximum(effective - 1.0, 1.0)
        parts = ErrorParts(
            self.centre, self.shares, self._target(within), np.zeros((k, k, k)), *degrees, self.identified
        )
        if self.parameters is None:
            return parts
        identified = self.identified & bool((self.parameters.sizes > 1).all())
        return replace(
            parts, identified=identified, shared=self.parameters.shared(), shared_degrees=self.parameters.degrees
        )

    def interval(self, parts: ErrorParts, z: float, within: bool) -> tuple[FloatArray, FloatArray]:
        """Return the ends of each class's interval."""
        if parts.shares.shape[1] == 2:
            low, high = self._ratio_interval(parts, z, within)
            return np.column_stack([1.0 - high, low]), np.column_stack([1.0 - low, high])
        reach = parts.quantile(z) * np.sqrt(np.maximum(np.diagonal(parts.covariance(), axis1=1, axis2=2), 0.0))
        return parts.centre - reach, parts.centre + reach

    def _ratio_interval(self, parts: ErrorParts, z: float, within: bool) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the second class's interval, for two classes; the parameters' error widens it in proportion."""
        from headcount.intervals import _kernels

        samples = self.samples
        low, high, reach = np.empty(len(samples)), np.empty(len(samples)), np.full(len(samples), z)
        if parts.shared is not None:
            variance = np.maximum(parts.target[:, 1, 1], 1e-300)
            added = np.square(parts.shared[:, 1]).sum(axis=1)
            reach = parts.quantile(z)[:, 1] * np.sqrt(1.0 + added / variance)
        factors = _kernel_factors(samples)

        def bounds(a: int, b: int) -> None:
            ends = samples.indptr[a : b + 1]
            _kernels.ratio_bounds(
                self.F, self.start, samples.indices, ends, factors, reach[a:b], within, low[a:b], high[a:b]
            )

        in_chunks(bounds, len(samples), _chunk(samples))
        return low, high

    def replicates(
        self,
        parts: ErrorParts,
        outputs: Outputs,
        samples: Samples,
        n_replicates: int,
        within: bool,
        seed: np.random.SeedSequence,
    ) -> FloatArray:
        """Return replicates of the shares, one Newton step beyond where the simplex ends: shape (n_samples, n_replicates, k).

        Where densities have parameters, labelled items are drawn anew too: the parameters follow by one Newton step, the shares to
        first order.
        """
        centre = self.centre
        labelled_seed, target_seed = seed.spawn(2)
        scale = np.ones_like(centre)
        if within:
            diagonals = [np.diagonal(self._target(which), axis1=1, axis2=2) for which in (True, False)]
            scale = np.sqrt(np.clip(diagonals[0] / diagonals[1], 0.0, 1.0))
        replicates = np.empty((len(samples), n_replicates, centre.shape[1]))
        for s, one_seed in enumerate(target_seed.spawn(len(samples))):
            drawn = resample(samples[s], n_replicates, one_seed, samples[s : s + 1])
            replicates[s] = centre[s] + scale[s] * (_free_shares(self.F, self.start, drawn) - centre[s])
        if self.parameters is not None:
            influence, codes = self.parameters.influence, self.quantifier.validation_codes_
            size = np.abs(influence).max(initial=1e-300)
            units = to_units(influence / size)
            by_class = resample_classes(codes, centre.shape[1], n_replicates, labelled_seed)
            changes = size * sum(drawn.sum_exact(units).values() for drawn in by_class)
            replicates += np.einsum("scp,rp->src", self.parameters.derivatives, changes)
        return replicates


def _kernel_factors(samples: Samples) -> FloatArray:
    """Return factors of the entries that add up to each sample's effective size; empty if all of them are 1."""
    if samples.factors is None:
        return np.empty(0)
    scale = samples.effective_sizes() / samples.total_weights()
    scaled: FloatArray = samples.factors * np.repeat(scale, samples.sizes)
    return scaled


def _chunk(samples: Samples) -> int:
    """Return how many samples a thread takes at a time."""
    return max(1, _ITEMS_PER_CHUNK * len(samples) // max(1, samples.indices.size))


def _moments(F: FloatArray, samples: Samples, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return gradient and information of each sample's mean log likelihood, at the shares."""
    from headcount.intervals import _kernels

    n, k = shares.shape
    first, second = np.empty((n, k)), np.empty((n, k, k))
    factors = _kernel_factors(samples)

    def add_up(a: int, b: int) -> None:
        ends = samples.indptr[a : b + 1]
        _kernels.moments(F, samples.indices, ends, factors, shares[a:b], first[a:b], second[a:b])

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


def _free_shares(F: FloatArray, start: FloatArray, samples: Samples) -> FloatArray:
    """Return the most likely shares of samples of items with these densities, one Newton step beyond where the simplex ends."""
    from headcount.intervals import _kernels

    if len(start) > 2:
        shares = most_likely(SampleItems(F, samples), start, newton=True, tol=1e-6).shares
        return _newton_step(shares, *_moments(F, samples, shares))[0]
    centre = np.empty(len(samples))
    factors = _kernel_factors(samples)

    def search(a: int, b: int) -> None:
        _kernels.free_shares(F, start, samples.indices, samples.indptr[a : b + 1], factors, centre[a:b])

    in_chunks(search, len(samples), _chunk(samples))
    return np.column_stack([1.0 - centre, centre])
