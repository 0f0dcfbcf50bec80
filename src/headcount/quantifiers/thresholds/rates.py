"""True and false positive rates of validation items at thresholds, and the thresholds that are considered."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import StrOptions, integers_from

__all__ = ["EQUAL_RATES", "MOST_THRESHOLDS", "THRESHOLDS_CONSTRAINT", "candidate_thresholds", "rates_above"]

THRESHOLDS_CONSTRAINT: list[Any] = [StrOptions({"scores"}), *integers_from(2)]
"""Constraint of the parameter `thresholds`."""
EQUAL_RATES = 1e-12
"""Rates closer than this differ by rounding only."""
MOST_THRESHOLDS = 2000
"""Of more distinct scores so many are thresholds: those at equal steps of their order."""
_EDGE = 1e-9
"""A posterior that equals a threshold of the grid up to rounding reaches it, as in histograms."""


def candidate_thresholds(scores: FloatArray, thresholds: Any) -> FloatArray:
    """Return the thresholds in ascending order: the distinct scores, or steps from 0 to 1.

    >>> candidate_thresholds(np.array([0.7, 0.2, 0.7]), "scores").tolist()
    [0.2, 0.7]
    """
    if thresholds != "scores":
        return np.linspace(0.0, 1.0, int(thresholds) + 1) - _EDGE
    distinct = np.unique(scores)
    if len(distinct) <= MOST_THRESHOLDS:
        return distinct
    chosen: FloatArray = distinct[np.linspace(0, len(distinct) - 1, MOST_THRESHOLDS).round().astype(np.int64)]
    return chosen


def rates_above(scores: FloatArray, codes: IntArray, thresholds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the shares of the second class's items, and of the first's, that reach each threshold: TPR and FPR."""
    by_class = [np.sort(scores[codes == j]) for j in (1, 0)]
    tpr, fpr = (1.0 - np.searchsorted(values, thresholds, side="left") / len(values) for values in by_class)
    return tpr, fpr
