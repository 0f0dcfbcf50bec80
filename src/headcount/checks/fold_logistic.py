"""Logistic regression of all folds at once: the problems share their items and differ in the weights of these alone.

For fold f and items with features x_i, sides y_i = -1 or 1 and weights s_if, 0 for items that it is not trained on, minimised is

    |w|^2 / 2 + C sum_i s_if log(1 + exp(-y_i (x_i . w + b)))

by Newton's method; a step is found by conjugate gradients, of all folds in the same products with X (Lin, Weng and Keerthi 2008).
"""

from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray

__all__ = ["fold_scores", "logistic_weights"]

_GRADIENT = 1e-3
"""Norm of the gradient, as a share of that at w = 0, at which a fold is done."""
_STEPS, _PRODUCTS = 30, 60
"""Most Newton steps, and most products of a step: a rough fit is a valid score."""
_SHORTEST, _FARTHEST = 2.0**-20, 500.0
"""Shortest share of a step that is tried; and scores beyond which exponentials would overflow."""
_FORCING = 0.1
"""Norm of the residual of a step, as a share of that of the gradient: Newton's method needs no better steps."""


def fold_scores(X: Any, y: AnyArray, S: FloatArray, fold: AnyArray, C: float, penalised_intercept: bool) -> FloatArray:
    """Return each item's probability of the second side, by the classifier of its fold.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_items, n_features)
    y : bool array of shape (n_items,)
    S : array of shape (n_items, n_folds)
        Weights of the items in each fold's problem.
    fold : int array of shape (n_items,)
    C : float
    penalised_intercept : bool
        Whether b is one of the coefficients in |w|^2.
    """
    W, b = logistic_weights(X, y, S, C, penalised_intercept)
    Z = np.asarray(X @ W) + b
    scores: FloatArray = 1.0 / (1.0 + np.exp(-Z[np.arange(len(fold)), fold]))
    return scores


def logistic_weights(
    X: Any, y: AnyArray, S: FloatArray, C: float, penalised_intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the coefficients, of shape (n_features, n_folds), and the intercepts that solve the problems."""
    n, folds = S.shape
    S = C * S
    sign = np.where(y, 1.0, -1.0)[:, None]
    XT = X.T.tocsr() if hasattr(X, "tocsr") else X.T
    ridge = np.ones((X.shape[1] + 1, 1))
    ridge[-1] = float(penalised_intercept)
    W, Z = np.zeros((X.shape[1] + 1, folds)), np.zeros((n, folds))

    def forward(V: FloatArray) -> FloatArray:
        product: FloatArray = X @ V[:-1] + V[-1]
        return product

    def backward(U: FloatArray) -> FloatArray:
        return np.vstack([XT @ U, U.sum(axis=0)])

    def losses(W: FloatArray, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the value of each problem, and each item's odds of the wrong side."""
        odds = np.exp(np.minimum(-sign * Z, _FARTHEST))
        return 0.5 * (ridge * W**2).sum(axis=0) + (S * np.log1p(odds)).sum(axis=0), odds

    goal = None
    height, odds = losses(W, Z)
    for _ in range(_STEPS):
        wrong = odds / (1.0 + odds)
        gradient = ridge * W - backward(sign * S * wrong)
        size = np.linalg.norm(gradient, axis=0)
        goal = _GRADIENT * size if goal is None else goal
        active = size > goal
        if not active.any():
            break
        D = S * wrong * (1.0 - wrong)
        step, moved = _newton_step(forward, backward, ridge, D, np.where(active, gradient, 0.0))
        length = np.ones(folds)
        while True:
            reached, odds = losses(W + length * step, Z + length * moved)
            too_far = (reached > height + 1e-12 * np.abs(height)) & (length > _SHORTEST)
            if not too_far.any():
                break
            length = np.where(too_far, length / 2.0, length)
        W, Z, height = W + length * step, Z + length * moved, reached
    return W[:-1], W[-1]


def _newton_step(
    forward: Any, backward: Any, ridge: FloatArray, D: FloatArray, gradient: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve (ridge + X' D X) step = -gradient roughly, for each fold; return the steps and X times them."""
    step, moved = np.zeros_like(gradient), np.zeros_like(D)
    residual = -gradient
    direction = residual.copy()
    square = (residual**2).sum(axis=0)
    goal = _FORCING**2 * square
    for _ in range(_PRODUCTS):
        active = square > goal
        if not active.any():
            break
        ahead = forward(direction)
        curved = ridge * direction + backward(D * ahead)
        bend = (direction * curved).sum(axis=0)
        ok = active & (bend > 0.0)
        if not ok.any():
            break
        alpha = np.where(ok, square / np.where(ok, bend, 1.0), 0.0)
        step += alpha * direction
        moved += alpha * ahead
        residual -= alpha * curved
        new = (residual**2).sum(axis=0)
        direction = residual + np.where(ok, new / np.where(square > 0.0, square, 1.0), 0.0) * direction
        square = np.where(ok, new, 0.0)
    return step, moved
