"""The difference between two estimates, with its interval and p-value."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.intervals.bootstrap import percentile_interval
from headcount.intervals.error_parts import ErrorParts
from headcount.intervals.result import Estimate, check_level

__all__ = ["Difference", "difference"]


@dataclass(frozen=True, eq=False, repr=False)
class Difference:
    """By how much shares differ between two samples, class by class.

    Attributes
    ----------
    classes : array of shape (n_classes,)
    change, low, high, p_value : arrays of shape (n_classes,)
        The second estimate's shares minus the first's, its interval, and the two-sided p-value of no difference.
    level : float
    """

    classes: AnyArray
    change: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    level: float

    def __repr__(self) -> str:
        lines = [f"Change of shares, with {self.level:.4g} intervals"]
        for label, change, low, high, p in zip(
            self.classes, self.change, self.low, self.high, self.p_value, strict=True
        ):
            lines.append(f"  {label!s:<16} {change:+7.2%}   {low:+7.2%} to {high:+7.2%}   p = {p:.3g}")
        return "\n".join(lines)


def difference(a: Estimate, b: Estimate, level: float | None = None) -> Difference:
    """Compare two estimates of one sample each: ``b`` minus ``a``.

    Where both were made with the same fitted quantifier, they share the errors of its labelled side, which cancel in part; this is
    taken into account. The samples must have no items in common. With shares near 0 or 1 and few items the normal distribution that
    this rests on is rough: see whether the two intervals overlap as well. Estimates by a bootstrap without an analytic interval are
    compared replicate by replicate: give both the same ``random_state``.

    Parameters
    ----------
    a, b : Estimate
        Of one sample each, of the same classes and estimand.
    level : float, optional
        By default that of ``a``.
    """
    if a.shares.ndim != 1 or b.shares.ndim != 1:
        raise DataError("difference compares two estimates of one sample each; estimate the samples one by one.")
    if len(a.classes) != len(b.classes) or not np.all(a.classes == b.classes) or a.estimand != b.estimand:
        raise DataError("The two estimates must be of the same classes and of the same estimand.")
    level = a.level if level is None else level
    check_level(level)
    change = b.shares - a.shares
    if a.parts is not None and b.parts is not None:
        low, high, p_value = _by_covariance(a, a.parts, b, b.parts, level)
    elif a.replicates is not None and b.replicates is not None and a.replicates.shape == b.replicates.shape:
        low, high, p_value = _by_replicates(b.replicates - a.replicates, level)
    else:
        raise DataError(
            "One of the estimates has no covariance to compare by: use method='delta' or 'auto', or for both a bootstrap with the "
            "same number of replicates."
        )
    p_value = np.where(change == 0.0, 1.0, p_value)  # both at the same end of [0, 1]: no difference is seen
    return Difference(a.classes, change, np.minimum(low, change), np.maximum(high, change), p_value, level)


def _by_covariance(
    a: Estimate, first: ErrorParts, b: Estimate, second: ErrorParts, level: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    variance = np.diagonal(first.target[0] + second.target[0]).copy()
    if a.labelled_side == b.labelled_side:
        gap = (second.shares[0] - first.shares[0]) ** 2
        variance += np.diagonal(np.einsum("j,jab->ab", gap, first.labelled))
        if first.shared is not None and second.shared is not None:
            variance += np.square(second.shared[0] - first.shared[0]).sum(axis=1)
    else:
        for parts in (first, second):
            variance += np.diagonal(parts.covariance()[0] - parts.target[0])
    error = np.sqrt(np.maximum(variance, 1e-300))
    centre = second.centre[0] - first.centre[0]
    reach = norm.ppf((1 + level) / 2) * error
    return np.clip(centre - reach, -1, 1), np.clip(centre + reach, -1, 1), 2 * norm.sf(np.abs(centre) / error)


def _by_replicates(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return percentiles of differences; two estimates with one seed share the replicates of their labelled side."""
    low, high = percentile_interval(replicates, np.full((1, replicates.shape[2]), (1 - level) / 2))
    beyond = np.minimum((replicates[0] <= 0).sum(axis=0), (replicates[0] >= 0).sum(axis=0))
    return low[0], high[0], np.minimum(2.0 * (beyond + 1) / (replicates.shape[1] + 1), 1.0)
