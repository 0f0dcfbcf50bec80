"""Inverting the distance between samples and mixtures: intervals of classes, joint regions, and differences.

A class's interval holds the shares v that are not rejected by the distance at p_j = v, minimised over the other shares, less the
least distance of all. The variance is that at the tested shares, as in Wilson's interval for a proportion (1927) and Fieller's for
a ratio (1954); quantiles are Student's by the degrees of freedom of Welch and Satterthwaite, moved for skewness (Hall 1992).
Directions in which the class means do not differ leave the distance unchanged: nothing is ruled out there.
"""

from functools import lru_cache

import numpy as np
from scipy.stats import f, norm, t

from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence, class_third_moments

__all__ = ["class_intervals", "joint_p_values", "student_table"]

_SAMPLES_PER_CHUNK = 4
_TABLE_SIZE = 513
_MAX_SHIFT = 0.6
"""Largest correction of a coordinate for skewness, relative to it."""


@lru_cache(maxsize=64)
def student_table(tail: float) -> FloatArray:
    """Return Student's quantiles at a tail probability, for 1 / degrees of freedom at equal steps from 0 to 1."""
    inverse = np.linspace(0.0, 1.0, _TABLE_SIZE)
    degrees = np.concatenate([[1e12], 1.0 / inverse[1:]])
    return np.asarray(t.isf(tail, degrees), dtype=np.float64)


def class_intervals(evidence: Evidence, z: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each class's interval, where z is the normal quantile of the level."""
    from headcount.intervals import _profile_kernels

    low, high = np.empty_like(evidence.shares), np.empty_like(evidence.shares)
    table = student_table(float(norm.sf(z)))
    one = len(evidence.G) == 1

    def invert(a: int, b: int) -> None:
        part = slice(0, 1) if one else slice(a, b)
        _profile_kernels.class_bounds(
            evidence.z[a:b],
            evidence.G[part],
            evidence.S[part],
            evidence.spread[part],
            evidence.third[part],
            evidence.sizes,
            evidence.n[a:b],
            evidence.within,
            z,
            table,
            evidence.shares[a:b],
            low[a:b],
            high[a:b],
        )

    # A chunk of one sample with its own vectors would look like a chunk whose samples share them, which is the same thing.
    in_chunks(invert, len(evidence.shares), _SAMPLES_PER_CHUNK)
    nothing = np.broadcast_to(evidence.rank == 0, len(low))[:, None]
    return np.where(nothing, 0.0, low), np.where(nothing, 1.0, high)


def joint_p_values(evidence: Evidence, shares: FloatArray) -> FloatArray:
    """Return the p-value of these shares of all classes together for each sample, by Hotelling's test."""
    p_values = np.ones(len(evidence.shares))
    for s in range(len(p_values)):
        one = evidence.take(s)
        p = shares[s]
        if one.rank[0] == 0:
            continue
        G, S, n = one.G[0], one.S[0], one.n[0]
        weights = p / n + p**2 / one.sizes
        C = np.einsum("l,lab->ab", weights, S)
        if not one.within:
            C = C + ((G * p) @ G.T - np.outer(G @ p, G @ p)) / n
        values, axes = np.linalg.eigh(C)
        kept = values > 1e-10 * values[-1]
        if not kept.any():
            continue
        d = int(kept.sum())
        projection = axes[:, kept].T / np.sqrt(values[kept])[:, None]
        off = projection @ (one.z[0] - G @ p)
        off = off - _skewness(one, p, projection, off)
        statistic = float(off @ off)
        # Degrees of freedom of a covariance that is a sum of estimated ones, by the share of each in the total.
        inverse = axes[:, kept] / values[kept] @ axes[:, kept].T
        parts = weights * np.einsum("ab,lab->l", inverse, S) / d
        degrees = max(1.0 / max(float((parts**2 / np.maximum(one.sizes - 1.0, 1.0)).sum()), 1e-12), d + 0.5)
        left = degrees - d + 1.0
        p_values[s] = f.sf(statistic * left / (degrees * d), d, left)
    return p_values


def _skewness(evidence: Evidence, p: FloatArray, projection: FloatArray, off: FloatArray) -> FloatArray:
    """Return how far skewness moves each standardised coordinate at its value, as for the quantiles of a class's interval."""
    U, codes = evidence.vectors.labelled(int(evidence.index[0])) @ projection.T, evidence.vectors.codes
    n, sizes, k = float(evidence.n[0]), evidence.sizes, len(p)
    means = np.stack([U[codes == j].mean(axis=0) for j in range(k)])
    third = class_third_moments(evidence.vectors, int(evidence.index[0]), projection)
    spread = np.einsum("da,lab,db->ld", projection, evidence.S[0], projection)
    gaps = np.zeros_like(means) if evidence.within else means - p @ means
    mixed = p @ (third + 3.0 * gaps * spread + gaps**3)
    cumulant = mixed / n**2 - (p**3 / sizes**2) @ third
    along = -(p**2 / sizes * (1.0 / n + p / sizes)) @ third
    shift = cumulant * (off**2 - 1.0) / 6.0 - along * off**2 / 2.0
    most = _MAX_SHIFT * np.maximum(np.abs(off), 1.0)
    moved: FloatArray = np.clip(shift, -most, most)
    return moved
