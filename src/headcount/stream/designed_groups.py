"""`DesignedGroups`: errors of the shares of groups of a stream under a survey design, and how much the check may count."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.designs import DesignMoments, DesignVariance
from headcount.intervals import Evidence, TargetErrors, independent_errors
from headcount.stream.design_coordinates import DesignCoordinates
from headcount.stream.design_sums import DesignSums, GroupMoments
from headcount.stream.groups import group_label
from headcount.stream.tally import Tally

__all__ = ["DesignedGroups"]


class DesignedGroups:
    """Groups of a tally whose items were drawn by a survey design.

    Parameters
    ----------
    tally : Tally
        With a design.
    order : list of int
        Rows of its groups.
    """

    def __init__(self, tally: Tally, order: list[int]) -> None:
        design, coordinates = tally.design, tally.recipe.coordinates
        if design is None or coordinates is None:
            raise TypeError("This tally has no design.")
        design.check()
        self._design: DesignSums = design
        self._coordinates: DesignCoordinates = coordinates
        of_group = design.moments()
        self._names = [group_label(tally.names[row]) for row in order]
        self._order, self._groups = order, [of_group(row) for row in order]

    @cached_property
    def totals(self) -> FloatArray | None:
        """How many items of the population each group stands for; None where neither weights nor a population say so."""
        weights = self._design.population_weights()
        return None if weights is None else np.array([weights(row) for row in self._order])

    def errors(self, positions: IntArray) -> TargetErrors:
        """Return the errors of the shares of some groups that come from their items."""
        chosen = positions.tolist()
        return _GroupErrors(self._coordinates, [self._groups[g] for g in chosen], [self._names[g] for g in chosen])

    def effective_sizes(self, positions: IntArray) -> FloatArray:
        """Return how many independent items of equal weight the items of some groups are worth to the check of their scores."""
        groups = [self._groups[g] for g in positions.tolist()]
        return np.array([group.n / self._coordinates.check_effect(group) for group in groups])


@dataclass(frozen=True, eq=False)
class _GroupErrors(TargetErrors):
    """Errors from the moments of each group's items."""

    coordinates: DesignCoordinates
    groups: list[GroupMoments]
    labels: list[str]

    @property
    def names(self) -> list[str]:
        return self.labels

    def of_sample(self, s: int, evidence: Evidence) -> tuple[DesignVariance, FloatArray]:
        return self._of_moments(self.groups[s].moments, s, evidence)

    def of_endless_population(self, s: int, evidence: Evidence) -> FloatArray | None:
        moments = self.groups[s].moments
        if moments.parts is None:
            return None
        return self._of_moments(replace(moments, parts=None), s, evidence)[0].covariance

    def _of_moments(self, moments: DesignMoments, s: int, evidence: Evidence) -> tuple[DesignVariance, FloatArray]:
        group, vectors = self.groups[s], self.coordinates.vectors
        influence = vectors.influence(evidence)
        found = moments.covariance(self.coordinates.influence(influence))
        d = influence.shape[1]
        plain = influence @ group.covariance[:d, :d] @ influence.T / max(group.n - 1, 1)
        if vectors.exact:
            return found, plain
        # Vectors at the labelled items' shares tell the design effect; the size of the error is that at the estimated shares.
        _, own = independent_errors(evidence)
        known = np.diagonal(plain) > 1e-15
        roots = np.sqrt(np.where(known, np.diagonal(own) / np.where(known, np.diagonal(plain), 1.0), 1.0))
        scaled = np.outer(roots, roots)
        return DesignVariance(found.covariance * scaled, found.n_clusters, found.degrees), plain * scaled
