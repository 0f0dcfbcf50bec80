"""What the methods that aggregate a classifier's outputs share: fitting the classifier, scoring, reducing."""

from collections.abc import Collection
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels
from headcount._validation import HasMethods, as_items, as_labels, encode, learn_classes, quoted
from headcount.exceptions import DataError
from headcount.learners import Need, Outputs, score, with_posteriors
from headcount.protocols import Samples
from headcount.quantifiers.base import Quantifier, normalised
from headcount.quantifiers.statistics import Representation, Statistics

__all__ = ["AggregativeQuantifier"]


class AggregativeQuantifier(Quantifier):
    """Base of the methods over a classifier; a subclass sets the representation of an item.

    Attributes
    ----------
    classifier_ : estimator
        The fitted classifier (calibrated where posteriors are needed and it has none).
    """

    representation: ClassVar[Representation]
    classifier: Any
    classifier_: Any

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        "classifier": [HasMethods(["fit", "predict"]), None],
    }

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item."""
        return frozenset({self.representation.needs})

    def reduce(self, outputs: Outputs, samples: Any = None) -> Statistics:
        """Reduce outputs to the statistics of each sample, which can be merged by addition."""
        return self.representation.reduce(*self._ready(outputs, samples))

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        return score(self.classifier_, X, needs, self.classes_)

    def _begin_fit(self, X: Items, y: Labels) -> tuple[Items, AnyArray, IntArray]:
        """Check the training data and learn the classes; return items, labels and their codes."""
        from sklearn.utils.validation import check_consistent_length, validate_data

        self._validate_params()
        if y is None:
            raise DataError(
                "requires y to be passed, but the target y is None: a quantifier learns from labelled items."
            )
        X, _ = as_items(X)
        labels = as_labels(y)
        check_consistent_length(X, labels)
        validate_data(self, X, skip_check_array=True)
        if self._is_frozen():
            self.classes_ = np.asarray(self.classifier.classes_)
            codes = encode(labels, self.classes_)
        else:
            self.classes_, codes = learn_classes(labels)
        return X, labels, codes

    def _is_frozen(self) -> bool:
        from sklearn.frozen import FrozenEstimator

        return isinstance(self.classifier, FrozenEstimator)

    def _learner(self, codes: IntArray) -> Any:
        """Return a new classifier to be fitted on items with these codes."""
        from sklearn.linear_model import LogisticRegression

        learner = LogisticRegression() if self.classifier is None else clone(self.classifier)
        return with_posteriors(learner, codes) if "posteriors" in self.needs else learner

    def _by_class(self, outputs: Outputs, codes: IntArray) -> Statistics:
        """Reduce the outputs of labelled items class by class: row j belongs to the items of class j."""
        return self.representation.reduce(outputs, Samples._grouped(codes, len(self.classes_)))

    def _profiles(self, by_class: Statistics) -> FloatArray:
        """Return M, whose column j is the mean vector of the validation items of class j."""
        absent = by_class.weights == 0
        if absent.any():
            raise DataError(
                f"The validation part has no items of class {quoted(self.classes_[absent])}: {type(self).__name__} must see "
                "every class there. Label more items, or use another validation split."
            )
        return normalised(by_class.means()).T
