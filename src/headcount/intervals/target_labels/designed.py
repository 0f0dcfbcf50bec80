"""Errors of what labels of new items say, where these or the source's labelled items were drawn by a survey design.

Items with and without a label may lie in one cluster, so that the two parts of `Pooled` share errors: what each item adds to the
score is summed over clusters instead (a sandwich: Huber 1967, Binder 1983).
"""

from dataclasses import dataclass, replace

import numpy as np

from headcount._distributions import normal_quantile, student_quantile
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.designs import DesignVariance, SurveyDesign, linearised_covariance
from headcount.intervals.evidence import Evidence
from headcount.intervals.target_labels.pooled import PooledScore
from headcount.intervals.target_labels.pooling import Pooled
from headcount.model_assisted import AssistedShares
from headcount.model_assisted.sampling import SamplingDesign

__all__ = ["PooledItems", "contradiction_errors", "pooled_intervals"]

_LEAST_EFFECT = 0.25
"""Lower bound of design effects: less is chance."""


@dataclass(frozen=True, eq=False)
class PooledItems:
    """The items of one sample behind its `Pooled` parts.

    Attributes
    ----------
    labelled : array of bool of shape (n_items,)
        Which items of the sample are labelled.
    codes : array of int of shape (n_labelled,)
    weights : array of shape (n_labelled,)
        Of the labelled items, one over the inclusion probability included.
    vectors : array of shape (n_items, n_coordinates)
    survey : SurveyDesign
        Of the items of the sample.
    """

    labelled: AnyArray
    codes: IntArray
    weights: FloatArray
    vectors: FloatArray
    survey: SurveyDesign


def pooled_intervals(
    score: PooledScore,
    shares: FloatArray,
    evidence: Evidence,
    items: PooledItems | None,
    counted: Pooled,
    *,
    unlabelled: bool,
    tail: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the ends of the interval of each class and the covariance of the shares, under the designs of both sides.

    Each interval inverts the score test with all numbers of items divided by the design effect of the class's share, and Student's
    quantile for the number of clusters.

    Parameters
    ----------
    score : PooledScore
    shares : array of shape (n_classes,)
        The estimate.
    evidence : Evidence
        Of the sample, from the source's labelled items.
    items : PooledItems or None
        None: the sample's items are independent, or their own shares are meant.
    counted : Pooled
        The parts with numbers of items; those of the score may be effective ones, which weigh the two parts better.
    unlabelled : bool
        As for `pooled_parts`.
    tail : float
        Probability beyond each end.
    """
    E = score.directions
    information, A, weights = score.sensitivity(shares)
    factor, sizes = _removed(counted)
    source = _source_errors(score, shares, evidence, A, factor, sizes)
    if items is None:
        independent = information - E.T @ _source_model(shares, evidence, A, factor, sizes) @ E
        target = DesignVariance(independent, 0, source.degrees)
    else:
        target = _target_errors(score, shares, items, A, weights, unlabelled, factor, sizes)
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    naive = E @ inverse @ E.T
    covariance: FloatArray = E @ inverse @ (target.covariance + source.covariance) @ inverse @ E.T
    z = float(normal_quantile(tail))
    few = float(student_quantile(tail, float(min(target.degrees, source.degrees)))) ** 2 / z**2
    k, parts = len(shares), score.parts
    low, high = np.zeros(k), np.ones(k)
    for j in range(1 if k == 2 else 0, k):
        effect = max(float(covariance[j, j] / max(naive[j, j], 1e-300)), _LEAST_EFFECT) * few
        fewer = replace(parts, n=parts.n / effect, N=parts.N / effect, sizes=np.maximum(parts.sizes / effect, 1.0))
        low[j], high[j] = PooledScore(fewer).interval_of(j, shares, tail)
    if k == 2:
        low[0], high[0] = 1.0 - high[1], 1.0 - low[1]
    return low, high, covariance


def _target_errors(
    score: PooledScore,
    p: FloatArray,
    items: PooledItems,
    A: FloatArray,
    weights: FloatArray,
    unlabelled: bool,
    factor: float,
    sizes: FloatArray,
) -> DesignVariance:
    """Return the variance of the score that comes from the items of the sample."""
    parts, k = score.parts, len(p)
    contributions = np.zeros((len(items.vectors), k))
    of_labelled = np.flatnonzero(items.labelled)
    a = items.weights / items.weights.sum()
    off = a[:, None] * (np.eye(k)[items.codes] - parts.labelled)
    contributions[of_labelled] += parts.n * off / weights
    for j in np.unique(items.codes):
        of_class = items.codes == j
        rows, w = of_labelled[of_class], items.weights[of_class]
        effective = w.sum() ** 2 / (w @ w)
        V, b = items.vectors[rows], w / w.sum()
        contributions[rows] -= factor * p[j] * min(effective / sizes[j], 1.0) * b[:, None] * ((V - b @ V) @ A.T)
    rest = np.flatnonzero(~items.labelled) if unlabelled else np.arange(len(items.vectors))
    c = items.survey.item_weights[rest]
    c = c / c.sum()
    if not unlabelled:
        contributions[of_labelled] -= (factor - 1.0) * (off @ parts.G.T @ A.T)
    U = items.vectors[rest]
    contributions[rest] += factor * c[:, None] * ((U - c @ U) @ A.T)
    return linearised_covariance(contributions @ score.directions, items.survey)


def _removed(parts: Pooled) -> tuple[float, FloatArray]:
    """Return 1 / (1 - a), if the part a was taken out of the mean of all items, and the sizes of classes before that."""
    factor = max(float(np.sqrt(parts.within)), 1.0)
    sizes: FloatArray = parts.sizes * factor**2
    return factor, sizes


def _source_errors(
    score: PooledScore, p: FloatArray, evidence: Evidence, A: FloatArray, factor: float, sizes: FloatArray
) -> DesignVariance:
    """Return the variance of the score that comes from the source's labelled items."""
    vectors = evidence.vectors
    U = vectors.labelled(int(evidence.index[0]))
    design = SurveyDesign(weights=np.ones(len(U))) if vectors.design is None else vectors.design
    contributions = np.empty((len(U), len(p)))
    for j, share in enumerate(p.tolist()):
        rows = np.flatnonzero(vectors.codes == j)
        w = design.item_weights[rows]
        w = w / w.sum()
        kept = min(evidence.sizes[j] / sizes[j], 1.0)
        contributions[rows] = -factor * share * kept * w[:, None] * ((U[rows] - w @ U[rows]) @ A.T)
    return linearised_covariance(contributions @ score.directions, design)


def _source_model(p: FloatArray, evidence: Evidence, A: FloatArray, factor: float, sizes: FloatArray) -> FloatArray:
    """Return what the score takes for that variance: of independent items."""
    kept = factor * np.minimum(evidence.sizes / sizes, 1.0)
    of_class = np.einsum("l,lab->ab", (p * kept) ** 2 / evidence.sizes, evidence.S[0])
    model: FloatArray = A @ of_class @ A.T
    return model


def contradiction_errors(
    evidence: Evidence, assisted: AssistedShares, design: SamplingDesign, vectors: FloatArray, shares: FloatArray
) -> tuple[FloatArray, float]:
    """Return the covariance of :math:`z - G y` under the designs of both sides, and its degrees of freedom.

    Parameters
    ----------
    evidence : Evidence
        Of one sample, from the source's labelled items.
    assisted : AssistedShares
        Of the sample itself.
    design : SamplingDesign
        How its labels were drawn, with the survey design of its items.
    vectors : array of shape (n_items, n_coordinates)
    shares : array of shape (n_classes,)
        Shares under label shift, at which the source's error is taken.
    """
    G = evidence.G[0]
    of_items = (design.all_weights / design.n_items)[:, None] * vectors
    of_items -= design.contributions(assisted.predictions, assisted.residuals) @ G.T
    survey = SurveyDesign(weights=np.ones(len(vectors))) if design.survey is None else design.survey
    target = linearised_covariance(of_items, survey.of_infinite_population())
    known = evidence.vectors
    U = known.labelled(int(evidence.index[0]))
    source_design = SurveyDesign(weights=np.ones(len(U))) if known.design is None else known.design
    contributions = np.empty_like(U)
    for j, share in enumerate(shares.tolist()):
        rows = np.flatnonzero(known.codes == j)
        w = source_design.item_weights[rows]
        w = w / w.sum()
        contributions[rows] = -share * w[:, None] * (U[rows] - w @ U[rows])
    source = linearised_covariance(contributions, source_design)
    return target.covariance + source.covariance, float(min(target.degrees, source.degrees))
