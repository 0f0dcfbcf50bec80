"""`ErrorParts`: the error of estimated shares, a centre that may lie outside the simplex and where its variance comes from."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import norm, t

from headcount._typing import FloatArray

__all__ = ["ErrorParts"]


@dataclass(frozen=True, eq=False)
class ErrorParts:
    """The errors of shares that were estimated with one labelled side.

    Attributes
    ----------
    centre : array of shape (n_samples, n_classes)
        The estimate before it is confined to the simplex, about which the error is normal.
    shares : array of shape (n_samples, n_classes)
        The estimate.
    target : array of shape (n_samples, n_classes, n_classes)
        Covariance that comes from which items are in the sample.
    labelled : array of shape (n_classes, n_classes, n_classes)
        Entry j: covariance that comes from the labelled items of class j, for a share of 1 of that class.
    labelled_degrees, target_degrees : arrays of shape (n_classes,) and (n_samples,)
        Degrees of freedom of the labelled items of each class, and of each sample.
    identified : bool, or array of shape (n_samples,)
        Whether the classifier tells the classes apart at all, in each sample.
    shared : array of shape (n_samples, n_classes, n_parameters), optional
        Matrices R whose R R' is covariance that comes from parameters which all samples share, and its degrees of freedom.
    """

    centre: FloatArray
    shares: FloatArray
    target: FloatArray
    labelled: FloatArray
    labelled_degrees: FloatArray
    target_degrees: FloatArray
    identified: Any = True
    shared: FloatArray | None = None
    shared_degrees: float = np.inf

    def take(self, s: int, n_samples: int) -> "ErrorParts":
        """Return the error of sample s alone."""
        one = slice(s, s + 1)
        return replace(
            self,
            centre=self.centre[one],
            shares=self.shares[one],
            target=self.target[one],
            target_degrees=self.target_degrees[one],
            identified=np.broadcast_to(self.identified, n_samples)[one],
            shared=None if self.shared is None else self.shared[one],
        )

    def quantile(self, z: float) -> FloatArray:
        """Return Student's quantiles for that of the normal, a class each."""
        return np.asarray(t.isf(norm.sf(z), self._degrees()), dtype=np.float64)

    def expanded(self, z: float) -> FloatArray:
        """Return the same, in units of a plug-in estimate of the spread, which is too small by the degrees of freedom."""
        degrees = self._degrees()
        return np.asarray(t.isf(norm.sf(z), degrees) * np.sqrt((degrees + 1.0) / degrees), dtype=np.float64)

    def _degrees(self) -> FloatArray:
        """Return Welch and Satterthwaite's degrees of freedom."""
        target = np.diagonal(self.target, axis1=1, axis2=2)
        labelled = self.shares[:, :, None] ** 2 * np.diagonal(self.labelled, axis1=1, axis2=2)[None, :, :]
        common = 0.0 if self.shared is None else np.square(self.shared).sum(axis=2)
        total = target + labelled.sum(axis=1) + common
        weighted = target**2 / self.target_degrees[:, None] + common**2 / self.shared_degrees
        weighted = weighted + (labelled**2 / self.labelled_degrees[None, :, None]).sum(axis=1)
        degrees = np.where(weighted > 0.0, total**2 / np.where(weighted > 0.0, weighted, 1.0), 1e9)
        return np.maximum(degrees, 1.0)

    def covariance(self) -> FloatArray:
        """Return the covariance of each sample's estimate."""
        total: FloatArray = self.target + np.einsum("sj,jab->sab", self.shares**2, self.labelled)
        return total if self.shared is None else total + self.shared @ np.swapaxes(self.shared, 1, 2)
