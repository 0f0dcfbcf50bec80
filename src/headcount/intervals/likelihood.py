"""Intervals of the likelihood ratio, for densities that are assumed to be right.

A class's interval holds the shares v at which twice the log-likelihood, maximised over the other shares, is below its maximum by no
more than the quantile of chi-squared (Wilks 1938). Shares are confined to the simplex in both maxima.
"""

import numpy as np

from headcount._interpreted import run
from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.intervals.bootstrap import resample
from headcount.protocols import Samples
from headcount.quantifiers import DensitiesQuantifier, SampleItems
from headcount.quantifiers.densities import most_likely
from headcount.simplex import sum_zero_basis

__all__ = ["LikelihoodRatio", "moments"]

_ITEMS_PER_CHUNK = 1 << 13


class LikelihoodRatio:
    """The likelihood of samples: the estimate, its intervals and its replicates."""

    def __init__(self, quantifier: DensitiesQuantifier, statistics: SampleItems) -> None:
        self.F, self.samples = statistics.vectors, statistics.samples
        self.start = quantifier.starting_shares()
        self.shares = quantifier.solve(statistics)
        """The estimate."""
        self.peak = self.shares
        """The shares at which the likelihood has its maximum; the estimate, unless imaginary items draw it away."""
        if quantifier.imaginary_items().any():
            self.peak = most_likely(statistics, self.start, newton=True, tol=1e-6).shares

    def interval(self, z: float, within: bool) -> tuple[FloatArray, FloatArray]:
        """Return the ends of each class's interval; ``within``: for the sample itself rather than its population."""
        from headcount.intervals import _kernels

        samples, k = self.samples, self.shares.shape[1]
        low, high = np.empty_like(self.shares), np.empty_like(self.shares)
        factors = _kernel_factors(samples)
        scale = self._remaining_variance() if within else np.ones_like(self.shares)

        def bounds(a: int, b: int) -> None:
            ends = samples.indptr[a : b + 1]
            if k == 2:
                reach = np.full(b - a, z)
                _kernels.ratio_bounds(
                    self.F, self.start, samples.indices, ends, factors, reach, within, low[a:b, 1], high[a:b, 1]
                )
                low[a:b, 0], high[a:b, 0] = 1.0 - high[a:b, 1], 1.0 - low[a:b, 1]
            else:
                _kernels.profile_bounds(
                    self.F,
                    samples.indices,
                    ends,
                    factors,
                    z * np.sqrt(scale[a:b]),
                    self.peak[a:b],
                    low[a:b],
                    high[a:b],
                )

        in_chunks(bounds, len(samples), _chunk(samples))
        return low, high

    def _remaining_variance(self) -> FloatArray:
        """Return the part of each share's variance that remains if the composition of the sample is not left to chance."""
        _, inverse = self._newton_step(self.peak, *moments(self.F, self.samples, self.peak))
        variance = np.maximum(np.diagonal(inverse, axis1=1, axis2=2), 1e-300)
        part: FloatArray = np.clip(1.0 - self.peak * (1.0 - self.peak) / variance, 1e-6, 1.0)
        return part

    def replicates(self, samples: Samples, n_replicates: int, seed: np.random.SeedSequence) -> FloatArray:
        """Return replicates of the shares, one Newton step beyond where the simplex ends: shape (n_samples, n_replicates, k)."""
        replicates = np.empty((len(samples), n_replicates, self.shares.shape[1]))
        for s, one_seed in enumerate(seed.spawn(2)[1].spawn(len(samples))):
            drawn = resample(samples[s], n_replicates, one_seed, samples[s : s + 1])
            replicates[s] = self._free_shares(drawn)
        return replicates

    def _free_shares(self, samples: Samples) -> FloatArray:
        """Return the most likely shares of samples, one Newton step beyond where the simplex ends."""
        from headcount.intervals import _kernels

        if len(self.start) > 2:
            shares = most_likely(SampleItems(self.F, samples), self.start, newton=True, tol=1e-6).shares
            return self._newton_step(shares, *moments(self.F, samples, shares))[0]
        centre = np.empty(len(samples))
        factors = _kernel_factors(samples)

        def search(a: int, b: int) -> None:
            _kernels.free_shares(self.F, self.start, samples.indices, samples.indptr[a : b + 1], factors, centre[a:b])

        in_chunks(search, len(samples), _chunk(samples))
        return np.column_stack([1.0 - centre, centre])

    @staticmethod
    def _newton_step(shares: FloatArray, first: FloatArray, second: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the shares one Newton step on, free to leave the simplex, and the inverse information of an item."""
        directions = sum_zero_basis(shares.shape[1])
        information = directions.T @ second @ directions
        inverse: FloatArray = directions @ np.linalg.pinv(information) @ directions.T
        ahead: FloatArray = shares + (inverse @ first[:, :, None])[:, :, 0]
        return ahead, inverse


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


def moments(F: FloatArray, samples: Samples, shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each sample's means of T and of T T', where T are an item's densities divided by that of the mixture at its shares."""
    from headcount.intervals import _kernels

    n, k = shares.shape
    first, second = np.empty((n, k)), np.empty((n, k, k))
    factors = _kernel_factors(samples)

    def add_up(a: int, b: int) -> None:
        ends = samples.indptr[a : b + 1]
        run(
            _kernels.moments,
            float(ends[-1] - ends[0]) * k * k,
            F,
            samples.indices,
            ends,
            factors,
            shares[a:b],
            first[a:b],
            second[a:b],
        )

    in_chunks(add_up, n, _chunk(samples))
    return first, second
