"""Cross-fitting in the two families: each item counts once for each fold classifier, with a weight of 1 / K.

Statistics keep their size: total weights, and effective sizes, are those of the items themselves.
"""

import numpy as np

from headcount.protocols import Samples

__all__ = ["divided", "stacked"]


def divided(samples: Samples, n_folds: int) -> Samples:
    """Return the same samples with each entry counting 1 / n_folds.

    >>> divided(Samples.whole(3), 2).total_weights().tolist()
    [1.5]
    """
    counts = np.ones(samples.indices.size) if samples.counts is None else samples.counts
    each = counts / n_folds
    return Samples._trusted(samples.indices, samples.indptr, samples.bound, samples.weights, samples.names, each)


def stacked(samples: Samples, n_folds: int, n_items: int) -> Samples:
    """Return samples of the items of all folds, one fold's pool of ``n_items`` after the other, each entry counting 1 / n_folds.

    >>> stacked(Samples([1], [0, 1]), 2, n_items=3).to_frame().values.tolist()
    [[0.0, 1.0, 0.5], [0.0, 4.0, 0.5]]
    """
    samples = divided(samples, n_folds)
    starts = np.tile(np.arange(n_folds) * n_items, samples.indices.size)
    indices = np.repeat(samples.indices.astype(np.int64), n_folds) + starts
    bound = (n_folds - 1) * n_items + samples.bound
    weights, counts = (None if f is None else np.repeat(f, n_folds) for f in (samples.weights, samples.counts))
    small = indices.astype(np.int32) if bound < 2**31 else indices
    return Samples._trusted(small, samples.indptr * n_folds, bound, weights, samples.names, counts)
