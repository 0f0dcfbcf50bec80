"""What the methods that aggregate a classifier's outputs share: fitting the classifier, scoring, reducing."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import IntArray, Items, Labels
from headcount._validation import HasMethods, encode, labelled_items, learn_classes
from headcount.learners import Fits, Need, Outputs, require, score, with_posteriors
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.statistics import Representation

__all__ = ["AggregativeQuantifier"]


class AggregativeQuantifier(Quantifier):
    """Base of the methods over a classifier; a subclass sets the representation of an item.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier (calibrated where posteriors are needed and it has none).
    """

    representation: Representation
    classifier: Any
    classifier_: Any

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "classifier": [HasMethods(["fit", "predict"]), None],
    }

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item."""
        return frozenset({self.representation.needs})

    def reduce(self, outputs: Outputs, samples: Any = None) -> Any:
        """Reduce outputs to the statistics of each sample, which can be merged by addition."""
        return self.representation.reduce(*self._ready(outputs, samples))

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        return score(self.classifier_, X, needs, self.classes_)

    def fit(self, X: Items, y: Labels) -> Self:
        """Learn from labelled items.

        Parameters
        ----------
        X : array, sparse matrix, data frame or list of texts, whatever the classifier takes
        y : labels of shape (n_items,)
        """
        X, labels = labelled_items(X, y)
        return self._fit(Fits(X, labels))

    def _fit(self, fits: Fits) -> Self:
        """Learn from the data set of these fits, through them, so that others can share what is fitted."""
        self._validate_params()
        validate_data(self, fits.X, skip_check_array=True)
        if self._is_frozen():
            check_is_fitted(self.classifier)
            require(self.classifier, "classes_")
            self.classes_ = np.asarray(self.classifier.classes_)
            codes = encode(fits.y, self.classes_)
        else:
            self.classes_, codes = learn_classes(fits.y)
        self._learn(fits, codes)
        return self

    @abstractmethod
    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Learn ``classifier_`` and whatever else the method needs."""

    def _is_frozen(self) -> bool:
        from sklearn.frozen import FrozenEstimator

        return isinstance(self.classifier, FrozenEstimator)

    @staticmethod
    def default_classifier() -> Any:
        """Return the classifier that ``classifier=None`` means."""
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    def _learner(self, codes: IntArray) -> Any:
        """Return a new classifier to be fitted on items with these codes."""
        learner = self.default_classifier() if self.classifier is None else clone(self.classifier)
        return with_posteriors(learner, codes, len(self.classes_)) if "posteriors" in self.needs else learner
