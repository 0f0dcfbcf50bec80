"""Shares of groups under label shift: what judges answer for items of a class is taken to be the same in all groups."""

import warnings
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from headcount._typing import FloatArray, IntArray
from headcount.exceptions import IdentifiabilityWarning
from headcount.intervals import Estimate, estimate
from headcount.judges.answers import JudgeAnswers
from headcount.learners import BlackBox
from headcount.model_assisted import AssistedShares
from headcount.protocols import Samples
from headcount.quantifiers import ACC, PACC

__all__ = ["label_shift_estimate"]

FEWEST_OF_A_CLASS = 5
"""Human labels of each class that the rates of its answers are estimated from."""


def label_shift_estimate(
    answers: JudgeAnswers, human: IntArray, whole: AssistedShares, groups: IntArray, estimand: Any, level: float
) -> Estimate | str:
    """Estimate the shares of each group from its answers alone, corrected by the error rates among all labelled items.

    One judge that always names a class: Rogan and Gladen's correction (1978), for several classes ACC, with the uncertainty of all
    error rates. Otherwise PACC over the regression's predictions, in which a labelled item does not count for its own.

    Returns
    -------
    Estimate, or a sentence that says why there is none
    """
    k = len(whole.shares)
    labelled = human >= 0
    counts = np.bincount(human[labelled], minlength=k)
    if counts.min() < FEWEST_OF_A_CLASS:
        return f"The answer under label shift needs {FEWEST_OF_A_CLASS} human labels of each class; one has {counts.min()}."
    one_hot = len(answers.names) == 1 and bool(np.isin(answers.predictors, (0.0, 1.0)).all())
    if one_hot and bool((answers.codes < k).all()):
        items = labelled_items = answers.predictors[:, 0]
        labelled_items = items[labelled]
        method: Any = ACC
    else:
        items = _posteriors(whole.predictions)
        labelled_items = _posteriors(np.eye(k)[human[labelled]] - whole.residuals)
        method = PACC
    quantifier = method(FrozenEstimator(BlackBox(tuple(range(k))).fit()))
    with warnings.catch_warnings():
        warnings.simplefilter("error", IdentifiabilityWarning)
        try:
            quantifier.fit(labelled_items, human[labelled])
        except IdentifiabilityWarning:
            return "There is no answer under label shift: the judges' answers do not tell the classes apart."
    order = np.argsort(groups, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(groups))])
    return estimate(quantifier, items, Samples(order, indptr), level=level, estimand=estimand)


def _posteriors(predictions: FloatArray) -> FloatArray:
    """Return predictions as rows that are at least 0 and sum to 1."""
    clipped = np.clip(predictions, 0.0, None)
    sums = clipped.sum(axis=1, keepdims=True)
    return np.asarray(np.where(sums > 0.0, clipped / np.where(sums > 0.0, sums, 1.0), 1.0 / clipped.shape[1]))
