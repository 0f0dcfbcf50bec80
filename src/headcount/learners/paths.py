"""Paths of C: fits that differ in C alone and gain by being made together, since one C starts from the results of smaller ones."""

from typing import Any

import numpy as np
from sklearn.base import clone

from headcount.learners.linear import NewtonLinearSVC, NewtonLogisticRegression
from headcount.learners.svmperf import SVMperf

__all__ = ["on_path", "starts_from_smaller", "without_place"]


def on_path(classifier: Any) -> bool:
    """Whether the path of this classifier has its C, so that fitting the path gives its fit."""
    if type(classifier) is not SVMperf or classifier.path is None:
        return False
    C: Any = classifier.C
    try:
        return not isinstance(C, str) and bool(np.isin(float(C), np.asarray(classifier.path, dtype=np.float64)))
    except (TypeError, ValueError):  # fitting it raises an error that says what is wrong
        return False


def starts_from_smaller(classifier: Any) -> bool:
    """Whether fits of this classifier share the solutions for smaller C that they start from."""
    return type(classifier) in (NewtonLogisticRegression, NewtonLinearSVC)


def without_place(classifier: Any) -> Any:
    """Return an unfitted classifier that is the same for every C."""
    return clone(classifier).set_params(C=1.0)
