"""`MeansToItems`: base of the methods whose profiles are mean kernels, or distances, between the validation items of classes."""

from typing import ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.quantifiers.kernel_methods.solvers import CauchySchwarz, QuadraticMatch
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["MeansToItems"]


class MeansToItems(SumsQuantifier):
    """Match mean kernels or distances; within a class, those between different items.

    Few items may give means that no classes could have: items of a class that are farther apart than those of different classes.
    Then what the solver minimises is not convex, and each item's kernel or distance with itself counts too, with which it is.
    """

    solver: QuadraticMatch | CauchySchwarz
    value_with_itself: ClassVar[float]
    """The kernel or distance between an item and itself."""

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        super()._learn_profiles(outputs, codes, folds)
        self._count_items_themselves(codes)

    def _learn_weighted_profiles(
        self, outputs: Outputs, codes: IntArray, folds: IntArray | None, weights: FloatArray
    ) -> None:
        super()._learn_weighted_profiles(outputs, codes, folds, weights)
        self._count_items_themselves(codes)

    def _count_items_themselves(self, codes: IntArray) -> None:
        """Let each item's kernel or distance with itself count, where the means are those of no classes."""
        if not self.solver.is_possible(self.M_):
            self.M_ = self.M_ + np.diag((self.value_with_itself - self.M_.diagonal()) / np.bincount(codes))
