"""Credible intervals: from draws of the posterior of the shares, for methods that draw from it."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray
from headcount.exceptions import DataError
from headcount.quantifiers import Quantifier

__all__ = ["credible_intervals", "shortest_intervals"]

_SAMPLES_PER_BLOCK = 256
"""Samples whose draws are in memory at a time."""
_MOST_KEPT = 1 << 23
"""Numbers that the draws of an estimate may have to be kept with it: 64 MiB."""
_LEAST_BEYOND = 2.0
"""Draws that must lie beyond each end of an interval."""
_OUTSIDE = 0.005
"""Share of the draws beyond an end of an interval that is too small to end it there."""


def credible_intervals(
    quantifier: Quantifier, statistics: Any, effective: FloatArray, tail: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray | None]:
    """Return posterior means and the ends of the shortest intervals with probability 1 - 2 ``tail``; draws too, unless many.

    Parameters
    ----------
    quantifier : fitted quantifier that draws from a posterior
    statistics : statistics of samples
    effective : array of shape (n_samples,)
        Numbers of items that the samples are worth.
    tail : float
    """
    shares, low, high = np.empty((3, len(statistics), len(quantifier.classes_)))
    kept: list[FloatArray] = []
    for start in range(0, len(shares), _SAMPLES_PER_BLOCK):
        rows = np.arange(start, min(start + _SAMPLES_PER_BLOCK, len(shares)))
        draws = quantifier.posterior(statistics[rows], effective[rows])
        n_draws = draws.shape[1]
        if n_draws * tail < _LEAST_BEYOND:
            raise DataError(
                f"n_draws={n_draws} draws are too few for an interval of level {1 - 2 * tail:.6g}: set n_draws to at least "
                f"{int(np.ceil(_LEAST_BEYOND / tail))}."
            )
        mean = draws.mean(axis=1)
        shares[rows] = mean / mean.sum(axis=1, keepdims=True)
        low[rows], high[rows] = shortest_intervals(draws, 1.0 - 2.0 * tail)
        if shares.size * n_draws <= _MOST_KEPT:
            kept.append(draws)
    return shares, low, high, np.concatenate(kept) if kept else None


def shortest_intervals(
    draws: FloatArray, level: float, ends: tuple[float, float] | None = (0.0, 1.0)
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the shortest interval of each share that holds this part of its draws: shapes (n_samples, n_classes).

    Where next to no draws lie outside of one end, the interval goes on to 0 or 1 (``ends``), so that an absent class is in it.

    >>> low, high = shortest_intervals(np.linspace(0.0, 1.0, 1001)[None, :, None] ** 2, 0.9)
    >>> low.tolist(), high.round(2).tolist()
    ([[0.0]], [[0.81]])
    """
    ordered = np.sort(draws, axis=1)
    n = ordered.shape[1]
    inside = min(int(np.ceil(level * n)), n - 1)
    first = np.argmin(ordered[:, inside:] - ordered[:, : n - inside], axis=1)[:, None]
    low = np.take_along_axis(ordered, first, axis=1)[:, 0]
    high = np.take_along_axis(ordered, first + inside, axis=1)[:, 0]
    if ends is None:
        return low, high
    outside = np.ceil(_OUTSIDE * n)
    return np.where(first[:, 0] < outside, ends[0], low), np.where(
        n - 1 - first[:, 0] - inside < outside, ends[1], high
    )
