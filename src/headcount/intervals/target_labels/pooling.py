"""`Pooled`: what source validation items and target labels say together of a sample's shares, if only shares have changed.

Two parts that do not share an error:

- the shares among the labelled target items, which say p directly;
- a mean of item vectors over the target whose expectation is G p, where G are the class means over source validation items *and*
  labelled target items: under label shift both are of the same classes.

Where labels are a simple random sample, the second part is the mean over the items that are not labelled. Where they are not, it is
the mean over all items less what it shares with the first.
"""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.intervals.evidence import Evidence

__all__ = ["Pooled", "pool_profiles", "pooled_parts"]


@dataclass(frozen=True, eq=False)
class Pooled:
    r"""The two parts of one sample, with the variance of the second at shares p.

    .. math::
        V(p) = \sum_l \Big(\frac{a \, p_l}{N} + \frac{p_l^2}{n_l}\Big) S_l
               + \frac{b}{N} G \big(\mathrm{diag}(p) - p p'\big) G'

    Attributes
    ----------
    labelled : array of shape (n_classes,)
        Shares among the labelled items, weighted.
    n : float
        How many labels drawn at random would know the shares as well.
    z : array of shape (n_coordinates,) or None
        Mean vector with expectation G p; None if no item is left for it.
    N : float
        Effective number of items in it.
    within, between : float
        The factors a and b.
    G : array of shape (n_coordinates, n_classes)
    S : array of shape (n_classes, n_coordinates, n_coordinates)
    sizes : array of shape (n_classes,)
        Number of validation and labelled items of each class.
    """

    labelled: FloatArray
    n: float
    z: FloatArray | None
    N: float
    within: float
    between: float
    G: FloatArray
    S: FloatArray
    sizes: FloatArray


def pool_profiles(
    evidence: Evidence, vectors: FloatArray, codes: IntArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return class means, covariances and sizes over validation items and labelled items of the target.

    Parameters
    ----------
    evidence : Evidence
        Of one sample.
    vectors : array of shape (n_labelled, n_coordinates)
        Of the labelled items of the target.
    codes : array of int of shape (n_labelled,)
    weights : array of shape (n_labelled,)
        One over the inclusion probability, up to a factor.
    """
    G, S, sizes = evidence.G[0].copy(), evidence.S[0].copy(), evidence.sizes.copy()
    for j in np.unique(codes):
        V, w = vectors[codes == j], weights[codes == j]
        effective = w.sum() ** 2 / (w @ w)
        mean = w @ V / w.sum()
        centred = (V - mean) * np.sqrt(w * effective / w.sum())[:, None]
        n = sizes[j]
        S[j] = (n * S[j] + centred.T @ centred) / (n + effective - (1.0 if effective > 1.0 else 0.0))
        G[:, j] = (n * G[:, j] + effective * mean) / (n + effective)
        sizes[j] = n + effective
    return G, S, sizes


def pooled_parts(
    evidence: Evidence,
    vectors: FloatArray,
    codes: IntArray,
    weights: FloatArray,
    n: float,
    n_items: float,
    *,
    unlabelled: bool,
) -> Pooled:
    """Return the two parts for one sample.

    Parameters
    ----------
    evidence : Evidence
        Of one sample: of its items without a label (``unlabelled``), or of all of them.
    vectors, codes, weights
        As in `pool_profiles`.
    n : float
        How many labels drawn at random would know the shares as well.
    n_items : float
        Number of all items of the sample.
    unlabelled : bool
    """
    k = evidence.shares.shape[1]
    labelled = np.bincount(codes, weights, minlength=k) / weights.sum()
    G, S, sizes = pool_profiles(evidence, vectors, codes, weights)
    z, N = evidence.z[0], float(evidence.n[0])
    if unlabelled:
        if not evidence.within:
            return Pooled(labelled, n, z, N, 1.0, 1.0, G, S, sizes)
        # The labelled items are known: only those without a label are estimated.
        part = min(len(codes) / n_items, 1.0)
        y = (1.0 - part) * z + part * (G @ labelled)
        return Pooled(labelled, n, y, N, (1.0 - part) ** 2, 0.0, G, S, sizes)
    if evidence.within:
        return Pooled(labelled, n, z, N, 1.0, 0.0, G, S, sizes)
    part = min(n / N, 0.9)
    y = (z - part * (G @ labelled)) / (1.0 - part)
    return Pooled(labelled, n, y, N, (1.0 - part) ** -2, 1.0 / (1.0 - part), G, S, sizes * (1.0 - part) ** 2)
