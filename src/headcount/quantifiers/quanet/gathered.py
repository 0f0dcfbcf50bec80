"""The statistics of QuaNet, which are all outputs of a sample's items, and the order in which it reads them."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples

__all__ = ["GatheredOutputs", "reading_order"]


@dataclass(frozen=True, eq=False, repr=False)
class GatheredOutputs:
    """The outputs of a pool with samples of it; nothing is copied until two of them are merged by addition."""

    outputs: Outputs
    samples: Samples

    @property
    def weights(self) -> FloatArray:
        """Total weight of each sample."""
        return self.samples.total_weights()

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"GatheredOutputs({self.samples})"

    def __add__(self, other: "GatheredOutputs") -> "GatheredOutputs":
        if len(self) != len(other) or len(self.outputs.classes) != len(other.outputs.classes):
            raise DataError(f"{self} and {other} can't be merged: they must be of the same samples and classes.")
        merged = Samples.merged(self.samples, other.samples, offset=self.outputs.n_items)
        return GatheredOutputs(Outputs.concatenated([self.outputs, other.outputs]), merged)

    def repeated(self) -> Samples:
        """Return the samples without weights: an item of weight 3 occurs three times."""
        samples = self.samples
        if samples.weights is None:
            return samples
        counts = samples.weights.astype(np.int64)
        if (counts != samples.weights).any():
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
