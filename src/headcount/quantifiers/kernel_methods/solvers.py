"""Solvers over mean kernels or distances between classes: squared distances of means, and the Cauchy-Schwarz divergence."""

import warnings

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount._validation import quoted
from headcount.exceptions import IdentifiabilityWarning
from headcount.quantifiers.solvers import Solver
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["CauchySchwarz", "QuadraticMatch"]

_LEAST = 1e-10
"""Eigenvalues smaller than this part of the largest are those of directions in which the classes do not differ."""


class QuadraticMatch(Solver):
    r"""The p on the simplex that minimises p'Bp - 2 q'p: the squared distance of means in the space of a kernel.

    M holds the mean kernels B between classes, and q those between the sample and each class. Of distances instead of kernels
    (``sign=-1``) B = -M: the energy distance. Inside the simplex q - M p is the same for all classes: D'(q - M p) = 0, where the
    columns of D are the directions of the simplex.
    """

    has_equation = True

    def __init__(self, sign: int = 1) -> None:
        self.sign = sign

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample; equal ones in directions in which the classes do not differ."""
        k = M.shape[1]
        directions = sum_zero_basis(k)
        H, values, vectors = self._curvature(M)
        kept = values > _LEAST * max(values[-1], 1e-300)
        if not kept.any():
            return np.full((len(q), k), 1.0 / k)
        off = self.sign * (q - M.mean(axis=1)) @ directions
        V = vectors[:, kept]
        # With folds H is not quite symmetric: the free solution is that of the equation itself.
        free = np.linalg.solve(H, off.T) if kept.all() else V @ (V.T @ off.T / values[kept, None])
        root = np.sqrt(values[kept])[:, None] * V.T
        return mixture_least_squares(root @ directions.T, (root @ free).T)

    def _curvature(self, M: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the quadratic form in directions of the simplex, and eigenvalues and vectors of its symmetric part."""
        directions = sum_zero_basis(M.shape[1])
        H: FloatArray = self.sign * directions.T @ M @ directions
        values, vectors = np.linalg.eigh((H + H.T) / 2.0)
        return H, values, vectors

    def is_possible(self, M: FloatArray) -> bool:
        """Whether the means are those of classes that differ in all directions, or in none: otherwise p'Bp is not convex."""
        _, values, _ = self._curvature(M)
        return bool(values[0] > _LEAST * values[-1] or values[-1] <= 0.0)

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return D', as often as M has matrices."""
        rows = sum_zero_basis(M.shape[-1]).T
        return np.broadcast_to(rows, (*M.shape[:-2], *rows.shape))

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if the classes do not differ in some direction."""
        _, values, _ = self._curvature(M)
        if values[0] <= _LEAST * max(values[-1], _LEAST):
            _warn_of_equal_classes(classes, name)


class CauchySchwarz(Solver):
    r"""The p on the simplex that minimises the Cauchy-Schwarz divergence, -log q'p + log(p'Bp) / 2.

    M holds the mean kernels B between classes, and q those between the sample and each class. The divergence does not depend on the
    length of p, and its least value over p >= 0 is that of the quadratic programme p'Bp / 2 - q'p: its solution is divided by its
    sum.
    """

    has_equation = True
    depends_on_shares = True

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample; equal ones for a sample that is far from all validation items."""
        from headcount.quantifiers.kernel_methods import _kernels

        B = (M + M.T) / 2.0
        largest = np.linalg.eigvalsh(B)[-1]
        B = np.ascontiguousarray(B / largest + _LEAST * np.eye(len(B)))
        # A factor for a sample changes nothing; with it the tolerances of the programme hold for samples far from all classes too.
        scaled = np.ascontiguousarray(q / np.maximum(q.max(axis=1, keepdims=True), 1e-300))
        weights = np.empty_like(scaled)
        _kernels.nonnegative_quadratics(B, scaled, weights)
        weights[weights.sum(axis=1) <= 0.0] = 1.0
        shares: FloatArray = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def estimating_matrix_at(self, M: FloatArray, p: FloatArray) -> FloatArray:
        """Return orthonormal rows at right angles to M p: at the least divergence q is a multiple of M p, so that A q = 0."""
        complete, _ = np.linalg.qr((M @ p)[:, None], mode="complete")
        return np.ascontiguousarray(complete[:, 1:].T)

    def is_possible(self, M: FloatArray) -> bool:
        """Whether the matrix of mean kernels has positive eigenvalues only."""
        values = np.linalg.eigvalsh((M + M.T) / 2.0)
        return bool(values[0] > _LEAST * values[-1])


def _warn_of_equal_classes(classes: AnyArray, name: str) -> None:
    warnings.warn(
        f"On the validation part the classifier does not tell the classes {quoted(classes, 10)} apart well enough to determine all "
        f"their shares: {name} returns one of several answers that fit equally well. Use a better classifier or merge classes.",
        IdentifiabilityWarning,
        stacklevel=5,
    )
