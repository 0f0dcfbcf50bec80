"""Scores of validation items by what was learnt from the others: a threshold that suits an item by chance does not count."""

import warnings
from copy import copy
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import IdentifiabilityWarning

__all__ = ["left_out_scores"]

_PARTS = 10
"""Parts of the validation items, each scored by what the others give."""


def left_out_scores(quantifier: Any, A: FloatArray, same_equation: bool = False) -> FloatArray:
    """Return A times the vector of each validation item, where vectors and A are learnt again without each of ten parts.

    What is learnt again may move all scores alike; they are moved back such that the first class's items that were learnt from keep
    their mean. A class's only item is not left out.

    Parameters
    ----------
    quantifier : fitted method over thresholds
    A : array of shape (1, n_coordinates)
    same_equation : bool
        Whether A is the same for all parts, and scores are not moved.
    """
    outputs, codes, folds = quantifier.validation_outputs_, quantifier.validation_codes_, quantifier.validation_folds_
    scores: FloatArray = quantifier.representation.projected(outputs, A)
    parts = _parts(codes)
    for part in range(int(parts.max()) + 1):
        own, others = np.flatnonzero(parts == part), np.flatnonzero(parts != part)
        relearnt = copy(quantifier)
        used = np.unique(folds[others], return_inverse=True)[1]  # a fold may have no other items
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdentifiabilityWarning)
            relearnt._learn_profiles(outputs.take(others), codes[others], used)
        if same_equation:
            scores[own] = relearnt.representation.projected(outputs.take(own), A)
            continue
        A_part = relearnt.solver.estimating_matrix(relearnt.M_)
        moved = A @ quantifier.M_[:, 0] - A_part @ relearnt.M_[:, 0]
        scores[own] = relearnt.representation.projected(outputs.take(own), A_part) + moved
    return scores


def _parts(codes: IntArray) -> IntArray:
    """Return the part of each item: each class in turn in the order of its items; -1 for a class's only item."""
    parts = np.empty(len(codes), dtype=np.int64)
    for j in np.unique(codes):
        rows = np.flatnonzero(codes == j)
        parts[rows] = np.arange(len(rows)) % _PARTS if len(rows) > 1 else -1
    return parts
