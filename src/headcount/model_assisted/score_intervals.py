"""Intervals of shares by inverting a score test with an estimated design effect: never outside [0, 1], never of zero width."""

from typing import Any

import numpy as np

from headcount._distributions import student_quantile
from headcount._typing import FloatArray

__all__ = ["design_effects", "score_intervals"]

PRIOR_COUNT = 1.0
"""How many labelled items of a class the design effect of the labels alone counts for."""


def design_effects(shares: FloatArray, variances: FloatArray, alone: float, n: float, smallest: float) -> FloatArray:
    r"""Return how much larger the variance of each share is than that of n independent labels.

    .. math:: r_k = \frac{V_k + c \, r_0 / n^2}{p_k (1 - p_k) / (n - 1) + c / n^2}

    A few labelled items of a class can't show that predictions help with it, so it is drawn towards the design effect of the
    labels alone, :math:`r_0`.

    Parameters
    ----------
    shares : array of shape (K,)
        Among the labelled items (weighted).
    variances : array of shape (K,)
    alone : float
        Design effect of the labels alone.
    n : float
        Number of labelled items.
    smallest : float
        Lower bound of a design effect.
    """
    binomial = shares * (1.0 - shares) / max(n - 1.0, 1.0)
    prior = PRIOR_COUNT / n**2
    return np.asarray(np.maximum((variances + prior * alone) / (binomial + prior), smallest), dtype=np.float64)


def score_intervals(
    shares: FloatArray, effects: FloatArray, n: float, degrees: float, level: float
) -> tuple[FloatArray, FloatArray]:
    r"""Return the shares p that a score test does not reject (Wilson, 1927), with a design effect r and Student's quantile t.

    .. math:: (\hat p - p)^2 \le t^2 \, p (1 - p) \, r / n
    """
    t: Any = student_quantile((1.0 - level) / 2.0, degrees)
    p = np.clip(shares, 0.0, 1.0)
    a = t**2 * effects / n
    centre = (p + a / 2.0) / (1.0 + a)
    half = np.sqrt(a * p * (1.0 - p) + a**2 / 4.0) / (1.0 + a)
    low = np.where(p > 0.0, centre - half, 0.0)
    high = np.where(p < 1.0, centre + half, 1.0)
    return np.clip(low, 0.0, p), np.clip(high, p, 1.0)
