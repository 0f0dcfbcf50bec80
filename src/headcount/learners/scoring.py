"""Scoring a pool once with any scikit-learn classifier, which gives its `Outputs`."""

from collections.abc import Collection
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from headcount._shared_work import shared_work
from headcount._typing import AnyArray, Items
from headcount._validation import encode, quoted
from headcount.exceptions import ClassifierError, DataError
from headcount.learners.fold_classifiers import FoldClassifiers, first_classifier
from headcount.learners.outputs import Need, Outputs
from headcount.learners.rebuilt import Rebuilt

__all__ = ["name_of", "require", "score"]

_METHODS = {"decisions": "predict", "posteriors": "predict_proba", "embeddings": "transform"}


def name_of(classifier: Any) -> str:
    """Return a classifier's name for a message; of a frozen one or of fold classifiers, the name of the estimator inside."""
    from sklearn.frozen import FrozenEstimator

    classifier = first_classifier(classifier)
    classifier = classifier.estimator if isinstance(classifier, FrozenEstimator) else classifier
    return classifier.original_name if isinstance(classifier, Rebuilt) else type(classifier).__name__


def require(classifier: Any, method: str) -> None:
    """Raise unless the classifier has the method."""
    if not hasattr(classifier, method):
        raise ClassifierError(
            f"{name_of(classifier)} has no {method!r}, which is needed here: pass an estimator with scikit-learn's "
            "classifier methods (fit, predict, for posteriors predict_proba and, for embeddings, transform)."
        )


def score(classifier: Any, X: Items, needs: Collection[Need] | Need, classes: AnyArray) -> Outputs:
    """Compute what is needed for each item of X with a fitted classifier, as codes and columns over ``classes``.

    A classifier that computes several outputs in one pass has a method ``predict_all`` that returns them as a dict, so that a
    network reads each item once. Of `FoldClassifiers` each scores the items once; the outputs hold theirs as ``folds``.
    """
    kinds = {needs} if isinstance(needs, str) else set(needs)
    if not kinds <= set(_METHODS):
        raise DataError(f"needs may name {quoted(_METHODS)}; got {quoted(sorted(kinds))}.")
    if isinstance(classifier, FoldClassifiers):
        if "embeddings" in kinds:
            raise ClassifierError(
                "Fold classifiers have no embeddings in common: hold out a part of the items instead (validation=0.4)."
            )
        with shared_work():
            return Outputs.from_folds([score(one, X, needs, classes) for one in classifier.classifiers_])
    n_items = int(_num_samples(X))
    own_classes = np.asarray(getattr(classifier, "classes_", classes))
    for kind in sorted(kinds):
        require(classifier, _METHODS[kind])
    together = classifier.predict_all(X) if hasattr(classifier, "predict_all") and len(kinds) > 1 else {}
    outputs: dict[str, Any] = {}
    for kind in sorted(kinds):
        outputs[kind] = together[kind] if kind in together else getattr(classifier, _METHODS[kind])(X)
        if kind != "embeddings" and (n := len(outputs[kind])) != n_items:
            raise ClassifierError(f"The classifier gave {n} {kind} for {n_items} items: one for each is needed.")
    if "decisions" in kinds:
        try:
            outputs["decisions"] = encode(np.asarray(outputs["decisions"]), own_classes, "the classifier's decisions")
        except DataError as error:
            raise ClassifierError(
                f"{name_of(classifier)} decided for labels outside its classes ({quoted(own_classes)}). {error}"
            ) from error
    return Outputs(own_classes, n_items, **outputs).aligned_to(classes)
