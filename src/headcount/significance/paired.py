"""The paper's paired t-test of two methods' errors on the same samples, with the size of the difference, and Holm's correction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._distributions import student_tail
from headcount._typing import FloatArray
from headcount.exceptions import DataError

__all__ = ["PairedTest", "holm", "paired_t"]


@dataclass(frozen=True)
class PairedTest:
    """Result of a two-sided paired t-test of errors x and y.

    Attributes
    ----------
    difference : float
        Mean of x - y: negative if x has the smaller errors.
    statistic, p_value : float
    effect : float
        Cohen's d of the differences: their mean divided by their standard deviation.
    n : int
        Number of pairs.
    """

    difference: float
    statistic: float
    p_value: float
    effect: float
    n: int

    def mark(self, p_value: float | None = None) -> str:
        """Return ``>>`` or ``>`` if x is better (at 0.001, 0.05), ``<<`` or ``<`` if y is, ``~`` if the test does not decide.

        Parameters
        ----------
        p_value : float, optional
            A corrected p-value, used instead of that of the test.
        """
        p = self.p_value if p_value is None else p_value
        if p >= 0.05 or self.difference == 0.0:
            return "~"
        strength = 2 if p < 0.001 else 1
        return (">" if self.difference < 0.0 else "<") * strength


def paired_t(x: Any, y: Any) -> PairedTest:
    r"""Test whether two methods' errors on the same samples have the same mean.

    .. math:: t = \frac{\bar d}{s_d / \sqrt n}, \qquad d_i = x_i - y_i

    The samples of a protocol share items, so they are not independent, and the p-values are too small.

    Examples
    --------
    >>> test = paired_t([0.1, 0.2, 0.1, 0.3], [0.2, 0.4, 0.2, 0.5])
    >>> test.mark(), round(test.p_value, 3), round(test.effect, 2)
    ('>', 0.014, -2.6)
    """
    a, b = (np.asarray(values, dtype=np.float64) for values in (x, y))
    if a.shape != b.shape or a.ndim != 1 or a.size < 2:
        raise DataError(
            f"Expected the errors of two methods on the same samples, at least two each; got shapes {a.shape} and {b.shape}."
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError("The errors must be finite numbers.")
    d = a - b
    n, mean, spread = d.size, float(d.mean()), float(d.std(ddof=1))
    # All differences equal up to rounding: t would be 0 / 0 or rounding error.
    if spread <= 1e-15 * max(abs(mean), 1e-300):
        if mean == 0.0:
            return PairedTest(mean, 0.0, 1.0, 0.0, n)
        infinite = np.copysign(np.inf, mean)
        return PairedTest(mean, infinite, 0.0, infinite, n)
    statistic = mean / (spread / np.sqrt(n))
    return PairedTest(mean, float(statistic), float(2.0 * student_tail(abs(statistic), n - 1)), mean / spread, n)


def holm(p_values: Sequence[float], n_tests: int | None = None) -> FloatArray:
    r"""Correct the p-values of several tests such that the probability of any false rejection keeps the level (Holm 1979).

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) p_{(j)})

    Parameters
    ----------
    p_values : sequence of float
    n_tests : int, optional
        The number m of tests, if these are only some of them: k methods against the best of them are some of k (k - 1) / 2 pairs,
        because the same figures say which is the best.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or not ((p >= 0.0) & (p <= 1.0)).all():
        raise DataError(f"Expected a list of p-values between 0 and 1; got {p_values!r}.")
    order = np.argsort(p, kind="stable")
    m = p.size if n_tests is None else n_tests
    stepped = np.minimum(1.0, (m - np.arange(p.size)) * p[order])
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(stepped)
    return corrected
