"""`OneThreshold`: base of the methods that adjust the count above one threshold, chosen on validation items."""

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount.learners import Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.solvers import LeastSquares
from headcount.quantifiers.sums import SumsQuantifier
from headcount.quantifiers.thresholds.cells import ThresholdCells
from headcount.quantifiers.thresholds.left_out import left_out_scores
from headcount.quantifiers.thresholds.rates import (
    EQUAL_RATES,
    THRESHOLDS_CONSTRAINT,
    candidate_thresholds,
    rates_above,
)

__all__ = ["OneThreshold"]


class OneThreshold(SumsQuantifier):
    """Adjusted count above one threshold; a subclass writes `criterion`, which is least at the threshold it chooses.

    Of thresholds that are equally good, the one with the largest difference between TPR and FPR is chosen.
    """

    solver = LeastSquares()
    adjusts_for_shift = True
    max_classes = 2
    threshold_: float
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

    @staticmethod
    @abstractmethod
    def criterion(tpr: FloatArray, fpr: FloatArray) -> FloatArray:
        """Return what is least at the best threshold, for each threshold's rates."""

    @property
    def representation(self) -> ThresholdCells:  # type: ignore[override]
        """The cells below and above the threshold; before `fit`, above 0.5."""
        return ThresholdCells(np.array([getattr(self, "threshold_", 0.5)]))

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        self.threshold_ = self._best_threshold(outputs.need("posteriors")[:, 1], codes)
        super()._learn_profiles(outputs, codes, folds)

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return A times the cells of each validation item, by a threshold that was chosen without it."""
        return left_out_scores(self, A, same_equation=True)

    def _best_threshold(self, scores: FloatArray, codes: IntArray) -> float:
        """Return the threshold with the least criterion, among those whose rates differ."""
        thresholds = candidate_thresholds(scores, self.thresholds)
        tpr, fpr = rates_above(scores, codes, thresholds)
        differ = np.abs(tpr - fpr) > EQUAL_RATES
        if not differ.any():
            return 0.5  # the rates are equal there too, of which the solver warns
        thresholds, tpr, fpr = thresholds[differ], tpr[differ], fpr[differ]
        order = np.lexsort((fpr - tpr, np.round(self.criterion(tpr, fpr), 12)))
        return float(thresholds[order[0]])
