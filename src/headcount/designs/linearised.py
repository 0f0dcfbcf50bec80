"""Covariance of weighted means under a survey design, by linearisation, and what it is without the design."""

from dataclasses import dataclass

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.designs.design import SurveyDesign

__all__ = ["ClusterErrors", "DesignVariance", "cluster_errors", "linearised_covariance", "mean_design_effect"]


@dataclass(frozen=True, eq=False)
class DesignVariance:
    """Covariance of the sum of item contributions under a design.

    Attributes
    ----------
    covariance : array of shape (d, d)
    n_clusters : int
        Clusters that have items.
    degrees : int
        Degrees of freedom: clusters less strata.
    """

    covariance: FloatArray
    n_clusters: int
    degrees: int


def linearised_covariance(contributions: FloatArray, design: SurveyDesign) -> DesignVariance:
    r"""Return the covariance of the sum of what items contribute to an error, by cluster totals within strata.

    With :math:`t_{hc}` the total of the contributions in cluster c of stratum h, which has :math:`m_h` clusters of which the part
    :math:`f_h` of the population was drawn,

    .. math:: V = \sum_h (1 - f_h) \frac{m_h}{m_h - 1} \sum_c (t_{hc} - \bar t_h)(t_{hc} - \bar t_h)'

    For a weighted mean the contributions are :math:`w_i (u_i - \bar u) / \sum w` (Taylor linearisation, as in R's ``svymean``). A
    stratum with one cluster is centred at the mean of all clusters (R's ``lonely.psu = "adjust"``).

    Parameters
    ----------
    contributions : array of shape (n_items, d)
    design : SurveyDesign of these items
    """
    return cluster_errors(contributions, design).variance


@dataclass(frozen=True, eq=False)
class ClusterErrors:
    """What each cluster contributes to an error, centred within its stratum and scaled: their squares add up to the variance.

    Attributes
    ----------
    keys : array of shape (n_clusters,)
        What tells clusters apart, in order: names, or hashes of names.
    contributions : array of shape (n_clusters, d)
    n_strata : int
    """

    keys: AnyArray
    contributions: FloatArray
    n_strata: int

    @property
    def variance(self) -> DesignVariance:
        """Covariance of the error, with its degrees of freedom."""
        E = self.contributions
        return DesignVariance(E.T @ E, len(E), max(len(E) - self.n_strata, 1))


def cluster_errors(contributions: FloatArray, design: SurveyDesign) -> ClusterErrors:
    """Return what each cluster contributes to the sum of what its items contribute; keys are the numbers of clusters.

    A stratum with one cluster is centred at the mean of all clusters.
    """
    clusters, first, code = np.unique(design.item_clusters, return_index=True, return_inverse=True)
    totals = _sums(contributions, code, len(clusters))
    strata, stratum = np.unique(design.item_strata[first], return_inverse=True)
    counts = np.bincount(stratum).astype(np.float64)
    means = _sums(totals, stratum, len(strata)) / counts[:, None]
    means[counts == 1.0] = totals.mean(axis=0)
    scale = np.where(counts > 1.0, counts / np.maximum(counts - 1.0, 1.0), 1.0)
    if design.fractions is not None:
        scale = scale * (1.0 - design.fractions[strata])
    centred = (totals - means[stratum]) * np.sqrt(scale[stratum])[:, None]
    return ClusterErrors(clusters, centred, len(strata))


def _sums(values: FloatArray, code: IntArray, n: int) -> FloatArray:
    """Return the sums of rows of each code."""
    return np.stack([np.bincount(code, column, n) for column in values.T], axis=1)


def mean_design_effect(values: FloatArray, design: SurveyDesign, classes: IntArray | None = None) -> float:
    """Return how many times larger variances of means of these columns are than without the design, on the whole; at least 1.

    Parameters
    ----------
    values : array of shape (n_items, d)
    design : SurveyDesign of these items
    classes : array of int of shape (n_items,), optional
        The mean is then that of the class means, weighted by the number of items of each class.
    """
    code = np.zeros(len(values), dtype=np.int64) if classes is None else classes
    weights, counts = design.item_weights, np.bincount(code).astype(np.float64)
    totals = np.bincount(code, weights)
    share = weights / totals[code]
    centred = values - (_sums(values * share[:, None], code, len(counts)))[code]
    within = _sums(centred**2 * share[:, None], code, len(counts)).sum(axis=1)
    parts = counts / counts.sum()
    plain = float((parts**2 * within / np.maximum(counts - 1.0, 1.0)).sum())
    found = linearised_covariance(centred * (share * parts[code])[:, None], design)
    return max(float(np.trace(found.covariance)) / plain, 1.0) if plain > 1e-15 else 1.0
