"""Fitted classifiers of scikit-learn as plain arrays: the same predictions, without the objects of any version of scikit-learn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels

__all__ = ["FittedCalibration", "FittedTrees", "Later", "Rebuilt"]

_ITEMS_PER_CHUNK = 1 << 14


@dataclass(frozen=True)
class Later:
    """An unfitted classifier that is made when it is asked for: importing its module may take longer than reading a model.

    Attributes
    ----------
    name : str
        Of its class.
    make : callable
    """

    name: str
    make: Callable[[], Any]


class Rebuilt(ClassifierMixin, BaseEstimator):
    """Base of classifiers that predict as a fitted one of scikit-learn did.

    Parameters
    ----------
    original : classifier
        The unfitted classifier, which a new fit learns with.
    """

    classes_: AnyArray
    n_features_in_: int
    _original: Any

    def __init__(self, original: Any) -> None:
        self.original = original

    @property
    def original(self) -> Any:
        """The unfitted classifier."""
        if isinstance(self._original, Later):
            self._original = self._original.make()
        return self._original

    @original.setter
    def original(self, original: Any) -> None:
        self._original = original

    @property
    def original_name(self) -> str:
        """The name of the unfitted classifier's class."""
        return self._original.name if isinstance(self._original, Later) else type(self._original).__name__

    def fit(self, X: Items, y: Labels, **fit_params: Any) -> Self:
        """Fit a clone of the original on the items, and keep what it has learnt."""
        return self.learn_from(clone(self.original).fit(X, y, **fit_params))

    def learn_from(self, fitted: Any) -> Self:
        """Take over what a fitted classifier has learnt."""
        self.classes_ = fitted.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def predict_proba(self, X: Items) -> FloatArray:
        """Return posteriors, columns in the order of ``classes_``."""
        raise NotImplementedError

    def predict(self, X: Items) -> AnyArray:
        """Return the class of the largest posterior."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class FittedTrees(Rebuilt):
    """A decision tree, a random forest or extremely randomised trees as arrays with one entry for each node.

    The posterior is the mean over the trees, added up in their order, of the class shares in the leaf that an item reaches.

    Parameters
    ----------
    original : DecisionTreeClassifier, RandomForestClassifier, ExtraTreeClassifier or ExtraTreesClassifier

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    roots_ : array of int, shape (n_trees,)
        The node at which each tree begins.
    feature_ : array of int, shape (n_nodes,)
        The column that a node asks for; -1 in a leaf.
    threshold_ : array of shape (n_nodes,)
        Items up to the threshold go left.
    left_, right_ : arrays of int, shape (n_nodes,)
        The nodes below, which come later in the arrays.
    missing_left_ : array of bool, shape (n_nodes,)
        Whether items without a number go left.
    shares_ : array of shape (n_nodes, n_classes)
        Class shares of the training items of a node.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> FittedTrees(DecisionTreeClassifier()).fit([[0.0], [1.0]], ["no", "yes"]).predict([[0.2], [0.8]]).tolist()
    ['no', 'yes']
    """

    def learn_from(self, fitted: Any) -> Self:
        """Take over the nodes of a fitted tree or forest."""
        trees = [one.tree_ for one in getattr(fitted, "estimators_", [fitted])]
        starts = np.cumsum([0, *(tree.node_count for tree in trees)])
        first = np.repeat(starts[:-1], np.diff(starts))
        left = np.concatenate([tree.children_left for tree in trees])
        right = np.concatenate([tree.children_right for tree in trees])
        leaf = left < 0
        self.roots_ = starts[:-1].astype(np.int64)
        self.left_, self.right_ = (np.where(leaf, 0, side + first).astype(np.int64) for side in (left, right))
        self.feature_ = np.where(leaf, -1, np.concatenate([tree.feature for tree in trees])).astype(np.int64)
        self.threshold_ = np.where(leaf, 0.0, np.concatenate([tree.threshold for tree in trees]))
        self.missing_left_ = np.concatenate([_missing_left(tree) for tree in trees])
        self.shares_ = np.ascontiguousarray(np.concatenate([tree.value[:, 0, :] for tree in trees]))
        return super().learn_from(fitted)

    def predict_proba(self, X: Items) -> FloatArray:
        """Return posteriors, columns in the order of ``classes_``."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float32, accept_sparse="csr", ensure_all_finite="allow-nan", reset=False)
        posteriors = np.zeros((X.shape[0], len(self.classes_)))
        for start in range(0, X.shape[0], _ITEMS_PER_CHUNK):
            part = X[start : start + _ITEMS_PER_CHUNK]
            dense = part.toarray() if hasattr(part, "toarray") else part
            self._add_shares(np.ascontiguousarray(dense, dtype=np.float64), posteriors[start : start + len(dense)])
        return posteriors

    def _add_shares(self, X: FloatArray, posteriors: FloatArray) -> None:
        """Add up the shares in the leaves that the items reach, tree by tree, and divide by the number of trees."""
        from headcount.learners._tree_kernels import add_leaves

        nodes = self.feature_, self.threshold_, self.left_, self.right_, self.missing_left_
        numbers = np.arange(
            len(self.feature_), dtype=np.float64
        )  # a node's value is its number, so that the sum names the leaf
        for root in self.roots_:
            reached = np.zeros((len(X), 1))
            add_leaves(X, np.full((1, 1), root), *nodes, numbers, reached)
            posteriors += self.shares_[reached[:, 0].astype(np.int64)]
        posteriors /= len(self.roots_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        return tags


def _missing_left(tree: Any) -> AnyArray:
    """Return whether items without a number go left; older versions of scikit-learn have this only among the fields of nodes."""
    flags = getattr(tree, "missing_go_to_left", None)
    return np.asarray(tree.__getstate__()["nodes"]["missing_go_to_left"] if flags is None else flags).astype(bool)


class FittedCalibration(Rebuilt):
    r"""Classifiers whose scores are turned into posteriors, by Platt's sigmoids or by a temperature; the mean over folds.

    .. math:: \Pr(y_j | x) \propto \frac{1}{1 + \exp(a_j s_j(x) + b_j)} \quad\text{or}\quad \mathrm{softmax}(\beta s(x))_j

    Parameters
    ----------
    original : CalibratedClassifierCV

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted classifiers
    slopes_, offsets_ : lists of arrays, for sigmoids
        For each member, a and b of its classes; of two classes, of the second one.
    betas_ : array of shape (n_members,), for temperatures

    References
    ----------
    Platt (1999). Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods.
    Guo et al. (2017). On calibration of modern neural networks. ICML.

    Examples
    --------
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.svm import LinearSVC
    >>> X, y = [[0.0], [0.1], [0.9], [1.0]] * 5, [0, 0, 1, 1] * 5
    >>> FittedCalibration(CalibratedClassifierCV(LinearSVC())).fit(X, y).predict([[0.2], [0.8]]).tolist()
    [0, 1]
    """

    members_: list[Any]
    slopes_: list[FloatArray]
    offsets_: list[FloatArray]
    betas_: FloatArray

    def learn_from(self, fitted: Any) -> Self:
        """Take over the classifiers and the parameters of their calibrators."""
        folds = fitted.calibrated_classifiers_
        self.members_ = [fold.estimator for fold in folds]
        if fitted.method == "temperature":
            self.betas_ = np.array([float(fold.calibrators[0].beta_) for fold in folds])
        else:
            self.slopes_ = [np.array([float(one.a_) for one in fold.calibrators]) for fold in folds]
            self.offsets_ = [np.array([float(one.b_) for one in fold.calibrators]) for fold in folds]
        return super().learn_from(fitted)

    def predict_proba(self, X: Items) -> FloatArray:
        """Return posteriors, columns in the order of ``classes_``."""
        check_is_fitted(self)
        total: Any = 0.0
        for j, member in enumerate(self.members_):
            total = total + (
                self._by_temperature(j, member, X) if hasattr(self, "betas_") else self._by_sigmoids(j, member, X)
            )
        mean: FloatArray = total / len(self.members_)
        return mean

    def _by_sigmoids(self, j: int, member: Any, X: Items) -> FloatArray:
        values = _scores(member, X)
        columns = _positions(member.classes_, self.classes_)
        k = len(self.classes_)
        columns = columns[1:] if k == 2 else columns
        P = np.zeros((len(values), k))
        for column, score, slope, offset in zip(columns, values.T, self.slopes_[j], self.offsets_[j], strict=False):
            P[:, column] = expit(-(slope * score + offset))
        if k == 2:
            P[:, 0] = 1.0 - P[:, 1]
            return P
        sums = P.sum(axis=1)[:, None]
        posteriors: FloatArray = np.divide(P, sums, out=np.full_like(P, 1 / k), where=sums != 0)
        return posteriors

    def _by_temperature(self, j: int, member: Any, X: Items) -> FloatArray:
        from sklearn.utils.extmath import softmax

        values = _scores(member, X)
        if values.shape[1] == 1 and not hasattr(member, "decision_function"):
            values = np.concatenate([1 - values, values], axis=1)
        if values.shape[1] == 1:
            values = np.concatenate([-values, values], axis=1)
        elif ((values >= 0) & (values <= 1)).all() and np.isclose(values.sum(axis=1), 1.0).all():
            values = np.log(values + 1e-12)
        posteriors: FloatArray = softmax(self.betas_[j] * values)
        return posteriors

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _scores(member: Any, X: Items) -> FloatArray:
    """Return decision values or, without them, posteriors; of two classes, a column for the second one."""
    if hasattr(member, "decision_function"):
        values = np.asarray(member.decision_function(X))
        return values.reshape(len(values), -1)
    P = np.asarray(member.predict_proba(X))
    return P[:, 1:] if P.shape[1] == 2 else P


def _positions(labels: Sequence[Any] | AnyArray, classes: AnyArray) -> IntArray:
    order = classes.tolist()
    return np.array([order.index(label) for label in np.asarray(labels).tolist()], dtype=np.int64)
