"""`Contradiction`: a test whether design-based shares explain a sample, as they do if only shares have changed."""

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtri, ncfdtr

from headcount._distributions import f_tail, normal_quantile
from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence
from headcount.model_assisted import AssistedShares
from headcount.model_assisted.score_intervals import design_effects

__all__ = ["Contradiction", "contradiction_of"]

LEVEL, POWER = 0.05, 0.8
"""Level of the test, and the power for which the smallest difference is stated."""
_ROUNDS = 30
"""Rounds in which the smallest difference and the variance at it are found from each other."""


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Whether design-based shares and those under label shift, from the source labels alone, contradict each other.

    Attributes
    ----------
    p_value : array of shape (n_samples,)
        Chance of a difference as large if only shares have changed since the model was made; NaN where there is no design-based
        answer.
    difference : array of shape (n_samples, n_classes)
        Design-based shares less those under label shift from the source labels alone.
    detectable : array of shape (n_samples, n_classes)
        The smallest difference in each class that the test finds, at level 0.05, with a power of at least 80 %, whatever the other
        classes do. Where it is large, a large p-value says little.
    """

    p_value: FloatArray
    difference: FloatArray
    detectable: FloatArray


def contradiction_of(
    evidence: Evidence,
    assisted: AssistedShares,
    null: FloatArray,
    spread: FloatArray,
    known: FloatArray,
    designed: tuple[FloatArray, float] | None = None,
) -> tuple[float, FloatArray, FloatArray]:
    r"""Return p-value, difference and smallest detectable difference of one sample.

    With y the design-based shares of the sample's own items and z the mean vector of these, :math:`z - G y` has expectation 0 under
    label shift. Both sides are about the same items, so what these items happen to be cancels; what is left are the errors of
    which items are labelled, of the vectors within classes, and of the source's class means. They do not depend on each other:

    .. math:: V = G V_y G' + \sum_l \Big(\frac{p_l}{N} + \frac{p_l^2}{n_l}\Big) S_l

    Parameters
    ----------
    evidence : Evidence
        Of one sample, for the shares of the sample itself, from the source labels alone.
    assisted : AssistedShares
        Of the sample itself (``finite_population=True``).
    null : array of shape (n_classes,)
        Shares under label shift, at which variances are taken.
    spread : array of shape (n_classes, n_coordinates, n_coordinates)
        S, the covariance of an item's vector in each class, from the labelled items of source and target: they have the same one if
        only shares have changed, and few source items of a class may all be alike.
    known : array of shape (n_classes,)
        Number of items that S is known from.
    designed : pair of array of shape (n_coordinates, n_coordinates) and float, optional
        V and its degrees of freedom under survey designs.
    """
    k = len(null)
    G, S, B, N = evidence.G[0], spread, evidence.B[0], float(evidence.n[0])
    difference = assisted.shares - evidence.shares[0]
    left, _, _ = np.linalg.svd(G - G.mean(axis=1, keepdims=True), full_matrices=False)
    r = int(evidence.rank[0])
    nothing = np.full(k, np.inf)
    if r == 0:
        return float("nan"), difference, nothing
    P = left[:, :r].T
    V_y = _design_covariance(assisted, null)
    by_class = np.einsum("ra,lab,sb->lrs", P, S, P) * (null**2 / evidence.sizes)[:, None, None]
    of_items = np.einsum("ra,lab,sb,l->rs", P, S, P, null / N)
    of_labels = P @ G @ V_y @ G.T @ P.T
    V = of_labels + of_items + by_class.sum(axis=0) if designed is None else P @ designed[0] @ P.T
    inverse = np.linalg.pinv(V, rcond=1e-12, hermitian=True)
    d = P @ (evidence.z[0] - G @ assisted.shares)
    squared = float(d @ inverse @ d)
    parts = np.array([np.trace(inverse @ of_labels), *(np.trace(inverse @ one) for one in by_class)]) / r
    degrees_of_parts = np.maximum([assisted.n_labelled - 1.0 - assisted.degrees, *(known - 1.0)], 1.0)
    degrees = 1.0 / max(float(np.sum(parts**2 / degrees_of_parts)), 1e-6) if designed is None else designed[1]
    below = max(degrees - r + 1.0, 1.0)
    p_value = f_tail(squared * below / (max(degrees, below) * r), r, below)
    back = B @ P.T
    if r < k - 1:
        return p_value, difference, nothing
    return p_value, difference, _detectable(assisted, null, np.diag(back @ V @ back.T), r, below)


def _detectable(
    assisted: AssistedShares, null: FloatArray, variances: FloatArray, above: float, below: float
) -> FloatArray:
    r"""Return the smallest difference in each class that the test finds with the stated power.

    The test rejects by the variance :math:`v_0` at the tested shares; the difference varies by that at the true ones, which is
    larger where the tested share is near 0 or 1 and the true one is not. With :math:`\lambda` the noncentrality at which an F test
    has the power, and z the normal quantile of the power:

    .. math:: \Delta = (\sqrt{\lambda} - z) \sqrt{v_0} + z \sqrt{v_\Delta}

    for the larger of an increase and a decrease, where both are possible.
    """
    reach, z = np.sqrt(_least_noncentrality(above, below)), float(normal_quantile(1.0 - POWER))
    n, effects = float(assisted.n_labelled), _effects(assisted)
    found = np.zeros_like(null)
    for sign in (-1.0, 1.0):
        delta = reach * np.sqrt(np.maximum(variances, 0.0))
        for _ in range(_ROUNDS):
            moved = np.clip(null + sign * delta, 0.0, 1.0)
            more = effects * (moved * (1.0 - moved) - null * (1.0 - null)) / n
            here = np.sqrt(np.maximum(variances, 0.0))
            delta = (reach - z) * here + z * np.sqrt(np.maximum(variances + more, 0.0))
        possible = (null + sign * delta >= 0.0) & (null + sign * delta <= 1.0)
        found = np.where(possible, np.maximum(found, delta), found)
    smallest: FloatArray = np.where(found > 0.0, found, np.inf)
    return smallest


def _effects(assisted: AssistedShares) -> FloatArray:
    """Return how much larger the variance of each share is than that of n independent labels."""
    n = float(assisted.n_labelled)
    raw = assisted.shares_alone
    binomial = raw * (1.0 - raw) / max(n - 1.0, 1.0)
    alone = float(np.diag(assisted.covariance_alone).sum() / binomial.sum()) if binomial.sum() > 0.0 else 1.0
    return design_effects(raw, np.diag(assisted.covariance), min(alone, 1.0), n, 0.0)


def _design_covariance(assisted: AssistedShares, null: FloatArray) -> FloatArray:
    """Return the covariance of the design-based shares if the true ones are ``null``; labels of one class have none themselves."""
    k = len(null)
    scaled = (np.eye(k) - 1.0 / k) * np.sqrt(_effects(assisted))
    covariance: FloatArray = scaled @ (np.diag(null) - np.outer(null, null)) @ scaled.T / assisted.n_labelled
    return covariance


def _least_noncentrality(above: float, below: float) -> float:
    """Return the noncentrality at which an F test has the power that is stated."""
    critical = float(fdtri(above, below, 1.0 - LEVEL))
    low, high = 0.0, 10.0
    while ncfdtr(above, below, high, critical) > 1.0 - POWER and high < 1e6:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        if ncfdtr(above, below, middle, critical) > 1.0 - POWER:
            low = middle
        else:
            high = middle
    return high
