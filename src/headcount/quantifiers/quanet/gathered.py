"""What QuaNet must know of a sample: all that its classifier says of each item."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples

__all__ = ["GatheredOutputs", "in_order"]


@dataclass(frozen=True, eq=False, repr=False)
class GatheredOutputs:
    """The outputs of a pool with the samples of it; nothing is copied until two of them are merged by addition."""

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
        """Return the samples without weights: an item of weight 3 is there three times."""
        samples = self.samples
        if samples.weights is None:
            return samples
        times = samples.weights.astype(np.int64)
        if (times != samples.weights).any():
            raise DataError(
                "QuaNet reads the items of a sample one after the other, so their weights must be whole numbers: how often an item "
                "is there."
            )
        ends = np.concatenate([[0], np.cumsum(times)])[samples.indptr]
        return Samples(np.repeat(samples.indices, times), ends)


def in_order(outputs: Outputs) -> IntArray:
    """Return the items of a pool in the order in which they are read: by the mean position of their class, sum_j j P_j.

    With two classes that is the posterior of the second one. Equal ones are put in order by their embeddings, so that it does not
    matter where in the pool they stand.
    """
    P, E = outputs.need("posteriors"), outputs.need("embeddings")
    position = P @ np.arange(P.shape[1], dtype=np.float64)
    order: IntArray = np.lexsort([*E[:, :2].T[::-1], *P.T[::-1], position])
    seen = np.column_stack([position, P, E[:, :2]])[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (seen[1:] != seen[:-1]).any(axis=1)
    if not new.all():  # some are alike so far: what else is known of them decides
        groups = np.cumsum(new)
        tied = np.flatnonzero(np.bincount(groups)[groups] > 1)
        order[tied] = order[tied][np.lexsort([*E[order[tied]].T[::-1], groups[tied]])]
    return order
