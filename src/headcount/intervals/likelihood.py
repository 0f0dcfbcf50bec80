"""SLD: the estimate maximises a likelihood, which also tells its error where the classifier's posteriors are calibrated.

For two classes the interval holds the shares that the likelihood ratio test does not reject; for more, one Newton step from the
estimate, free to leave the simplex, is the centre, and the information gives its covariance.
"""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.intervals.parts import ErrorParts, sum_zero_basis
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import SLD

__all__ = ["free_shares", "likelihood_parts", "ratio_intervals"]

_CHUNK = 16


def likelihood_parts(quantifier: SLD, outputs: Outputs, samples: Samples, pile: bool) -> ErrorParts:
    """Return estimates and their covariances; the labelled side is the classifier, whose posteriors are taken for calibrated."""
    shares = quantifier.aggregate(outputs, samples)
    ratios = outputs.need("posteriors") / quantifier.prior_
    k = shares.shape[1]
    directions = sum_zero_basis(k)
    centre, target = np.empty_like(shares), np.empty((len(shares), k, k))
    effective = samples.effective_sizes()
    identified = True
    for s, rows in enumerate(samples):
        weights = (
            np.ones(len(rows))
            if samples.weights is None
            else samples.weights[samples.indptr[s] : samples.indptr[s + 1]]
        )
        R, weights = ratios[rows[weights > 0.0]], weights[weights > 0.0] / weights.sum()
        T = R / (R @ shares[s])[:, None]
        information = directions.T @ (T.T * weights @ T) @ directions
        values = np.linalg.eigvalsh(information)
        identified &= bool(values[0] > 1e-10 * max(values[-1], 1e-10))
        inverse = directions @ np.linalg.pinv(information) @ directions.T
        centre[s] = shares[s] + inverse @ (weights @ T)
        target[s] = inverse / effective[s]
        if pile:  # what the sample's own composition adds to a population's is known here
            target[s] -= (np.diag(shares[s]) - np.outer(shares[s], shares[s])) / effective[s]
    degrees = np.full(k, np.inf), np.maximum(effective - 1.0, 1.0)
    return ErrorParts(centre, shares, target, np.zeros((k, k, k)), *degrees, identified)


def ratio_intervals(
    quantifier: SLD, outputs: Outputs, samples: Samples, z: float, pile: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the second class's interval, for two classes."""
    from headcount.intervals import _kernels

    low, high = np.empty(len(samples)), np.empty(len(samples))
    weights = np.empty(0) if samples.weights is None else samples.weights
    P, prior = outputs.need("posteriors"), quantifier.prior_

    def bounds(a: int, b: int) -> None:
        ends = samples.indptr[a : b + 1]
        _kernels.ratio_bounds(P, prior, samples.indices, ends, weights, z, pile, low[a:b], high[a:b])

    in_chunks(bounds, len(samples), _CHUNK)
    return low, high


def free_shares(quantifier: SLD, outputs: Outputs, samples: Samples) -> FloatArray:
    """Return the most likely shares, one Newton step beyond where the simplex ends."""
    from headcount.intervals import _kernels

    if len(quantifier.classes_) > 2:
        return likelihood_parts(quantifier, outputs, samples, pile=False).centre
    centre = np.empty(len(samples))
    weights = np.empty(0) if samples.weights is None else samples.weights
    P, prior = outputs.need("posteriors"), quantifier.prior_

    def search(a: int, b: int) -> None:
        _kernels.free_shares(P, prior, samples.indices, samples.indptr[a : b + 1], weights, centre[a:b])

    in_chunks(search, len(samples), _CHUNK)
    return np.column_stack([1.0 - centre, centre])
