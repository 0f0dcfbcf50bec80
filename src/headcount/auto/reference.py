"""Scores of labelled items that a fitted quantifier's classifier has not seen, to check later items with."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from headcount._typing import IntArray, Items, Labels
from headcount._validation import encode
from headcount.learners import Outputs, score, validation_parts
from headcount.learners.fit_params import cut_fit_params
from headcount.learners.folds_besides import FoldsBesides
from headcount.quantifiers import Quantifier

__all__ = ["held_out_scores"]


def held_out_scores(
    quantifier: Quantifier, X: Items, y: Labels, fit_params: Mapping[str, Any] | None = None
) -> tuple[Outputs, IntArray] | None:
    """Return posteriors and classes of the validation items of a quantifier that was fitted on these items, or None.

    None also if it keeps them already, as PACC does, has no validation items, or if its classifier has no posteriors. With folds
    each item is scored by the classifier of its fold, fitted again where the quantifier has not kept it.

    Parameters
    ----------
    quantifier : quantifier
        Fitted on ``X`` and ``y``.
    X, y : the labelled items
    fit_params : dict, optional
        What was passed to its ``fit``.
    """
    kept = quantifier.validation_items()
    if kept is None or kept[0].posteriors is not None:
        return None
    params = quantifier.get_params(deep=False)
    validation, seed = params["validation"], params["random_state"]
    # Else the split can't be made again.
    repeatable = isinstance(validation, FoldsBesides) or (isinstance(validation, float) and isinstance(seed, int))
    if not repeatable or not hasattr(quantifier.classifier_, "predict_proba"):
        return None
    codes = encode(y, quantifier.classes_)
    splits = list(validation_parts(validation, codes, seed))
    if isinstance(validation, float):
        classifiers = [quantifier.classifier_]
    else:
        classifiers = getattr(quantifier.classifier_, "classifiers_", None) or [
            clone(quantifier.classifier_).fit(
                _safe_indexing(X, rows), _safe_indexing(y, rows), **cut_fit_params(dict(fit_params or {}), X, rows)
            )
            for rows, _ in splits
        ]
    parts = [
        score(classifier, _safe_indexing(X, held_out), "posteriors", quantifier.classes_)
        for classifier, (_, held_out) in zip(classifiers, splits, strict=True)
    ]
    return Outputs.concatenated(parts), np.concatenate([codes[held_out] for _, held_out in splits])
