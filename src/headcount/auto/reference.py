"""Scores of labelled items that a fitted quantifier's classifier has not seen, to check later items with."""

import numpy as np
from sklearn.utils import _safe_indexing

from headcount._typing import IntArray
from headcount.learners import FoldClassifiers, Outputs, score
from headcount.quantifiers import Quantifier

__all__ = ["held_out_scores"]


def held_out_scores(quantifier: Quantifier) -> tuple[Outputs, IntArray] | None:
    """Return posteriors and classes of a fitted quantifier's validation items, each scored by a classifier not trained on it.

    None if it keeps them already, as PACC does, if it has no validation items, or if its classifier has no posteriors or was also
    trained on these items (``refit=True``).
    """
    kept, items = quantifier.validation_items(), getattr(quantifier, "validation_items_", None)
    if kept is None or items is None or kept[0].posteriors is not None or quantifier.refit:
        return None
    classifier = quantifier.classifier_
    if not hasattr(classifier, "predict_proba"):
        return None
    classifiers = classifier.classifiers_ if isinstance(classifier, FoldClassifiers) else [classifier]
    folds: IntArray = getattr(quantifier, "validation_folds_", np.zeros(len(kept[1]), dtype=np.int64))
    rows = [np.flatnonzero(folds == f) for f in range(len(classifiers))]
    parts = [
        score(one, _safe_indexing(items, part), "posteriors", quantifier.classes_)
        for one, part in zip(classifiers, rows, strict=True)
    ]
    return Outputs.concatenated(parts).take(np.argsort(np.concatenate(rows))), kept[1]
