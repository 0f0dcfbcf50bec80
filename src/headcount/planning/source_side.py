"""How many labelled items of the source the label-shift route takes for a half-width, or why no number of them suffices."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence

__all__ = ["SourceNeed", "source_items_needed"]


@dataclass(frozen=True)
class SourceNeed:
    """What the interval of a quantifier takes under label shift.

    Attributes
    ----------
    half_width : float
        Now, of the widest class or of the one asked for.
    limit : float
        With any number of labelled items: what the sample's own items leave.
    n_labelled : int
        Labelled items now.
    needed : int or None
        Labelled items for the half-width asked for, in the same shares as now; None if no number suffices.
    reason : str
        Why no number suffices.
    """

    half_width: float
    limit: float
    n_labelled: int
    needed: int | None
    reason: str


def source_items_needed(
    evidence: Evidence, half_widths: FloatArray, half_width: float, target: int | None = None
) -> SourceNeed:
    r"""Return how many labelled items the label-shift route needs.

    The variance of a share has two parts, :math:`V = T + S`: that of the sample's items, and that of the profiles of the classes,

    .. math:: S_j = \sum_l p_l^2 \frac{\sigma_{lj}^2}{m_l}

    which falls as 1/m with the labelled items. Intervals as wide as now, scaled by the root of V, reach w with
    :math:`m' = m S / (V w^2 / h^2 - T)` labelled items.

    Parameters
    ----------
    evidence : Evidence
        Of one sample.
    half_widths : array of shape (K,)
        Of its intervals now.
    half_width : float
        To reach.
    target : int, optional
        The class that matters.
    """
    p, spread = evidence.shares[0], evidence.spread[0]
    k = len(p)
    n, m = float(evidence.n[0]), evidence.sizes
    items = p @ spread / n
    if not evidence.within:
        items = items + p * (1.0 - p) / n
    profiles = (p**2 / m) @ spread
    total = items + profiles
    n_labelled = round(float(m.sum()))
    rows = range(k) if target is None else [target]
    limits = half_widths * np.sqrt(items / np.maximum(total, 1e-300))
    widest = max(rows, key=lambda j: float(half_widths[j]))
    now, limit = float(half_widths[widest]), float(max(limits[j] for j in rows))
    if int(evidence.rank[0]) < k - 1:
        return SourceNeed(now, now, n_labelled, None, "the classifier does not tell all classes apart")
    if limit >= half_width:
        return SourceNeed(now, limit, n_labelled, None, "the new items are too few for it")
    factors = []
    for j in rows:
        allowed = total[j] * (half_width / max(float(half_widths[j]), 1e-300)) ** 2 - items[j]
        factors.append(profiles[j] / allowed if allowed > 0.0 else np.inf)
    factor = max(factors)
    if not np.isfinite(factor):
        return SourceNeed(now, limit, n_labelled, None, "the new items are too few for it")
    return SourceNeed(now, limit, n_labelled, max(ceil(factor * n_labelled), 2 * k), "")
