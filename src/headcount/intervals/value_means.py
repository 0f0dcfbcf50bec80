"""Intervals of means of class values, and of quantiles: from whatever an estimate knows of the errors of all shares together."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import AnyArray, FloatArray
from headcount.intervals.bootstrap import percentile_interval
from headcount.intervals.designs import design_intervals
from headcount.intervals.inversion import mean_intervals
from headcount.intervals.posterior import shortest_intervals

if TYPE_CHECKING:
    from headcount.intervals.result import Estimate

__all__ = [
    "CumulativeShares",
    "MeanEstimate",
    "QuantileEstimate",
    "ShareEstimate",
    "intervals_of_means",
    "quantile_positions",
    "why_no_means",
]


class MeanEstimate(NamedTuple):
    """A mean of class values with its interval: numbers for one sample, vectors for many; NaN where there is no interval."""

    mean: Any
    low: Any
    high: Any
    level: float


class ShareEstimate(NamedTuple):
    """The share of several classes together with its interval: numbers for one sample, vectors for many."""

    share: Any
    low: Any
    high: Any
    level: float


class CumulativeShares(NamedTuple):
    """Shares of the items of each class or one below it, with the interval of each; vectors for one sample, matrices for many."""

    classes: AnyArray
    shares: FloatArray
    low: FloatArray
    high: FloatArray
    level: float


class QuantileEstimate(NamedTuple):
    """A quantile of ordered classes, with the lowest and the highest class that it may be: labels, or arrays of them."""

    value: Any
    low: Any
    high: Any
    level: float


def why_no_means(estimate: "Estimate") -> str:
    """Say why an estimate has intervals of single shares, but none of means and cumulative shares; empty if it has them."""
    if len(estimate.classes) == 2 or estimate.evidence is not None:
        return ""
    if any(known is not None for known in (estimate.draws, estimate.replicates, estimate.covariances)):
        return ""
    if estimate.method == "posterior":
        return "The draws of so many samples were not kept: estimate fewer samples at a time for intervals of means."
    return (
        "Intervals that take posteriors for calibrated (assume='calibrated') are of single shares: there is none of a mean, a "
        "cumulative share or a quantile of more than two classes. Omit it, and use SLD(calibration='bcts') or PACC."
    )


def intervals_of_means(estimate: "Estimate", values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean of class values in each sample, and the ends of its interval; NaN where there is none."""
    shares = np.atleast_2d(estimate.shares)
    mean = shares @ values
    low, high = _ends(estimate, shares, mean, values)
    return mean, np.minimum(low, mean), np.maximum(high, mean)


def _ends(
    estimate: "Estimate", shares: FloatArray, mean: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    level = estimate.level
    if np.ptp(values) == 0.0:
        return np.where(np.isnan(mean), np.nan, values[0]), np.where(np.isnan(mean), np.nan, values[0])
    if len(values) == 2:
        ends = np.stack([np.atleast_2d(estimate.low)[:, 1], np.atleast_2d(estimate.high)[:, 1]])
        low, high = np.sort(values[0] + (values[1] - values[0]) * ends, axis=0)
        return low, high
    if estimate.draws is not None:
        low, high = (ends[:, 0] for ends in shortest_intervals((estimate.draws @ values)[:, :, None], level, None))
        return low, high
    if estimate.replicates is not None:
        tails = np.full((len(mean), 1), (1.0 - level) / 2.0)
        low, high = (ends[:, 0] for ends in percentile_interval((estimate.replicates @ values)[:, :, None], tails))
        return np.clip(low, values.min(), values.max()), np.clip(high, values.min(), values.max())
    z = float(normal_quantile((1.0 - level) / 2.0))
    if estimate.covariances is not None:
        return _ends_by_covariance(estimate, estimate.covariances, mean, values, z)
    if estimate.evidence is None:
        return np.full(len(shares), np.nan), np.full(len(shares), np.nan)
    if estimate.design is not None:
        return design_intervals(estimate.evidence, estimate.design, z, values)
    return mean_intervals(estimate.evidence, values, z)


def _ends_by_covariance(
    estimate: "Estimate", covariances: FloatArray, mean: FloatArray, values: FloatArray, z: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return the means m that a score test does not reject, whose variance is that of the estimate, moved to m.

    On the scale from the least value to the greatest, :math:`(\hat m - m)^2 \le a \, m (1 - m)` with :math:`a = z^2 \hat V / \hat m
    (1 - \hat m)`, as in Wilson's interval of a share (1927), so that an interval ends within the scale and has a width at its
    ends. Few labelled items of a class can't show how small the variance is: a is drawn a little towards those of single classes,
    and is as many times larger as those are, on average, than their own variances say.
    """
    least, width = values.min(), float(np.ptp(values))
    shares, low, high = (np.atleast_2d(ends) for ends in (estimate.shares, estimate.low, estimate.high))
    of_classes = _wilson_factors(shares, low, high)
    usual = of_classes.mean(axis=1, keepdims=True)
    weight = (usual / z**2) ** 2

    def factor(m: FloatArray, variance: FloatArray) -> FloatArray:
        drawn: FloatArray = (z**2 * variance + weight * usual) / (m * (1.0 - m) + weight)
        return drawn

    wider = (of_classes / factor(shares, np.diagonal(covariances, axis1=1, axis2=2))).mean(axis=1, keepdims=True)
    m = np.clip((mean - least) / width, 0.0, 1.0)[:, None]
    variance = np.maximum(np.einsum("a,sab,b->s", values, covariances, values), 0.0)[:, None] / width**2
    a = np.maximum(wider, 1.0) * factor(m, variance)
    half = np.sqrt(a * m * (1.0 - m) + a**2 / 4.0)
    ends = [((m + a / 2.0 + side * half) / (1.0 + a))[:, 0] for side in (-1.0, 1.0)]
    return least + width * np.maximum(ends[0], 0.0), least + width * np.minimum(ends[1], 1.0)


def _wilson_factors(shares: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the factor a for which Wilson's interval of each share is as wide as the one that is given."""
    width, free = high - low, shares * (1.0 - shares)
    # (width (1 + a))^2 = 4 a p (1 - p) + a^2, solved for a
    square, linear = 1.0 - width**2, 4.0 * free - 2.0 * width**2
    root = np.sqrt(np.maximum(linear**2 + 4.0 * square * width**2, 0.0))
    factors: FloatArray = (root - linear) / np.maximum(2.0 * square, 1e-12)
    return factors


def quantile_positions(cumulative: FloatArray, low: FloatArray, high: FloatArray, q: float) -> tuple[Any, Any, Any]:
    r"""Return the position of the q-quantile among ordered classes in each sample, and of the lowest and highest possible one.

    The quantile is the lowest class j with :math:`P_j \ge q`. It may be class j unless the interval of :math:`P_j` lies below q or
    that of :math:`P_{j - 1}` does not. Of the true quantile's own two intervals one end each counts, so that intervals of single
    cumulative shares are enough, and the quantile is in its interval at least as often as they say.

    Parameters
    ----------
    cumulative, low, high : arrays of shape (n_samples, n_classes)
        Shares of each class or one below it, and the ends of their intervals.
    q : float

    Examples
    --------
    >>> P = np.array([[0.1, 0.3, 0.6, 1.0]])
    >>> [position.tolist() for position in quantile_positions(P, P - 0.15, np.minimum(P + 0.15, 1.0), 0.5)]
    [[2], [2], [3]]
    """
    cumulative, low, high = cumulative.copy(), low.copy(), high.copy()
    for ends in (cumulative, low, high):
        ends[:, -1] = 1.0
    slack = 1e-9
    value, lowest = (np.argmax(ends >= q - slack, axis=1) for ends in (cumulative, high))
    highest = low.shape[1] - np.argmax(np.fliplr(low[:, :-1] < q - slack), axis=1) - 1
    highest = np.where((low[:, :-1] < q - slack).any(axis=1), highest, 0)
    return value, np.minimum(lowest, value), np.maximum(highest, value)
