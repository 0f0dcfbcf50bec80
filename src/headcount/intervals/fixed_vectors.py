"""`FixedVectors`: item vectors that do not depend on the estimated shares, so that a stream can add up their variance.

Means and covariances of cluster totals of these vectors are enough for the errors of the shares, so that items need not be kept.
"""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.intervals.evidence import Evidence, evidence_at
from headcount.learners import Outputs
from headcount.quantifiers import Quantifier, Representation, SumsQuantifier

__all__ = ["FixedVectors", "fixed_vectors"]

_LARGEST = 8.0
"""Vectors are scaled to 1 at the labelled items; those of other items are cut off here, far beyond what posteriors can reach."""


@dataclass(frozen=True, eq=False)
class FixedVectors:
    """Item vectors of a quantifier at the shares of its labelled items.

    For methods whose estimating equation is the same at all shares these are the representation's own vectors, and variances are
    exact. Others have ratios of densities, or comparisons with class histograms, taken at the shares of the labelled items rather
    than at the estimated ones: only their design effect is used.

    Attributes
    ----------
    reference : Evidence
        Of the labelled items, with vectors at their shares.
    representation : Representation or None
        Whose vectors, without the first coordinate, these are; None: `reference` makes them.
    projection : array of shape (d, width)
        Turns these vectors into those of the evidence: a power of 2 times the identity where `reference` makes them.
    exact : bool
        Whether the vectors are those of the estimates themselves.
    """

    reference: Evidence
    representation: Representation | None
    projection: FloatArray
    exact: bool

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return int(self.projection.shape[1])

    def of_outputs(self, outputs: Outputs) -> FloatArray:
        """Return the vectors of items, a row each coordinate."""
        if self.representation is not None:
            return np.ascontiguousarray(self.representation.vectors(outputs).T[1:])
        vectors = self.reference.vectors.target(0, outputs)
        return np.ascontiguousarray(np.clip(vectors.T / self.projection[0, 0], -_LARGEST, _LARGEST))

    def of_columns(self, C: FloatArray) -> FloatArray | None:
        """Return the vectors of a batch of posteriors, a row each class, without making outputs of them; None if that can't be."""
        columns = None if self.representation is None else self.representation.columns(C)
        return None if columns is None else columns[1:]

    def influence(self, evidence: Evidence) -> FloatArray:
        """Return the matrix L: an item's contribution to the error of the shares is L times its vector, centred."""
        used = evidence if self.exact else self.reference
        influence: FloatArray = used.B[0] @ self.projection
        return influence


def fixed_vectors(quantifier: Quantifier) -> FixedVectors:
    """Return the item vectors of a quantifier with an interval at the shares of its labelled items."""
    kept = quantifier.validation_items()
    if kept is None or not quantifier.has_interval:
        raise TypeError(f"{type(quantifier).__name__} has no item vectors.")
    outputs, codes = kept
    k = len(quantifier.classes_)
    shares = np.bincount(codes, minlength=k)[None, :] / len(codes)
    more = {"products": True} if isinstance(quantifier, SumsQuantifier) else {}
    reference = evidence_at(quantifier, quantifier.reduce(outputs, **more), shares)
    exact = reference.vectors.is_shared
    if (
        isinstance(quantifier, SumsQuantifier)
        and quantifier.solver.has_equation
        and exact
        and quantifier.representation.sums_to_one
    ):  # the first coordinate is 1 less the others
        A = quantifier.solver.estimating_matrix(quantifier.M_)
        return FixedVectors(reference, quantifier.representation, A[:, 1:] - A[:, :1], exact)
    vectors = reference.vectors
    largest = max(float(np.abs(part).max()) for part in (vectors.labelled(0), vectors.extremes(0)))
    scale = 2.0 ** np.ceil(np.log2(max(largest, 1e-300)))
    return FixedVectors(reference, None, scale * np.eye(reference.z.shape[1]), exact)
