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
    seeded = isinstance(classifier.random_state, int | np.integer) and isinstance(
        classifier.n_estimators, int | np.integer
    )
    if not seeded or classifier.warm_start or classifier.oob_score or classifier.n_estimators < 1:
        return 0
    return int(classifier.n_estimators)


def prefix_of(forest: Any, classifier: Any) -> Any:
    """Cut a fitted forest down to the number of trees that the unfitted classifier asks for.

    Each tree has a seed of its own, drawn in order, so this is what fitting the classifier would give.
    """
    small = clone(classifier)
    given = small.get_params()
    learnt = {name: value for name, value in vars(forest).items() if name not in given}
    vars(small).update(learnt, estimators_=forest.estimators_[: classifier.n_estimators])
    return small
