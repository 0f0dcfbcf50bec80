"""`MedianSweep`: base of the methods that take the median of the adjusted counts above many thresholds."""

import warnings
from typing import Any, ClassVar

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray, RandomState
from headcount.exceptions import IdentifiabilityWarning
from headcount.learners import Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.sums import SumsQuantifier
from headcount.quantifiers.thresholds.cells import ThresholdCells
from headcount.quantifiers.thresholds.left_out import left_out_scores
from headcount.quantifiers.thresholds.rates import EQUAL_RATES, THRESHOLDS_CONSTRAINT, candidate_thresholds

__all__ = ["MedianOfThresholds", "MedianSweep"]

_NUMBERS_PER_CHUNK = 1 << 16
"""Shares of cells that a thread works on at a time."""
_STEADY = 0.25
"""Thresholds whose rates differ by more make up the equation of the interval."""


class MedianOfThresholds(Solver):
    """The median over thresholds of the adjusted counts above them, from the shares of items in `ThresholdCells`.

    Parameters
    ----------
    least : float or None
        Thresholds count where TPR - FPR is larger; None: where the rates differ at all.
    """

    has_equation = True

    def __init__(self, least: float | None) -> None:
        self.least = least

    def _counted(self, differences: FloatArray) -> IntArray:
        """Return the positions of the thresholds that count; where there are none, of the one whose rates differ most."""
        counts = np.abs(differences) > EQUAL_RATES if self.least is None else differences > self.least + EQUAL_RATES
        return np.flatnonzero(counts) if counts.any() else np.array([int(np.abs(differences).argmax())])

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample; where no rates differ, the unadjusted share above the middle threshold."""
        return self._medians(np.ascontiguousarray(q), np.ones(len(q)), M)

    def solve_counts(self, sums: IntArray, sizes: IntArray, M: FloatArray) -> FloatArray:
        """Return the shares out of counts: integers are added up and compared without being divided first."""
        return self._medians(np.ascontiguousarray(sums), 1.0 / sizes, M)

    def _medians(self, cells: AnyArray, parts: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares out of cells, which each sample's part makes shares of."""
        fpr, tpr = _above(M.T)
        differences = tpr - fpr
        if np.abs(differences).max() <= EQUAL_RATES:
            positive = np.clip(_above(cells)[:, len(fpr) // 2] * parts, 0.0, 1.0)
            return np.column_stack([1.0 - positive, positive])
        from headcount.quantifiers.thresholds import _kernels

        counted = self._counted(differences)
        fpr, inverse = fpr[counted], 1.0 / differences[counted]
        positive = np.empty(len(cells))

        def match(start: int, stop: int) -> None:
            _kernels.median_adjusted(cells[start:stop], parts[start:stop], counted, fpr, inverse, positive[start:stop])

        in_chunks(match, len(cells), max(1, _NUMBERS_PER_CHUNK // cells.shape[1]))
        return np.column_stack([1.0 - positive, positive])

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return the row A of the mean over thresholds of (q(t) - FPR(t)) / (TPR(t) - FPR(t)), whose rates differ by 1/4."""
        fpr, tpr = _above(M.T)
        differences = tpr - fpr
        if np.abs(differences).max() <= EQUAL_RATES:
            differences = np.ones_like(differences)  # unadjusted: the equation tells nothing
        steady = np.abs(differences) > _STEADY + EQUAL_RATES
        if not steady.any():
            steady = np.abs(differences) >= np.abs(differences).max()
        weights = np.where(steady, 1.0 / np.where(steady, differences, 1.0), 0.0) / steady.sum()
        return np.concatenate([[0.0], np.cumsum(weights)])[None, :]

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if no threshold counts."""
        fpr, tpr = _above(M.T)
        largest = float((tpr - fpr).max())
        if np.abs(tpr - fpr).max() <= EQUAL_RATES:
            warnings.warn(
                f"On the validation part the true and false positive rates are the same at all thresholds, so {name} can't "
                "adjust and returns unadjusted shares. Use a better classifier (balanced class weights, another C, more labelled "
                "items).",
                IdentifiabilityWarning,
                stacklevel=5,
            )
        elif self.least is not None and largest <= self.least:
            warnings.warn(
                f"On the validation part no threshold has TPR - FPR above {self.least:g} (the largest is {largest:.3g}): {name} "
                "uses the one whose rates differ most. Use a better classifier, or PACC.",
                IdentifiabilityWarning,
                stacklevel=5,
            )


class MedianSweep(SumsQuantifier):
    """Median over thresholds of adjusted counts; a subclass sets the solver."""

    adjusts_for_shift = True
    max_classes = 2
    thresholds_: FloatArray
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {"thresholds_": (None,)}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "thresholds": THRESHOLDS_CONSTRAINT,
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        thresholds: Any = "scores",
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.thresholds = thresholds

    @property
    def representation(self) -> ThresholdCells:  # type: ignore[override]
        """The cells between the thresholds."""
        return ThresholdCells(getattr(self, "thresholds_", np.empty(0)))

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        self.thresholds_ = candidate_thresholds(outputs.need("posteriors")[:, 1], self.thresholds)
        super()._learn_profiles(outputs, codes, folds)

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return the score of each validation item, by rates that were learnt without it."""
        return left_out_scores(self, A)


def _above(cells: AnyArray) -> AnyArray:
    """Return the shares or counts above each threshold out of those in the cells, row by row."""
    above: AnyArray = np.cumsum(cells[:, :0:-1], axis=1)[:, ::-1]
    return above
