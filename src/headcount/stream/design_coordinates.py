"""`DesignCoordinates`: numbers of an item whose variance under a design says how far shares and checks of a stream are off."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.checks import LabelledCells
from headcount.exceptions import DataError
from headcount.intervals import why_no_interval
from headcount.intervals.fixed_vectors import FixedVectors, fixed_vectors
from headcount.learners import Outputs
from headcount.quantifiers import Posteriors, Quantifier
from headcount.stream.design_sums import GroupMoments

__all__ = ["DesignCoordinates"]


@dataclass(frozen=True, eq=False)
class DesignCoordinates:
    """The quantifier's item vectors, the posteriors, and whether an item is one of the least sure.

    Attributes
    ----------
    vectors : FixedVectors
    posteriors : slice or None
        Where the posteriors of all classes but the first are; None if the items have decisions alone.
    n_vectors : int
        Coordinates of vectors and posteriors.
    cuts : array
        An item whose largest posterior is below a cut is one of the least sure, by the check of the scores; empty without clusters.
    """

    vectors: FixedVectors
    posteriors: slice | None
    n_vectors: int
    cuts: FloatArray

    @classmethod
    def of(cls, quantifier: Quantifier, cells: LabelledCells | None, clustered: bool) -> "DesignCoordinates":
        """Return the coordinates for a quantifier and the check of its scores; raise if it has no interval."""
        if reason := why_no_interval(quantifier):
            raise DataError(f"Weights, strata and clusters of new items are counted in intervals. {reason}")
        if quantifier.has_posterior:
            raise DataError(
                f"Under a survey design there are the intervals of methods with an estimating equation, such as PACC; not those of "
                f"{type(quantifier).__name__}."
            )
        vectors = fixed_vectors(quantifier)
        d, k = vectors.width, len(quantifier.classes_)
        if cells is None or cells.decided:
            return cls(vectors, None, d, np.empty(0))
        cuts = cells.low_cuts if clustered else np.empty(0)
        if type(vectors.representation) is Posteriors:
            return cls(vectors, slice(0, d), d, cuts)
        return cls(vectors, slice(d, d + k - 1), d + k - 1, cuts)

    @property
    def width(self) -> int:
        """Number of coordinates."""
        return self.n_vectors + len(self.cuts)

    def of_outputs(self, outputs: Outputs) -> FloatArray:
        """Return the coordinates of items, a row each."""
        parts = [self.vectors.of_outputs(outputs)]
        if self.posteriors is not None:
            P = Posteriors().vectors(outputs)
            parts += self._of_posteriors(np.ascontiguousarray(P.T))
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def of_columns(self, C: FloatArray) -> FloatArray | None:
        """Return the coordinates of a batch of posteriors, a row each class; None if they are not made without outputs."""
        vectors = self.vectors.of_columns(C)
        if vectors is None:
            return None
        parts = [vectors, *(self._of_posteriors(C) if self.posteriors is not None else [])]
        return vectors if len(parts) == 1 else np.concatenate(parts)

    def _of_posteriors(self, C: FloatArray) -> list[FloatArray]:
        own = [C[1:]] if self.posteriors is not None and self.posteriors.start else []
        if not len(self.cuts):
            return own
        return [*own, (C.max(axis=0) < self.cuts[:, None]).astype(np.float64)]

    def influence(self, L: FloatArray) -> FloatArray:
        """Return the matrix L, of the vectors, for all coordinates."""
        padded: FloatArray = np.pad(L, ((0, 0), (0, self.width - L.shape[1])))
        return padded

    def check_effect(self, group: GroupMoments) -> float:
        """Return the design effect of what the check of the scores tests: mean posteriors and numbers of the least sure items.

        It is at least that of weights which tell nothing of the scores (Kish 1965), and at least 1.
        """
        n = group.n
        if self.posteriors is None:
            tested = np.eye(self.vectors.width)
        else:
            tested = np.zeros((self.posteriors.stop - self.posteriors.start + 1, self.n_vectors))
            tested[1:, self.posteriors] = np.eye(len(tested) - 1)
            tested[0] = -tested[1:].sum(axis=0)
        plain = float(np.trace(tested @ group.covariance[: tested.shape[1], : tested.shape[1]] @ tested.T)) / max(
            n - 1, 1
        )
        effects = [group.kish, 1.0, _ratio(group, self.influence(tested), plain)]
        for i in range(self.n_vectors, self.width):
            share = float(group.moments.mean[i])
            effects.append(_ratio(group, np.eye(self.width)[[i]], share * (1.0 - share) / max(n - 1, 1)))
        return max(effects)


def _ratio(group: GroupMoments, L: FloatArray, plain: float) -> float:
    """Return how many times larger the variance is than without the design."""
    return float(np.trace(group.moments.covariance(L).covariance)) / plain if plain > 1e-15 else 1.0
