"""`PoolMembership`: which items of a test pool each sample holds, and how much a mean over samples owes to these items."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from headcount._typing import FloatArray
from headcount.exceptions import DataError

__all__ = ["PoolMembership"]

_PROBES = 30
"""Random vectors that the noise of an estimated pool variance is measured with, once for each pool."""


class PoolMembership:
    r"""Samples of a test pool, prepared for the variance of a mean over them.

    Items of class c are taken as a random draw of :math:`N_c` from a population. To first order, the value h(s) of a sample is the
    sum of a part :math:`a_i` of each of its items (Hoeffding's decomposition), so that items which are in many samples move the
    mean over samples together. The variance that the pool brings to that mean is

    .. math:: V = \sum_c \frac{1}{N_c^2} \sum_{i \in c} A_i^2, \qquad
       A_i = \frac{1}{S} \sum_s m_{sc} a_i, \qquad
       \hat A_i = \frac{1}{S} \sum_s \frac{m_{sc}}{v_{sc}} (Z_{si} - m_{sc} / N_c) \tilde h_s

    where :math:`Z_{si}` counts item i in sample s, :math:`m_{sc}` the sample's items of the class, :math:`v_{sc}` is the variance
    of :math:`Z_{si}` over the items and :math:`\tilde h_s` is h(s) less the mean of the other samples with the same shares. This is
    the infinitesimal jackknife of averages over resamples. Squares of :math:`\hat A_i` hold noise of the draw, which the terms of a
    sample with itself are; they are left out, so that the estimate is unbiased (Wager, Hastie and Efron 2014, section 3).

    Parameters
    ----------
    samples : Samples
    codes : array of int, shape (n_items,)
        The class of each item of the pool.
    true : array of shape (n_samples, n_classes)
        Shares of the classes in the samples: samples with equal shares have one expected error.

    References
    ----------
    Wager, S., Hastie, T. and Efron, B. (2014). Confidence intervals for random forests: the jackknife and the infinitesimal
    jackknife. Journal of Machine Learning Research 15, 1625-1651.

    Examples
    --------
    >>> from headcount import ArtificialPrevalence
    >>> y = np.arange(400) % 2
    >>> samples, true = ArtificialPrevalence(5, repeats=40, sample_size=50, random_state=0).draw(y)
    >>> pool = PoolMembership(samples, y, true)
    >>> scores = np.random.default_rng(0).standard_normal(400)  # the value of a sample is its mean of these
    >>> values = samples.sum(scores[:, None])[:, 0] / 50
    >>> variance, _ = pool.variance(values)
    >>> bool(0.5 < variance / (1 / 400) < 2.0)
    True
    """

    def __init__(self, samples: Any, codes: Any, true: Any) -> None:
        codes, true = np.asarray(codes, dtype=np.int64), np.asarray(true, dtype=np.float64)
        n_samples, n_classes = true.shape
        if len(samples.indptr) != n_samples + 1 or samples.bound > len(codes):
            raise DataError(
                f"Expected the shares of {len(samples.indptr) - 1:,} samples of a pool of {len(codes):,} items; got shares of "
                f"{n_samples:,} samples that hold items up to number {samples.bound:,}."
            )
        self.n_samples = n_samples
        rows = np.repeat(np.arange(n_samples), np.diff(samples.indptr))
        entries, times = np.unique(rows * len(codes) + samples.indices, return_counts=True)
        rows, items = np.divmod(entries, len(codes))
        self._codes = codes
        self._sizes = np.bincount(codes, minlength=n_classes).astype(np.float64)
        cells = rows * n_classes + codes[items]
        shape = n_samples, n_classes
        counts = np.bincount(cells, weights=times, minlength=n_samples * n_classes).reshape(shape)
        squares = np.bincount(cells, weights=times**2.0, minlength=n_samples * n_classes).reshape(shape)
        sizes = np.maximum(self._sizes, 1.0)
        # N_c times the variance of Z over the items of the class. It is 0 where a sample holds none or each once: such a
        # sample says nothing on which of them matter.
        spread = squares - counts**2 / sizes
        informative = spread > 1e-9 * np.maximum(counts, 1.0)
        factor = np.divide(counts * (sizes - 1.0), spread, out=np.zeros(shape), where=informative)
        # The informative samples stand for the others of the class; where there is none, nothing bounds the variance.
        drawn, known = counts.sum(axis=0), np.where(informative, counts, 0.0).sum(axis=0)
        self._bounded = bool((known[drawn > 0.0] > 0.0).all())
        self._factor = factor * np.divide(drawn, known, out=np.zeros(n_classes), where=known > 0.0)
        weights = times * self._factor[rows, codes[items]]
        self._item_weights = csr_array((weights, (items, rows)), shape=(len(codes), n_samples))
        self._mean_weights = (self._factor * counts / sizes).T
        self._own = (self._factor**2 * spread / sizes**2).sum(axis=1)
        _, self._group, group_sizes = np.unique(true.round(9), axis=0, return_inverse=True, return_counts=True)
        self._group = self._group.ravel()
        if group_sizes.min() < 2:  # shares drawn at random: the mean over all samples stands for that of equal shares
            self._group, group_sizes = np.zeros(n_samples, dtype=np.int64), np.array([n_samples])
        self._group_sizes = group_sizes
        probes = np.random.default_rng(0).choice([-1.0, 1.0], size=(_PROBES, n_samples))
        self._noise = float(np.sqrt(np.mean([self._quadratic(probe) ** 2 for probe in probes])))

    def influence(self, values: Any) -> FloatArray:
        """Return the influence of each item of the pool on the mean of the samples' values; it is linear in the values."""
        return self._influence(self._residuals(values))

    def variance(self, values: Any, influence: FloatArray | None = None) -> tuple[float, float]:
        """Return the variance of the mean of the samples' values that the pool brings, and its degrees of freedom.

        With the influences of all methods at hand, that of a difference need not be summed over the samples again.
        """
        if not self._bounded:
            return np.inf, 1.0
        residuals = self._residuals(values)
        # The noise of the estimate is that of products of residuals of different samples, proportional to their mean square.
        noise = self._noise * float(np.mean(residuals**2))
        if noise == 0.0:
            return 0.0, np.inf
        # A variance far below its noise is not taken as it is, which would find differences between equal methods; one that is off
        # by a standard error of r of itself has 2 / r^2 degrees of freedom.
        variance = max(self._quadratic(residuals, influence), noise / 2.0)
        return variance, max(2.0 * (variance / noise) ** 2, 2.0)

    def sampling_variance(self, values: Any) -> tuple[float, float]:
        """Return the variance of the mean of the samples' values given the pool and the shares, and its degrees of freedom."""
        residuals = self._residuals(values)
        sizes = self._group_sizes[self._group]
        variance = float((residuals**2 * (sizes - 1) / sizes).sum()) / self.n_samples**2
        return variance, float(self.n_samples - len(self._group_sizes))

    def _residuals(self, values: Any) -> FloatArray:
        """Return each value less the mean of the other samples of its group."""
        values = np.asarray(values, dtype=np.float64)
        sums = np.bincount(self._group, weights=values)[self._group]
        sizes = self._group_sizes[self._group]
        residuals: FloatArray = (values * sizes - sums) / (sizes - 1)
        return residuals

    def _influence(self, residuals: FloatArray) -> FloatArray:
        influence: FloatArray = self._item_weights @ residuals - (self._mean_weights @ residuals)[self._codes]
        return influence

    def _quadratic(self, residuals: FloatArray, influence: FloatArray | None = None) -> float:
        """Return the sum over items of squared influences, without the terms of a sample with itself."""
        influence = self._influence(residuals) if influence is None else influence
        total = float(((influence / self._sizes[self._codes]) ** 2).sum())
        return float(total - (self._own * residuals**2).sum()) / float(self.n_samples) ** 2
