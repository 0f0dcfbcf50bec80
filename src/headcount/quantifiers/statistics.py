"""`Statistics` of samples, merged by addition, and the representations that reduce outputs to them.

A representation maps an item to a vector; its statistic is the sum of these vectors over a sample. Sums over parts of a
sample add up to the sum over the whole, which makes batches, groups, bootstraps and clusters one and the same thing.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from headcount._typing import FloatArray
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs
from headcount.protocols import Samples

__all__ = [
    "Decisions",
    "EachPosterior",
    "GatheredPosteriors",
    "Posteriors",
    "Representation",
    "Statistics",
    "require_items",
]


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """Sums of the representation's vectors over each sample, and each sample's total weight.

    ``a + b`` merges the statistics of two parts of the same samples.

    >>> half = Statistics(np.array([[1.0, 3.0]]), np.array([4.0]))
    >>> (half + half).means().tolist()
    [[0.25, 0.75]]
    """

    sums: FloatArray
    weights: FloatArray

    def __add__(self, other: "Statistics") -> "Statistics":
        if self.sums.shape != other.sums.shape:
            raise DataError(
                f"Statistics of shapes {self.sums.shape} and {other.sums.shape} can't be merged: they must be of the same "
                "samples and made by the same quantifier."
            )
        return Statistics(self.sums + other.sums, self.weights + other.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        return f"Statistics({len(self):,} samples, {self.sums.shape[1]} sums each)"

    def means(self) -> FloatArray:
        """Divide the sums by the weights: the mean vector of each sample."""
        require_items(self.weights)
        return self.sums / self.weights[:, None]


def require_items(weights: FloatArray) -> None:
    """Raise if a sample has no items, or only items of weight 0."""
    empty = np.flatnonzero(~(weights > 0.0))
    if empty.size:
        raise DataError(
            f"Sample {empty[0]} has no items ({empty.size:,} of {len(weights):,} samples are empty): an empty sample has no "
            "shares. Leave it out."
        )


class Representation(Protocol):
    """Maps items to vectors and adds them up over samples."""

    needs: Need

    def reduce(self, outputs: Outputs, samples: Samples) -> Any:
        """Reduce the items of each sample to something that merges by addition and has ``weights``."""


class Decisions:
    """An item is the unit vector of the class decided for."""

    needs: Need = "decisions"

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return np.eye(len(outputs.classes))[outputs.need(self.needs)]

    def reduce(self, outputs: Outputs, samples: Samples) -> Statistics:
        """Count the items decided for each class."""
        counts = samples.count(outputs.need(self.needs), len(outputs.classes))
        return Statistics(counts, samples.total_weights())


class Posteriors:
    """An item is the vector of its posteriors."""

    needs: Need = "posteriors"

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return outputs.need(self.needs)

    def reduce(self, outputs: Outputs, samples: Samples) -> Statistics:
        """Add up the posteriors of each class."""
        return Statistics(samples.sum(outputs.need(self.needs)), samples.total_weights())


@dataclass(frozen=True, eq=False, repr=False)
class GatheredPosteriors:
    """The posteriors of the items of each sample: all that is known of them, for methods that no sum suffices.

    Nothing is copied until two of them are merged.
    """

    posteriors: FloatArray
    samples: Samples

    @property
    def weights(self) -> FloatArray:
        """Total weight of each sample."""
        return self.samples.total_weights()

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        return f"GatheredPosteriors({self.samples})"

    def __add__(self, other: "GatheredPosteriors") -> "GatheredPosteriors":
        if len(self) != len(other) or self.posteriors.shape[1] != other.posteriors.shape[1]:
            raise DataError(f"{self} and {other} can't be merged: they must be of the same samples and classes.")
        merged = Samples.merged(self.samples, other.samples, offset=len(self.posteriors))
        return GatheredPosteriors(np.concatenate([self.posteriors, other.posteriors]), merged)


class EachPosterior:
    """An item is its posteriors, and items are not added up but kept."""

    needs: Need = "posteriors"

    def reduce(self, outputs: Outputs, samples: Samples) -> GatheredPosteriors:
        """Keep the posteriors with the samples that they belong to."""
        return GatheredPosteriors(outputs.need(self.needs), samples)
