"""Posteriors of shares for many samples at once: the random numbers, and chunks of samples."""

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray

__all__ = ["draw_posterior", "random_numbers"]

_WARMUP = 300
"""Sweeps that adapt the lengths of steps and are thrown away; each later sweep gives a draw."""
_SAMPLES_PER_CHUNK = 16


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
