r"""Truncated Newton's method for regularised linear classifiers, with a certified gap to the optimum.

The objective is P(w, b) = 1/2 |w|^2 + sum of weighted losses of the scores X w + b. Without its first term it is convex, so P,
minimised over b, is strongly convex with constant 1, and at a point where the derivative by b is 0

.. math:: P(w, b) - P^* \le \tfrac12 |\nabla_w P(w, b)|^2.

This equals the duality gap with the dual variables taken from the losses' slopes. It is taken relative to 1/2 |w|^2, which is
less than P: relative to P, weights of 0 would do for small C. Strong convexity also gives 1/2 |w - w*|^2 <= P - P*, so that a
relative gap of tol means weights within sqrt(tol) of the optimal ones, relative to their length. Newton steps are solved by
conjugate gradients.

References
----------
Lin, Weng and Keerthi (2008). Trust region Newton method for large-scale logistic regression. JMLR 9.
Keerthi and DeCoste (2005). A modified finite Newton method for fast solution of large scale linear SVMs. JMLR 6.
Chu, Ho, Tsai, Lin and Lin (2015). Warm start for parameter selection of linear classifiers. KDD.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from headcount._typing import FloatArray
from headcount.learners.linear.losses import At, Loss

__all__ = ["Problem", "Solution"]

_MAX_CG = 1000
_ENOUGH = 0.2
"""Part of the gradient that the gap allows, to which a Newton step may leave it."""
_MAX_STALLED = 5
_MOST_CURVED = 0.8
"""Share of the items up to which those with curvature are cut out for a Newton step."""
_LEAST_PENALTY = 1e-9
"""Least size that gaps are taken relative to, as a part of the objective: the optimal weights may be 0."""
_CURVED, _SUFFICIENT, _LEAST_STEP = 1e-300, 1e-4, 1e-10
_BALANCED = 1e-10
"""Largest derivative by an unregularised intercept, relative to the sum of the absolute slopes, that counts as 0."""


@dataclass(frozen=True)
class Solution:
    """Weights (n_scores, n_features + 1) whose last column is the intercepts, the objective and the relative gap reached."""

    theta: FloatArray
    objective: float
    gap: float
    n_iter: int


@dataclass
class _Point:
    theta: FloatArray
    scores: FloatArray
    at: At
    objective: float


class Problem:
    """The items of a linear classification problem, to be solved for one loss after another.

    Parameters
    ----------
    X : array or CSR matrix of float64
    """

    def __init__(self, X: Any) -> None:
        self.X, self.XT = (
            X,
            X.T,
        )  # kept: to make the transpose of a sparse matrix takes longer than a product with few items
        self.n, self.d = X.shape
        self.sparse = issparse(X)
        # With at least as many features as items most eigenvalues of the Hessian equal 1; scaling by its diagonal would spread
        # them, and took twice the products on 15,000 reviews. Without it, features of different units would take very many.
        self.squares = None if self.d >= self.n else X.multiply(X).tocsr() if self.sparse else X * X

    def solve(self, loss: Loss, starts: list[FloatArray], tol: float, max_iter: int) -> Solution:
        """Minimise the objective to a relative gap of ``tol``, from the last start, or further along the line of the last two."""
        penalty = np.ones(self.d + 1)
        penalty[-1] = 1.0 if loss.regularised_intercept else 0.0
        point = self._start(loss, penalty, starts)
        stalled = 0
        for n_iter in range(max_iter + 1):
            if not loss.regularised_intercept:
                point = _with_best_intercept(loss, penalty, point)
            gradient = _gradient(self.XT, point.at.slopes) + penalty * point.theta
            allowed = max(0.5 * float((penalty * point.theta**2).sum()), _LEAST_PENALTY * point.objective)
            of_weights = gradient if loss.regularised_intercept else gradient[:, :-1]
            gap = 0.5 * float((of_weights**2).sum()) / allowed if allowed > 0.0 else 0.0
            if not loss.regularised_intercept and not _is_balanced(point.at.slopes):
                gap = np.inf
            if gap <= tol or n_iter == max_iter:
                break
            enough = _ENOUGH * float(np.sqrt(2.0 * tol * allowed))
            step = self._newton_step(loss, point.at, penalty, gradient, enough)
            moved = self._line_search(loss, penalty, point, step, float((gradient * step).sum()))
            stalled = stalled + 1 if moved is None or moved.objective >= point.objective * (1.0 - 1e-14) else 0
            if moved is None or stalled >= _MAX_STALLED:  # rounding errors prevent more
                break
            point = moved
        return Solution(point.theta, point.objective, float(gap), n_iter)

    def _start(self, loss: Loss, penalty: FloatArray, starts: list[FloatArray]) -> _Point:
        theta = starts[-1] if starts else np.zeros((loss.n_scores, self.d + 1))
        point = _point(loss, penalty, theta, _scores(self.X, theta) if starts else np.zeros((self.n, loss.n_scores)))
        if len(starts) < 2 or not loss.smooth:
            return point
        # Solutions move along a smooth path in log C: start at the best point on the secant of the last two.
        secant = starts[-1] - starts[-2]
        change = _scores(self.X, secant)
        t, slope, curvature = 0.0, 0.0, 0.0
        best = point
        for _ in range(10):
            slope = float((best.at.slopes * change).sum() + (penalty * best.theta * secant).sum())
            curvature = float((change * best.at.curve(change)).sum() + (penalty * secant**2).sum())
            if curvature < _CURVED:
                break
            t = -slope / curvature
            new = _point(loss, penalty, best.theta + t * secant, best.scores + t * change)
            if new.objective >= best.objective * (1.0 - 1e-3):
                return new if new.objective < best.objective else best
            best = new
        return best

    def _newton_step(self, loss: Loss, at: At, penalty: FloatArray, gradient: FloatArray, enough: float) -> FloatArray:
        """Solve the Newton equation by conjugate gradients until the residual is small, or small enough for the gap."""
        scale, hessian = self._diagonal(at.diagonal, penalty), self._hessian(at)
        size = float(np.sqrt((gradient**2).sum()))
        limit = max(loss.forcing * size, enough if enough < size else 0.0)
        step = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / scale
        direction = scaled.copy()
        product = float((residual * scaled).sum())
        for _ in range(_MAX_CG):
            image = hessian(direction) + penalty * direction
            curvature = float((direction * image).sum())
            if curvature <= _CURVED:
                break
            length = product / curvature
            step += length * direction
            residual -= length * image
            if np.sqrt((residual**2).sum()) <= limit:
                break
            scaled = residual / scale
            former, product = product, float((residual * scaled).sum())
            direction *= product / former
            direction += scaled
        if not loss.regularised_intercept and len(step) > 1:
            step[:, -1] -= step[:, -1].mean()  # which posteriors do not depend on
        return step

    def _hessian(self, at: At) -> Callable[[FloatArray], FloatArray]:
        """Return the product of the losses' Hessian with a direction; items without curvature are left out."""
        curved = np.flatnonzero(at.diagonal.any(axis=1))
        if at.slopes.shape[1] > 1 or len(curved) > _MOST_CURVED * self.n:
            return lambda direction: _gradient(self.XT, at.curve(_scores(self.X, direction)))
        X, diagonal = self.X[curved], at.diagonal[curved]
        XT = X.T
        return lambda direction: _gradient(XT, diagonal * _scores(X, direction))

    def _diagonal(self, curvatures: FloatArray, penalty: FloatArray) -> FloatArray:
        """Return the diagonal of the Hessian; without scaling, that of the intercepts and 1 for the weights."""
        of_intercepts = curvatures.sum(axis=0)
        if self.squares is None:
            diagonal = np.ones((len(of_intercepts), self.d + 1))
            diagonal[:, -1] = of_intercepts + penalty[-1]
        else:
            diagonal = np.column_stack([np.asarray(self.squares.T @ curvatures).T, of_intercepts]) + penalty
        diagonal[diagonal <= 0.0] = 1.0
        return diagonal

    def _line_search(
        self, loss: Loss, penalty: FloatArray, point: _Point, step: FloatArray, slope: float
    ) -> _Point | None:
        """Halve the step until the objective falls enough (Armijo's rule); None if no step does. Takes one product with X."""
        change = _scores(self.X, step)
        t = 1.0
        while t > _LEAST_STEP:
            new = _point(loss, penalty, point.theta + t * step, point.scores + t * change)
            if new.objective <= point.objective + _SUFFICIENT * t * slope:
                return new
            t /= 2.0
        return None


def _scores(X: Any, theta: FloatArray) -> FloatArray:
    return np.asarray(X @ theta[:, :-1].T) + theta[:, -1]


def _gradient(XT: Any, slopes: FloatArray) -> FloatArray:
    return np.column_stack([np.asarray(XT @ slopes).T, slopes.sum(axis=0)])


def _point(loss: Loss, penalty: FloatArray, theta: FloatArray, scores: FloatArray) -> _Point:
    at = loss.at(scores)
    return _Point(theta, scores, at, at.value + 0.5 * float((penalty * theta**2).sum()))


def _is_balanced(slopes: FloatArray) -> bool:
    return bool((np.abs(slopes.sum(axis=0)) <= 10.0 * _BALANCED * np.abs(slopes).sum()).all())


def _with_best_intercept(loss: Loss, penalty: FloatArray, point: _Point) -> _Point:
    """Minimise the objective over the unregularised intercepts alone, which costs no product with X."""
    for _ in range(50):
        slopes = point.at.slopes.sum(axis=0)
        if (np.abs(slopes) <= _BALANCED * np.abs(point.at.slopes).sum()).all():
            break
        step = -np.linalg.lstsq(point.at.intercept_hessian(), slopes, rcond=None)[0]
        t = 1.0
        while t > _LEAST_STEP:
            theta = point.theta.copy()
            theta[:, -1] += t * step
            new = _point(loss, penalty, theta, point.scores + t * step)
            if new.objective <= point.objective * (1.0 + 1e-15):
                break
            t /= 2.0
        else:
            break
        point = new
    return point
