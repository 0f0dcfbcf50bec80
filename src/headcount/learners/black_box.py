"""A classifier for posteriors that were computed elsewhere: an item is its row of posteriors."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from headcount._typing import AnyArray, FloatArray

__all__ = ["BlackBox"]


class BlackBox(ClassifierMixin, BaseEstimator):
    """Classifier whose items are rows of posteriors: it returns them unchanged and decides for the largest.

    Where only decisions are available, a row is 1 for the decided class and 0 elsewhere.

    Parameters
    ----------
    names : sequence of labels
        The classes, in the order of the columns.
    answers : sequence of pairs of name and posteriors, optional
        Further answers of the classifier that are no class, such as "unsure", and the row that stands for each of them.

    Examples
    --------
    >>> from sklearn.frozen import FrozenEstimator
    >>> from headcount import PACC
    >>> P, y = [[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.1, 0.9]], ["no", "no", "yes", "yes"]
    >>> PACC(FrozenEstimator(BlackBox(("no", "yes")).fit())).fit(P, y).predict([[0.5, 0.5]]).round(2).tolist()
    [0.54, 0.46]
    """

    def __init__(self, names: Any = (0, 1), answers: Any = ()) -> None:
        self.names = names
        self.answers = answers

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002
        """Set the classes; nothing else is learnt."""
        self.classes_ = np.asarray(self.names)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the rows unchanged."""
        return np.asarray(X, dtype=np.float64)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of the largest posterior of each row."""
        return np.asarray(self.classes_[np.asarray(X).argmax(axis=1)])
