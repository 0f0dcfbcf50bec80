"""Compiled: mean Euclidean distances between classes of training items, and between them and a bag, of many columns of ranks.

Every bag has ranks of its own, so that all pairs are visited for each bag: in single precision, eight at a time.
"""

from typing import Any

import numpy as np

from headcount._compile import kernel


@kernel(fastmath=True)
def _row(C: Any, i: int, first: int, last: int, e: Any) -> float:
    """Return the sum of the distances of item i from items first to last, a column each."""
    for m in range(first, last):
        off = C[0, m] - C[0, i]
        e[m] = off * off
    for c in range(1, C.shape[0]):
        for m in range(first, last):
            off = C[c, m] - C[c, i]
            e[m] += off * off
    total = np.float32(0.0)
    for m in range(first, last):
        total += np.sqrt(e[m])
    return total


@kernel()
def _mean_distances(C: Any, ends: Any, weights: Any, M: Any, q: Any) -> None:
    k, n = len(ends) - 1, ends[-1]
    e = np.empty(C.shape[1], dtype=np.float32)
    for a in range(k):
        for i in range(ends[a], ends[a + 1]):
            M[a, a] += 2.0 * _row(C, i, i + 1, ends[a + 1], e)
            for b in range(a + 1, k):
                M[a, b] += _row(C, i, ends[b], ends[b + 1], e)
    size = 0.0
    for i in range(n, C.shape[1]):
        size += weights[i]
        for a in range(k):
            q[a] += weights[i] * _row(C, i, ends[a], ends[a + 1], e)
    for a in range(k):
        q[a] /= size * (ends[a + 1] - ends[a])
        for b in range(a, k):
            M[a, b] /= (ends[a + 1] - ends[a]) * (ends[b + 1] - ends[b])
            M[b, a] = M[a, b]


def mean_distances(C: Any, ends: Any, weights: Any) -> tuple[Any, Any]:
    """Return mean distances between classes, and of the bag's items, which come after the training items, from each class.

    Parameters
    ----------
    C : array of float32, a column each item
    ends : where the training items of each class begin, and their number
    weights : how often the bag holds each of its items
    """
    k = len(ends) - 1
    M, q = np.zeros((k, k)), np.zeros(k)
    _mean_distances(C, ends, weights, M, q)
    return M, q
