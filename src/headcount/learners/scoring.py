"""Scoring a pool once with any scikit-learn classifier."""

from collections.abc import Collection
from typing import Any

import numpy as np

from headcount._typing import AnyArray, Items
from headcount._validation import as_items, encode, quoted
from headcount.exceptions import ClassifierError, DataError
from headcount.learners.outputs import Need, Outputs, check_posteriors

__all__ = ["require", "score"]

_METHOD = {"decisions": "predict", "posteriors": "predict_proba"}


def require(classifier: Any, method: str) -> None:
    """Raise unless the classifier has the method."""
    if not hasattr(classifier, method):
        name = type(getattr(classifier, "estimator", classifier)).__name__
        raise ClassifierError(
            f"{name} has no method {method!r}, which is needed here: "
            "pass an estimator with scikit-learn's classifier methods (fit, predict and, for posteriors, predict_proba)."
        )


def score(classifier: Any, X: Items, needs: Collection[Need], classes: AnyArray) -> Outputs:
    """Ask a fitted classifier for what is needed of each item of X, once, as codes and columns over ``classes``."""
    X, n_items = as_items(X)
    known = np.asarray(getattr(classifier, "classes_", classes))
    for need in needs:
        require(classifier, _METHOD[need])
    decisions = posteriors = None
    if "posteriors" in needs:
        posteriors = np.ascontiguousarray(classifier.predict_proba(X), dtype=np.float64)
        check_posteriors(posteriors, known)
        _check_length(posteriors, n_items, "posteriors")
    if "decisions" in needs:
        decided = np.asarray(classifier.predict(X))
        try:
            decisions = encode(decided, known, "the classifier's decisions")
        except DataError as error:
            raise ClassifierError(
                f"{type(classifier).__name__} decided for labels outside its classes ({quoted(known)}). {error}"
            ) from error
        _check_length(decisions, n_items, "decisions")
    return Outputs(known, n_items, decisions, posteriors).aligned_to(classes)


def _check_length(answers: AnyArray, n_items: int, what: str) -> None:
    if len(answers) != n_items:
        raise ClassifierError(f"The classifier gave {len(answers)} {what} for {n_items} items: one for each is needed.")
