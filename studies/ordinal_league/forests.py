"""`LeagueForest`: random forests that multiply by class weights, as scikit-learn's did until its forests drew items by them.

Newer ones (1.9) draw the items of each tree with chances in proportion to their weights, which with balanced weights makes rare
classes as likely as others. Before, trees that were grown to the end gave posteriors that hardly knew of weights, so that counts
(CC, PCC) differ.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

__all__ = ["LeagueForest"]


class LeagueForest(ClassifierMixin, BaseEstimator):
    """A random forest with balanced class weights, and the random numbers that scikit-learn drew for it in 2023.

    Parameters
    ----------
    n_estimators, max_depth, min_samples_leaf : int
    random_state : int
    """

    def __init__(
        self, n_estimators: int = 100, max_depth: int | None = None, min_samples_leaf: int = 1, random_state: int = 0
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit each tree on a bootstrap sample, whose counts are multiplied by the class weights."""
        X, n = np.ascontiguousarray(X, dtype=np.float32), len(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        weights, seeds = compute_sample_weight("balanced", codes), np.random.RandomState(self.random_state)
        self.estimators_ = []
        for _ in range(self.n_estimators):
            seed = seeds.randint(np.iinfo(np.int32).max)
            drawn = np.bincount(np.random.RandomState(seed).randint(0, n, n), minlength=n)
            tree = DecisionTreeClassifier(
                max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf,
                max_features="sqrt",
                random_state=seed,
            )
            self.estimators_.append(tree.fit(X, codes, sample_weight=weights * drawn, check_input=False))
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the mean of the trees' posteriors."""
        X = np.ascontiguousarray(X, dtype=np.float32)
        return sum(tree.predict_proba(X, check_input=False) for tree in self.estimators_) / len(self.estimators_)

    def predict(self, X: Any) -> Any:
        """Return the class of the largest mean posterior."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
