"""Scoring a pool once with any scikit-learn classifier."""

from collections.abc import Collection
from typing import Any

import numpy as np

from headcount._typing import AnyArray, Items
from headcount._validation import as_items, encode, quoted
from headcount.exceptions import ClassifierError, DataError
from headcount.learners.outputs import Need, Outputs

__all__ = ["name_of", "require", "score"]

_METHOD = {"decisions": "predict", "posteriors": "predict_proba", "embeddings": "transform"}


def name_of(classifier: Any) -> str:
    """Name a classifier in a message: what is frozen, not the freezer."""
    from sklearn.frozen import FrozenEstimator

    return type(classifier.estimator if isinstance(classifier, FrozenEstimator) else classifier).__name__


def require(classifier: Any, method: str) -> None:
    """Raise unless the classifier has the method."""
    if not hasattr(classifier, method):
        raise ClassifierError(
            f"{name_of(classifier)} has no {method!r}, which is needed here: pass an estimator with scikit-learn's "
            "classifier methods (fit, predict, for posteriors predict_proba and, for embeddings, transform)."
        )


def score(classifier: Any, X: Items, needs: Collection[Need] | Need, classes: AnyArray) -> Outputs:
    """Ask a fitted classifier for what is needed of each item of X, once, as codes and columns over ``classes``.

    A classifier that finds several of these in one pass has a method ``predict_all`` that gives them as a dict.
    """
    X, n_items = as_items(X)
    known = np.asarray(getattr(classifier, "classes_", classes))
    wanted = {needs} if isinstance(needs, str) else set(needs)
    if not wanted <= set(_METHOD):
        raise DataError(f"needs may name {quoted(_METHOD)}; got {quoted(sorted(wanted))}.")
    for need in sorted(wanted):
        require(classifier, _METHOD[need])
    together = classifier.predict_all(X) if hasattr(classifier, "predict_all") and len(wanted) > 1 else {}

    def answer(need: Need) -> Any:
        return together[need] if need in together else getattr(classifier, _METHOD[need])(X)

    decisions = posteriors = embeddings = None
    if "posteriors" in wanted:
        posteriors = answer("posteriors")
        _check_length(posteriors, n_items, "posteriors")
    if "decisions" in wanted:
        decided = np.asarray(answer("decisions"))
        _check_length(decided, n_items, "decisions")
        try:
            decisions = encode(decided, known, "the classifier's decisions")
        except DataError as error:
            raise ClassifierError(
                f"{name_of(classifier)} decided for labels outside its classes ({quoted(known)}). {error}"
            ) from error
    if "embeddings" in wanted:
        embeddings = answer("embeddings")
    return Outputs(known, n_items, decisions, posteriors, embeddings).aligned_to(classes)


def _check_length(answers: AnyArray, n_items: int, what: str) -> None:
    if len(answers) != n_items:
        raise ClassifierError(f"The classifier gave {len(answers)} {what} for {n_items} items: one for each is needed.")
