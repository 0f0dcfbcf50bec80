"""Cutting planes for a linear classifier with a loss of the whole labelling (Joachims 2005), computed on the items' scores.

    min 1/2 |w|^2 + C xi   such that for every labelling with a loss:  (100 / n) sum over flipped i of y_i f_i >= loss - xi,

with scores f_i = w . x_i + w_b, the bias regularised like the other weights. A cut is a labelling: its flips v, and
F = X X' v + sum(v), the change of all scores per unit of its weight. The problem over the working set of cuts is quadratic in their
weights alpha. Keeping F avoids computing scores from w: X is read only twice a round, for the new cut.
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
"""Rounds before stabilisation (a line search from the best point so far; Franc and Sonnenburg 2009) begins."""
_CAPACITY = 256
"""Number of cuts that the arrays can hold at first; the system commits memory when a row is written."""
_DROP_AFTER = 50
"""Rounds without weight after which a cut may be dropped."""
_DROP_AT_LEAST = 16
"""Cuts are dropped only when there are this many, because dropping copies the others."""
_LINE_SEARCH_STEPS = 8
_ROUNDING = 1e-15
"""Relative error of the lower bound from rounding, as a share of the sum of its absolute terms."""
_LARGEST = 1e150
"""Largest norm whose square can still be computed."""
_MAX_NOISY_ROUNDS = 20
"""Rounds in a row with rounding errors above the required precision after which the search ends."""
_STABILISED_STEP = 0.1
"""Share of the way from the best point to the quadratic problem's solution at which the second cut of a round is made."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of the rounds for one C.

    Attributes
    ----------
    coef, intercept
        Weights of the features, and of the constant feature.
    objective, bound : float
        The objective at these weights, and the largest lower bound of its optimum.
    n_iter : int
        Number of rounds.
    converged : bool
    rounding : bool
        Whether rounding errors prevented convergence.
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
        """Largest possible distance of the objective from the optimum."""
        return max(self.objective - self.bound, 0.0)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights of the cuts, with the scores, objective and worst labelling that follow from them."""

    alpha: FloatArray
    scores: FloatArray
    square: float
    """Squared norm of w."""
    value: float
    """Loss plus gain in score of the worst labelling."""
    labelling: tuple[AnyArray, AnyArray]
    """Positives labelled negative, and negatives labelled positive."""
    loss: float

    def objective(self, C: float) -> float:
        return self.square / 2.0 + C * max(self.value, 0.0)


class CuttingPlanes:
    """The working set of cuts for one labelled data set, which is kept from one C to the next.

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
        # Cut 0 is the true labelling, without loss or flips: it takes the part of C that the others do not.
        self.count = 1
        self.F = np.zeros((_CAPACITY, self.n))
        self.flips = np.zeros((_CAPACITY, self.n), dtype=np.int8)
        self.G = np.zeros((_CAPACITY, _CAPACITY))
        self.loss = np.zeros(_CAPACITY)
        self.alpha = np.zeros(_CAPACITY)
        self.unused = np.zeros(_CAPACITY, dtype=np.int64)
        self.rounds = 0
        self.best: _Point | None = None

    def solve(self, C: float, eps: float, max_iter: int) -> Solution:
        """Add cuts until the worst labelling exceeds the working set's slack by at most eps."""
        self._rescale_weights(C)
        bound, n_iter, noisy_rounds = -np.inf, 0, 0
        while True:
            value, noise = self._minimise(C, eps)
            bound = max(bound, value - noise)
            noisy_rounds = noisy_rounds + 1 if noise > C * eps else 0
            best = second = point = self._point(self.alpha[: self.count].copy())
            stabilised = self.best is not None and self.rounds >= _PLAIN_ROUNDS
            if self.best is not None and stabilised:
                best, second = self._line_search(self.best, point, C, 0.1 * C * eps)
            converged = best.objective(C) - bound <= C * eps
            if converged or n_iter >= max_iter or noisy_rounds > _MAX_NOISY_ROUNDS:
                break
            self.best = self._drop_unused(best)
            self._add_cut(point)
            if stabilised:
                self._add_cut(second)
            n_iter += 1
            self.rounds += 1
        self.best = best
        coef, intercept, objective = self._weights(best, C)
        converged = objective - bound <= C * eps * (1.0 + 1e-9)
        return Solution(coef, intercept, objective, bound, n_iter, bool(converged), not converged and noisy_rounds > 0)

    def _weights(self, best: _Point, C: float) -> tuple[FloatArray, float, float]:
        """Return the weights w at a point and the objective, computed from w itself; all weights are 0 where that is better.

        The scores kept for the cuts collect rounding errors over the rounds, so the objective is computed from w.
        """
        flips = best.alpha @ self.flips[: len(best.alpha)] * (100.0 / self.n)
        coef, intercept = self._sum_items(flips)
        solution = self._point_at_scores(best.alpha, self.X @ coef + intercept, float(coef @ coef + intercept**2))
        zero = self._point_at_scores(best.alpha, np.zeros(self.n), 0.0)
        if solution.objective(C) <= zero.objective(C):
            return coef, intercept, solution.objective(C)
        return np.zeros_like(coef), 0.0, zero.objective(C)

    def _rescale_weights(self, C: float) -> None:
        """Make the weights of the cuts sum to C: the true labelling gets what is missing, or all are scaled down."""
        total = self.alpha.sum()
        if total > C:
            self.alpha *= C / total
        else:
            self.alpha[0] += C - total

    def _minimise(self, C: float, eps: float) -> tuple[float, float]:
        """Solve the working set's problem; return its value, a lower bound of the objective, and the bound's rounding error."""
        from headcount.learners.svmperf import _kernels

        m = self.count
        alpha = self.alpha[:m]
        if not max(C, 1.0) * np.sqrt(np.abs(self.G[:m, :m]).max()) < _LARGEST:
            raise DataError(
                f"The features are too large for C={C:g}: their products overflow. Scale the features (for example to unit "
                "length), or lower C."
            )
        _kernels.minimise_on_simplex(self.G[:m, :m], self.loss[:m], float(C), 1e-3 * eps, 50 + 10 * m, alpha)
        self.unused[:m] = np.where(alpha > 0.0, 0, self.unused[:m] + 1)
        value = float(self.loss[:m] @ alpha - alpha @ self.G[:m, :m] @ alpha / 2.0)
        noise = _ROUNDING * float(alpha @ np.abs(self.G[:m, :m]) @ alpha)
        return value, noise

    def _point(self, alpha: FloatArray) -> _Point:
        from headcount.learners.svmperf import _kernels

        scores = np.empty(self.n)
        _kernels.weighted_sum(self.F, alpha, scores)
        return self._point_at_scores(alpha, scores, float(alpha @ self.G[: len(alpha), : len(alpha)] @ alpha))

    def _point_at_scores(self, alpha: FloatArray, scores: FloatArray, square: float) -> _Point:
        """Return the point with these scores, which the worst labelling follows from."""
        # Negated, because a stable sort in descending order is needed.
        positive, negative = -scores[self.positives], -scores[self.negatives]
        positive_order, negative_order = np.argsort(positive, kind="stable"), np.argsort(negative, kind="stable")
        value, a, b = self.worst(-positive[positive_order], -negative[negative_order])
        if a < 0:  # no labelling is worse than the true one
            return _Point(alpha, scores, square, 0.0, (self.positives[:0], self.negatives[:0]), 0.0)
        labelling = self.positives[positive_order[a:]], self.negatives[negative_order[:b]]
        return _Point(alpha, scores, square, value, labelling, self.worst.loss(a, b))

    def _line_search(self, best: _Point, point: _Point, C: float, tol: float) -> tuple[_Point, _Point]:
        """Search the line from the best point so far to this one; return the new best point, and one a little beyond it."""
        m = self.count
        best_alpha = np.pad(best.alpha, (0, m - len(best.alpha)))
        cross = float(best_alpha @ self.G[:m, :m] @ point.alpha)

        def at(t: float) -> _Point:
            square = (1 - t) ** 2 * best.square + 2 * t * (1 - t) * cross + t**2 * point.square
            return self._point_at_scores(
                (1 - t) * best_alpha + t * point.alpha, (1 - t) * best.scores + t * point.scores, max(square, 0.0)
            )

        # Along the line the objective is a quadratic function plus C times the maximum of many linear functions, one for each
        # labelling. Each evaluated point reveals one of them; the minimum over those revealed so far is evaluated next.
        quadratic = best.square - 2.0 * cross + point.square, 2.0 * (cross - best.square), best.square
        change = point.scores - best.scores
        lines: list[tuple[float, float]] = [(0.0, 0.0)]
        evaluated: list[tuple[float, float, _Point]] = []
        t, current = 0.0, best
        for step in range(1 + _LINE_SEARCH_STEPS):
            evaluated.append((current.objective(C), t, current))
            slope = self._gain(current, change)
            lines.append((C * (current.value - slope * t), C * slope))
            lowest, argmin = _minimum(quadratic, lines)
            if step > 0 and min(value for value, _, _ in evaluated) - lowest <= tol:
                break
            t, current = (1.0, point) if step == 0 else (argmin, at(argmin))
        _, t, new_best = min(evaluated, key=lambda entry: entry[:2])
        return new_best, at(t + _STABILISED_STEP * (1.0 - t))

    def _gain(self, point: _Point, scores: FloatArray) -> float:
        """Return the gain of the point's worst labelling from a change of scores."""
        missed, wrong = point.labelling
        return float(scores[wrong].sum() - scores[missed].sum()) * 100.0 / self.n

    def _drop_unused(self, best: _Point) -> _Point:
        """Drop cuts that have had no weight for many rounds, and have none in the best point either."""
        m = self.count
        best_alpha = np.pad(best.alpha, (0, m - len(best.alpha)))
        kept = np.flatnonzero((self.unused[:m] <= _DROP_AFTER) | (best_alpha > 0.0) | (np.arange(m) == 0))
        if len(kept) > m - _DROP_AT_LEAST:
            return replace(best, alpha=best_alpha)
        self.count = len(kept)
        self.G[: self.count, : self.count] = self.G[np.ix_(kept, kept)]
        for array in (self.F, self.flips, self.loss, self.alpha, self.unused):
            array[: self.count] = array[kept]
        self.alpha[self.count :] = 0.0
        return replace(best, alpha=best_alpha[kept])

    def _grow(self) -> None:
        """Double the number of cuts that the arrays can hold."""
        capacity = 2 * len(self.loss)
        for name in ("F", "flips", "loss", "alpha", "unused"):
            old = getattr(self, name)
            new = np.zeros((capacity, *old.shape[1:]), dtype=old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)
        self.G = np.pad(self.G, (0, len(self.G)))

    def _add_cut(self, point: _Point) -> None:
        """Add the worst labelling of a point as a cut."""
        missed, wrong = point.labelling
        if self.count == len(self.loss):
            self._grow()
        m = self.count
        flips = np.zeros(self.n)
        flips[missed], flips[wrong] = 1.0, -1.0
        flips *= 100.0 / self.n
        coef, intercept = self._sum_items(flips)
        with np.errstate(over="ignore", invalid="ignore"):  # the next round raises an error
            self.F[m] = self.X @ coef + intercept
            row = self.F[: m + 1] @ flips
        self.flips[m] = np.sign(flips)
        self.G[m, : m + 1] = self.G[: m + 1, m] = row
        self.loss[m], self.alpha[m], self.unused[m] = point.loss, 0.0, 0
        self.count += 1

    def _sum_items(self, weights: FloatArray) -> tuple[FloatArray, float]:
        """Return the sum of the items, each times its weight, and the sum of the weights (the constant feature)."""
        if not self.sparse:
            return weights @ self.X, float(weights.sum())
        from headcount.learners.svmperf import _kernels

        total = np.zeros(self.X.shape[1])
        _kernels.add_weighted_rows(self.X.indptr, self.X.indices, self.X.data, weights, total)
        return total, float(weights.sum())


def _minimum(quadratic: tuple[float, float, float], lines: list[tuple[float, float]]) -> tuple[float, float]:
    """Return minimum and argmin over [0, 1] of half a quadratic function plus the maximum of linear functions.

    The minimum is at an end, at the vertex of the quadratic function plus one linear one, or where two linear ones cross.
    """
    (a, b, c), (intercepts, slopes) = quadratic, np.array(lines).T
    with np.errstate(divide="ignore", invalid="ignore"):
        vertices = -(b / 2.0 + slopes) / a
        crossings = (intercepts[:, None] - intercepts) / (slopes - slopes[:, None])
    t = np.concatenate([[0.0, 1.0], vertices, crossings.ravel()])
    t = t[(t >= 0.0) & (t <= 1.0)]
    values = (a * t**2 + b * t + c) / 2.0 + (intercepts[:, None] + slopes[:, None] * t).max(axis=0)
    best = int(values.argmin())
    return float(values[best]), float(t[best])
