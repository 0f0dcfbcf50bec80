"""Representations of an item by its mean kernel or distance to the validation items of each class.

The vector of a validation item leaves the item itself out, so that the mean of a sample's vectors is expected to be the mixture of
the profiles.
"""

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.protocols import Samples
from headcount.protocols.exact import to_units
from headcount.quantifiers.kernel_methods.points import means_to_classes, positions
from headcount.quantifiers.representations import Vectors, exact_sizes
from headcount.quantifiers.statistics import Statistics

__all__ = ["MadeOfItems", "MeansToPoints"]


class MadeOfItems(Vectors):
    """Vectors with one coordinate for each class, made of the validation items; a subclass writes `validation_vectors`, too."""

    needs: Need = "posteriors"

    def width(self, n_classes: int) -> int:
        """Return the number of coordinates: one for each class."""
        return n_classes

    def reduce_validation(self, outputs: Outputs, codes: IntArray, samples: Samples) -> Statistics:
        """Add up the vectors of samples of the validation items, each made of the others."""
        return Statistics(samples.sum_exact(to_units(self.validation_vectors(outputs, codes))), exact_sizes(samples))


class MeansToPoints(MadeOfItems):
    """The mean kernel or distance between an item's posteriors and the points of each class.

    Parameters
    ----------
    points, ends, kind, scale, weights
        As for `means_to_classes`.
    """

    def __init__(
        self,
        points: FloatArray,
        ends: IntArray,
        kind: int,
        scale: float = 1.0,
        weights: FloatArray | None = None,
    ) -> None:
        self.points, self.ends, self.kind, self.scale, self.weights = points, ends, kind, scale, weights

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return self._means(outputs)

    def validation_vectors(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vectors of the items that are the points, each without itself."""
        return self._means(outputs, positions(codes))

    def coordinates(self, P: FloatArray) -> FloatArray:
        """Return what distances are taken of: the posteriors themselves."""
        return P

    def _means(self, outputs: Outputs, own: IntArray | None = None) -> FloatArray:
        P = self.coordinates(outputs.need(self.needs))
        return means_to_classes(P, self.points, self.ends, self.kind, self.scale, own, self.weights)
