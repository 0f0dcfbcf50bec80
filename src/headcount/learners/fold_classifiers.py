"""`FoldClassifiers`: the classifiers of cross-fitting, one for each fold, as one classifier."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from headcount._typing import AnyArray, FloatArray, Items

__all__ = ["FoldClassifiers", "first_classifier"]


def _all_have(method: str) -> Any:
    return available_if(lambda self: all(hasattr(classifier, method) for classifier in self.classifiers))


class FoldClassifiers(ClassifierMixin, BaseEstimator):
    """Fitted classifiers, each trained without the items of one fold; they predict together, by the mean of their posteriors.

    A quantifier that learns its rates in folds keeps them: the items of fold f tell the rates of classifier f, and later items are
    scored by all of them (`headcount.learners.score`), so that rates and scores are of the same classifiers.

    Parameters
    ----------
    classifiers : sequence of fitted classifiers with the same classes

    Attributes
    ----------
    classifiers_ : list of classifiers
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["no", "no", "yes", "yes"])
    >>> both = FoldClassifiers([LogisticRegression().fit(X[rows], y[rows]) for rows in ([0, 3], [1, 2])])
    >>> both.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    def __init__(self, classifiers: Any) -> None:
        self.classifiers = classifiers

    @property
    def classifiers_(self) -> list[Any]:
        """The classifiers, in the order of the folds."""
        return list(self.classifiers)

    @property
    def classes_(self) -> AnyArray:
        """The classes, in the order of the first classifier's posteriors."""
        return np.asarray(self.classifiers[0].classes_)

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Change nothing: the classifiers are fitted already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @_all_have("predict_proba")
    def predict_proba(self, X: Items) -> FloatArray:
        """Return the mean of the classifiers' posteriors, columns in the order of ``classes_``."""
        classes = self.classes_
        total = np.zeros(1)
        for classifier in self.classifiers:
            columns = [classifier.classes_.tolist().index(label) for label in classes.tolist()]
            total = total + np.asarray(classifier.predict_proba(X), dtype=np.float64)[:, columns]
        mean: FloatArray = total / len(self.classifiers)
        return mean

    def predict(self, X: Items) -> AnyArray:
        """Return the class of the largest mean posterior or, without posteriors, the one that most classifiers decide for."""
        classes = self.classes_
        if hasattr(self, "predict_proba"):
            return np.asarray(classes[self.predict_proba(X).argmax(axis=1)])
        votes = sum((np.asarray(c.predict(X))[:, None] == classes).astype(np.int64) for c in self.classifiers)
        return np.asarray(classes[np.argmax(votes, axis=1)])


def first_classifier(classifier: Any) -> Any:
    """Return the classifier itself or, of fold classifiers, the first: what all of them have in common is known from one."""
    return classifier.classifiers[0] if isinstance(classifier, FoldClassifiers) else classifier
