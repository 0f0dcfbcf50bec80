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
    bound = (n_folds - 1) * n_items + samples.bound
    starts = (np.arange(n_folds) * n_items).astype(np.int32 if bound < 2**31 else np.int64)
    indices = (samples.indices[:, None] + starts).ravel()
    weights = None if samples.weights is None else np.repeat(samples.weights, n_folds)
    one_each = np.full(indices.size, 1.0 / n_folds)
    counts = one_each if samples.counts is None else np.repeat(samples.counts, n_folds) * one_each
    return Samples._trusted(indices, samples.indptr * n_folds, bound, weights, samples.names, counts)
