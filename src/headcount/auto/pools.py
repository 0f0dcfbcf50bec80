"""Bootstrap pools of held-out items: the same samples, with each item replaced by another of its class."""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.protocols import Samples

__all__ = ["POOLS", "drawn_again"]

POOLS = 24
_MAX_SAMPLES = 63
"""Samples of each pool: enough to see how pools differ, since the samples are the same in all of them."""


def drawn_again(
    samples: Samples, true: FloatArray, codes: IntArray, generator: np.random.Generator
) -> tuple[Samples, FloatArray]:
    """Return some of the samples for each of `POOLS` bootstrap pools, one pool after the other, and their true shares.

    A pool replaces each item by another of the same class, drawn with replacement, in all samples. So the shares stay the same.

    Parameters
    ----------
    samples : Samples
    true : array of shape (n_samples, n_classes)
    codes : array of int, shape (n_items,)
        The items' classes.
    generator : numpy.random.Generator

    Examples
    --------
    >>> samples, true = Samples([0, 1, 2, 0], [0, 2, 4]), np.array([[0.5, 0.5], [1.0, 0.0]])
    >>> again, shares = drawn_again(samples, true, np.array([0, 1, 0]), np.random.default_rng(0))
    >>> len(again) == len(shares) == 2 * POOLS, again[0].tolist()[1]
    (True, 1)
    """
    rows = np.unique(np.linspace(0, len(samples) - 1, _MAX_SAMPLES).astype(np.int64))
    entries = [np.arange(samples.indptr[s], samples.indptr[s + 1]) for s in rows]
    positions, indptr = np.concatenate(entries), np.concatenate([[0], np.cumsum([len(part) for part in entries])])
    items = samples.indices[positions]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = (np.cumsum(sizes) - sizes)[codes]
    parts = []
    for _ in range(POOLS):
        replacement = order[starts + (generator.random(len(codes)) * sizes[codes]).astype(np.int64)]
        parts.append(replacement[items])
    weights, counts = (None if f is None else np.tile(f[positions], POOLS) for f in (samples.weights, samples.counts))
    ends = np.concatenate([indptr[:1], *(indptr[1:] + pool * indptr[-1] for pool in range(POOLS))])
    return Samples(np.concatenate(parts), ends, weights, counts=counts), np.tile(true[rows], (POOLS, 1))
