"""Minimise ||C w - q|| + rho ||w - 1|| over w >= 0 for many q at once: norms that are not squared, searched along a path.

The optimum is, for some lambda, that of the squared problem ||C w - q||^2 + lambda ||w - 1||^2, where lambda ||w - 1|| = rho ||C
w - q||. The left side minus the right one changes its sign once, since the trade-off of the two norms is convex.
"""

import numpy as np

from headcount._typing import AnyArray, FloatArray

__all__ = ["non_negative_minimiser", "regularised_weights"]

_LOWEST, _HIGHEST, _STEPS = 1e-12, 1e6, 44
"""Range of lambda, relative to the mean squared singular value of C, and bisections of its logarithm (to a factor of 1 + 3e-12)."""
_SMALL = 1e-12


def regularised_weights(C: FloatArray, Q: FloatArray, rho: float) -> FloatArray:
    """Return the minimisers, a row for each row of Q."""
    k = C.shape[1]
    W, found = _exact_weights(C, Q, rho)
    # Weights of 1 are optimal where the first norm falls more slowly than the second rises.
    residual = Q - C.sum(axis=1)
    ones = np.linalg.norm(residual @ C, axis=1) <= rho * np.linalg.norm(residual, axis=1)
    W[ones] = 1.0
    rows = np.flatnonzero(~(found | ones))
    if not rows.size:
        return W
    q, H = Q[rows], C.T @ C
    scale = np.trace(H) / k
    low, high = np.full(len(rows), np.log(_LOWEST * scale)), np.full(len(rows), np.log(_HIGHEST * scale))
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        w = _along_path(H, q @ C, np.exp(middle))
        residual, distance = np.linalg.norm(w @ C.T - q, axis=1), np.linalg.norm(w - 1.0, axis=1)
        above = np.exp(middle) * distance >= rho * residual
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    W[rows] = _along_path(H, q @ C, np.exp((low + high) / 2.0))
    return W


def _exact_weights(C: FloatArray, Q: FloatArray, rho: float) -> tuple[FloatArray, AnyArray]:
    """Return the solutions of C w = q, and which of them are optimal: not negative, and too near to 1 for shrinkage to pay.

    At a residual of 0 the subgradients of the first norm are C'u with ||u|| <= 1, so that w is optimal if
    ||C'^-1 (w - 1)|| rho <= ||w - 1||.
    """
    if np.linalg.cond(C) > 1e8:
        return np.empty((len(Q), C.shape[1])), np.zeros(len(Q), dtype=bool)
    W: FloatArray = np.asarray(np.linalg.solve(C, Q.T).T, dtype=np.float64)
    theta = W - 1.0
    pull = np.linalg.norm(np.linalg.solve(C.T, theta.T), axis=0)
    return W, (W.min(axis=1) >= 0.0) & (rho * pull <= np.linalg.norm(theta, axis=1))


def _along_path(H: FloatArray, B: FloatArray, lam: FloatArray) -> FloatArray:
    """Minimise w'Hw / 2 - b'w + lambda ||w - 1||^2 / 2 over w >= 0, for each row b of B and its lambda."""
    k = len(H)
    return non_negative_minimiser(H + lam[:, None, None] * np.eye(k), B + lam[:, None])


def non_negative_minimiser(H: FloatArray, B: FloatArray) -> FloatArray:
    """Minimise w'Hw / 2 - b'w over w >= 0 for stacks of positive definite H and rows b, by principal pivoting.

    All coordinates of the wrong sign change sides at once, which mostly ends after a few rounds; after ten, only the last one does,
    which always ends (Murty 1974, "Note on a Bard-type scheme for solving the complementarity problem").
    """
    n, k = B.shape
    free = np.ones((n, k), dtype=bool)
    W = np.zeros((n, k))
    active = np.arange(n)
    eye = np.eye(k)
    tolerance = _SMALL * np.abs(B).max(axis=1, initial=1e-300)
    for step in range(10 + 20 * k):
        F = free[active]
        both = F[:, :, None] & F[:, None, :]
        w = np.linalg.solve(np.where(both, H[active], eye), np.where(F, B[active], 0.0)[:, :, None])[:, :, 0]
        slack = (H[active] @ w[:, :, None])[:, :, 0] - B[active]
        wrong = np.where(F, w < 0.0, slack < -tolerance[active, None])
        W[active] = np.maximum(w, 0.0)
        unsolved = wrong.any(axis=1)
        if not unsolved.any():
            break
        active, wrong = active[unsolved], wrong[unsolved]
        if step >= 10:
            last = k - 1 - wrong[:, ::-1].argmax(axis=1)
            wrong = np.zeros_like(wrong)
            wrong[np.arange(len(wrong)), last] = True
        free[active] ^= wrong
    return W
