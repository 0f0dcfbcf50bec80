"""ACC and PACC: the estimate is linear in means of the target and of each class, so its error follows by the delta method.

With q the mean vector of the sample and M the matrix of the classes' mean vectors, q - M p has mean 0 at the true shares p and
covariance C / n + sum_j p_j^2 S_j / n_j. A class's interval holds those shares at which it is no farther from 0 than the normal
distribution allows (Fieller 1954), the other classes' shares following along.
"""

from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount.intervals.parts import ErrorParts, sum_zero_basis
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.matching import MatchingQuantifier
from headcount.quantifiers.statistics import Statistics

__all__ = ["LinearModel"]


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
        differences = np.linalg.svd(self.M @ sum_zero_basis(k), compute_uv=False)
        self.identified = bool(differences[-1] > max(1e-12, 1e-10 * differences[0]))

    def _covariance(self, vectors: FloatArray) -> FloatArray:
        n, d = vectors.shape
        covariance = np.atleast_2d(np.cov(vectors, rowvar=False, ddof=min(1, n - 1)))
        share = 0.5 / (
            n + 0.5 * d
        )  # half an item of each class, where few are so alike that they show next to no spread
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
        products = np.zeros((len(samples), d, d))
        if not pile:
            each = (vectors[:, :, None] * vectors[:, None, :]).reshape(len(vectors), d * d)
            products = samples.sum(each).reshape(-1, d, d)
        sums, total = samples.sum(vectors), samples.total_weights()
        return self.parts_of(sums, products, total, samples.effective_sizes(), pile)

    def parts_of(
        self, sums: FloatArray, products: FloatArray, total: FloatArray, effective: FloatArray, pile: bool
    ) -> ErrorParts:
        """Return the same from the sums of the items' vectors and of their outer products."""
        q = sums / total[:, None]
        shares = self.quantifier.solve(Statistics(sums, total))
        C = self._target_covariance(shares, effective, pile)
        if not pile:
            seen = products / total[:, None, None] - q[:, :, None] * q[:, None, :]
            # Items that happen to be alike do not show that the next would be: then the classes' own spread is what is known.
            more = np.trace(seen, axis1=1, axis2=2) > np.trace(C, axis1=1, axis2=2) / 2
            C = np.where(more[:, None, None], seen, C)
        B = self.inverse
        target = B @ (C / effective[:, None, None]) @ B.T
        labelled = B @ (self.within / self.sizes[:, None, None]) @ B.T
        degrees = np.maximum(self.sizes - 1.0, 1.0), np.maximum(effective - 1.0, 1.0)
        return ErrorParts(self.solve(q, self.M, B), shares, target, labelled, *degrees, self.identified)

    def _target_covariance(self, shares: FloatArray, effective: FloatArray, pile: bool) -> FloatArray:
        """Return the covariance of an item of each sample as the classes' own spread gives it; for a pile, within classes only."""
        if pile:
            within: FloatArray = np.einsum("sj,jab->sab", shares, self.within)
            return within
        smoothed = (shares * effective[:, None] + 1.0) / (effective[:, None] + shares.shape[1])
        mean = smoothed @ self.M.T
        outer = np.einsum("aj,bj->jab", self.M, self.M)
        spread: FloatArray = (
            np.einsum("sj,jab->sab", smoothed, self.within + outer) - mean[:, :, None] * mean[:, None, :]
        )
        return spread

    def fieller(self, parts: ErrorParts, z: float) -> tuple[FloatArray, FloatArray]:
        """Return the ends of each class's interval: the shares v with |centre - v| <= z se(v).

        If the share of a class is v rather than the centre's c, the other shares are likeliest to be off in proportion r to v - c,
        by the covariance. se(v)^2 = target + sum_l p_l(v)^2 L_l with p_l(v) = c_l + r_l (v - c) is quadratic in v, and so the ends
        are the roots of a quadratic.
        """
        reach = parts.quantile(z) ** 2
        covariance = parts.covariance()
        own = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-300)
        L = np.diagonal(parts.labelled, axis1=1, axis2=2)[None]  # [-, l, class]
        target, c = np.diagonal(parts.target, axis1=1, axis2=2), parts.centre[:, :, None]
        with np.errstate(all="ignore"):  # where nothing is told apart, all of this may be beyond all bounds
            r = covariance / own[:, None, :]  # [sample, l, class]
            a = 1.0 - reach * (r**2 * L).sum(axis=1)
            b = -2.0 * reach * (c * r * L).sum(axis=1)
            e = -reach * (target + (c**2 * L).sum(axis=1))
            root = np.sqrt(np.maximum(b**2 - 4 * a * e, 0.0))
            low, high = parts.centre + (-b - root) / (2 * a), parts.centre + (-b + root) / (2 * a)
        told = a > 0.0  # else the classifier tells too little: no share can be ruled out
        return np.where(told, low, -np.inf), np.where(told, high, np.inf)
