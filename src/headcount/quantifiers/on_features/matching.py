"""Solvers that match the histograms of all features with a mixture of the classes' histograms."""

import warnings

import numpy as np

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import AnyArray, FloatArray
from headcount._validation import quoted
from headcount.exceptions import IdentifiabilityWarning
from headcount.quantifiers.on_features.feature_bins import FeatureBins, bin_equation
from headcount.quantifiers.solvers import Solver
from headcount.simplex import mixture_least_squares

__all__ = ["FeatureSolver", "NearestFeatures", "NearestOnGrid", "warn_of_alike"]

_SAMPLES_PER_CHUNK = 64
_MAX_STEPS, _SHORTENINGS, _GAP = 200, 12, 1e-12
"""Newton steps at most, and how often one is shortened; the bound of how far the distance may be from its least value."""
_STILL = 1e-11
"""Largest change of a share by a step after which a sample is done: what is left is rounding."""
_NEAR_ZERO, _FRACTION = 1e-9, 0.995
"""A share below is set to 0; a step goes at most so far on the way to the first share of 0."""
_TINY_MASS = 1e-100
"""Least mass of a bin of the mixture, where curvatures are computed."""
_HALVINGS = 50
_TINY = 1e-300


def warn_of_alike(classes: AnyArray, name: str) -> None:
    """Warn that features do not tell classes apart."""
    warnings.warn(
        f"The labelled items' features do not tell the classes {quoted(classes, 10)} apart well enough to determine all their "
        f"shares: {name} returns one of several answers that fit equally well. Use other features, label more items, or merge "
        "classes.",
        IdentifiabilityWarning,
        stacklevel=6,
    )


class FeatureSolver(Solver):
    """A solver over features, whose interval is that of a linear equation near its own."""

    has_equation = True

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if the profiles do not determine the shares."""
        differences = M[:, 1:] - M[:, :1]
        if np.linalg.svd(differences, compute_uv=False)[-1] <= 1e-10:
            warn_of_alike(classes, name)


class NearestOnGrid(FeatureSolver):
    """For each number of bins the share on a grid with the least mean Hellinger distance over features; the median of these."""

    def __init__(self, representation: FeatureBins, n_candidates: int) -> None:
        self.representation, self.n_candidates = representation, n_candidates

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return the equation of the weighted sum of squares."""
        return bin_equation(self.representation, M)

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        rep, bins = self.representation, self.representation.histograms.bins
        shares = np.linspace(0.0, 1.0, self.n_candidates)
        mixtures = (1.0 - shares)[:, None] * M[:, 0] + shares[:, None] * M[:, 1]
        roots = [np.ascontiguousarray(np.sqrt(rep.folded(mixtures, b)).transpose(1, 2, 0)) for b in bins]
        positive = np.empty(len(q))

        def match(start: int, stop: int) -> None:
            best = np.empty((len(bins), stop - start))
            for i, b in enumerate(bins):
                frequencies = np.sqrt(rep.folded(q[start:stop], b))
                distances = np.zeros((stop - start, len(shares)))
                for f in range(rep.n_features):
                    distances += np.sqrt(np.maximum(1.0 - frequencies[:, f] @ roots[i][f], 0.0))
                best[i] = _middle_of_least(distances, shares)
            positive[start:stop] = np.median(best, axis=0)

        with one_blas_thread():
            in_chunks(match, len(q), _SAMPLES_PER_CHUNK)
        return np.column_stack([1.0 - positive, positive])


class NearestFeatures(FeatureSolver):
    """The shares with the least sum of distances between features' histograms, or distribution functions; all are convex."""

    def __init__(self, representation: FeatureBins, distance: str, cdf: bool) -> None:
        self.representation, self.distance, self.cdf = representation, distance, cdf

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return the equation of the weighted sum of squares."""
        return bin_equation(self.representation, M)

    def compared(self, frequencies: FloatArray) -> FloatArray:
        """Return the histograms of all features in a row, or their distribution functions without the last bin, where it is 1."""
        if not self.cdf:
            return frequencies
        folded = self.representation.folded(frequencies, self.representation.histograms.bins[0])
        return np.cumsum(folded, axis=2)[:, :, :-1].reshape(len(frequencies), -1)

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        q, M = self.compared(q), self.compared(M.T).T
        if self.distance == "l2":
            return mixture_least_squares(M, q)
        shares = np.empty((len(q), M.shape[1]))
        least = _between_two if M.shape[1] == 2 else _by_newton

        def match(start: int, stop: int) -> None:
            shares[start:stop] = least(q[start:stop], M, self.distance)

        with one_blas_thread():
            in_chunks(match, len(q), _SAMPLES_PER_CHUNK)
        return shares


def slopes(q: FloatArray, m: FloatArray, distance: str) -> FloatArray:
    """Return the derivative of the distance by each coordinate of the mixture m.

    "hellinger": sum of (sqrt m - sqrt q)^2; "topsoe": sum of m log(2 m / (m + q)) + q log(2 q / (m + q)).
    """
    m = np.maximum(m, _TINY)
    derivative: FloatArray = 1.0 - np.sqrt(q / m) if distance == "hellinger" else np.log(2.0 * m / (m + q))
    return derivative


def _between_two(q: FloatArray, M: FloatArray, distance: str) -> FloatArray:
    """Return the shares of two classes: the derivative rises in the second's share, and is 0 at the least distance."""
    direction = M[:, 1] - M[:, 0]
    low, high = np.zeros(len(q)), np.ones(len(q))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        rising = slopes(q, M[:, 0] + middle[:, None] * direction, distance) @ direction >= 0.0
        low, high = np.where(rising, low, middle), np.where(rising, middle, high)
    positive = (low + high) / 2.0
    for end in (0.0, 1.0):
        positive = np.where(np.abs(positive - end) < 2.0**-45, end, positive)
    return np.column_stack([1.0 - positive, positive])


def _by_newton(q: FloatArray, M: FloatArray, distance: str) -> FloatArray:
    """Return the shares of several classes, by Newton steps of all samples at once within the simplex.

    With g the gradient, p . g - min_j g_j bounds how far the distance is from its least value. A share that falls near 0 while its
    slope rises is set to 0 and left out of the steps, until its slope falls again.
    """
    k = M.shape[1]
    p = np.full((len(q), k), 1.0 / k)
    products = (M[:, :, None] * M[:, None, :]).reshape(len(M), -1)
    active = np.arange(len(q))
    for _ in range(_MAX_STEPS):
        P, Q = p[active], q[active]
        m = P @ M.T
        g = slopes(Q, m, distance) @ M
        off = g - (P * g).sum(axis=1, keepdims=True)
        P[(P < _NEAR_ZERO) & (off > 0.0)] = 0.0
        back = (P == 0.0) & (off < -_GAP)
        P[back] = _NEAR_ZERO
        P /= P.sum(axis=1, keepdims=True)
        p[active] = P
        going = off.min(axis=1) < -_GAP
        active, P, Q, g, m = active[going], P[going], Q[going], g[going], (P @ M.T)[going]
        if not len(active):
            break
        step = _newton_step(P, g, (_curvatures(Q, m, distance) @ products).reshape(-1, k, k))
        p[active] = P
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step < 0.0, -P / step, np.inf).min(axis=1)
        length = np.minimum(1.0, _FRACTION * room)
        before = _distances(Q, m, distance)
        waiting = np.ones(len(active), dtype=bool)
        for _ in range(_SHORTENINGS):
            moved = P + length[:, None] * step
            worse = waiting & (_distances(Q, moved @ M.T, distance) > before)
            if not worse.any():
                break
            length[worse] /= 4.0
            waiting = worse
        moves = length[:, None] * step
        p[active] = np.maximum(P + moves, 0.0)
        active = active[np.abs(moves).max(axis=1) > _STILL]
    p /= p.sum(axis=1, keepdims=True)
    return p


def _newton_step(P: FloatArray, g: FloatArray, H: FloatArray) -> FloatArray:
    """Return the step to the minimum of the quadratic model among changes that sum to 0 and leave shares of 0 as they are.

    Shares near 0 that the step would lower are set to 0, in place.
    """
    step = _free_step(P, g, H)
    for _ in range(P.shape[1]):
        blocked = (P > 0.0) & (P < _NEAR_ZERO) & (step < 0.0)
        if not blocked.any():
            break
        P[blocked] = 0.0
        step = _free_step(P, g, H)
    return step


def _free_step(P: FloatArray, g: FloatArray, H: FloatArray) -> FloatArray:
    k = P.shape[1]
    free = P > 0.0
    ridge = 1e-12 * (np.trace(H, axis1=1, axis2=2) / k + 1.0)
    bordered = np.zeros((len(P), k + 1, k + 1))
    bordered[:, :k, :k] = np.where(free[:, :, None] & free[:, None, :], H, 0.0)
    bordered[:, range(k), range(k)] += np.where(free, ridge[:, None], 1.0)
    bordered[:, k, :k] = bordered[:, :k, k] = free
    right = np.concatenate([np.where(free, -g, 0.0), np.zeros((len(P), 1))], axis=1)
    step: FloatArray = np.linalg.solve(bordered, right[:, :, None])[:, :k, 0]
    return step


def _curvatures(q: FloatArray, m: FloatArray, distance: str) -> FloatArray:
    """Return the second derivative of the distance by each coordinate of the mixture m."""
    m = np.maximum(m, _TINY_MASS)
    second: FloatArray = 0.5 * np.sqrt(q / m) / m if distance == "hellinger" else q / (m * (m + q))
    return second


def _distances(q: FloatArray, m: FloatArray, distance: str) -> FloatArray:
    """Return the distance of each row."""
    if distance == "hellinger":
        squares: FloatArray = ((np.sqrt(m) - np.sqrt(q)) ** 2).sum(axis=1)
        return squares
    both = np.maximum(m + q, _TINY)
    terms = m * np.log(np.maximum(2.0 * m / both, _TINY)) + q * np.log(np.maximum(2.0 * q / both, _TINY))
    sums: FloatArray = terms.sum(axis=1)
    return sums


def _middle_of_least(distances: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the share of the least distance of each row; of several, the middle between the first and the last."""
    best = distances <= distances.min(axis=1, keepdims=True) + 1e-12
    first = best.argmax(axis=1)
    last = len(shares) - 1 - best[:, ::-1].argmax(axis=1)
    middle: FloatArray = (shares[first] + shares[last]) / 2.0
    return middle
