"""Shares that solve the linear equations of least variance: ratios of densities, weighted by what each side's items are worth.

An estimator that solves z = G p, where z is the mean of any function h over the sample's items and G_j its mean over the validation
items of class j, is off by the noise of z - G p, whose variance is sum_l (p_l / n + p_l^2 / n_l) E_l[h h'] less products of
means, with n items in the sample and n_l validation items of class l. Against the slopes E_j[h] - E_k[h] that is least for
h = f / sum_l w_l f_l with w_l = p_l / n + p_l^2 / n_l, where f_l are the classes' densities (Chow 2022). With endless validation
items w is p, and h the derivative of the log-likelihood.
"""

import numpy as np

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import FloatArray, IntArray
from headcount.quantifiers.statistics import SampleItems
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["LabelledDensities"]

_ENTRIES_PER_CHUNK = 1 << 18
"""Pairs of a sample and a validation item whose ratios are kept at a time: 2 MiB."""
_FLOOR_ITEMS = 1.0
"""Pilot shares count as at least this many validation items of the class, or as many of the sample's: else h has no bound."""


class LabelledDensities:
    """Densities of validation items, from which the mean ratios of each class follow at any weights.

    Parameters
    ----------
    F : array of shape (n_items, n_classes)
        For each item learnt from others.
    codes, folds : arrays of int
        Classes and folds of the items; a class's mean is that of its folds' means.
    repeats : int
        How often an item is validated.
    """

    def __init__(self, F: FloatArray, codes: IntArray, folds: IntArray, repeats: int) -> None:
        k, n_folds = F.shape[1], int(folds.max()) + 1
        counts = np.bincount(codes * n_folds + folds, minlength=k * n_folds).reshape(k, n_folds)
        share = 1.0 / (counts[codes, folds] * (counts > 0).sum(axis=1)[codes])
        one_hot = np.eye(k)[codes]
        self.F, self.codes = F, codes
        self.sizes = counts.sum(axis=1) / repeats
        self._firsts = (share[:, None, None] * F[:, :, None] * one_hot[:, None, :]).reshape(len(F), -1)
        self._seconds = (share[:, None, None] * F[:, :, None] * F[:, None, :]).reshape(len(F), -1)

    def shares(self, statistics: SampleItems, pilot: FloatArray) -> FloatArray:
        """Return the shares of each sample, with weights at pilot shares."""
        from headcount.quantifiers.scores import _kernels

        samples, k = statistics.samples, self.F.shape[1]
        n = samples.effective_sizes()[:, None]
        floor = np.minimum(_FLOOR_ITEMS / np.minimum(self.sizes, n), 1.0 / k)
        p = np.maximum(pilot, floor)
        p /= p.sum(axis=1, keepdims=True)
        variances = p / n + p**2 / self.sizes
        weights = variances / variances.sum(axis=1, keepdims=True)
        factors = np.empty(0) if samples.factors is None else samples.factors
        shares: FloatArray = np.empty_like(p)

        def solve(start: int, stop: int) -> None:
            part, ends = slice(start, stop), samples.indptr[start : stop + 1]
            z = np.empty((stop - start, k))
            _kernels.ratio_means(statistics.vectors, samples.indices, ends, factors, weights[part], z)
            shares[part] = self._solve(z, p[part], n[part], variances[part], weights[part])

        with one_blas_thread():
            in_chunks(solve, len(p), max(1, _ENTRIES_PER_CHUNK // len(self.F)))
        return shares

    def _solve(
        self, z: FloatArray, p: FloatArray, n: FloatArray, variances: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Return the p on the simplex for which G p is nearest to z in the metric of the variance of z - G p."""
        k = p.shape[1]
        ratios = 1.0 / (weights @ self.F.T)
        G = (ratios @ self._firsts).reshape(-1, k, k)
        second = ((ratios**2 * variances[:, self.codes]) @ self._seconds).reshape(-1, k, k)
        within = second - (G * variances[:, None, :]) @ np.swapaxes(G, 1, 2)
        centred = G - G @ p[:, :, None]
        between = (centred * (p / n)[:, None, :]) @ np.swapaxes(centred, 1, 2)
        D = sum_zero_basis(k)
        V = D.T @ (within + between) @ D
        ridge = 1e-12 * np.maximum(np.trace(V, axis1=1, axis2=2), 1e-300)
        L = np.linalg.cholesky(V + ridge[:, None, None] * np.eye(k - 1))
        whitened = np.linalg.solve(L, np.concatenate([D.T @ G, (z @ D)[:, :, None]], axis=2)).astype(
            np.float64, copy=False
        )
        return mixture_least_squares(whitened[:, :, :k], whitened[:, :, k])
