"""Scores of labelled items that a fitted quantifier's classifier has not seen, to check later items by."""

from typing import Any

from sklearn.utils import _safe_indexing

from headcount._typing import IntArray, Items, Labels
from headcount._validation import encode
from headcount.learners import Outputs, score, validation_parts
from headcount.quantifiers import Quantifier
from headcount.quantifiers.validated import ValidatedQuantifier

__all__ = ["held_out_scores"]


def held_out_scores(quantifier: Quantifier, X: Items, y: Labels) -> tuple[Outputs, IntArray] | None:
    """Return posteriors and classes of the validation part of a quantifier that was fitted on these items, or None.

    None too where it keeps them already, as PACC does; where it has no held-out part; and where its classifier has no posteriors.
    """
    own: Any = quantifier
    kept = getattr(own, "validation_outputs_", None)
    if not isinstance(quantifier, ValidatedQuantifier) or kept is None or kept.posteriors is not None:
        return None
    known = isinstance(own.validation, float) and isinstance(
        own.random_state, int
    )  # else the split can't be made again
    if not known or not hasattr(own.classifier_, "predict_proba"):
        return None
    codes = encode(y, own.classes_)
    _, held_out = next(validation_parts(own.validation, codes, own.random_state))
    return score(own.classifier_, _safe_indexing(X, held_out), "posteriors", own.classes_), codes[held_out]
