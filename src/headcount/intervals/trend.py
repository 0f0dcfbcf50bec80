"""`trend`: the slope of shares over ordered samples, such as months, with an interval and a test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from headcount._distributions import normal_quantile, normal_tail
from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.intervals.family import (
    independent_parts,
    labelled_influence,
    single_estimates,
    target_root,
    weighted_influence,
)
from headcount.intervals.figures import Figure, change_text, check_figures
from headcount.intervals.result import Estimate, check_level
from headcount.intervals.shared_clusters import SharedClusters

__all__ = ["Trend", "trend"]

_MIN_PERIODS = 3


@dataclass(frozen=True, eq=False, repr=False)
class Trend:
    """By how much shares rise or fall from one period to the next, class by class; or, in their place, figures such as means.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The classes, or the titles of the figures.
    slope, low, high, p_value : arrays of shape (n_classes,)
        Change of the share per unit of time along the line nearest to the shares of all periods, its interval, and the two-sided
        p-value of no linear trend.
    level : float
    times : array of shape (n_periods,)
    figures : tuple of Figure
        What the trend is of in place of the shares of classes; empty for these.
    """

    classes: AnyArray
    slope: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    level: float
    times: FloatArray
    figures: tuple[Figure, ...] = ()

    def __repr__(self) -> str:
        kinds = [figure.is_share for figure in self.figures] or [True] * len(self.classes)
        lines = [
            f"Change{' of shares' * (not self.figures)} per period over {len(self.times)} periods, with {self.level:.4g} intervals"
        ]
        for label, *ends, p, kind in zip(
            self.classes, self.slope, self.low, self.high, self.p_value, kinds, strict=True
        ):
            slope, low, high = (change_text(value, kind) for value in ends)
            lines.append(f"  {label!s:<16} {slope:>7}   {low:>7} to {high:>7}   p = {p:.3g}")
        return "\n".join(lines)


def trend(
    estimates: Estimate | Sequence[Estimate],
    times: Any = None,
    level: float | None = None,
    *,
    figures: Figure | Sequence[Figure] | None = None,
) -> Trend:
    r"""Test whether the share of each class rises or falls over ordered samples, and by how much per unit of time.

    The slope is that of the least-squares line through the shares :math:`p_s` at times :math:`t_s`,
    :math:`\sum_s w_s p_s` with :math:`w_s = (t_s - \bar t) / \sum_s (t_s - \bar t)^2`. Its variance counts the error of each
    sample, and that of the labelled items once for all samples, which have it in common: it cancels as far as shares are equal. The
    interval is about the line through the true shares of these periods, whether or not they lie on it.

    Parameters
    ----------
    estimates : Estimate of several samples, or sequence of estimates of one sample each
        In the order of time, made with the same fitted quantifier; the samples have no items in common.
    times : sequence of float, optional
        When each sample is from; by default 0, 1, 2 and so on.
    level : float, optional
        By default that of the estimates.
    figures : Figure or sequence of Figure, optional
        What to follow in place of the shares of classes, as in `difference`.

    Returns
    -------
    Trend

    Examples
    --------
    >>> from headcount import PACC, estimate
    >>> generator = np.random.default_rng(0)
    >>> def draw(share, n):
    ...     y = generator.random(n) < share
    ...     return generator.normal(2.0 * y)[:, None], y
    >>> quantifier = PACC(random_state=0).fit(*draw(0.5, 1000))
    >>> months = [estimate(quantifier, draw(share, 500)[0]) for share in (0.2, 0.25, 0.3, 0.35, 0.4)]
    >>> found = trend(months)
    >>> bool(found.low[1] < 0.05 < found.high[1]), bool(found.p_value[1] < 0.001)
    (True, True)
    """
    singles = single_estimates(estimates)
    level = singles[0].level if level is None else level
    check_level(level)
    t = np.arange(len(singles), dtype=np.float64) if times is None else np.asarray(times, dtype=np.float64)
    if t.shape != (len(singles),) or not np.isfinite(t).all() or len(np.unique(t)) < _MIN_PERIODS:
        raise DataError(
            f"A trend needs at least {_MIN_PERIODS} samples at different, finite times; there are {len(singles)} samples."
        )
    evidences = [one.evidence_for(level) for one in singles if one.evidence is not None]
    if len(evidences) < len(singles) or len({one.labelled_side for one in singles}) > 1:
        raise DataError("A trend needs estimates by one fitted quantifier with an analytic interval (method='auto').")
    shares = np.stack([one.shares for one in singles])
    asked = check_figures(figures, shares.shape[1])
    V = np.array([figure.values for figure in asked]) if asked else np.eye(shares.shape[1])
    weights = (t - t.mean()) / np.square(t - t.mean()).sum()
    slope = V @ (weights @ shares)
    variance = np.zeros(len(V))
    common: Any = 0.0
    numbers = [one.evidence.sizes for one in singles if one.evidence is not None]
    for weight, evidence, p, sizes in zip(weights, evidences, shares, numbers, strict=True):
        variance += weight**2 * np.square(V @ target_root(evidence, p)).sum(axis=1)
        plain = replace(evidence, sizes=sizes)
        common = common + weight * weighted_influence(labelled_influence(plain), evidence.vectors.codes, p)
    clusters = SharedClusters([one.design for one in singles])
    variance *= clusters.effect(range(len(singles)), weights.tolist(), V)
    common = independent_parts(common, evidences[0]) @ V.T
    error = np.sqrt(np.maximum(variance + np.square(common).sum(axis=0), 1e-300))
    reach = float(normal_quantile((1.0 - level) / 2.0)) * error
    p_value = 2.0 * normal_tail(np.abs(slope) / error)
    titles = np.array([figure.title for figure in asked]) if asked else singles[0].classes
    return Trend(titles, slope, slope - reach, slope + reach, p_value, level, t, asked)
