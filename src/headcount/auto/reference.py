"""Scores of labelled items that a fitted quantifier's classifier has not seen, to check later items with."""

from sklearn.utils import _safe_indexing

from headcount._typing import IntArray, Items, Labels
from headcount._validation import encode
from headcount.learners import Outputs, score, validation_parts
from headcount.quantifiers import Quantifier

__all__ = ["held_out_scores"]


def held_out_scores(quantifier: Quantifier, X: Items, y: Labels) -> tuple[Outputs, IntArray] | None:
    """Return posteriors and classes of the validation part of a quantifier that was fitted on these items, or None.

    None also if it keeps them already, as PACC does, has no held-out part, or if its classifier has no posteriors.
    """
    kept = quantifier.validation_items()
    if kept is None or kept[0].posteriors is not None:
        return None
    params = quantifier.get_params(deep=False)
    validation, seed = params["validation"], params["random_state"]
    repeatable = isinstance(validation, float) and isinstance(seed, int)  # else the split can't be made again
    if not repeatable or not hasattr(quantifier.classifier_, "predict_proba"):
        return None
    codes = encode(y, quantifier.classes_)
    _, held_out = next(validation_parts(validation, codes, seed))
    items = _safe_indexing(X, held_out)
    return score(quantifier.classifier_, items, "posteriors", quantifier.classes_), codes[held_out]
