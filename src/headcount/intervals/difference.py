"""The difference between two estimates, with its interval and p-value."""

from dataclasses import dataclass

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.intervals.bootstrap import percentile_interval
from headcount.intervals.pair import Pair
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
    taken into account. The samples must have no items in common. A difference is tested by the same statistic as the intervals of
    the estimates: the distance of both samples from mixtures whose shares differ by it. Where a classifier does not tell classes
    apart, any difference is possible, and the p-value is 1. Estimates by a bootstrap without an analytic interval are compared
    replicate by replicate: give both the same ``random_state``.

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
    if a.evidence is not None and b.evidence is not None:
        pair = Pair(a.evidence_for(level), b.evidence_for(level), a.labelled_side == b.labelled_side)
        low, high = pair.intervals(float(normal_quantile((1.0 - level) / 2.0)))
        p_value = pair.p_values()
    elif a.replicates is not None and b.replicates is not None and a.replicates.shape == b.replicates.shape:
        low, high, p_value = _by_replicates(b.replicates - a.replicates, level)
    else:
        raise DataError(
            "One of the estimates has no statistic to compare by: use method='delta' or 'auto' of a method with an analytic "
            "interval, such as ACC or PACC, or for both a bootstrap with the same number of replicates."
        )
    p_value = np.where(change == 0.0, 1.0, p_value)  # both at the same end of [0, 1]: no difference is seen
    return Difference(a.classes, change, np.minimum(low, change), np.maximum(high, change), p_value, level)


def _by_replicates(replicates: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return percentiles of differences; two estimates with one seed share the replicates of their labelled side."""
    low, high = percentile_interval(replicates, np.full((1, replicates.shape[2]), (1 - level) / 2))
    beyond = np.minimum((replicates[0] <= 0).sum(axis=0), (replicates[0] >= 0).sum(axis=0))
    return low[0], high[0], np.minimum(2.0 * (beyond + 1) / (replicates.shape[1] + 1), 1.0)
