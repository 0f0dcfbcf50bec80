"""Posteriors of items under other shares than those they were computed for."""

import numpy as np

from headcount._typing import FloatArray
from headcount.learners import Outputs
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.densities import DensitiesQuantifier

__all__ = ["item_densities", "moved_posteriors"]


def item_densities(quantifier: Quantifier, outputs: Outputs, prior: FloatArray) -> list[FloatArray]:
    """Return the densities of items under each class, up to a factor for each item; of folds, those by each classifier.

    A method over densities has its own. Of others they are the classifier's posteriors, divided by the shares ``prior`` under which
    these hold.
    """
    parts = (outputs,) if outputs.folds is None else outputs.folds
    if isinstance(quantifier, DensitiesQuantifier):
        return [quantifier.densities(part) for part in parts]
    return [part.need("posteriors") / prior for part in parts]


def moved_posteriors(densities: list[FloatArray], shares: FloatArray) -> FloatArray:
    """Return the posteriors of items under these shares, the mean over folds; the shares themselves where all densities are 0.

    >>> moved_posteriors([np.array([[0.8, 0.4], [0.1, 0.2]])], np.array([0.2, 0.8])).round(3).tolist()
    [[0.333, 0.667], [0.111, 0.889]]
    """
    parts = []
    for F in densities:
        joint = F * shares
        totals = joint.sum(axis=1, keepdims=True)
        parts.append(np.where(totals > 0.0, joint / np.where(totals > 0.0, totals, 1.0), shares))
    mean: FloatArray = np.mean(parts, axis=0)
    return mean
