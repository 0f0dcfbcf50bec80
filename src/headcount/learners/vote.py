"""`Vote`: several classifiers that are asked together, by the mean of their posteriors."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from headcount._typing import AnyArray, FloatArray, Items, Labels
from headcount.learners.fold_classifiers import FoldClassifiers

__all__ = ["Vote"]


class Vote(ClassifierMixin, BaseEstimator):
    """Classifiers fitted on the same items, whose posteriors are averaged.

    Where classifiers of different kinds err on different items, their mean is better than each of them.

    Parameters
    ----------
    classifiers : sequence of classifiers with ``predict_proba``

    Attributes
    ----------
    members_ : list of fitted classifiers
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> Vote([LogisticRegression(), GaussianNB()]).fit(X, y).predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    """

    def __init__(self, classifiers: Sequence[Any]) -> None:
        self.classifiers = classifiers

    def fit(self, X: Items, y: Labels, sample_weight: Any = None) -> Self:
        """Fit a clone of each classifier on the items."""
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.members_ = [clone(classifier).fit(X, y, **weights) for classifier in self.classifiers]
        self.classes_ = np.asarray(self.members_[0].classes_)
        return self

    def predict_proba(self, X: Items) -> FloatArray:
        """Return the mean of the classifiers' posteriors, columns in the order of ``classes_``."""
        check_is_fitted(self)
        mean: FloatArray = FoldClassifiers(self.members_).predict_proba(X)
        return mean

    def predict(self, X: Items) -> AnyArray:
        """Return the class of the largest mean posterior."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
