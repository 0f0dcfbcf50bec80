"""Checks of what a file says of trees and sparse matrices, which compiled code reads without looking where it reads."""

import zipfile
from io import BytesIO
from typing import Any

import numpy as np

__all__ = ["check_fitted_trees", "check_learnt", "check_npz", "check_sparse", "check_tree"]

_MOST_RATIO, _LEAST_LIMIT = 1_100, 2**20
"""Limit of the unpacked size of a sparse matrix: what deflate can reach at most, or a mebibyte."""
_MOST_UNPACKED = 2**31


def check_tree(arguments: Any, attributes: Any) -> None:
    """Raise unless each node of a decision tree leads to later nodes of it, by a feature that there is, or is a leaf.

    Parameters
    ----------
    arguments : tuple
        Number of features, array of numbers of classes, number of outputs.
    attributes : dict
        Number and array of nodes, and their values.
    """
    n_features, n_classes, n_outputs = arguments
    nodes, values, count = attributes["nodes"], attributes["values"], attributes["node_count"]
    shape = int(count), int(n_outputs), int(np.max(n_classes))
    if nodes.shape != shape[:1] or values.shape != shape or values.dtype != np.float64 or not shape[0]:
        raise ValueError("the nodes and values of a tree are not as many as it says")
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    leaf, row = left == -1, np.arange(len(nodes))
    below = (left > row) & (right > row) & (left < len(nodes)) & (right < len(nodes))
    if not np.where(leaf, right == -1, below & (feature >= 0) & (feature < n_features)).all():
        raise ValueError("a node of a tree leads nowhere, back, or by a feature that there is not")


def check_fitted_trees(estimator: Any) -> None:
    """Raise unless the trees of a forest are different ones, and all read as many features as the items have."""
    tree: Any = getattr(estimator, "tree_", None)
    trees, width = getattr(estimator, "estimators_", None), getattr(estimator, "n_features_in_", None)
    if tree is not None and getattr(tree, "n_features", width) != width:
        raise ValueError("a tree reads other features than its items have")
    if isinstance(trees, list) and trees and all(hasattr(one, "tree_") for one in trees):
        if len({id(one) for one in trees}) < len(trees):
            raise ValueError("a forest names a tree twice")
        if any(one.n_features_in_ != width or one.tree_.max_n_classes != trees[0].tree_.max_n_classes for one in trees):
            raise ValueError("the trees of a forest do not fit together")


def check_learnt(instance: Any) -> None:
    """Raise unless what an estimator has learnt is what version 3 of the format would accept."""
    from headcount.modelfile.codecs import estimator_codec

    codec = estimator_codec(instance)
    if codec is not None:
        codec.check_fitted(instance)


def check_npz(content: bytes) -> None:
    """Raise if the file of a sparse matrix would unpack to more than any such file does."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        size = sum(info.file_size for info in archive.infolist())
    if size > min(_MOST_UNPACKED, max(_LEAST_LIMIT, _MOST_RATIO * len(content))):
        raise ValueError(f"a sparse matrix would unpack to {size / 2**20:,.0f} MiB")


def check_sparse(matrix: Any) -> None:
    """Raise unless the columns of a sparse matrix in rows are within its shape."""
    if matrix.format != "csr":
        raise TypeError(f"a sparse matrix is {matrix.format}, not csr")
    matrix.check_format(full_check=True)
