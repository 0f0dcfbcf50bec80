"""Losses of a whole labelling, as functions of its contingency table, and the search for the worst labelling.

All losses are in percent, except KLD.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from headcount._typing import FloatArray
from headcount._validation import quoted
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["LOSSES", "TableLoss", "WorstLabelling", "worst_labelling"]

TableLoss = Callable[[Any, Any, Any, Any], Any]
"""(true positives, false positives, false negatives, true negatives), each a number or an array, to the loss."""

_TABLE_LIMIT = 20_000_000
"""Largest number of entries of a custom loss's table that is kept in memory between rounds."""


class WorstLabelling(Protocol):
    """Search for the labelling that maximises loss plus gain in score."""

    def __call__(self, positive: FloatArray, negative: FloatArray) -> tuple[float, int, int]:
        """Return the maximum, and the numbers of positives and of negatives that are labelled positive.

        The arrays hold the scores of the items of each class, in descending order. The first of each are labelled positive.
        """

    def loss(self, a: int, b: int) -> float:
        """Return the loss when a positives and b negatives are labelled positive."""


def _absolute_error(P: int, N: int) -> FloatArray:
    k = np.arange(P + N + 1)
    return 100.0 * np.abs(k - P) / (P + N)


def _relative_absolute_error(P: int, N: int) -> FloatArray:
    k = np.arange(P + N + 1)
    smoothed: FloatArray = 50.0 * np.abs(k - P) * (1.0 / (P + 0.5) + 1.0 / (N + 0.5))
    return smoothed


def _kld(P: int, N: int) -> FloatArray:
    k = np.arange(P + N + 1)
    p, q = (P + 0.5) / (P + N + 1), (N + 0.5) / (P + N + 1)
    divergence: FloatArray = p * np.log((P + 0.5) / (k + 0.5)) + q * np.log((N + 0.5) / (P + N - k + 0.5))
    divergence[P] = 0.0
    return divergence


def _nkld(P: int, N: int) -> FloatArray:
    return 100.0 - 200.0 / (1.0 + np.exp(_kld(P, N)))


_BY_COUNT = {"ae": _absolute_error, "rae": _relative_absolute_error, "kld": _kld, "nkld": _nkld}
Q, F1 = 0, 1
_BY_PAIR = {"q": Q, "f1": F1}
LOSSES = (*_BY_COUNT, "q", "error", "f1")
"""Names of the losses."""


def worst_labelling(loss: str | TableLoss, P: int, N: int) -> WorstLabelling:
    """Return the search for the worst labelling of P positive and N negative items.

    >>> search = worst_labelling("ae", 2, 2)
    >>> search(np.array([3.0, 1.0]), np.array([2.0, -1.0]))          # all labelled positive: 50 + 100 / 4 * (2 - 1)
    (75.0, 2, 2)
    """
    if callable(loss):
        return _ByTable(loss, P, N)
    if loss in _BY_COUNT:
        return _ByCount(_BY_COUNT[loss](P, N), 100.0 / (P + N))
    if loss in _BY_PAIR:
        return _ByPair(_BY_PAIR[loss], P, N)
    if loss == "error":
        return _ByItem(P, N)
    raise UnknownNameError(
        f"There is no loss {loss!r}: use one of {quoted(LOSSES)}, or a function of (tp, fp, fn, tn)."
    )


@dataclass(frozen=True, eq=False)
class _ByCount:
    """Search for losses of the number that are labelled positive: one pass over the merged scores."""

    by_count: FloatArray
    scale: float

    def __call__(self, positive: FloatArray, negative: FloatArray) -> tuple[float, int, int]:
        from headcount.learners.svmperf import _kernels

        return _kernels.worst_by_count(positive, negative, self.scale, self.by_count)  # type: ignore[no-any-return]

    def loss(self, a: int, b: int) -> float:
        return float(self.by_count[a + b])


@dataclass(frozen=True, eq=False)
class _ByItem:
    """Search for the error rate: one pass, because each item can be decided separately."""

    P: int
    N: int

    def __call__(self, positive: FloatArray, negative: FloatArray) -> tuple[float, int, int]:
        from headcount.learners.svmperf import _kernels

        return _kernels.worst_by_item(positive, negative, 100.0 / (self.P + self.N))  # type: ignore[no-any-return]

    def loss(self, a: int, b: int) -> float:
        return 100.0 * (self.P - a + b) / (self.P + self.N)


@dataclass(frozen=True, eq=False)
class _ByPair:
    """Search for Q and F1: divide and conquer over both numbers."""

    which: int
    P: int
    N: int

    def __call__(self, positive: FloatArray, negative: FloatArray) -> tuple[float, int, int]:
        from headcount.learners.svmperf import _kernels

        return _kernels.worst_by_pair(self.which, positive, negative, 100.0 / (self.P + self.N))  # type: ignore[no-any-return]

    def loss(self, a: int, b: int) -> float:
        from headcount.learners.svmperf import _kernels

        sides = (0, 1) if self.which == Q else (0,)
        return max(float(_kernels.pair_loss(self.which, side, a, b, self.P, self.N)) for side in sides)


class _ByTable:
    """Search for a custom loss: all pairs of numbers are tried, in blocks of rows."""

    def __init__(self, function: TableLoss, P: int, N: int) -> None:
        self.function, self.P, self.N = function, P, N
        self.table = self._rows(np.arange(P + 1)) if (P + 1) * (N + 1) <= _TABLE_LIMIT else None

    def _rows(self, a: Any) -> FloatArray:
        a, b = np.asarray(a)[:, None], np.arange(self.N + 1)[None, :]
        counts = np.broadcast_arrays(a, b, self.P - a, self.N - b)
        try:
            losses = np.asarray(self.function(*counts), dtype=np.float64)
        except Exception as error:
            raise DataError(
                "The loss must take four arrays of the same shape (true positives, false positives, false negatives, true "
                f"negatives) and return an array of numbers; it failed: {type(error).__name__}: {error}"
            ) from error
        if losses.shape != counts[0].shape or not np.isfinite(losses).all():
            raise DataError(
                f"The loss must return one finite number for each contingency table: it was given arrays of shape "
                f"{counts[0].shape} (true positives, false positives, false negatives, true negatives) and returned "
                + (
                    f"an array of shape {losses.shape}."
                    if losses.shape != counts[0].shape
                    else "numbers that are not finite."
                )
            )
        return losses

    def __call__(self, positive: FloatArray, negative: FloatArray) -> tuple[float, int, int]:
        scale = 100.0 / (self.P + self.N)
        positive_gains = scale * (np.concatenate([[0.0], np.cumsum(positive)]) - positive.sum())
        negative_gains = scale * np.concatenate([[0.0], np.cumsum(negative)])
        best, best_a, best_b = -np.inf, -1, -1
        height = max(1, _TABLE_LIMIT // (10 * (self.N + 1)))
        for start in range(0, self.P + 1, height):
            rows = np.arange(start, min(start + height, self.P + 1))
            losses = self._rows(rows) if self.table is None else self.table[rows]
            values = np.where(losses > 0.0, losses + positive_gains[rows, None] + negative_gains, -np.inf)[:, ::-1]
            a, b = divmod(int(values.argmax()), self.N + 1)
            if values[a, b] > best:
                best, best_a, best_b = float(values[a, b]), start + a, self.N - b
        return best, best_a, best_b

    def loss(self, a: int, b: int) -> float:
        if self.table is not None:
            return float(self.table[a, b])
        return float(self._rows(np.array([a]))[0, b])
