"""How QuaNet reads the items of a sample: each as often as its weight says, in an order that the items determine."""

import numpy as np

from headcount._typing import IntArray
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples

__all__ = ["reading_order", "repeated"]


def repeated(samples: Samples) -> Samples:
    """Return samples without weights: an item of weight 3 occurs three times."""
    factors = samples.factors
    if factors is None:
        return samples
    counts = factors.astype(np.int64)
    if (counts != factors).any():
        raise DataError(
            "QuaNet reads the items of a sample one after the other, so weights must be whole numbers: how many times an "
            "item occurs."
        )
    indptr = np.concatenate([[0], np.cumsum(counts)])[samples.indptr]
    return Samples(np.repeat(samples.indices, counts), indptr)


def reading_order(outputs: Outputs) -> IntArray:
    """Return the items of a pool in the order in which they are read: by the mean position of their class, sum_j j P_j.

    With two classes that is the posterior of the second one. Ties are broken by the embeddings, so that the order of the items in
    the pool does not matter.
    """
    P, E = outputs.need("posteriors"), outputs.need("embeddings")
    position = P @ np.arange(P.shape[1], dtype=np.float64)
    order: IntArray = np.lexsort([*E[:, :2].T[::-1], *P.T[::-1], position])
    keys = np.column_stack([position, P, E[:, :2]])[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    if not is_new.all():  # ties are rare, so only they are sorted by all features of the embeddings
        groups = np.cumsum(is_new)
        tied = np.flatnonzero(np.bincount(groups)[groups] > 1)
        order[tied] = order[tied][np.lexsort([*E[order[tied]].T[::-1], groups[tied]])]
    return order
