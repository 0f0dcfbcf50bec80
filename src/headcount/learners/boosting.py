"""`BoostedTrees`: gradient boosting, fitted by scikit-learn and kept as plain arrays."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import AnyArray, FloatArray, Items, Labels, RandomState
from headcount._validation import Interval, integers_from
from headcount.exceptions import DataError

__all__ = ["BoostedTrees"]


@dataclass(eq=False, repr=False)
class BoostedTrees(ClassifierMixin, BaseEstimator):
    """Gradient boosting of trees over binned features, as scikit-learn's ``HistGradientBoostingClassifier`` fits it.

    The trees are kept as arrays with one entry for each node, so that a model can be checked and read without scikit-learn's own
    objects; posteriors are the same.

    Parameters
    ----------
    n_rounds : int, default=100
        Trees for each class (for two classes: trees).
    learning_rate : float, default=0.1
    max_leaves : int, default=31
        The most leaves of a tree.
    min_leaf : int, default=20
        The fewest items of a leaf.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    baseline_ : array of shape (n_outputs,)
        The value before the first tree; one output for two classes, else one for each class.
    roots_ : array of int, shape (n_rounds, n_outputs)
        The node at which each tree begins.
    feature_ : array of int, shape (n_nodes,)
        The column that a node asks for; -1 in a leaf.
    threshold_, value_ : arrays of shape (n_nodes,)
        Items up to the threshold go left; the value of a leaf is added to the output.
    left_, right_ : arrays of int, shape (n_nodes,)
        The nodes below, which come later in the arrays.
    missing_left_ : array of bool, shape (n_nodes,)
        Whether items without a number go left.

    References
    ----------
    Ke et al. (2017). LightGBM: a highly efficient gradient boosting decision tree. NIPS.

    Examples
    --------
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> BoostedTrees().fit(X, X[:, 0] > 0.3).predict([[0.1], [0.9]]).tolist()
    [False, True]
    """

    n_rounds: int = 100
    learning_rate: float = 0.1
    max_leaves: int = 31
    min_leaf: int = 20
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_rounds": integers_from(1),
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "max_leaves": integers_from(2),
        "min_leaf": integers_from(1),
        "random_state": "no_validation",
    }

    def fit(self, X: Items, y: Labels, sample_weight: Any = None) -> Self:
        """Learn from items, rows of numbers of which some may be missing (NaN), and their labels."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        self._validate_params()
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        boosting = HistGradientBoostingClassifier(
            max_iter=self.n_rounds,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaves,
            min_samples_leaf=self.min_leaf,
            early_stopping=False,
            categorical_features=None,
            random_state=self.random_state,
        )
        with threadpool_limits(1, user_api="openmp"):  # threads that wait for a busy core take ten times as long
            boosting.fit(X, y, sample_weight)
        self.classes_ = boosting.classes_
        self.baseline_ = np.array(boosting._baseline_prediction, dtype=np.float64).ravel()
        trees = [tree.nodes for round_ in boosting._predictors for tree in round_]
        starts = np.cumsum([0, *(len(tree) for tree in trees)])
        self.roots_ = starts[:-1].reshape(-1, len(self.baseline_))
        nodes, first = np.concatenate(trees), np.repeat(starts[:-1], [len(tree) for tree in trees])
        leaf = nodes["is_leaf"] == 1
        self.feature_ = np.where(leaf, -1, nodes["feature_idx"]).astype(np.int64)
        self.threshold_ = np.where(leaf, 0.0, nodes["num_threshold"])
        self.value_ = np.ascontiguousarray(nodes["value"])
        self.left_, self.right_ = (
            np.where(leaf, 0, nodes[side] + first).astype(np.int64) for side in ("left", "right")
        )
        self.missing_left_ = nodes["missing_go_to_left"].astype(bool)
        return self

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "roots_" in state:
            self._check_nodes()

    def _check_nodes(self) -> None:
        """Raise unless each node leads to later ones, by a feature that there is, or is a leaf: kernels read without looking."""
        by_node = self.feature_, self.threshold_, self.value_, self.left_, self.right_, self.missing_left_
        kinds = [array.dtype.kind for array in (*by_node, self.roots_, self.baseline_)]
        n, row = len(self.feature_), np.arange(len(self.feature_))
        inner = self.feature_ >= 0
        below = [(side > row) & (side < n) for side in (self.left_, self.right_)]
        sound = (
            kinds == ["i", "f", "f", "i", "i", "b", "i", "f"]
            and all(array.shape == (n,) for array in by_node)
            and self.roots_.ndim == 2
            and self.roots_.shape[1] == len(self.baseline_) == (1 if len(self.classes_) == 2 else len(self.classes_))
            and bool(((self.roots_ >= 0) & (self.roots_ < n)).all())
            and bool(np.where(inner, below[0] & below[1] & (self.feature_ < self.n_features_in_), True).all())
        )
        if not sound:
            raise DataError(
                "The trees do not fit together: a node leads nowhere, back, or by a feature that there is not."
            )

    def decision_function(self, X: Items) -> FloatArray:
        """Return the sums of the trees' values: shape (n_items,) for two classes, else (n_items, n_classes)."""
        from headcount.learners._tree_kernels import add_leaves

        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        values = np.tile(self.baseline_, (len(X), 1))
        trees = self.roots_, self.feature_, self.threshold_, self.left_, self.right_, self.missing_left_, self.value_
        add_leaves(np.ascontiguousarray(X), *trees, values)
        return values[:, 0] if values.shape[1] == 1 else values

    def predict_proba(self, X: Items) -> FloatArray:
        """Return posteriors, columns in the order of ``classes_``."""
        values = self.decision_function(X)
        if values.ndim == 1:
            positive = expit(values)
            return np.column_stack([1.0 - positive, positive])
        posteriors: FloatArray = softmax(values, axis=1)
        return posteriors

    def predict(self, X: Items) -> AnyArray:
        """Return the class of the largest posterior."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
