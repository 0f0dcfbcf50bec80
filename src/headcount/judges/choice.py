"""Which judges to keep, and how many human labels give a wanted precision."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from headcount._distributions import normal_quantile
from headcount._typing import FloatArray

__all__ = ["KeptJudges", "keep_judges", "labels_needed"]

_LEAST_GAIN = 0.05
"""Part of the human labels that a first judge must add to be worth keeping."""
_LEAST_STEP = 0.02
"""Part by which a further judge must raise the number of effective labels."""


@dataclass(frozen=True)
class KeptJudges:
    """Judges that are worth their cost, and why.

    Attributes
    ----------
    names : tuple of str
        In the order in which they were added.
    effective_labels : float
        With these judges.
    reason : str
    """

    names: tuple[str, ...]
    effective_labels: float
    reason: str


def keep_judges(
    names: tuple[str, ...], n_labelled: int, whole: float, effective: Callable[[list[int]], float]
) -> KeptJudges:
    """Add judges one by one, each time the one that helps most, until none raises the effective labels by two per cent.

    Parameters
    ----------
    names : tuple of str
    n_labelled : int
    whole : float
        Effective labels with all judges.
    effective : callable
        Effective labels with some judges, by their positions.
    """
    kept: list[int] = []
    reached = float(n_labelled)
    while len(kept) < len(names):
        tried = {j: effective([*kept, j]) for j in range(len(names)) if j not in kept}
        best = max(tried, key=lambda j: tried[j])
        least = n_labelled * (1.0 + _LEAST_GAIN) if not kept else reached * (1.0 + _LEAST_STEP)
        if tried[best] < least:
            break
        kept.append(best)
        reached = tried[best]
    chosen = tuple(names[j] for j in kept)
    return KeptJudges(
        chosen, reached if kept else float(n_labelled), _reason(chosen, names, n_labelled, reached, whole)
    )


def _reason(chosen: tuple[str, ...], names: tuple[str, ...], n: int, reached: float, whole: float) -> str:
    if not chosen:
        about = f"{names[0]} adds" if len(names) == 1 else "No judge adds"
        little = "less than" if len(names) == 1 else "as much as"
        return f"{about} {little} {_LEAST_GAIN:.0%} to what {n:,} human labels tell: the labels alone are as good."
    listed = " and ".join((", ".join(chosen[:-1]), chosen[-1])) if len(chosen) > 1 else chosen[0]
    worth = f"with {'it' if len(chosen) == 1 else 'them'} {n:,} human labels tell as much as {reached:,.0f} alone"
    if len(chosen) == len(names):
        return f"Keep {listed}: {worth}."
    rest = len(names) - len(chosen)
    others = "the other adds" if rest == 1 else f"the other {rest} add"
    return f"Keep {listed}: {worth}; {others} next to nothing (all {len(names)} together: {whole:,.0f})."


def labels_needed(residual_variance: FloatArray, n_items: int | None, half_width: float, level: float) -> int:
    r"""Return how many labels drawn at random give every class an interval of at most this half-width.

    .. math:: n = \left( \frac{w^2}{z^2 V} + \frac1N \right)^{-1}

    Parameters
    ----------
    residual_variance : array of shape (n_classes,)
        Mean square of what judges leave of each class's indicator; the largest counts.
    n_items : int or None
        Number of all items; None if they are themselves a sample of many.
    half_width : float
    level : float

    Examples
    --------
    >>> labels_needed(np.array([0.25, 0.25]), None, 0.05, 0.95), labels_needed(np.array([0.25, 0.25]), 1000, 0.05, 0.95)
    (385, 278)
    """
    z, variance = float(normal_quantile((1.0 - level) / 2.0)), float(residual_variance.max())
    if variance <= 0.0:
        return 0
    needed = 1.0 / (half_width**2 / (z**2 * variance) + (0.0 if n_items is None else 1.0 / n_items))
    return int(np.ceil(needed))
