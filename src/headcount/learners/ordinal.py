"""Ordered decompositions: any classifier, fitted to the questions that the order of the classes asks, as one classifier.

K ordered classes make K - 1 problems of two classes. `FrankHall` asks of all items whether they are above each class;
`ContinuationRatio` asks only of those that come so far.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, column_or_1d, validate_data

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels
from headcount._validation import HasMethods, has_natural_order, labelled_items, learn_classes, quoted
from headcount.exceptions import DataError

__all__ = ["ContinuationRatio", "FrankHall"]


class _OrderedDecomposition(ClassifierMixin, BaseEstimator, ABC):
    """A classifier of ordered classes made of classifiers of two: a subclass says of which items each learns what."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "classifier": [HasMethods(["fit", "predict_proba"]), None],
        "classes": ["array-like", None],
    }
    members_: list[Any]
    classes_: AnyArray

    def __init__(self, classifier: Any = None, *, classes: Any = None) -> None:
        self.classifier = classifier
        self.classes = classes

    @abstractmethod
    def _problems(self, codes: IntArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        """Yield of each problem which items are in it, and which of these are the positive ones."""

    @abstractmethod
    def _posteriors(self, positive: FloatArray) -> FloatArray:
        """Return posteriors of the classes out of the members' posteriors of their positive class, a column each."""

    def fit(self, X: Items, y: Labels, sample_weight: Any = None) -> Self:
        """Fit a clone of the classifier to each problem."""
        from headcount.learners.linear import NewtonLogisticRegression

        self._validate_params()
        validate_data(self, X, skip_check_array=True)
        X, labels = labelled_items(X, y if y is None else column_or_1d(y, warn=True))
        check_classification_targets(labels)
        self.classes_, codes = learn_classes(labels, classes=self.classes)
        if self.classes is None and not has_natural_order(self.classes_):
            raise DataError(
                f"{type(self).__name__} depends on the order of the classes, but {quoted(self.classes_)} are only in alphabetical "
                "order: pass the classes from lowest to highest, classes=[...]."
            )
        classifier = NewtonLogisticRegression() if self.classifier is None else self.classifier
        if sample_weight is not None:
            sample_weight = check_array(sample_weight, ensure_2d=False, input_name="sample_weight")
            check_consistent_length(sample_weight, labels)
            if sample_weight.ndim != 1:
                raise ValueError(f"Sample weights must be 1D array or scalar; their shape is {sample_weight.shape}.")
        self.members_ = []
        for included, positive in self._problems(codes):
            rows = np.flatnonzero(included)
            items = X if len(rows) == len(codes) else _safe_indexing(X, rows)
            weights = {} if sample_weight is None else {"sample_weight": sample_weight[rows]}
            self.members_.append(clone(classifier).fit(items, positive[rows].astype(np.int64), **weights))
        return self

    def predict_proba(self, X: Items) -> FloatArray:
        """Return posteriors, columns in the order of ``classes_``."""
        check_is_fitted(self)
        return self._posteriors(np.column_stack([member.predict_proba(X)[:, 1] for member in self.members_]))

    def predict(self, X: Items) -> AnyArray:
        """Return the class of the largest posterior, the lowest of equals."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class FrankHall(_OrderedDecomposition):
    r"""Ordered classes by one classifier for each cut between them, which tells the items below from those above.

    The classifier of cut k gives :math:`F_k(x) = \Pr(y \le k \mid x)`. As they are fitted apart, :math:`F_k` may fall from one cut
    to the next; it is replaced by the mean of the running maximum from the left and of the running minimum from the right, which
    do not. Posteriors of the classes are the differences :math:`F_k - F_{k-1}`.

    When to use it: for ordered classes, over a classifier that does not know of the order, in any method that takes a classifier:
    the cuts use all items, so that a rare class borrows from its neighbours. When not: with nominal classes, and where a linear
    model of several classes fits as well, of which it takes K - 1 fits.

    Parameters
    ----------
    classifier : classifier with ``predict_proba``, default=None
        None means `NewtonLogisticRegression`.
    classes : sequence of labels, optional
        The classes from lowest to highest; needed for labels that are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted classifiers
        One for each cut, whose positive class is that of the items below.

    References
    ----------
    Frank and Hall (2001). A simple approach to ordinal classification. ECML.
    Castaño, González, González and del Coz (2022). Matching distributions algorithms based on the earth mover's distance for
    ordinal quantification. IEEE Transactions on Neural Networks and Learning Systems.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 300)[:, None]
    >>> stars = FrankHall(classes=["bad", "fair", "good"]).fit(X, np.repeat(["bad", "fair", "good"], 100))
    >>> stars.predict([[0.1], [0.5], [0.9]]).tolist()
    ['bad', 'fair', 'good']
    """

    def _problems(self, codes: IntArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        everything = np.ones(len(codes), dtype=bool)
        for k in range(len(self.classes_) - 1):
            yield everything, codes <= k

    def _posteriors(self, positive: FloatArray) -> FloatArray:
        highest = np.maximum.accumulate(positive, axis=1)
        lowest = np.minimum.accumulate(positive[:, ::-1], axis=1)[:, ::-1]
        below: FloatArray = np.column_stack([np.zeros(len(positive)), (highest + lowest) / 2.0, np.ones(len(positive))])
        posteriors: FloatArray = below[:, 1:] - below[:, :-1]
        return posteriors


class ContinuationRatio(_OrderedDecomposition):
    r"""Ordered classes by one classifier for each step up: of the items that reach a class, which stop there.

    The classifier of class k is fitted on the items of class k and above and gives :math:`h_k(x) = \Pr(y = k \mid y \ge k, x)`; the
    posteriors are the products :math:`h_k \prod_{i < k} (1 - h_i)`, which always are shares.

    When to use it: where a class is a stage that all higher ones have passed, such as education or the course of a disease. When
    not: where the highest classes are rare, since the last steps are learnt from few items; `FrankHall` uses all items at each cut.

    Parameters
    ----------
    classifier : classifier with ``predict_proba``, default=None
        None means `NewtonLogisticRegression`.
    classes : sequence of labels, optional
        The classes from lowest to highest; needed for labels that are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted classifiers
        One for each class but the highest, whose positive class is that of the items that stop there.

    References
    ----------
    Agresti (2010). Analysis of ordinal categorical data. Wiley.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 300)[:, None]
    >>> stages = ContinuationRatio().fit(X, np.repeat([1, 2, 3], 100))
    >>> stages.predict([[0.1], [0.5], [0.9]]).tolist()
    [1, 2, 3]
    """

    def _problems(self, codes: IntArray) -> Iterator[tuple[AnyArray, AnyArray]]:
        for k in range(len(self.classes_) - 1):
            yield codes >= k, codes == k

    def _posteriors(self, positive: FloatArray) -> FloatArray:
        above: FloatArray = np.column_stack([np.ones(len(positive)), 1.0 - positive])
        reached: AnyArray = np.cumprod(above, axis=1)
        posteriors: FloatArray = reached * np.column_stack([positive, np.ones(len(positive))])
        return posteriors
