"""Compiled: which leaf of each tree an item reaches."""

from typing import Any

import numpy as np

from headcount._compile import kernel
from headcount._typing import FloatArray, IntArray

__all__ = ["add_leaves"]


@kernel()
def add_leaves(
    X: FloatArray,
    roots: IntArray,
    feature: IntArray,
    threshold: FloatArray,
    left: IntArray,
    right: IntArray,
    missing_left: Any,
    value: FloatArray,
    values: FloatArray,
) -> None:
    """Add the value of the leaf that each item reaches in each tree."""
    for i in range(X.shape[0]):
        for t in range(roots.shape[0]):
            for c in range(roots.shape[1]):
                node = roots[t, c]
                while feature[node] >= 0:
                    x = X[i, feature[node]]
                    goes_left = missing_left[node] if np.isnan(x) else x <= threshold[node]
                    node = left[node] if goes_left else right[node]
                values[i, c] += value[node]
