"""`DesignedGroups`: errors of the shares of groups of a stream under a survey design, and how much the check may count."""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.intervals.designs import SampleErrors, TargetErrors, independent_errors
from headcount.intervals.evidence import Evidence
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
        groups, names = [self._groups[g] for g in chosen], [self._names[g] for g in chosen]
        return _GroupErrors(self._coordinates, groups, names)

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

    def of_sample(self, s: int, evidence: Evidence) -> SampleErrors:
        group, vectors = self.groups[s], self.coordinates.vectors
        influence = vectors.influence(evidence)
        L, d = self.coordinates.influence(influence), influence.shape[1]
        plain = influence @ group.covariance[:d, :d] @ influence.T / max(group.n - 1, 1)
        scales = np.ones(len(influence))
        if not vectors.exact:
            # Vectors at the labelled items' shares tell the design effect; the size of the error is that at the estimated shares.
            own = np.diagonal(independent_errors(evidence).plain)
            known = np.diagonal(plain) > 1e-15
            scales = np.sqrt(np.where(known, own / np.where(known, np.diagonal(plain), 1.0), 1.0))
        scaled = np.outer(scales, scales)
        variance = group.moments.covariance(L)
        variance = replace(variance, covariance=variance.covariance * scaled)
        clusters = None if group.clusters is None else partial(group.cluster_errors, L * scales[:, None])
        endless = None
        if group.moments.parts is not None:
            endless = replace(group.moments, parts=None).covariance(L).covariance * scaled
        return SampleErrors(variance, plain * scaled, clusters, endless)
