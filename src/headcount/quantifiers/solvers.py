"""Solvers of the sums family: from the mean vector of a sample and the profiles of the classes to shares.

A solver that finds its answer from a linear estimating equation A (q - M p) = 0 declares A, and methods with it get the
family's interval. A solver that declares none has no analytic interval.
"""

import warnings
from abc import ABC, abstractmethod

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import IdentifiabilityWarning
from headcount.simplex import mixture_least_squares, sum_zero_basis

__all__ = ["LeastSquares", "MeanVector", "Solver"]

_EQUAL_RATES = 1e-12
"""Rates closer than this differ by rounding only."""


class Solver(ABC):
    """Finds the shares p of the mixture M p of class profiles that is nearest to a sample's mean vector q."""

    uses_profiles: bool = True
    """Whether the answer depends on the profiles M, which are learnt on validation items."""

    has_equation: bool = False
    """Whether `estimating_matrix` gives the equation that the answer solves."""

    depends_on_shares: bool = False
    """Whether the equation is another one at other shares: `estimating_matrix_at` gives it, and `estimating_matrix` does not."""

    compares_cells: bool = False
    """Whether the answer minimises a distance between the cell frequencies of the sample and of the mixture, such as Hellinger's.

    Its interval is that of the derivatives of the cells' likelihood, to which such distances agree to first order."""

    squares: bool = False
    """Whether, of a solver that compares cells, the distance is a sum of squared differences, which needs equations of its own."""

    nested_cells: bool = False
    """Whether a solver that compares cells compares sums over them, as `compared` gives them, or those of several partitions."""

    @abstractmethod
    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample.

        Parameters
        ----------
        q : array of shape (n_samples, n_coordinates)
        M : array of shape (n_coordinates, n_classes)
        """

    def solve_counts(self, sums: IntArray, sizes: IntArray, M: FloatArray) -> FloatArray | None:
        """Return the shares out of whole sums and sizes in the same unit, where that is faster than `solve`; None: it is not."""
        return None

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return A such that the answer, before it is confined to the simplex, solves A (q - M p) = 0; M may be a stack."""
        raise NotImplementedError(f"{type(self).__name__} declares no estimating equation.")

    def compared(self, frequencies: FloatArray) -> FloatArray:
        """Return what a solver that compares cells compares, linear in the cell frequencies of the last axis: by default these."""
        return frequencies

    def estimating_matrix_at(self, M: FloatArray, p: FloatArray) -> FloatArray:
        """Return A, one row fewer than there are classes, such that an answer p inside the simplex solves A (q - M p) = 0."""
        return self.estimating_matrix(M)

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if the profiles do not determine the shares."""
        differences = M[:, 1:] - M[:, :1]
        if np.linalg.svd(differences, compute_uv=False)[-1] <= max(_EQUAL_RATES, 1e-10 * np.abs(differences).max()):
            warnings.warn(
                f"On the validation part the classifier does not tell the classes {quoted(classes, 10)} apart well enough "
                f"to determine all their shares: {name} returns one of several answers that fit equally well. Use "
                "a better classifier or merge classes.",
                IdentifiabilityWarning,
                stacklevel=5,
            )


class MeanVector(Solver):
    """The mean vector itself is the answer: counting, without any adjustment."""

    uses_profiles = False

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the mean vectors."""
        return q


class LeastSquares(Solver):
    """The p on the simplex for which M p is nearest to q by the sum of squared differences.

    With two classes whose vectors are shares this is (q - FPR) / (TPR - FPR), clipped to [0, 1].
    """

    has_equation = True

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample; where two classes have the same profile, the unadjusted ones."""
        if M.shape != (2, 2):
            return mixture_least_squares(M, q)
        fpr, tpr = M[1]
        if abs(tpr - fpr) <= _EQUAL_RATES:
            return q
        positive = np.clip((q[:, 1] - fpr) / (tpr - fpr), 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])

    def estimating_matrix(self, M: FloatArray) -> FloatArray:
        """Return Q' of M D = Q R, where the columns of D are the directions of the simplex.

        The rows span the same space as those of (M D)', the normal equations, but A M D = R is as well conditioned as M D.
        """
        orthonormal, _ = np.linalg.qr(M @ sum_zero_basis(M.shape[-1]))
        return np.swapaxes(orthonormal, -1, -2)

    def check_profiles(self, M: FloatArray, classes: AnyArray, name: str) -> None:
        """Warn if the profiles do not determine the shares."""
        if M.shape != (2, 2):
            super().check_profiles(M, classes, name)
        elif np.abs(M[:, 1] - M[:, 0]).max() <= _EQUAL_RATES:
            warnings.warn(
                f"On the validation part the classifier's true and false positive rates are the same ({M[1, 1]:.4g}), so "
                f"{name} can't adjust and returns the unadjusted shares. Use a better classifier (balanced "
                "class weights, another C, more labelled items).",
                IdentifiabilityWarning,
                stacklevel=5,
            )
