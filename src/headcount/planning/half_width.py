"""What half-widths `assisted_shares` will report for labels that are not there yet, and how many labels a half-width takes."""

from collections.abc import Callable

import numpy as np
from scipy.special import betaincinv

from headcount._typing import FloatArray
from headcount.model_assisted.score_intervals import design_effects, score_intervals

__all__ = ["expected_half_widths", "fewest_labels"]

_NODES = (np.arange(16) + 0.5) / 16.0
"""Probabilities at which quantiles of an estimated share are taken."""


def expected_half_widths(
    shares: FloatArray,
    variances: FloatArray,
    effect: float,
    n: int,
    n_items: float,
    predictors: float = 1.0,
    level: float = 0.95,
) -> FloatArray:
    """Return the mean half-width that `assisted_shares` reports for each class, shape (K,).

    Its score intervals are taken at quantiles of the share that will be estimated, of a beta distribution, because the width of an
    interval is far from linear in a small share.

    Parameters
    ----------
    shares : array of shape (K,)
        Guessed.
    variances : array of shape (K,)
        Of the estimates, by residuals without the noise of tuning.
    effect : float
        Design effect of the labels alone: 1 - n / N for uniform sampling.
    n : int
        Number of labels.
    n_items : float
        Number of items, N; infinite for the shares of a source.
    predictors : float, default=1
        Coefficients that the regression will use; 0 for labels alone.
    level : float, default=0.95

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> expected_half_widths(shares, np.full(2, 0.25 / 100), 1.0, 100, np.inf, predictors=0).round(3).tolist()
    [0.097, 0.097]
    """
    if n >= n_items:
        return np.zeros(len(shares))
    V = variances * n / (n - 1.0) * (1.0 + predictors / n)
    p = np.clip(shares, 0.5 / n, 1.0 - 0.5 / n)
    worth = np.maximum(p * (1.0 - p) / np.maximum(V, 1e-300) - 1.0, 0.1)
    estimates = betaincinv(p * worth, (1.0 - p) * worth, _NODES[:, None])
    V_there = V * estimates * (1.0 - estimates) / np.maximum((estimates * (1.0 - estimates)).mean(axis=0), 1e-300)
    degrees = max(n - 1.0 - predictors, 1.0)
    widths = []
    for estimate, variance in zip(estimates, V_there, strict=True):
        effects = design_effects(estimate, variance, effect, float(n), 0.0)
        low, high = score_intervals(estimate, effects, float(n), degrees, level)
        counted = n * estimate / n_items
        widths.append(np.minimum(high, 1.0 - (n / n_items - counted)) - np.maximum(low, counted))
    return np.asarray(np.mean(widths, axis=0) / 2.0, dtype=np.float64)


def fewest_labels(half_width_of: Callable[[int], float], half_width: float, least: int, most: int) -> int:
    """Return the least number of labels, found by bisection, whose half-width is at most this; the most if no fewer do."""
    low, high = min(least, most), most
    if low == high or half_width_of(low) <= half_width:
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width_of(middle) <= half_width else (middle, high)
    return high
