"""Solvers with Tikhonov's penalty: least squares, and the likelihood of cells, drawn towards equal or smooth shares."""

import numpy as np

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import FloatArray
from headcount.exceptions import DataError
from headcount.quantifiers.solvers import LeastSquares, Solver
from headcount.simplex import mixture_least_squares

__all__ = ["PENALTIES", "RegularisedLeastSquares", "RegularisedLikelihood", "penalty_matrix"]

PENALTIES = ("norm", "differences", "curvature")
_SAMPLES_PER_CHUNK = 256
_ROUNDING = 4e-16
"""Relative error of the objective, by which a step near the minimum may seem to raise it."""
_GAP, _STEPS, _HALVINGS = 1e-11, 100, 40
"""Duality gap at which the search ends, and the most steps and halvings of a step."""


def penalty_matrix(k: int, penalty: str) -> FloatArray:
    """Return T, such that the penalty of shares p is ||T p||^2.

    "norm" draws the shares towards equal ones; "differences" are those of neighbouring classes, and "curvature" their second
    differences, p_(j-1) - 2 p_j + p_(j+1), both in the order of the classes.

    >>> penalty_matrix(4, "curvature").tolist()
    [[1.0, -2.0, 1.0, 0.0], [0.0, 1.0, -2.0, 1.0]]
    """
    T: FloatArray = np.diff(np.eye(k), n=PENALTIES.index(penalty), axis=0)
    return T


class RegularisedLeastSquares(LeastSquares):
    r"""The p on the simplex that minimises :math:`\lVert M p - q \rVert^2 + \tau \lVert T p \rVert^2`, for any vectors.

    The equation that it declares, for intervals, is that without the penalty.

    Parameters
    ----------
    strength : float
        :math:`\tau`; 0 is no penalty.
    penalty : {"norm", "differences", "curvature"}, default="curvature"
        What :math:`T` takes of the shares (see `penalty_matrix`).

    Examples
    --------
    >>> M, q = np.eye(3), np.array([[0.5, 0.0, 0.5]])
    >>> RegularisedLeastSquares(100.0).solve(q, M).round(2).tolist()
    [[0.33, 0.33, 0.33]]
    """

    def __init__(self, strength: float, penalty: str = "curvature") -> None:
        self.strength, self.penalty = strength, penalty

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        if not self.strength:
            return super().solve(q, M)
        T = np.sqrt(self.strength) * penalty_matrix(M.shape[1], self.penalty)
        return mixture_least_squares(np.vstack([M, T]), np.column_stack([q, np.zeros((len(q), len(T)))]))


class RegularisedLikelihood(Solver):
    r"""The p on the simplex that minimises :math:`-\sum_i q_i \log (M p)_i + \tau \lVert T p \rVert^2 / 2`, for cells.

    With Poisson or multinomial counts in the cells of one partition the sum is the mean log-likelihood of an item; the problem is
    convex. It is solved by Newton steps: each minimises the quadratic approximation over the simplex and is
    halved until the objective falls.

    Parameters
    ----------
    strength : float
        :math:`\tau`, relative to the log-likelihood of one item: with n items, n times this is the strength beside the
        log-likelihood of all of them.
    penalty : {"norm", "differences", "curvature"}, default="curvature"
    """

    compares_cells = True

    def __init__(self, strength: float, penalty: str = "curvature") -> None:
        self.strength, self.penalty = strength, penalty

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        known = M.max(axis=1) > 0.0  # a cell that no validation item is in says nothing
        M, q = M[known], np.ascontiguousarray(q[:, known])
        T = np.sqrt(self.strength) * penalty_matrix(M.shape[1], self.penalty)
        k = M.shape[1]
        shares: FloatArray = (
            0.9 * mixture_least_squares(M, q) + 0.1 / k
        )  # inside the simplex, where the objective is finite

        def search(start: int, stop: int) -> None:
            shares[start:stop] = _newton(M, q[start:stop], T.T @ T, shares[start:stop])

        with one_blas_thread():
            in_chunks(search, len(q), _SAMPLES_PER_CHUNK)
        return shares


def _objective(M: FloatArray, Q: FloatArray, penalty: FloatArray, P: FloatArray) -> FloatArray:
    """Return the objective of each row of P; infinite where a cell that has items would be empty."""
    mixtures = P @ M.T
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(Q > 0.0, Q * np.log(mixtures), 0.0)
    values: FloatArray = -terms.sum(axis=1) + ((P @ penalty) * P).sum(axis=1) / 2.0
    return values


def _newton(M: FloatArray, Q: FloatArray, penalty: FloatArray, P: FloatArray) -> FloatArray:
    """Minimise the objective over the simplex, from the rows of P."""
    P, k = P.copy(), M.shape[1]
    rows = np.arange(len(P))
    value = _objective(M, Q, penalty, P)
    for _ in range(_STEPS):
        p, q = P[rows], Q[rows]
        ratios = np.divide(q, p @ M.T, out=np.zeros_like(q), where=q > 0.0)
        gradient = p @ penalty - ratios @ M
        gap = (gradient * p).sum(axis=1) - gradient.min(axis=1)
        going = gap > _GAP
        rows, p, q, ratios, gradient = rows[going], p[going], q[going], ratios[going], gradient[going]
        if not rows.size:
            break
        curvatures = np.divide(ratios**2, q, out=np.zeros_like(q), where=q > 0.0)
        H = M.T @ (curvatures[:, :, None] * M) + penalty
        # The approximation is ||R x - c||^2 / 2 up to a constant, where R'R = H and R'c = H p - g. The ridge keeps R regular.
        ridge = 1e-13 * np.trace(H, axis1=1, axis2=2)
        upper = np.swapaxes(np.linalg.cholesky(H + ridge[:, None, None] * np.eye(k)), 1, 2)
        c = (upper @ p[:, :, None]) - np.linalg.solve(np.swapaxes(upper, 1, 2), gradient[:, :, None])
        direction = mixture_least_squares(upper, c[:, :, 0]) - p
        slope = (direction * gradient).sum(axis=1)
        step, open_ = np.ones(len(rows)), np.ones(len(rows), dtype=bool)
        for _ in range(_HALVINGS):
            trial = _objective(M, q[open_], penalty, p[open_] + step[open_, None] * direction[open_])
            before = value[rows[open_]]
            enough = trial <= before + 1e-4 * step[open_] * slope[open_] + _ROUNDING * (1.0 + np.abs(before))
            taken = np.flatnonzero(open_)[enough]
            P[rows[taken]] = p[taken] + step[taken, None] * direction[taken]
            value[rows[taken]] = trial[enough]
            open_[taken] = False
            if not open_.any():
                break
            step[open_] /= 2.0
        rows = rows[~open_]  # no step helps: the objective is at its minimum up to rounding
        if not rows.size:
            break
    P = np.maximum(P, 0.0)
    shares: FloatArray = P / P.sum(axis=1, keepdims=True)
    return shares


def check_penalty(k: int, strength: float, penalty: str, name: str) -> None:
    """Raise if the penalty takes nothing of the shares of so few classes."""
    if strength > 0.0 and PENALTIES.index(penalty) >= k:
        raise DataError(
            f"{name} has penalty={penalty!r}, which needs at least three classes, and there are {k}: pass penalty='norm' or "
            "'differences', or strength=0."
        )
