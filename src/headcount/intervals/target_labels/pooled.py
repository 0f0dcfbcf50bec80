"""Shares and intervals from both parts of `Pooled`, by the score of the labels' likelihood and the other part's quadratic form."""

from dataclasses import dataclass, field

import numpy as np

from headcount._distributions import student_quantile
from headcount._typing import FloatArray
from headcount.intervals.target_labels.pooling import Pooled
from headcount.simplex import sum_zero_basis

__all__ = ["PooledScore"]

_STEPS, _CHANGE = 25, 1e-8
"""Rounds of reweighted least squares at most, and the change of shares at which they end."""
_HALVINGS = 22
"""Halvings of the interval that an end lies in: to a quarter of a millionth."""
_LEAST_SHARE = 1e-7
"""Tested shares are between this and one minus it."""
_FLOOR = 0.5
"""Labelled items that a class counts for at least in the variance of the labels, unless its share is the tested one."""


@dataclass(frozen=True, eq=False)
class PooledScore:
    r"""The score of shares p, with its information.

    .. math::
        U(p) = n \, \hat p_{lab} / p + G' V(p)^{-1} (y - G p), \quad I(p) = n \, \mathrm{diag}(1/p) + G' V(p)^{-1} G

    in the directions in which shares can change. The estimate has a score of 0; the interval of class j holds the shares v that
    the score test at :math:`p_j = v` does not reject, with the other shares where their score is 0. The variance is that at the
    tested shares, as in Wilson's interval (1927), so that an interval has a width at 0 and 1 and never leaves them.
    """

    parts: Pooled
    directions: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "directions", sum_zero_basis(len(self.parts.labelled)))

    def shares(self) -> FloatArray:
        """Return the shares whose score is 0, or those nearest to it on the simplex."""
        return self._fitted(None, 0.0)

    def interval_of(self, j: int, shares: FloatArray, tail: float) -> tuple[float, float]:
        """Return the ends of the interval of one class."""
        return self._end(j, float(shares[j]), 0.0, tail), self._end(j, float(shares[j]), 1.0, tail)

    def sensitivity(self, shares: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the information in the directions of shares, G' V(p)^-1, and the shares that the labels' score is divided by."""
        weights = self._weights(shares, None)
        information, W = self._information(shares, weights)
        return information, self.parts.G.T @ W, weights

    def intervals(self, shares: FloatArray, tail: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval of each class.

        Parameters
        ----------
        shares : array of shape (n_classes,)
            The estimate.
        tail : float
            Probability beyond each end.
        """
        k = len(shares)
        low, high = np.zeros(k), np.ones(k)
        for j in range(1 if k == 2 else 0, k):
            low[j], high[j] = self.interval_of(j, shares, tail)
        if k == 2:
            low[0], high[0] = 1.0 - high[1], 1.0 - low[1]
        return low, high

    def covariance(self, shares: FloatArray) -> FloatArray:
        """Return the covariance of the shares, free to leave the simplex."""
        weights = np.maximum(shares, _FLOOR / max(self.parts.n, 1.0))
        information = self._information(shares, weights)[0]
        covariance: FloatArray = self.directions @ np.linalg.pinv(information) @ self.directions.T
        return covariance

    def _inverse_variance(self, p: FloatArray) -> FloatArray:
        """Return the inverse of V(p), in the directions in which it is not 0."""
        parts = self.parts
        weights = parts.within * p / parts.N + p**2 / parts.sizes
        V = np.einsum("l,lab->ab", weights, parts.S)
        if parts.between > 0.0:
            V = V + parts.between / parts.N * (parts.G @ (np.diag(p) - np.outer(p, p)) @ parts.G.T)
        if V.shape == (1, 1):
            scalar: FloatArray = 1.0 / np.maximum(V, 1e-300)
            return scalar
        inverse: FloatArray = np.linalg.pinv(V, rcond=1e-10, hermitian=True)
        return inverse

    def _information(self, p: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the information in the directions of the simplex, and the inverse variance."""
        parts, E = self.parts, self.directions
        full = np.diag(parts.n / weights)
        W = np.zeros((0, 0))
        if parts.z is not None:
            W = self._inverse_variance(p)
            full = full + parts.G.T @ W @ parts.G
        information: FloatArray = E.T @ full @ E
        return information, W

    def _weights(self, p: FloatArray, j: int | None) -> FloatArray:
        weights = np.maximum(p, _FLOOR / max(self.parts.n, 1.0))
        if j is not None:
            weights[j] = max(p[j], _LEAST_SHARE)
        return weights

    def _fitted(self, j: int | None, v: float) -> FloatArray:
        """Return the shares whose score is 0 with :math:`p_j = v`, by reweighted least squares on the simplex."""
        parts = self.parts
        k = len(parts.labelled)
        p = (parts.n * parts.labelled + _FLOOR) / (parts.n + _FLOOR * k)
        if j is not None:
            p = _with_share(p, j, v)
            if k == 2:
                return p
        for _ in range(_STEPS):
            weights = self._weights(p, j)
            H, g = np.diag(parts.n / weights), parts.n * parts.labelled / weights
            if parts.z is not None:
                W = self._inverse_variance(p)
                H, g = H + parts.G.T @ W @ parts.G, g + parts.G.T @ W @ parts.z
            moved = _quadratic_minimum(H, g, j, v)
            change = float(np.abs(moved - p).max())
            p = moved
            if change < _CHANGE:
                break
        return p

    def _statistic(self, j: int, v: float, tail: float) -> float:
        """Return the distance of the estimate from a tested share in standard errors, over the quantile that rejects it."""
        parts, E = self.parts, self.directions
        p = self._fitted(j, v)
        weights = self._weights(p, j)
        information, W = self._information(p, weights)
        score = parts.n * (parts.labelled - p) / weights
        if parts.z is not None:
            score = score + parts.G.T @ W @ (parts.z - parts.G @ p)
        inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
        row = E[j] @ inverse
        variance = float(row @ E[j])
        # Shares that are held at 0 keep their part of the variance, but do not pull at the tested one.
        held = (p <= 0.0) & (np.arange(len(p)) != j)
        if held.any() and not held[:j].all() | held[j + 1 :].all():
            free = E[held]
            correction = inverse - inverse @ free.T @ np.linalg.pinv(free @ inverse @ free.T) @ free @ inverse
            row = E[j] @ correction
        step = float(row @ E.T @ score)
        if variance <= 0.0:
            return 0.0
        t = float(student_quantile(tail, self._degrees(p, E[j] @ inverse @ E.T, W, variance)))
        return float(step / np.sqrt(variance) / t)

    def _degrees(self, p: FloatArray, row: FloatArray, W: FloatArray, variance: float) -> float:
        """Return the degrees of freedom of a variance by Welch and Satterthwaite: what few items of a class tell of its spread."""
        parts = self.parts
        if parts.z is None:
            return 1e6
        direction = row @ parts.G.T @ W
        spread = np.einsum("a,lab,b->l", direction, parts.S, direction)
        estimated = spread * (parts.within * p / parts.N + p**2 / parts.sizes)
        squares = float(np.sum(estimated**2 / np.maximum(parts.sizes - 1.0, 1.0)))
        return max(min(variance**2 / squares, 1e6), 1.0) if squares > 0.0 else 1e6

    def _end(self, j: int, share: float, bound: float, tail: float) -> float:
        """Return the share nearest to ``bound`` that is not rejected."""
        extreme = min(max(bound, _LEAST_SHARE), 1.0 - _LEAST_SHARE)
        inside, outside = min(max(share, _LEAST_SHARE), 1.0 - _LEAST_SHARE), extreme
        if abs(self._statistic(j, outside, tail)) <= 1.0:
            return bound
        for _ in range(_HALVINGS):
            middle = (inside + outside) / 2.0
            if abs(self._statistic(j, middle, tail)) <= 1.0:
                inside = middle
            else:
                outside = middle
        return (inside + outside) / 2.0


def _with_share(p: FloatArray, j: int, v: float) -> FloatArray:
    rest = p.sum() - p[j]
    moved: FloatArray = p * ((1.0 - v) / rest)
    moved[j] = v
    return moved


def _quadratic_minimum(H: FloatArray, g: FloatArray, j: int | None, v: float) -> FloatArray:
    """Minimise p' H p / 2 - g' p over shares, with p_j = v unless j is None; the most negative share is set to 0 until none is."""
    k = len(g)
    free = np.ones(k, dtype=bool)
    p = np.zeros(k)
    if j is not None:
        free[j], p[j] = False, v
    total = 1.0 - p.sum()
    while True:
        rows = np.flatnonzero(free)
        m = len(rows)
        if m == 1:
            p[rows] = total
            return p
        system = np.ones((m + 1, m + 1))
        system[:m, :m], system[m, m] = H[np.ix_(rows, rows)], 0.0
        right = np.append(g[rows] - (H[rows, j] * v if j is not None else 0.0), total)
        solved = np.linalg.lstsq(system, right, rcond=None)[0][:m]
        if solved.min() >= 0.0:
            p[rows] = solved
            return p
        free[rows[int(solved.argmin())]] = False
