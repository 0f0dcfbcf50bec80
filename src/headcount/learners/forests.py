"""Forests contain smaller forests: the first k trees of one are the forest of k trees with the same seed."""

from typing import Any

import numpy as np
from sklearn.base import clone

__all__ = ["prefix_of", "size_of_forest"]


def size_of_forest(classifier: Any) -> int:
    """Return the number of trees if smaller forests can be cut from this one when it is fitted, else 0."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    if type(classifier) not in (RandomForestClassifier, ExtraTreesClassifier):
        return 0
    seeded = isinstance(classifier.random_state, int | np.integer)
    return int(classifier.n_estimators) if seeded and not classifier.warm_start and not classifier.oob_score else 0


def prefix_of(forest: Any, classifier: Any) -> Any:
    """Cut a fitted forest down to the number of trees that the unfitted classifier asks for.

    Each tree has a seed of its own, drawn in order, so this is what fitting the classifier would give.
    """
    small = clone(classifier)
    learnt = {name: value for name, value in vars(forest).items() if name.endswith("_") and not name.startswith("__")}
    vars(small).update(learnt, estimators_=forest.estimators_[: classifier.n_estimators])
    return small
