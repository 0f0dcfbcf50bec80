"""A classifier whose work was done elsewhere: its items are their own posteriors."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from headcount._typing import AnyArray, FloatArray

__all__ = ["BlackBox"]


class BlackBox(ClassifierMixin, BaseEstimator):
    """Takes rows of posteriors, one column for each of ``names``, and gives them back; decides for the largest.

    With rows that are 1 for the class decided for and else 0, it serves for decisions alone.

    Parameters
    ----------
    names : sequence of labels, in the order of the columns

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from headcount import PACC
    >>> P, y = [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.1, 0.9]], ["no", "no", "yes", "yes"]
    >>> PACC(FrozenEstimator(BlackBox(("no", "yes")).fit())).fit(P, y).predict([[0.5, 0.5]]).round(2).tolist()
    [0.54, 0.46]
    """

    def __init__(self, names: Any = (0, 1)) -> None:
        self.names = names

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Learn nothing; the classes are those named."""
        self.classes_ = np.asarray(self.names)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the rows as they are."""
        return np.asarray(X, dtype=np.float64)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of the largest posterior of each row."""
        return np.asarray(self.classes_[np.asarray(X).argmax(axis=1)])
