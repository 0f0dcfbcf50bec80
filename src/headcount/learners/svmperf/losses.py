"""Losses of a whole labelling, as functions of its contingency table, and the search for the worst labelling.

All losses are in percent, except KLD.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["LOSSES", "TableLoss", "WorstLabelling", "worst_labelling"]

TableLoss = Callable[[Any, Any, Any, Any], Any]
"""(true positives, false positives, false negatives, true negatives), each a number or an array, to the loss."""

_TABLE_LIMIT = 20_000_000
"""Largest number of entries of a custom loss's table that is kept in memory between rounds."""


Counts = tuple[float, int, int]
"""The largest loss plus gain in score, and the numbers of positives and of negatives that are labelled positive there."""


@dataclass(frozen=True, eq=False)
class WorstLabelling:
    """Search for the labelling that maximises loss plus gain in score.

    Attributes
    ----------
    search : callable
        Takes the scores of the positive and of the negative items, each in descending order, of which the first are labelled
        positive; returns the maximum and both numbers.
    loss : callable
        Takes the numbers of positives and of negatives that are labelled positive; returns the loss.
    """

    search: Callable[[FloatArray, FloatArray], Counts]
    loss: Callable[[int, int], float]

    def __call__(self, positive: FloatArray, negative: FloatArray) -> Counts:
        """Return the maximum, and the numbers of positives and of negatives that are labelled positive."""
        return self.search(positive, negative)


def _absolute_error(k: IntArray, P: int, N: int) -> FloatArray:
    return 100.0 * np.abs(k - P) / (P + N)


def _relative_absolute_error(k: IntArray, P: int, N: int) -> FloatArray:
    return 50.0 * np.abs(k - P) * (1.0 / (P + 0.5) + 1.0 / (N + 0.5))


def _kld(k: IntArray, P: int, N: int) -> FloatArray:
    p, q = (P + 0.5) / (P + N + 1), (N + 0.5) / (P + N + 1)
    divergence: FloatArray = p * np.log((P + 0.5) / (k + 0.5)) + q * np.log((N + 0.5) / (P + N - k + 0.5))
    divergence[P] = 0.0
    return divergence


def _nkld(k: IntArray, P: int, N: int) -> FloatArray:
    return 100.0 - 200.0 / (1.0 + np.exp(_kld(k, P, N)))


_BY_COUNT = {"ae": _absolute_error, "rae": _relative_absolute_error, "kld": _kld, "nkld": _nkld}
"""Losses of the number k = 0 .. P + N of items that are labelled positive, of which P are."""
Q, F1 = 0, 1
_BY_PAIR = {"q": (Q, (0, 1)), "f1": (F1, (0,))}
"""Losses of both numbers, with their sides: Q is the larger of two losses."""
LOSSES = (*_BY_COUNT, "q", "error", "f1")
"""Names of the losses."""


def worst_labelling(loss: str | TableLoss, P: int, N: int) -> WorstLabelling:
    """Return the search for the worst labelling of P positive and N negative items.

    >>> search = worst_labelling("ae", 2, 2)
    >>> search(np.array([3.0, 1.0]), np.array([2.0, -1.0]))          # all labelled positive: 50 + 100 / 4 * (2 - 1)
    (75.0, 2, 2)
    """
    from headcount.learners.svmperf import _kernels

    scale = 100.0 / (P + N)
    if callable(loss):
        table = _LossTable(loss, P, N)
        return WorstLabelling(table.search, table.loss)
    if loss in _BY_COUNT:
        losses = _BY_COUNT[loss](np.arange(P + N + 1), P, N)
        return WorstLabelling(
            lambda positive, negative: _kernels.worst_by_count(positive, negative, scale, losses),
            lambda a, b: float(losses[a + b]),
        )
    if loss in _BY_PAIR:
        which, sides = _BY_PAIR[loss]
        return WorstLabelling(
            lambda positive, negative: _kernels.worst_by_pair(which, positive, negative, scale),
            lambda a, b: max(float(_kernels.pair_loss(which, side, a, b, P, N)) for side in sides),
        )
    if loss == "error":
        return WorstLabelling(
            lambda positive, negative: _kernels.worst_by_item(positive, negative, scale),
            lambda a, b: 100.0 * (P - a + b) / (P + N),
        )
    raise UnknownNameError(
        f"There is no loss {loss!r}: use one of {quoted(LOSSES)}, or a function of (tp, fp, fn, tn)."
    )


class _LossTable:
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
        one_each = losses.shape == counts[0].shape
        if not one_each or not np.isfinite(losses).all():
            returned = "numbers that are not finite" if one_each else f"an array of shape {losses.shape}"
            raise DataError(
                f"The loss must return one finite number for each contingency table: it was given arrays of shape "
                f"{counts[0].shape} (true positives, false positives, false negatives, true negatives) and returned "
                f"{returned}."
            )
        return losses

    def search(self, positive: FloatArray, negative: FloatArray) -> Counts:
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
