"""`ClassMeansQuantifier`: methods of the sums family whose vectors are mean kernels or distances to the items of each class.

The vector of an item has one coordinate for each class. That of a validation item leaves the item itself out, so that the mean of a
sample's vectors is expected to be the mixture of the profiles.
"""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Need, Outputs
from headcount.protocols import Samples
from headcount.protocols.exact import to_units
from headcount.quantifiers.kernel_methods.points import means_to_classes, positions, require_two_each, sorted_points
from headcount.quantifiers.representations import Vectors
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["ClassMeansQuantifier", "MeansToPoints"]


class MeansToPoints(Vectors):
    """The mean kernel or distance between an item's posteriors and the points of each class.

    Parameters
    ----------
    points, ends, kind, scale
        As for `means_to_classes`.
    """

    needs: Need = "posteriors"

    def __init__(self, points: FloatArray, ends: IntArray, kind: int, scale: float = 1.0) -> None:
        self.points, self.ends, self.kind, self.scale = points, ends, kind, scale

    def width(self, n_classes: int) -> int:
        """Return the number of coordinates: one for each class."""
        return n_classes

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return means_to_classes(outputs.need(self.needs), self.points, self.ends, self.kind, self.scale)

    def vectors_without_own(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vectors of the items that the points are made of, each without itself."""
        own = positions(codes)
        return means_to_classes(outputs.need(self.needs), self.points, self.ends, self.kind, self.scale, own)


class ClassMeansQuantifier(SumsQuantifier):
    """Base of methods over mean kernels or distances to the validation items of each class.

    A subclass writes ``representation`` from what ``_learn_points`` learns.

    Attributes
    ----------
    points_ : array of shape (n_classes, n_validation_items)
        Posteriors of the validation items, a column each, those of a class side by side.
    ends_ : array of shape (n_classes + 1,)
        Where the points of each class begin and end.
    """

    points_: FloatArray
    ends_: IntArray
    _PROMISES: ClassVar[tuple[str, ...]] = SumsQuantifier._PROMISES

    @property
    @abstractmethod
    def representation(self) -> Any:  # type: ignore[override]
        """Mean kernels or distances to the points."""

    @property
    def _known_points(self) -> tuple[FloatArray, IntArray]:
        """The points and where those of each class end; none before fitting."""
        return getattr(self, "points_", np.empty((0, 0))), getattr(self, "ends_", np.zeros(1, dtype=np.int64))

    def _learn_points(self, outputs: Outputs, codes: IntArray) -> None:
        """Learn what the vectors are made of."""
        self.points_, self.ends_ = sorted_points(outputs.need("posteriors"), codes, len(self.classes_))

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        require_two_each(codes, self.classes_, type(self).__name__)
        self._learn_points(outputs, codes)
        V = self.representation.vectors_without_own(outputs, codes)
        k, n_folds = len(self.classes_), 1 if folds is None else int(folds.max()) + 1
        cells, cell = np.unique(codes * n_folds + (0 if folds is None else folds), return_inverse=True)
        parts = Samples._grouped(cell, len(cells))
        means = parts.sum_exact(to_units(V)).values() / parts.sizes[:, None]
        self.M_ = np.ascontiguousarray(np.column_stack([means[cells // n_folds == j].mean(axis=0) for j in range(k)]))
        self.solver.check_profiles(self.M_, self.classes_, type(self).__name__)

    def validation_vectors(self) -> FloatArray:
        """Return the vectors of the validation items, each without itself."""
        V: FloatArray = self.representation.vectors_without_own(self.validation_outputs_, self.validation_codes_)
        return V
