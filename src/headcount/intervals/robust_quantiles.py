"""Critical values for errors that are a normal one plus a bias of which only the mean square over groups is known."""

from functools import lru_cache

import numpy as np

from headcount._distributions import normal_quantile, normal_tail
from headcount._typing import FloatArray

__all__ = ["robust_quantile"]

_GRID, _STEPS = 241, 50
_LARGEST = 30.0
"""Root mean square of the bias, in standard errors, up to which critical values are tabulated; Chebyshev's bound lies beyond."""


def robust_quantile(bias: FloatArray, level: float) -> FloatArray:
    r"""Return the c with :math:`P(|Z + b| > c) \le 1 - level` on average, whatever the distribution of the bias b.

    Z is standard normal and independent of b, and :math:`E[b^2]` is all that is known of b. The worst distribution has at most two
    values of :math:`b^2`, one of them 0 (Armstrong, Kolesár and Plagborg-Møller 2022, eq. 7).

    Parameters
    ----------
    bias : array
        Root mean square of the bias, in standard deviations of Z.
    level : float

    Examples
    --------
    >>> robust_quantile(np.array([0.0, 0.5, 1.0, 2.0]), 0.95).round(2).tolist()
    [1.96, 2.23, 3.26, 7.22]
    """
    grid, values = _table(float(level))
    inside = np.interp(np.minimum(bias, _LARGEST), grid, values)
    quantile: FloatArray = np.where(bias > _LARGEST, np.sqrt((1.0 + bias**2) / (1.0 - level)), inside)
    return quantile


@lru_cache(maxsize=16)
def _table(level: float) -> tuple[FloatArray, FloatArray]:
    """Return root mean squares and their critical values, by bisection."""
    bias = _LARGEST * np.linspace(0.0, 1.0, _GRID) ** 2
    low = np.full(_GRID, float(normal_quantile((1.0 - level) / 2.0)))
    high = np.maximum(np.sqrt((1.0 + bias**2) / (1.0 - level)), low)
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        beyond = _worst_tail(bias, middle) > 1.0 - level
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return bias, (low + high) / 2.0


def _worst_tail(bias: FloatArray, c: FloatArray) -> FloatArray:
    """Return the largest mean of P(|Z + b| > c) over distributions of b with this root mean square."""
    reach = np.linspace(0.0, 1.0, 400)[None, :]
    larger = bias[:, None] + reach * (c[:, None] + 6.0)  # the value of |b| that is not 0
    none = 2.0 * normal_tail(c)[:, None]
    tail = normal_tail(c[:, None] - larger) + normal_tail(c[:, None] + larger)
    weight = np.where(larger > 0.0, (bias[:, None] / np.maximum(larger, 1e-12)) ** 2, 1.0)
    worst: FloatArray = (none + weight * (tail - none)).max(axis=1)
    return worst
