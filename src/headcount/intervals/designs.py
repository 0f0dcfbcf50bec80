"""Intervals under survey designs: what clusters, weights and strata do to the errors of both sides, as effective numbers of items.

The error of free shares is, to first order, a sum of what each item contributes (linearisation): B (u - z) / n for an item of the
sample, -p_j B (u - G_j) / n_j for a labelled item of class j. Its variance under the design, by cluster totals, over that of as
many independent items is the design effect of each share on each side. Intervals invert the same test as ever, with the numbers of
items divided by these.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from headcount._distributions import normal_tail, student_quantile
from headcount._typing import FloatArray, IntArray
from headcount.designs import ClusterErrors, DesignVariance, SurveyDesign, cluster_errors, linearised_covariance
from headcount.intervals.evidence import Evidence
from headcount.intervals.inversion import class_intervals, mean_intervals
from headcount.learners import Outputs
from headcount.protocols import Samples

__all__ = [
    "DesignErrors",
    "DesignedItems",
    "IndependentItems",
    "SampleErrors",
    "TargetErrors",
    "design_errors",
    "design_intervals",
    "effective_evidence",
    "independent_errors",
]

_MANY = 1_000_000
"""Degrees of freedom of a variance that is not estimated from clusters."""
_UNKNOWN_VARIANCE = 1e6
"""Variance of shares whose items are all in one cluster, from which it can't be told: far beyond what shares between 0 and 1 "
"have."""
_LEAST_EFFECT = 0.25
"""Lower bound of the design effects that intervals go by: less is chance, or a finite population that is nearly drawn whole."""


@dataclass(frozen=True, eq=False)
class DesignErrors:
    """Covariances of the errors of the shares of each sample, by side, under the designs and of as many independent items.

    Attributes
    ----------
    target, labelled : arrays of shape (n_samples, n_classes, n_classes)
        Of what the sample's items, and the labelled items, contribute, under their designs.
    plain_target, plain_labelled : arrays of shape (n_samples, n_classes, n_classes)
        The same of as many independent items of equal weight, drawn from the same population.
    plain_sizes : array of shape (n_samples, n_classes, n_classes)
        As ``plain_labelled``, but of as many items of each class as there are. Weights that favour a class make the two differ; the
        intervals invert a test with these numbers of items.
    clusters, degrees : arrays of int of shape (n_samples,)
        Clusters of each sample, and degrees of freedom (less strata).
    labelled_clusters, labelled_degrees : arrays of int of shape (n_samples,)
        Those of the labelled items, the same for all samples.
    target_clusters : tuple of callables, or of None
        Return what each cluster of a sample contributes, where clusters may have items in several samples.
    """

    target: FloatArray
    labelled: FloatArray
    plain_target: FloatArray
    plain_labelled: FloatArray
    plain_sizes: FloatArray
    clusters: IntArray
    degrees: IntArray
    labelled_clusters: IntArray
    labelled_degrees: IntArray
    target_clusters: tuple[Callable[[], ClusterErrors] | None, ...]

    def take(self, s: int) -> "DesignErrors":
        """Return the errors of sample s alone."""
        return replace(self, **{one.name: getattr(self, one.name)[s : s + 1] for one in fields(self)})

    @property
    def few_degrees(self) -> FloatArray:
        """The fewer degrees of freedom of the two sides of each sample."""
        return np.minimum(self.degrees, self.labelled_degrees).astype(np.float64)

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the errors of the shares, of both sides together."""
        return self.target + self.labelled

    @property
    def target_effects(self) -> FloatArray:
        """Design effect of each share on the sample's side, shape (n_samples, n_classes); NaN for samples of one cluster."""
        return self._known(_ratios(self.target, self.plain_target))

    @property
    def labelled_effects(self) -> FloatArray:
        """Design effect of each share on the labelled side."""
        return _ratios(self.labelled, self.plain_labelled)

    @property
    def effects(self) -> FloatArray:
        """Design effect of each share, of both sides together; NaN for samples of one cluster."""
        return self._known(_ratios(self.covariance, self.plain_target + self.plain_labelled))

    def _known(self, effects: FloatArray) -> FloatArray:
        return np.where(self.clusters[:, None] > 1, effects, np.nan)


def _ratios(design: FloatArray, plain: FloatArray) -> FloatArray:
    """Return the ratios of variances; 1 where there is no error either way."""
    over, under = (np.diagonal(one, axis1=1, axis2=2) for one in (design, plain))
    ratios: FloatArray = np.where(under > 1e-15, over / np.maximum(under, 1e-300), 1.0)
    return ratios


@dataclass(frozen=True, eq=False)
class SampleErrors:
    """Errors of the shares of a sample that come from its items.

    Attributes
    ----------
    variance : DesignVariance
        Under the design.
    plain : array of shape (n_classes, n_classes)
        Their covariance if the items were independent and of equal weight.
    clusters : callable, or None
        Returns what each cluster contributes (`ClusterErrors`), where clusters may have items in other samples too.
    endless : array of shape (n_classes, n_classes), or None
        The covariance under the design if the population had no end; None if it has none.
    """

    variance: DesignVariance
    plain: FloatArray
    clusters: Callable[[], ClusterErrors] | None = None
    endless: FloatArray | None = None


class TargetErrors(ABC):
    """The errors of shares that come from the items of the samples."""

    @property
    def names(self) -> Sequence[Any] | None:
        """Names of the samples, for messages."""
        return None

    @abstractmethod
    def of_sample(self, s: int, evidence: Evidence) -> SampleErrors:
        """Return the errors of sample s, whose evidence this is."""


class IndependentItems(TargetErrors):
    """Without a design the items of a sample are independent, and what was added up of them is enough."""

    def of_sample(self, s: int, evidence: Evidence) -> SampleErrors:
        """Return the errors of sample s at the estimated shares."""
        return independent_errors(evidence)


class DesignedItems(TargetErrors):
    """Items of a pool with a design.

    Parameters
    ----------
    outputs : Outputs
        Of the pool.
    samples : Samples
        Weighted as the design says.
    design : SurveyDesign
        Of the items of the pool.
    """

    def __init__(self, outputs: Outputs, samples: Samples, design: SurveyDesign) -> None:
        self.outputs, self.samples, self.design = outputs, samples, design
        self._contributions: FloatArray | None = None

    @property
    def names(self) -> Sequence[Any] | None:
        """Names of the samples."""
        return self.samples.names

    def of_sample(self, s: int, evidence: Evidence) -> SampleErrors:
        """Return the errors of sample s by what its items contribute."""
        vectors, rows = evidence.vectors, self.samples[s]
        if self._contributions is None or not vectors.is_shared:
            self._contributions = vectors.target(int(evidence.index[0]), self.outputs) @ evidence.B[0].T
        U, factors, design = self._contributions[rows], self.samples.factors_of(s), self.design.take(rows)
        weights = factors / factors.sum()
        centred = U - weights @ U
        plain = (centred * weights[:, None]).T @ centred / max(len(U) - 1, 1)
        found = cluster_errors(weights[:, None] * centred, design)
        clusters = None if design.clusters is None else partial(_named, found, self.design)
        endless = None
        if design.fractions is not None:
            contributions = weights[:, None] * centred
            endless = linearised_covariance(contributions, design.of_infinite_population()).covariance
        return SampleErrors(found.variance, plain, clusters, endless)


def _named(found: ClusterErrors, design: SurveyDesign) -> ClusterErrors:
    """Return errors of the clusters of a design by the names of these, rather than by their numbers."""
    keys = design.cluster_keys[found.keys]
    order = np.argsort(keys)
    return replace(found, keys=keys[order], contributions=found.contributions[order])


def design_errors(evidence: Evidence, target_errors: TargetErrors) -> DesignErrors:
    """Return the errors of the shares of each sample under the designs of both sides.

    Parameters
    ----------
    evidence : Evidence
        Of the samples, with the design of the labelled items.
    target_errors : TargetErrors
        Those that come from the samples' items.
    """
    parts: list[list[FloatArray]] = []
    figures: list[tuple[int, int, int, int]] = []
    clusters: list[Callable[[], ClusterErrors] | None] = []
    for s in range(len(evidence.shares)):
        one = evidence.take(s)
        sample = target_errors.of_sample(s, one)
        target, plain_target = sample.variance, sample.plain
        clusters.append(sample.clusters)
        if sample.endless is not None:
            target = replace(target, covariance=_of_finite_population(one, target.covariance, sample.endless))
        if target.n_clusters < 2:
            target = replace(target, covariance=_UNKNOWN_VARIANCE * np.eye(len(plain_target)))
        labelled, plain_labelled, plain_sizes = _labelled_errors(one)
        parts.append([target.covariance, labelled.covariance, plain_target, plain_labelled, plain_sizes])
        figures.append((target.n_clusters, target.degrees, labelled.n_clusters, labelled.degrees))
    names = [one.name for one in fields(DesignErrors)]
    columns = [np.stack(column) for column in zip(*parts, strict=True)]
    columns += [np.array(column, dtype=np.int64) for column in zip(*figures, strict=True)]
    return DesignErrors(**dict(zip(names, columns, strict=False)), target_clusters=tuple(clusters))


def independent_errors(evidence: Evidence) -> SampleErrors:
    """Return the errors that come from a sample's items where these are independent, at the estimated shares."""
    p, B, n = evidence.shares[0], evidence.B[0], float(evidence.n[0])
    covariance = B @ np.einsum("l,lab->ab", p, evidence.S[0]) @ B.T / n
    if not evidence.within:
        covariance = covariance + (np.diag(p) - np.outer(p, p)) / n
    return SampleErrors(DesignVariance(covariance, round(n), _MANY), covariance)


def _of_finite_population(evidence: Evidence, covariance: FloatArray, endless: FloatArray) -> FloatArray:
    """Return the covariance of the errors of shares of a finite population.

    Of a population that is drawn whole, it is known how its items look, but not which class they are of: what remains is how items
    vary within classes, as for the shares of the sample itself. That part of the variance is not corrected.

    Parameters
    ----------
    evidence : Evidence
        Of one sample.
    covariance, endless : arrays of shape (n_classes, n_classes)
        Of the mean of what is seen of the items, with the correction of the finite population and without it.
    """
    p, B = evidence.shares[0], evidence.B[0]
    within = np.diag(B @ np.einsum("l,lab->ab", p, evidence.S[0]) @ B.T)
    part = np.sqrt(within / np.maximum(within + p * (1.0 - p), 1e-300))
    total: FloatArray = covariance + np.outer(part, part) * (endless - covariance)
    return total


def _labelled_errors(evidence: Evidence) -> tuple[DesignVariance, FloatArray, FloatArray]:
    """Return the same of the class means that the labelled items give, at the estimated shares.

    Last, the covariance of as many independent items of each class as there are.
    """
    vectors, p = evidence.vectors, evidence.shares[0]
    U = vectors.labelled(int(evidence.index[0])) @ evidence.B[0].T
    design = SurveyDesign(weights=np.ones(len(U))) if vectors.design is None else vectors.design
    contributions = np.empty_like(U)
    plain, plain_sizes = np.zeros((2, U.shape[1], U.shape[1]))
    total = design.item_weights.sum()
    for j, share in enumerate(p.tolist()):
        rows = np.flatnonzero(vectors.codes == j)
        present, fold = np.unique(vectors.folds[rows], return_inverse=True)
        weights = design.item_weights[rows]
        in_population = evidence.sizes.sum() * weights.sum() / total
        weights = weights / np.bincount(fold, weights)[fold] / len(present)
        centred = U[rows] - weights @ U[rows]
        contributions[rows] = -share * weights[:, None] * centred
        spread = share**2 * (centred * weights[:, None]).T @ centred
        plain += spread / max(in_population - 1.0, 1.0)
        plain_sizes += spread / max(evidence.sizes[j] - 1.0, 1.0)
    return linearised_covariance(contributions, design), plain, plain_sizes


def design_intervals(
    evidence: Evidence, errors: DesignErrors, z: float, values: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return the ends of each class's interval, or with values those of the mean over classes, under the designs."""
    k = evidence.shares.shape[1]
    low, high = np.empty((len(evidence.shares), k)), np.empty((len(evidence.shares), k))
    for s in range(len(low)):
        one, errors_of_one = evidence.take(s), errors.take(s)
        if values is not None:
            low[s], high[s] = mean_intervals(effective_evidence(one, errors_of_one, z, values), values, z)
            continue
        for j in range(1 if k == 2 else 0, k):
            ends = class_intervals(effective_evidence(one, errors_of_one, z, np.eye(k)[j]), z)
            low[s, j], high[s, j] = ends[0][0, j], ends[1][0, j]
        if k == 2:  # the shares of two classes stand and fall together
            low[s, 0], high[s, 0] = 1.0 - high[s, 1], 1.0 - low[s, 1]
    return (low, high) if values is None else (low[:, 0], high[:, 0])


def effective_evidence(
    evidence: Evidence, errors: DesignErrors, z: float, values: FloatArray | None = None, shared: float = 1.0
) -> Evidence:
    """Return the evidence of one sample with effective numbers of items, for the mean of these values over the classes.

    Without values the largest design effect of all classes is taken, which is safe for any use of the evidence. The effects are
    known from few clusters: quantiles for as many degrees of freedom stand in for the normal's. ``shared`` is a factor of the
    variance that comes from the sample (`SharedClusters`).
    """
    target = _effect(errors.target[0], errors.plain_target[0], values)
    labelled = _effect(errors.labelled[0], errors.plain_sizes[0], values)
    tail = float(normal_tail(z))
    target *= shared * float(student_quantile(tail, float(errors.degrees[0]))) ** 2 / z**2
    sizes = evidence.sizes / labelled
    usual = max(float(sizes.min()) - 1.0, 1.0)  # degrees of freedom that the test of shares allows for by itself
    degrees = float(errors.labelled_degrees[0])
    if degrees < usual:
        sizes = sizes * (float(student_quantile(tail, usual)) / float(student_quantile(tail, degrees))) ** 2
    return replace(evidence, n=evidence.n / target, sizes=np.maximum(sizes, 1.0))


def _effect(design: FloatArray, plain: FloatArray, values: FloatArray | None) -> float:
    """Return the design effect of a mean over classes, or the largest of all shares."""
    if values is None:
        return max(float(_ratios(design[None], plain[None]).max()), _LEAST_EFFECT)
    under = float(values @ plain @ values)
    return max(float(values @ design @ values) / under, _LEAST_EFFECT) if under > 1e-15 else 1.0
