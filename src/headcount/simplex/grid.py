"""Points of the simplex (vectors of shares that sum to 1), and rounding them to counts of items."""

from itertools import combinations
from math import comb

import numpy as np

from headcount._typing import FloatArray, IntArray

__all__ = ["apportion", "grid", "grid_size", "uniform"]


def grid_size(n_classes: int, steps: int) -> int:
    """Return the number of points of :func:`grid`: ``steps + n_classes - 1`` choose ``n_classes - 1``."""
    return comb(steps + n_classes - 1, n_classes - 1)


def grid(n_classes: int, steps: int) -> IntArray:
    """List all vectors of ``n_classes`` non-negative integers that sum to ``steps``, in units of ``1 / steps``.

    Points are ordered such that with two classes the share of the second rises from 0 to 1.

    >>> grid(2, 2).tolist()
    [[2, 0], [1, 1], [0, 2]]
    >>> len(grid(3, 20)) == grid_size(3, 20) == 231
    True
    """
    # Stars and bars: a point is a choice of n_classes - 1 bars among steps + n_classes - 1 positions.
    n_positions = steps + n_classes - 1
    bars = np.array(list(combinations(range(n_positions), n_classes - 1)), dtype=np.int64)
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), n_positions)])
    return np.ascontiguousarray((np.diff(edges, axis=1) - 1)[::-1])


def uniform(n: int, n_classes: int, generator: np.random.Generator) -> FloatArray:
    """Draw points uniformly from the simplex: exponential variables divided by their sum (Kraemer 1999).

    >>> uniform(4, 3, np.random.default_rng(0)).sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    points = generator.standard_exponential((n, n_classes))
    shares: FloatArray = points / points.sum(axis=1, keepdims=True)
    return shares


def apportion(shares: FloatArray | IntArray, total: int, unit: int = 1) -> IntArray:
    """Round ``total * shares / unit`` to integers whose rows sum to ``total``, by largest remainders.

    Integer shares in units of ``1 / unit`` are rounded in integer arithmetic, free of floating-point error. Of equal remainders
    the later class is rounded up, so that with two classes the second gets ``total * share`` rounded half up.

    >>> apportion(np.array([[7, 3]]), 5, unit=10).tolist()
    [[3, 2]]
    >>> apportion(np.array([[0.2, 0.3, 0.5]]), 7).tolist()
    [[1, 2, 4]]
    """
    exact = shares * total
    counts = (exact // unit).astype(np.int64)
    remainders = exact - counts * unit
    missing = total - counts.sum(axis=1)
    # Rank of each remainder from the largest down; a stable sort of the reversed columns puts later classes first.
    order = np.argsort(-remainders[:, ::-1], axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")[:, ::-1]
    rounded: IntArray = counts + (ranks < missing[:, None])
    return rounded
