"""Cutting planes for a linear classifier with a loss of the whole labelling (Joachims 2005), in the space of scores.

    min 1/2 |w|^2 + C xi   such that for every labelling with a loss:  (100 / n) sum over flipped i of y_i f_i >= loss - xi,

with scores f_i = w . x_i + w_b, the bias regularised like the other weights. A cut is a labelling: its flips v, and
F = X X' v + sum(v), what a unit of it adds to all scores. The working set's problem is a quadratic one over the weights of the
cuts; X is read twice a round, for the new cut.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.learners.svmperf.losses import WorstLabelling

__all__ = ["CuttingPlanes", "Solution"]

_PLAIN_ROUNDS = 100
_ROOM = 256
"""Cuts that there is room for at first; memory is taken when one is made."""
_FORGET_AFTER, _FORGET_AT_ONCE = 50, 16
_LINE_SEARCH = 8
_ROUNDING = 1e-15
"""Of the sum of the absolute terms of the bound: what rounding may have added to it."""
_LARGEST = 1e150
_BLIND_ROUNDS = 20
"""Rounds in a row in which that exceeds what was asked for, before it is given up."""
_INSIDE = 0.1
"""How far from the best point towards the quadratic problem's a stabilised cut is made."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Where the rounds for one C ended.

    Attributes
    ----------
    coef, intercept
        The weights of the features, and of the constant one.
    objective, bound : float
        The problem's value there, and the largest lower bound of its optimum.
    n_iter : int
        Rounds, which is cuts made.
    converged : bool
    rounding : bool
        Whether it ended because rounding leaves nothing to gain.
    """

    coef: FloatArray
    intercept: float
    objective: float
    bound: float
    n_iter: int
    converged: bool
    rounding: bool = False

    @property
    def gap(self) -> float:
        """How far the objective may be from the optimum at most."""
        return max(self.objective - self.bound, 0.0)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights of the cuts with what follows from them."""

    alpha: FloatArray
    scores: FloatArray
    square: float
    """The squared norm of w."""
    value: float
    """The worst labelling's loss plus gain in score."""
    labelling: tuple[AnyArray, AnyArray]
    """Positives called negative, and negatives called positive."""
    loss: float

    def objective(self, C: float) -> float:
        return self.square / 2.0 + C * max(self.value, 0.0)


class CuttingPlanes:
    """The working set of cuts over one labelled set, which is carried from one C to the next.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_items, n_features)
    positive : array of bool
    worst : WorstLabelling
    """

    def __init__(self, X: Any, positive: AnyArray, worst: WorstLabelling) -> None:
        self.X: Any = X
        self.sparse, self.worst = sp.issparse(X), worst
        self.positives, self.negatives = np.flatnonzero(positive), np.flatnonzero(~positive)
        self.n = len(positive)
        # Cut 0 is the truth itself: without loss or flips, it takes the weight that the others leave of C.
        self.count = 1
        self.F = np.zeros((_ROOM, self.n))
        self.flips = np.zeros((_ROOM, self.n), dtype=np.int8)
        self.G = np.zeros((_ROOM, _ROOM))
        self.loss = np.zeros(_ROOM)
        self.alpha = np.zeros(_ROOM)
        self.unused = np.zeros(_ROOM, dtype=np.int64)
        self.rounds = 0
        self.best: _Point | None = None

    def solve(self, C: float, eps: float, max_iter: int) -> Solution:
        """Go on until the worst labelling exceeds the working set's slack by at most eps."""
        self._spread(C)
        bound, n_iter, blind = -np.inf, 0, 0
        while True:
            value, noise = self._minimise(C, eps)
            bound = max(bound, value - noise)
            blind = blind + 1 if noise > C * eps else 0
            best = inside = point = self._at(self.alpha[: self.count].copy())
            stabilised = self.best is not None and self.rounds >= _PLAIN_ROUNDS
            if self.best is not None and stabilised:
                best, inside = self._between(self.best, point, C, 0.1 * C * eps)
            converged = best.objective(C) - bound <= C * eps
            if converged or n_iter >= max_iter or blind > _BLIND_ROUNDS:
                break
            self.best = self._forget(best)
            self._add(point)
            if stabilised:
                self._add(inside)
            n_iter += 1
            self.rounds += 1
        self.best = best
        coef, intercept, objective = self._weights(best, C)
        converged = objective - bound <= C * eps * (1.0 + 1e-9)
        return Solution(coef, intercept, objective, bound, n_iter, bool(converged), not converged and blind > 0)

    def _weights(self, best: _Point, C: float) -> tuple[FloatArray, float, float]:
        """Return the weights at a point and the problem's value there, reckoned anew from them; no weights, if these are better."""
        total = best.alpha @ self.flips[: len(best.alpha)] * (100.0 / self.n)
        coef, intercept = self._combined(total)
        found = self._judged(best.alpha, self.X @ coef + intercept, float(coef @ coef + intercept**2))
        none = self._judged(best.alpha, np.zeros(self.n), 0.0)
        if found.objective(C) <= none.objective(C):
            return coef, intercept, found.objective(C)
        return np.zeros_like(coef), 0.0, none.objective(C)

    def _spread(self, C: float) -> None:
        """Make the weights sum to C: more goes to the truth, less is taken from all."""
        total = self.alpha.sum()
        if total > C:
            self.alpha *= C / total
        else:
            self.alpha[0] += C - total

    def _minimise(self, C: float, eps: float) -> tuple[float, float]:
        """Solve the working set's problem; return its value, a lower bound of the objective, and what rounding may have added."""
        from headcount.learners.svmperf import _kernels

        m = self.count
        alpha = self.alpha[:m]
        if not max(C, 1.0) * np.sqrt(np.abs(self.G[:m, :m]).max()) < _LARGEST:
            raise DataError(
                f"The features are too large for C={C:g}: their products exceed what numbers can hold. Scale the features "
                "(say to unit length), or lower C."
            )
        _kernels.minimise_on_simplex(self.G[:m, :m], self.loss[:m], float(C), 1e-3 * eps, 50 + 10 * m, alpha)
        self.unused[:m] = np.where(alpha > 0.0, 0, self.unused[:m] + 1)
        value = float(self.loss[:m] @ alpha - alpha @ self.G[:m, :m] @ alpha / 2.0)
        noise = _ROUNDING * float(alpha @ np.abs(self.G[:m, :m]) @ alpha)
        return value, noise

    def _at(self, alpha: FloatArray) -> _Point:
        from headcount.learners.svmperf import _kernels

        scores = np.empty(self.n)
        _kernels.weighted_sum(self.F, alpha, scores)
        return self._judged(alpha, scores, float(alpha @ self.G[: len(alpha), : len(alpha)] @ alpha))

    def _judged(self, alpha: FloatArray, scores: FloatArray, square: float) -> _Point:
        of_positives, of_negatives = -scores[self.positives], -scores[self.negatives]
        first, second = np.argsort(of_positives, kind="stable"), np.argsort(of_negatives, kind="stable")
        value, a, b = self.worst(-of_positives[first], -of_negatives[second])
        if a < 0:
            return _Point(alpha, scores, square, 0.0, (self.positives[:0], self.negatives[:0]), 0.0)
        labelling = self.positives[first[a:]], self.negatives[second[:b]]
        return _Point(alpha, scores, square, value, labelling, self.worst.loss(a, b))

    def _between(self, best: _Point, point: _Point, C: float, tol: float) -> tuple[_Point, _Point]:
        """Search the line from the best point so far to this one; return the new best, and one a little beyond it."""
        m = self.count
        old = np.zeros(m)
        old[: len(best.alpha)] = best.alpha
        cross = float(old @ self.G[:m, :m] @ point.alpha)

        def on_line(t: float) -> _Point:
            square = (1 - t) ** 2 * best.square + 2 * t * (1 - t) * cross + t**2 * point.square
            return self._judged(
                (1 - t) * old + t * point.alpha, (1 - t) * best.scores + t * point.scores, max(square, 0.0)
            )

        # Along the line the objective is a quadratic function plus C times the largest of many straight ones, of which each point
        # that was judged shows one: the lowest place of those known so far is judged next.
        curve = best.square - 2.0 * cross + point.square, 2.0 * (cross - best.square), best.square
        change = point.scores - best.scores
        lines: list[tuple[float, float]] = [(0.0, 0.0)]
        tried: list[tuple[float, float, _Point]] = []
        t, judged = 0.0, best
        for following in (1.0, *[None] * _LINE_SEARCH):
            tried.append((judged.objective(C), t, judged))
            slope = self._gain(judged, change)
            lines.append((C * (judged.value - slope * t), C * slope))
            lowest, ahead = _lowest(curve, lines)
            if following is None and min(value for value, _, _ in tried) - lowest <= tol:
                break
            t = ahead if following is None else following
            judged = point if following == 1.0 else on_line(t)
        _, t, found = min(tried, key=lambda entry: entry[:2])
        return found, on_line(t + _INSIDE * (1.0 - t))

    def _gain(self, point: _Point, scores: FloatArray) -> float:
        """Return how much a change of scores would add to what the point's worst labelling gains."""
        missed, wrong = point.labelling
        return float(scores[wrong].sum() - scores[missed].sum()) * 100.0 / self.n

    def _forget(self, best: _Point) -> _Point:
        """Drop cuts that have had no weight for long and that the best point does not rest on either."""
        m = self.count
        held = np.zeros(m)
        held[: len(best.alpha)] = best.alpha
        kept = np.flatnonzero((self.unused[:m] <= _FORGET_AFTER) | (held > 0.0) | (np.arange(m) == 0))
        if len(kept) > m - _FORGET_AT_ONCE:
            kept = np.arange(m)
        else:
            self.count = len(kept)
            self.G[: self.count, : self.count] = self.G[np.ix_(kept, kept)]
            for array in (self.F, self.flips, self.loss, self.alpha, self.unused):
                array[: self.count] = array[kept]
            self.alpha[self.count :] = 0.0
        return replace(best, alpha=held[kept])

    def _grow(self) -> None:
        """Make room for twice as many cuts."""
        room = 2 * len(self.loss)
        for name in ("F", "flips", "loss", "alpha", "unused"):
            old = getattr(self, name)
            new = np.zeros((room, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        G = np.zeros((room, room))
        G[: len(self.G), : len(self.G)] = self.G
        self.G = G

    def _add(self, cut: _Point) -> None:
        """Make a cut of a point's worst labelling."""
        missed, wrong = cut.labelling
        if self.count == len(self.loss):
            self._grow()
        m = self.count
        flips = np.zeros(self.n)
        flips[missed], flips[wrong] = 1.0, -1.0
        flips *= 100.0 / self.n
        coef, intercept = self._combined(flips)
        with np.errstate(over="ignore", invalid="ignore"):  # the next round says what is wrong
            self.F[m] = self.X @ coef + intercept
            row = self.F[: m + 1] @ flips
        self.flips[m] = np.sign(flips)
        self.G[m, : m + 1] = self.G[: m + 1, m] = row
        self.loss[m], self.alpha[m], self.unused[m] = cut.loss, 0.0, 0
        self.count += 1

    def _combined(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Add up the items, each times its weight, the constant feature apart."""
        if not self.sparse:
            return weights @ self.X, float(weights.sum())
        from headcount.learners.svmperf import _kernels

        total = np.zeros(self.X.shape[1])
        _kernels.rows_added_up(self.X.indptr, self.X.indices, self.X.data, weights, total)
        return total, float(weights.sum())


def _lowest(curve: tuple[float, float, float], lines: list[tuple[float, float]]) -> tuple[float, float]:
    """Return least value and place, in [0, 1], of half a quadratic function plus the largest of some straight ones."""
    (a, b, c), (heights, slopes) = curve, np.array(lines).T
    with np.errstate(divide="ignore", invalid="ignore"):
        bottoms = -(b / 2.0 + slopes) / a
        crossings = (heights[:, None] - heights) / (slopes - slopes[:, None])
    places = np.concatenate([[0.0, 1.0], bottoms, crossings.ravel()])
    places = places[(places >= 0.0) & (places <= 1.0)]
    values = (a * places**2 + b * places + c) / 2.0 + (heights[:, None] + slopes[:, None] * places).max(axis=0)
    best = int(values.argmin())
    return float(values[best]), float(places[best])
