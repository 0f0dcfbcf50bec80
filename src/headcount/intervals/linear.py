"""ACC and PACC: the estimate is linear in means of the target and of each class, so its error follows by the delta method.

With q the mean vector of the sample and M the matrix of the classes' mean vectors, q - M p has mean 0 at the true shares p and
covariance C / n + sum_j p_j^2 S_j / n_j. For two classes the interval holds those p at which it is no farther from 0 than the
normal distribution allows (Fieller 1954); for more, the solution's own covariance gives it.
"""

from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount.intervals.parts import ErrorParts, sum_zero_basis
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.matching import MatchingQuantifier
from headcount.quantifiers.statistics import Decisions

__all__ = ["LinearModel", "effective_sizes"]


class LinearModel:
    """What the labelled side says: the mean vector of each class, its covariance, and how the shares follow from a mean vector."""

    def __init__(self, quantifier: MatchingQuantifier) -> None:
        self.quantifier = quantifier
        representation: Any = quantifier.representation
        self.representation = representation
        vectors = representation.vectors(quantifier.validation_outputs_)
        codes = quantifier.validation_codes_
        k = len(quantifier.classes_)
        self.sizes = np.bincount(codes, minlength=k)
        self.M = np.column_stack([vectors[codes == j].mean(axis=0) for j in range(k)])
        self.within = np.stack([self._covariance(vectors[codes == j]) for j in range(k)])
        self.inverse = self.inverse_of(self.M)

    def _covariance(self, vectors: FloatArray) -> FloatArray:
        if isinstance(self.representation, Decisions):
            # Half a decision for each class, so that no mistakes among few items are not taken for none at all.
            shares = (vectors.sum(axis=0) + 0.5) / (len(vectors) + 0.5 * vectors.shape[1])
            decided: FloatArray = np.diag(shares) - np.outer(shares, shares)
            return decided
        n, d = vectors.shape
        covariance = np.atleast_2d(np.cov(vectors, rowvar=False, ddof=min(1, n - 1)))
        share = 0.5 / (n + 0.5 * d)
        off = np.eye(d) - vectors.mean(axis=0)
        least: FloatArray = share * np.einsum("ca,cb->ab", off, off)
        return covariance if np.trace(covariance) > np.trace(least) else least

    @staticmethod
    def inverse_of(M: FloatArray) -> FloatArray:
        """Return B such that p0 + B (q - M p0) is the least-squares solution among vectors that sum to 1; M may be a stack."""
        directions = sum_zero_basis(M.shape[-1])
        spread = M @ directions
        if M.shape[-1] == 2:  # of one column, the pseudo-inverse is its transpose over its square
            square = np.square(spread).sum(axis=-2, keepdims=True)
            inner = np.swapaxes(spread, -1, -2) / np.where(square > 0.0, square, np.inf)
        else:
            inner = np.asarray(np.linalg.pinv(spread), dtype=np.float64)
        inverse: FloatArray = directions @ inner
        return inverse

    def solve(self, q: FloatArray, M: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return the shares before they are confined to the simplex."""
        k = M.shape[-1]
        start = np.full(k, 1.0 / k)
        solved: FloatArray = start + np.einsum("...ab,...b->...a", inverse, q - M @ start)
        return solved

    def parts(self, outputs: Outputs, samples: Samples, pile: bool) -> ErrorParts:
        """Return estimates and their covariances."""
        vectors = self.representation.vectors(outputs)
        d = vectors.shape[1]
        total, effective = _weights(samples)
        q = samples.sum(vectors) / total[:, None]
        shares = self.quantifier.aggregate(outputs, samples)
        if pile:
            C = np.einsum("sj,jab->sab", shares, self.within)
        else:
            products = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), d * d)
            second = (samples.sum(products) / total[:, None]).reshape(-1, d, d)
            C = second - q[:, :, None] * q[:, None, :]
            if isinstance(self.representation, Decisions):
                smoothed = (q * effective[:, None] + 0.5) / (effective + 0.5 * d)[:, None]
                C = np.einsum("sa,ab->sab", smoothed, np.eye(d)) - smoothed[:, :, None] * smoothed[:, None, :]
        B = self.inverse
        target = B @ (C / effective[:, None, None]) @ B.T
        labelled = B @ (self.within / self.sizes[:, None, None]) @ B.T
        return ErrorParts(self.solve(q, self.M, B), shares, target, labelled)

    def fieller(self, parts: ErrorParts, z: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the second class's interval, for two classes: where |centre - p| <= z se(p).

        se(p)^2 = target + (1 - p)^2 L_0 + p^2 L_1 is quadratic in p, so the ends are the roots of a quadratic.
        """
        c, v = parts.centre[:, 1], parts.target[:, 1, 1]
        l0, l1 = parts.labelled[0, 1, 1], parts.labelled[1, 1, 1]
        a = 1.0 - z**2 * (l0 + l1)
        b = -2.0 * c + 2.0 * z**2 * l0
        e = c**2 - z**2 * (v + l0)
        discriminant = b**2 - 4 * a * e
        with np.errstate(invalid="ignore", divide="ignore"):
            root = np.sqrt(np.maximum(discriminant, 0.0))
            low, high = (-b - root) / (2 * a), (-b + root) / (2 * a)
        if a <= 0:  # the classifier tells too little: no share can be ruled out
            return np.full_like(c, -np.inf), np.full_like(c, np.inf)
        return low, high


def effective_sizes(samples: Samples) -> FloatArray:
    """Return for each sample the number of equally weighted items that would tell as much."""
    return _weights(samples)[1]


def _weights(samples: Samples) -> tuple[FloatArray, FloatArray]:
    """Return each sample's total weight, and the number of equally weighted items that would tell as much (Kish 1965)."""
    total = samples.total_weights()
    if samples.weights is None:
        return total, total
    squares = Samples._trusted(samples.indices, samples.indptr, samples.bound, np.square(samples.weights))
    return total, total**2 / squares.total_weights()
