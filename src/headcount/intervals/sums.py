"""Inference of the sums family: the estimate solves an equation that is linear in means, so its error follows by the delta method.

With q the mean vector of the sample and M the matrix of the classes' mean vectors, q - M p has mean 0 at the true shares p and
covariance C / n + sum_j p_j^2 S_j / n_j. A class's interval holds the shares at which A (q - M p) is no farther from 0 than the
normal distribution allows (Fieller 1954), the other classes' shares following along.
"""

import numpy as np

from headcount._typing import FloatArray
from headcount.intervals.bootstrap import resample, resample_classes
from headcount.intervals.error_parts import ErrorParts
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.protocols.base import draw_items
from headcount.protocols.exact import to_units
from headcount.quantifiers import Statistics, SumsQuantifier
from headcount.simplex import apportion, sum_zero_basis

__all__ = ["SumsModel"]

_PSEUDO_ITEMS = 0.5
"""Items of each unit vector that a class with next to no spread is given: few equal items do not show that the next is equal."""


class SumsModel:
    """The labelled side (mean vector of each class and its covariance) and the statistics of the samples."""

    def __init__(self, quantifier: SumsQuantifier, statistics: Statistics) -> None:
        self.quantifier, self.statistics = quantifier, statistics
        self.representation = quantifier.representation
        self.vectors = self.representation.vectors(quantifier.validation_outputs_)
        codes = quantifier.validation_codes_
        k = len(quantifier.classes_)
        self.sizes = np.bincount(codes, minlength=k)
        self.M = np.column_stack([self.vectors[codes == j].mean(axis=0) for j in range(k)])
        self.within = np.stack([_covariance(self.vectors[codes == j]) for j in range(k)])
        self.inverse = self._inverse(self.M)
        differences = np.linalg.svd(self.M @ sum_zero_basis(k), compute_uv=False)
        self.identified = bool(differences[-1] > max(1e-12, 1e-10 * differences[0]))

    def _inverse(self, M: FloatArray) -> FloatArray:
        """Return B such that p0 + B (q - M p0) solves the estimating equation among vectors that sum to 1; M may be a stack."""
        directions = sum_zero_basis(M.shape[-1])
        A = self.quantifier.solver.estimating_matrix(M)
        inner = A @ M @ directions
        if inner.shape[-2:] == (1, 1):
            inner = np.where(inner == 0.0, 0.0, 1.0 / np.where(inner == 0.0, 1.0, inner))
        else:
            inner = np.asarray(np.linalg.pinv(inner), dtype=np.float64)
        inverse: FloatArray = directions @ inner @ A
        return inverse

    @staticmethod
    def _solve(q: FloatArray, M: FloatArray, inverse: FloatArray) -> FloatArray:
        """Return the shares before they are confined to the simplex."""
        k = M.shape[-1]
        start = np.full(k, 1.0 / k)
        solved: FloatArray = start + np.einsum("...ab,...b->...a", inverse, q - M @ start)
        return solved

    def parts(self, effective: FloatArray, within: bool) -> ErrorParts:
        """Return estimates and their covariances; ``within``: for the sample itself rather than its population."""
        statistics = self.statistics
        total = statistics.weights
        q = statistics.sums / total[:, None]
        shares = self.quantifier.solve(statistics)
        C = self._target_covariance(shares, effective, within)
        if not within:
            second = self.representation.second_moments(statistics) / total[:, None, None]
            observed = second - q[:, :, None] * q[:, None, :]
            # Items that happen to be alike do not show that the next would be: then the classes' spread is what is known.
            more = np.trace(observed, axis1=1, axis2=2) > np.trace(C, axis1=1, axis2=2) / 2
            C = np.where(more[:, None, None], observed, C)
        B = self.inverse
        target = B @ (C / effective[:, None, None]) @ B.T
        labelled = B @ (self.within / self.sizes[:, None, None]) @ B.T
        degrees = np.maximum(self.sizes - 1.0, 1.0), np.maximum(effective - 1.0, 1.0)
        return ErrorParts(self._solve(q, self.M, B), shares, target, labelled, *degrees, self.identified)

    def _target_covariance(self, shares: FloatArray, effective: FloatArray, within: bool) -> FloatArray:
        """Return the covariance of an item of each sample that the classes' spread implies; ``within``: given its class."""
        if within:
            inside: FloatArray = np.einsum("sj,jab->sab", shares, self.within)
            return inside
        smoothed = (shares * effective[:, None] + 1.0) / (effective[:, None] + shares.shape[1])
        mean = smoothed @ self.M.T
        outer = np.einsum("aj,bj->jab", self.M, self.M)
        spread: FloatArray = (
            np.einsum("sj,jab->sab", smoothed, self.within + outer) - mean[:, :, None] * mean[:, None, :]
        )
        return spread

    def interval(self, parts: ErrorParts, z: float, within: bool) -> tuple[FloatArray, FloatArray]:
        """Return the ends of each class's interval: the shares v with |centre - v| <= z se(v).

        If the share of a class is v rather than the centre's c, the other shares are likeliest to be off in proportion r to v - c,
        by the covariance. se(v)^2 = target + sum_l p_l(v)^2 L_l with p_l(v) = c_l + r_l (v - c) is quadratic in v, and so the ends
        are the roots of a quadratic.
        """
        reach = parts.quantile(z) ** 2
        covariance = parts.covariance()
        variance = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-300)
        L = np.diagonal(parts.labelled, axis1=1, axis2=2)[None]  # [-, l, class]
        target, c = np.diagonal(parts.target, axis1=1, axis2=2), parts.centre[:, :, None]
        with np.errstate(all="ignore"):  # where classes are not told apart, all of this may overflow
            r = covariance / variance[:, None, :]  # [sample, l, class]
            a = 1.0 - reach * (r**2 * L).sum(axis=1)
            b = -2.0 * reach * (c * r * L).sum(axis=1)
            e = -reach * (target + (c**2 * L).sum(axis=1))
            root = np.sqrt(np.maximum(b**2 - 4 * a * e, 0.0))
            low, high = parts.centre + (-b - root) / (2 * a), parts.centre + (-b + root) / (2 * a)
        bounded = a > 0.0  # else the classifier tells too little: no share can be ruled out
        return np.where(bounded, low, -np.inf), np.where(bounded, high, np.inf)

    def replicates(
        self,
        parts: ErrorParts,
        outputs: Outputs,
        samples: Samples,
        n_replicates: int,
        within: bool,
        seed: np.random.SeedSequence,
    ) -> FloatArray:
        """Return replicates of the shares, not confined to the simplex: shape (n_samples, n_replicates, n_classes)."""
        labelled_seed, target_seed = seed.spawn(2)
        codes, k = self.quantifier.validation_codes_, len(self.sizes)
        vectors, labelled = to_units(self.representation.vectors(outputs)), to_units(self.vectors)
        M = np.empty((n_replicates, self.vectors.shape[1], k))
        for j, drawn in enumerate(resample_classes(codes, k, n_replicates, labelled_seed)):
            M[:, :, j] = drawn.sum_exact(labelled).values() / self.sizes[j]
        inverse = self._inverse(M)
        sizes = np.maximum(np.round(samples.effective_sizes()), 1).astype(np.int64)
        replicates = np.empty((len(samples), n_replicates, k))
        for s, one_seed in enumerate(target_seed.spawn(len(samples))):
            if within:
                # Samples of the estimated composition, made of labelled items: what varies is which items of each class there are.
                counts = np.repeat(apportion(parts.shares[s][None, :], int(sizes[s])), n_replicates, axis=0)
                drawn = draw_items(counts, Samples._grouped(codes, k), one_seed, replace=True)
                solved = self._solve(drawn.sum_exact(labelled).values() / sizes[s], M, inverse)
                replicates[s] = solved + parts.centre[s] - counts[0] / sizes[s]
            else:
                drawn = resample(samples[s], n_replicates, one_seed, samples[s : s + 1])
                mean = drawn.sum_exact(vectors).values() / drawn.total_weights()[:, None]
                replicates[s] = self._solve(mean, M, inverse)
        return replicates


def _covariance(vectors: FloatArray) -> FloatArray:
    n, d = vectors.shape
    covariance = np.atleast_2d(np.cov(vectors, rowvar=False, ddof=min(1, n - 1)))
    share = _PSEUDO_ITEMS / (n + _PSEUDO_ITEMS * d)
    off = np.eye(d) - vectors.mean(axis=0)
    least: FloatArray = share * np.einsum("ca,cb->ab", off, off)
    return covariance if np.trace(covariance) > np.trace(least) else least
