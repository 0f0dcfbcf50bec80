"""`SumsQuantifier`: the family of methods that explain a sample's mean vector as a mixture of class profiles.

A representation maps an item to a vector. A sample is the mean q of its vectors, class j the mean M_j over validation items of the
class, and the shares are solve(q, M). A method names a representation and a solver.
"""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs
from headcount.protocols import Samples
from headcount.quantifiers.base import Quantifier, normalised
from headcount.quantifiers.classifiers import fit_classifier, fit_validated
from headcount.quantifiers.representations import Representation
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.statistics import Statistics, require_items

__all__ = ["SumsQuantifier"]

_SMALLEST_PART = 64
"""The least number of samples that are worked on at a time."""


class SumsQuantifier(Quantifier):
    """Base of the methods that solve for shares from sums over a sample's items.

    A subclass sets ``representation`` and ``solver`` (class attributes, or properties where they depend on parameters) and declares
    whether it ``adjusts_for_shift``. Its interval is the family's if its solver declares an estimating equation.

    Attributes
    ----------
    M_ : array of shape (n_coordinates, n_classes)
        Column j is the profile of class j: the mean vector of its validation items; with folds, the mean of the folds' means.
    validation_outputs_ : Outputs
        Of the validation items; with folds, each is scored by the one classifier that was not trained on it.
    validation_codes_ : array of int
        The classes of these items, as positions in ``classes_``.
    validation_folds_ : array of int
        The folds of these items; all 0 without folds.
    validation_items_ : items or None
        The validation items themselves; None if the quantifier was fitted on outputs.
    validation_repeats_ : int
        How often an item is validated at most; more than 1 for splitters that repeat themselves.
    validation_design_ : SurveyDesign or None
        How the validation items were drawn, if ``fit`` was told.
    """

    representation: Representation
    solver: Solver
    M_: FloatArray
    validation_outputs_: Outputs
    validation_codes_: IntArray
    validation_folds_: IntArray
    validation_items_: Any
    validation_repeats_: int

    left_out_shift: ClassVar[float] = 0.5
    """Share of what leaving items out of their vectors (`projected_validation`) shifts the class means that counts as their error.

    Learnt from an item, its vector is about as much too near to its own class as it is too far away when learnt without it."""

    is_solver_answer: ClassVar[bool | None] = True
    """Whether the estimate is the solver's answer, so that the equation that the solver declares holds for it."""

    _PROMISES: ClassVar[tuple[str, ...]] = (*Quantifier._PROMISES, "is_solver_answer")

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item."""
        need = self.representation.needs
        return frozenset() if need is None else frozenset({need})

    @property
    def uses_validation(self) -> bool:
        """Whether profiles of the classes are learnt on validation items."""
        return self.solver.uses_profiles

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        if not self.solver.uses_profiles:
            self.classifier_ = fit_classifier(self, fits, codes)
            return
        fit_validated(self, fits, codes)
        folds = None if self.refit else self.validation_folds_  # the published scheme pools the items of all folds
        weights = self._validation_weights()
        if weights is None:
            self._learn_profiles(self.validation_outputs_, self.validation_codes_, folds)
        else:
            self._learn_weighted_profiles(self.validation_outputs_, self.validation_codes_, folds, weights)

    def _learn_representation(self, outputs: Outputs, codes: IntArray) -> None:
        """Learn what the representation is made of from validation items; by default nothing."""

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        """Learn the profile of each class from validation items, by the same reduction that samples go through.

        Later items are scored by all fold classifiers alike, so a profile is the mean of its folds' means, however many items of
        the class a fold has.
        """
        self._learn_representation(outputs, codes)
        self._set_profiles(outputs, codes, folds, None)

    def _learn_weighted_profiles(
        self, outputs: Outputs, codes: IntArray, folds: IntArray | None, weights: FloatArray
    ) -> None:
        """Learn weighted means as the profiles; of methods that take weights of labelled items (``takes_labelled_weights``)."""
        self._learn_representation(outputs, codes)
        self._set_profiles(outputs, codes, folds, weights)

    def _set_profiles(
        self, outputs: Outputs, codes: IntArray, folds: IntArray | None, weights: FloatArray | None
    ) -> None:
        """Set the profiles to means over validation items, with the weights of these if they have some."""
        n_folds = 1 if folds is None else int(folds.max()) + 1
        cells, cell = np.unique(codes * n_folds + (0 if folds is None else folds), return_inverse=True)
        samples = Samples._grouped(cell, len(cells))
        if weights is not None:
            samples = samples.weighted(weights)
        means = self._means(self.representation.reduce_validation(outputs, codes, samples))
        profiles = [means[cells // n_folds == j].mean(axis=0) for j in range(len(self.classes_))]
        self.M_ = np.ascontiguousarray(np.column_stack(profiles))
        self.solver.check_profiles(self.M_, self.classes_, type(self).__name__)

    def _means(self, statistics: Statistics) -> FloatArray:
        means = statistics.means()
        return normalised(means) if self.representation.sums_to_one else means

    def reduce(self, outputs: Outputs, samples: Any = None, products: bool = False) -> Statistics:
        """Add up the vectors of each sample's items and, for intervals, the products of their coordinates."""
        return self.representation.reduce(*self._ready(outputs, samples), products=products)

    def aggregate(self, outputs: Outputs, samples: Any = None) -> FloatArray:
        """Estimate the shares of each sample; many samples of many coordinates part by part, so that memory stays bounded."""
        if not self._is_inherited(SumsQuantifier, "reduce", "solve"):
            return super().aggregate(outputs, samples)
        outputs, samples = self._ready(outputs, samples)
        per_part = self.representation.numbers_per_part // max(1, self.representation.width(len(self.classes_)))
        if len(samples) <= _SMALLEST_PART or len(samples) <= per_part:
            return self.solve(self.representation.reduce(outputs, samples))
        reducer = self.representation.reducer(outputs)
        shares = np.empty((len(samples), len(self.classes_)))

        def estimate_part(start: int, stop: int) -> None:
            shares[start:stop] = self.solve(reducer(samples[start:stop], False))

        in_chunks(estimate_part, len(samples), max(per_part, _SMALLEST_PART))
        return shares

    def solve(self, statistics: Statistics) -> FloatArray:
        """Turn sums into shares."""
        check_is_fitted(self)
        M = getattr(self, "M_", np.empty((0, 0)))
        counts = statistics.counts() if type(self.solver).solve_counts is not Solver.solve_counts else None
        shares: FloatArray | None = None
        if counts is not None:
            require_items(counts[1].astype(np.float64))
            shares = self.solver.solve_counts(*counts, M)
        if shares is None:
            shares = self.solver.solve(self._means(statistics), M)
        if np.isnan(shares).any():  # a fit gives no such profiles, a file may
            raise DataError(f"The profiles M_ of this {type(self).__name__} give no shares: fit it again.")
        return shares

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether class profiles are weighted means, and nothing else is learnt from validation items."""
        return self._is_inherited(
            SumsQuantifier, "_learn", "_learn_profiles", "_learn_weighted_profiles", "_learn_representation"
        )

    def validation_vectors(self) -> FloatArray:
        """Return the vectors of the validation items; where vectors are made of these items, each is made of the others."""
        return self.representation.validation_vectors(self.validation_outputs_, self.validation_codes_)

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return A times the vector of each validation item, which is left out of what its vector is made with; for intervals."""
        if type(self.representation).validation_vectors is not Representation.validation_vectors:
            return self.validation_vectors() @ A.T
        return self.representation.projected(self.validation_outputs_, A)

    @property
    def has_interval(self) -> bool:
        """Whether the estimate solves an estimating equation, which the interval inverts."""
        return bool(
            self.is_solver_answer
            and (self.solver.has_equation or self.solver.compares_cells)
            and not self._is_refitted()
        )

    @property
    def can_stream(self) -> bool:
        """Whether the estimate is made of the representation's sums and of nothing else."""
        return self._is_inherited(SumsQuantifier, "reduce", "aggregate", "predict")
