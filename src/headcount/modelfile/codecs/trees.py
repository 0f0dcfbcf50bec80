"""Codecs of trees: decision trees and forests of scikit-learn, which become `FittedTrees`, and `BoostedTrees`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount.exceptions import DataError
from headcount.learners.rebuilt import FittedTrees
from headcount.modelfile.checks import (
    UnsoundError,
    check_flags,
    check_floats,
    check_integers,
    check_labels,
    check_width,
    need,
)
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt, has, of_input

__all__ = ["CODECS", "check_fitted_trees"]

_ARRAYS = ("classes_", "roots_", "feature_", "threshold_", "left_", "right_", "missing_left_", "shares_")
_ORIGINALS = ("DecisionTreeClassifier", "ExtraTreeClassifier", "RandomForestClassifier", "ExtraTreesClassifier")


def check_nodes(trees: Any) -> None:
    """Raise unless each node is a leaf, or leads to two later ones by a feature that there is: there are no cycles then."""
    n, width = len(trees.feature_), trees.n_features_in_
    check_integers(trees.feature_, "feature_", (n,), -1, width)
    check_floats(trees.threshold_, "threshold_", (n,), finite=False)
    need(not np.isnan(trees.threshold_).any(), "threshold_ holds values that are no numbers")
    check_integers(trees.left_, "left_", (n,), 0, n)
    check_integers(trees.right_, "right_", (n,), 0, n)
    check_flags(trees.missing_left_, "missing_left_", (n,))
    row, leaf = np.arange(n), trees.feature_ < 0
    need(bool((leaf | ((trees.left_ > row) & (trees.right_ > row))).all()), "a node of a tree leads back")
    kinds = {array.dtype.str for array in (trees.feature_, trees.left_, trees.right_, trees.roots_)}
    need(kinds <= {"<i8"} and trees.threshold_.dtype == np.float64, "the nodes of trees are not 64 bits wide")


def check_fitted_trees(trees: Any) -> None:
    """Raise unless the nodes lead on, and each has a share for each class."""
    k = check_labels(trees.classes_)
    need(trees.original_name in _ORIGINALS, "fitted trees do not say what they were")
    need(getattr(trees.feature_, "ndim", 0) == 1 and len(trees.feature_) and len(trees.roots_), "trees have no nodes")
    need(type(getattr(trees, "n_features_in_", None)) is int, "trees do not say how many features they read")
    check_width(trees, trees.n_features_in_)
    n = len(trees.feature_)
    check_nodes(trees)
    check_integers(trees.roots_, "roots_", (None,), 0, n)
    need(bool((trees.roots_[1:] > trees.roots_[:-1]).all()), "a forest names a tree twice")
    check_floats(trees.shares_, "shares_", (n, k))
    sums = trees.shares_.sum(axis=1)
    need(
        bool(((trees.shares_ >= 0.0) & (abs(sums - 1.0) < 1e-6)[:, None]).all()), "the shares of a node do not sum to 1"
    )


def check_boosted(trees: Any) -> None:
    """Raise unless the nodes lead on, and there is one output for two classes, else one for each."""
    k = check_labels(trees.classes_)
    need(
        getattr(trees.feature_, "ndim", 0) == 1 and type(getattr(trees, "n_features_in_", None)) is int,
        "trees have no nodes",
    )
    check_width(trees, trees.n_features_in_)
    check_nodes(trees)
    outputs = 1 if k == 2 else k
    check_integers(trees.roots_, "roots_", (None, outputs), 0, len(trees.feature_))
    check_floats(trees.value_, "value_", (len(trees.feature_),))
    check_floats(trees.baseline_, "baseline_", (outputs,))
    flat = trees.roots_.ravel()
    need(bool((flat[1:] > flat[:-1]).all()), "a tree is named twice")
    try:
        trees._check_nodes()
    except DataError as error:
        raise UnsoundError(str(error)) from error


@dataclass(frozen=True)
class _TreesCodec(EstimatorCodec):
    """A tree or forest: unfitted it is made by its constructor, fitted it becomes `FittedTrees` over the unfitted one."""

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters and, of a fitted one, the arrays of its nodes."""
        fitted = hasattr(instance, "tree_") or hasattr(instance, "estimators_")
        if not fitted:
            return super().fields(instance)
        if getattr(instance, "n_outputs_", 1) != 1:
            raise UnsoundError("trees for several labels at once can't be kept in a model file")
        trees = FittedTrees(None).learn_from(instance)
        learnt = {name: vars(trees)[name] for name in (*_ARRAYS, *of_input) if has(trees, name)}
        return {**super().fields(instance), "learnt": learnt}

    def make(self, fields: Any) -> Any:
        """Make the unfitted estimator, or what it has learnt as arrays."""
        learnt = fields.get("learnt")
        if not learnt:
            return super().make(fields)
        return FITTED.make({"parameters": {"original": self.later(fields)}, "learnt": learnt})


FITTED = EstimatorCodec("fitted trees", "headcount.learners.rebuilt:FittedTrees", Learnt(_ARRAYS), check_fitted_trees)
CODECS = (
    FITTED,
    _TreesCodec("decision tree", "sklearn.tree._classes:DecisionTreeClassifier"),
    _TreesCodec("extra tree", "sklearn.tree._classes:ExtraTreeClassifier"),
    _TreesCodec("random forest", "sklearn.ensemble._forest:RandomForestClassifier"),
    _TreesCodec("extra trees", "sklearn.ensemble._forest:ExtraTreesClassifier"),
    EstimatorCodec(
        "boosted trees",
        "headcount.learners.boosting:BoostedTrees",
        Learnt(
            ("classes_", "baseline_", "roots_", "feature_", "threshold_", "value_", "left_", "right_", "missing_left_")
        ),
        check_boosted,
    ),
)
