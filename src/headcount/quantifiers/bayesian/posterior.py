"""Posteriors of shares for many samples at once: the random numbers, the chunks of samples, intervals."""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray

__all__ = ["draw_posterior", "random_numbers", "shortest_intervals"]

_WARMUP = 300
"""Sweeps that adapt the lengths of steps and are thrown away; each later sweep gives a draw."""
_SAMPLES_PER_CHUNK = 16
_OUTSIDE = 0.005
"""Share of the draws beyond an end of an interval that is too small to end it there."""


def random_numbers(seed: int, n_draws: int, n_cells: int, n_classes: int) -> FloatArray:
    """Return the uniform numbers that the draws are made with, a row for each sweep."""
    width = 6 * n_classes + 3 * n_cells * n_classes + 5 * n_cells
    uniform: FloatArray = np.random.default_rng(seed).random((_WARMUP + n_draws, width))
    return np.maximum(uniform, 1e-300, out=uniform)


def draw_posterior(counts: FloatArray, A: FloatArray, alpha: FloatArray, U: FloatArray) -> FloatArray:
    """Draw shares from the posterior of each sample: shape (n_samples, n_draws, n_classes).

    Parameters
    ----------
    counts : array of shape (n_samples, n_cells)
    A : array of shape (n_cells, n_classes)
        Labelled items of each class in each cell, and the parameters of the profiles' Dirichlet prior added.
    alpha : array of shape (n_classes,)
        Parameters of the shares' Dirichlet prior.
    U : array
        As `random_numbers` returns it.
    """
    from headcount.quantifiers.bayesian._kernels import draw_shares

    draws = np.empty((len(counts), len(U) - _WARMUP, A.shape[1]))

    def draw(first: int, last: int) -> None:
        draw_shares(counts[first:last], A, alpha, U, _WARMUP, draws[first:last])

    in_chunks(draw, len(counts), _SAMPLES_PER_CHUNK)
    return draws


def shortest_intervals(draws: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the ends of the shortest interval of each share that holds this part of its draws: shapes (n_samples, n_classes).

    Where next to no draws lie outside of one end, the interval goes on to 0 or 1, so that an absent class is in it.

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
    outside = np.ceil(_OUTSIDE * n)
    return np.where(first[:, 0] < outside, 0.0, low), np.where(n - 1 - first[:, 0] - inside < outside, 1.0, high)
