"""Solutions for one C from those for smaller ones, which fits on the same items share where they are made together."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csr_matrix, issparse

from headcount._typing import FloatArray
from headcount.learners.linear.losses import Loss
from headcount.learners.linear.newton import Problem, Solution

__all__ = ["Solutions", "shared_solutions", "solve_for"]

Solutions: TypeAlias = dict[str, dict[float, Solution]]
"""Solutions by problem (a hash of everything but C) and C."""
_STEP = 10.0
"""Ratio of C to the smaller value that a solution starts from: that of most grids, whose values then share all solutions."""

_shared: ContextVar[Solutions | None] = ContextVar("_shared", default=None)


@contextmanager
def shared_solutions(solutions: Solutions) -> Iterator[None]:
    """Let the fits of a ``with`` block share solutions of problems that differ in C alone, which changes none of them."""
    token = _shared.set(solutions)
    try:
        yield
    finally:
        _shared.reset(token)


def solve_for(
    X: Any, weights: FloatArray, loss_for: Callable[[float], Loss], C: float, tol: float, max_iter: int, *others: Any
) -> Solution:
    """Solve for C from the solutions for C / 10 and C / 100, which are found in the same way.

    The first value is the largest one with C times the mean squared length of an item at most 1, where a few steps from 0 are
    enough. From 0, the SVM with C = 1e5 takes twenty times as long.
    """
    shared = _shared.get()
    known = {} if shared is None else shared.setdefault(_hash(X, weights, tol, max_iter, *others), {})
    if C in known:
        return known[C]
    problem = Problem(X)
    starts: list[FloatArray] = []
    for value in _smaller(X, weights, C):
        if value not in known:
            known[value] = problem.solve(loss_for(value), starts, tol, max_iter)
        starts = [*starts[-1:], known[value].theta]
    return known[C]


def _smaller(X: Any, weights: FloatArray, C: float) -> list[float]:
    """Return the values of C to solve for, from the smallest to C itself."""
    items: Any = csr_matrix((X.data**2, X.indices, X.indptr), X.shape) if _is_sparse(X) else X * X
    scale = float((weights[:, 0] * (items @ np.ones(X.shape[1]))).mean())
    values = [float(C)]
    while values[-1] * scale > 1.0 and len(values) < 40:
        values.append(values[-1] / _STEP)
    return values[::-1]


def _is_sparse(X: Any) -> bool:  # issparse narrows the type to one without arrays
    return bool(issparse(X))


def _hash(X: Any, *others: Any) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    for array in (X.indptr, X.indices, X.data) if _is_sparse(X) else (X,):
        digest.update(np.ascontiguousarray(array).data)
    for other in (X.shape, *others):
        digest.update(other.tobytes() if isinstance(other, np.ndarray) else repr(other).encode())
    return digest.hexdigest()
