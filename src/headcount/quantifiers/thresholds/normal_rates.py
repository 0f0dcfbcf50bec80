"""Rates of two normal distributions of scores: the thresholds between barriers, and item scores whose mean is the swept estimate.

With F_j(t) the share of class j above t, and thresholds from l to r, the mean over t of (q(t) - F_0(t)) / (F_1(t) - F_0(t)) is
the mean over the sample's items of h(s) = (H(s) - a) / (r - l), where H(s) is the integral of 1 / (F_1 - F_0) from l to s and a
that of F_0 / (F_1 - F_0) from l to r.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from headcount._typing import FloatArray

__all__ = ["SweptScores", "largest_difference", "least_variance_barrier", "swept_scores"]

_STEPS = 1000
"""Steps of the table of H, which is a cubic between them: errors below 1e-9 of the whole."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_BISECTIONS = 80
_BARRIERS = np.linspace(0.02, 0.98, 49)
"""Barriers that are tried, as parts of the largest difference of the rates."""


@dataclass(frozen=True)
class SweptScores:
    """The table of H at thresholds t between two barriers, with its slopes, and what it gives for both classes.

    Attributes
    ----------
    t, H, slope : arrays of shape (n_steps + 1,)
    means, squares : arrays of shape (2,)
        Mean of H and of its square in each class, if scores are normal.
    """

    t: FloatArray
    H: FloatArray
    slope: FloatArray
    means: FloatArray
    squares: FloatArray

    def variances(self, share: float) -> float:
        """Return the variance of h for an item of a population with this share of the second class."""
        shares, width = np.array([1.0 - share, share]), self.means[1] - self.means[0]
        mean = shares @ self.means
        return float((shares @ self.squares - mean**2) / width**2)


def _upper(t: FloatArray | float, normals: FloatArray) -> FloatArray:
    """Return the shares of both classes above t, in the last axis."""
    upper: FloatArray = ndtr((normals[:, 0] - np.asarray(t)[..., None]) / normals[:, 1])
    return upper


def _difference(t: FloatArray | float, normals: FloatArray) -> FloatArray:
    upper = _upper(t, normals)
    return upper[..., 1] - upper[..., 0]


def largest_difference(normals: FloatArray) -> tuple[float, float]:
    """Return the threshold at which the two rates differ most, where the densities cross, and the signed difference there.

    >>> t, difference = largest_difference(np.array([[0.0, 1.0], [2.0, 1.0]]))
    >>> round(t, 6), round(difference, 4)
    (1.0, 0.6827)
    """
    (m0, s0), (m1, s1) = normals
    # log f_1 = log f_0: a quadratic in t - m0, in units of s0
    d, r = (m1 - m0) / s0, s1 / s0
    a, b, c = 1.0 - r**2, -2.0 * d, d**2 + 2.0 * r**2 * np.log(r)
    if abs(a) < 1e-12:
        roots = np.array([-c / b if b else 0.0])
    else:
        root = np.sqrt(max(b**2 - 4.0 * a * c, 0.0))
        first = -(b + np.copysign(root, b)) / 2.0
        roots = np.array([first / a, c / first]) if first else np.zeros(1)
    thresholds = m0 + s0 * roots
    differences = _difference(thresholds, normals)
    best = int(np.abs(differences).argmax())
    return float(thresholds[best]), float(differences[best])


def _end(normals: FloatArray, middle: float, barrier: float, step: float) -> float:
    """Return where the difference of the rates falls to the barrier, from the middle in the direction of the step."""
    sign = np.sign(_difference(middle, normals))
    outside = middle + step
    while sign * _difference(outside, normals) > barrier:
        outside += outside - middle
    inside = middle
    for _ in range(_BISECTIONS):
        half = (inside + outside) / 2.0
        inside, outside = (half, outside) if sign * _difference(half, normals) > barrier else (inside, half)
    return inside


def swept_scores(normals: FloatArray, barrier: float, n_steps: int = _STEPS) -> SweptScores:
    """Return the table for thresholds where the two rates differ by more than the barrier."""
    middle, _ = largest_difference(normals)
    step = float(normals[:, 1].max())
    left, right = _end(normals, middle, barrier, -step), _end(normals, middle, barrier, step)
    t = np.linspace(left, right, n_steps + 1)
    width = (right - left) / n_steps
    nodes = t[:-1, None] + width * (_NODES + 1.0) / 2.0
    weights = width * _WEIGHTS / 2.0
    inverse = 1.0 / _difference(nodes, normals)
    H = np.concatenate([[0.0], np.cumsum(inverse @ weights)])
    slope = 1.0 / _difference(t, normals)
    upper, at_nodes = _upper(nodes, normals), interpolated(t, H, slope, nodes.ravel()).reshape(nodes.shape)
    # E H = integral of H' F and E H^2 = integral of 2 H H' F, as H is 0 up to l and constant from r on
    means = np.einsum("in,inj,n->j", inverse, upper, weights)
    squares = np.einsum("in,inj,n->j", 2.0 * at_nodes * inverse, upper, weights)
    return SweptScores(t, H, slope, means, squares)


def interpolated(t: FloatArray, H: FloatArray, slope: FloatArray, scores: FloatArray) -> FloatArray:
    """Return H at these scores, by the cubic between two steps that has the values and slopes at both; constant outside."""
    width = (t[-1] - t[0]) / (len(t) - 1)
    place = np.clip((scores - t[0]) / width, 0.0, len(t) - 1.0)
    i = np.minimum(place.astype(np.int64), len(t) - 2)
    u = place - i
    v = 1.0 - u
    values: FloatArray = (1.0 + 2.0 * u) * v**2 * H[i] + u**2 * (3.0 - 2.0 * u) * H[i + 1]
    values += width * u * v * (v * slope[i] - u * slope[i + 1])
    return values


def least_variance_barrier(normals: FloatArray) -> float:
    """Return the barrier with the least variance of the estimate, on average over all shares from 0 to 1."""
    _, largest = largest_difference(normals)
    barriers = abs(largest) * _BARRIERS

    def variance(barrier: float) -> float:
        table = swept_scores(normals, barrier, n_steps=100)
        # the variance is quadratic in the share: its mean over [0, 1] by Simpson's rule is exact
        ends, middle = table.variances(0.0) + table.variances(1.0), table.variances(0.5)
        return (ends + 4.0 * middle) / 6.0

    return float(barriers[int(np.argmin([variance(float(b)) for b in barriers]))])
