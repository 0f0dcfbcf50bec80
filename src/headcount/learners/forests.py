"""Smaller forests cut from larger ones: the first k trees of a forest are the forest of k trees with the same seed."""

from typing import Any

import numpy as np
from sklearn.base import clone

__all__ = ["first_trees", "size_of_forest"]


def size_of_forest(classifier: Any) -> int:
    """Return the number of trees if smaller forests can be cut from this one when it is fitted, else 0."""
    from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

    if type(classifier) not in (RandomForestClassifier, ExtraTreesClassifier):
        return 0
    seeded = all(isinstance(value, int | np.integer) for value in (classifier.random_state, classifier.n_estimators))
    if not seeded or classifier.warm_start or classifier.oob_score or classifier.n_estimators < 1:
        return 0
    return int(classifier.n_estimators)


def first_trees(forest: Any, classifier: Any) -> Any:
    """Cut a fitted forest down to the number of trees of the unfitted classifier.

    Each tree has its own seed, drawn in order, so this is what fitting the classifier would give.
    """
    small = clone(classifier)
    parameters = small.get_params()
    learnt = {name: value for name, value in vars(forest).items() if name not in parameters}
    vars(small).update(learnt, estimators_=forest.estimators_[: classifier.n_estimators])
    return small
