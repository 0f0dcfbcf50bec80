"""`SamplingDesign`: how the labelled items were drawn, as weights, strata and a formula for the variance of a mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.designs import DesignVariance, SurveyDesign, check_design, linearised_covariance
from headcount.exceptions import DataError

__all__ = ["SamplingDesign", "sampling_design"]


@dataclass(frozen=True, eq=False)
class SamplingDesign:
    """The labelled items among all items, and their chances of being drawn.

    Attributes
    ----------
    rows : array of shape (n,)
        Positions of the labelled items.
    weights : array of shape (n,)
        One over the inclusion probability, scaled in each stratum to sum to its number of items (Hajek).
    unsampled : array of shape (n,)
        One minus the inclusion probability.
    strata : array of shape (n,)
        Stratum of each labelled item, 0 to H - 1.
    all_strata : array of shape (N,)
        Stratum of each item.
    sizes, counts : arrays of shape (H,)
        Items, or the sum of their weights, and labelled items of each stratum.
    all_weights : array of shape (N,)
        What each item counts, 1 on average; ones without a survey design.
    survey : SurveyDesign or None
        How the N items were drawn themselves.
    """

    rows: IntArray
    weights: FloatArray
    unsampled: FloatArray
    strata: IntArray
    all_strata: IntArray
    sizes: FloatArray
    counts: FloatArray
    all_weights: FloatArray
    survey: SurveyDesign | None = None

    @property
    def n_items(self) -> int:
        """Number of all items."""
        return len(self.all_strata)

    def of_stratum(self, h: int) -> "SamplingDesign":
        """Return the design of one stratum by itself, its items numbered anew."""
        within, chosen = self.all_strata == h, self.strata == h
        return SamplingDesign(
            (np.cumsum(within) - 1)[self.rows[chosen]],
            self.weights[chosen],
            self.unsampled[chosen],
            np.zeros(int(chosen.sum()), dtype=np.int64),
            np.zeros(int(within.sum()), dtype=np.int64),
            self.sizes[[h]],
            self.counts[[h]],
            self.all_weights[within],
        )

    def centre(self, values: FloatArray) -> FloatArray:
        """Subtract from values of the labelled items their weighted mean in each stratum."""
        return np.asarray(values - self.stratum_means(values)[self.strata], dtype=np.float64)

    def stratum_means(self, values: FloatArray) -> FloatArray:
        """Return the weighted mean over the labelled items of each stratum."""
        flat = values.reshape(len(values), -1)
        sums = np.zeros((len(self.sizes), flat.shape[1]))
        np.add.at(sums, self.strata, flat * self.weights[:, None])
        return np.asarray(sums / self.sizes[:, None], dtype=np.float64).reshape(len(self.sizes), *values.shape[1:])

    def covariance(self, residuals: FloatArray) -> FloatArray:
        r"""Return the covariance matrix of the weighted mean of residuals, shape (n, K), over the labelled items.

        .. math:: V = \frac{1}{N^2} \sum_h \frac{n_h}{n_h - 1} \sum_{i \in h} (1 - \pi_i) d_i^2 e_i e_i'

        With the residuals centred in each stratum. It is exact for simple random sampling in each stratum, where it is
        :math:`\sum_h W_h^2 (1 - f_h) s_h^2 / n_h`, and Hajek's approximation for unequal probabilities (Hajek, 1964).
        """
        scaled = residuals * np.sqrt(self.variance_weights)[:, None]
        return np.asarray(scaled.T @ scaled, dtype=np.float64)

    def mean(self, values: FloatArray) -> FloatArray:
        """Return the weighted mean over all items."""
        return np.asarray(self.all_weights @ values / self.all_weights.sum(), dtype=np.float64)

    def contributions(self, predictions: FloatArray, residuals: FloatArray) -> FloatArray:
        """Return what each of the N items adds to the weighted mean of predictions and residuals: shape (N, K)."""
        added = (self.all_weights / self.n_items)[:, None] * predictions
        added[self.rows] += (self.weights / self.n_items)[:, None] * residuals
        return added

    def two_phase_covariance(self, predictions: FloatArray, residuals: FloatArray) -> DesignVariance:
        r"""Return the covariance of the estimate for the population that the N items were drawn from by a survey design.

        Items are the first phase of sampling, labels the second (Särndal, Swensson and Wretman 1992, chapter 9). With
        :math:`w_i` the items' weights, 1 on average, the contributions to the error are

        .. math:: c_i = \frac{w_i}{N} (m(x_i) - \hat p) + \frac{w_i}{N \pi_i} I_i (y_i - m(x_i))

        and the variance of their cluster totals counts both phases, since labels are drawn independently in different clusters. A
        finite population corrects the first phase only.
        """
        survey = self.survey
        if survey is None:
            raise TypeError("There is no survey design of the items.")
        centred = self.contributions(predictions - self.mean(predictions), residuals)
        found = linearised_covariance(centred, survey)
        covariance = found.covariance
        if survey.fractions is not None:
            drawn = np.sqrt(survey.fractions[survey.item_strata[self.rows]])[:, None]
            covariance = covariance + self.covariance(residuals * drawn)
        # Clusters without labels tell little of the error, most of which comes from the labels.
        with_labels = np.unique(survey.item_clusters[self.rows])
        strata = np.unique(survey.item_strata[self.rows])
        degrees = max(min(len(with_labels) - len(strata), found.degrees), 1)
        return DesignVariance(covariance, len(with_labels), degrees)

    @property
    def variance_weights(self) -> FloatArray:
        """What the product of two centred residuals counts in the covariance."""
        corrections = (self.counts / np.maximum(self.counts - 1.0, 1.0))[self.strata]
        return np.asarray(corrections * self.unsampled * (self.weights / self.n_items) ** 2, dtype=np.float64)


def sampling_design(
    labelled: Any, n_items: int, probabilities: Any = None, strata: Any = None, survey: SurveyDesign | None = None
) -> SamplingDesign:
    """Check how the labelled items were drawn.

    Parameters
    ----------
    labelled : array of bool of shape (N,), or of positions
    n_items : int
        Number of all items, N.
    probabilities : array of shape (N,) or (n,), optional
        Inclusion probabilities, of all items or of the labelled ones. By default equal in each stratum.
    strata : array of shape (N,), optional
        Stratum of each item, out of which the labelled ones were drawn.
    survey : SurveyDesign, optional
        How the items were drawn themselves; labels were drawn out of them, whatever their weights.
    """
    rows = labelled_rows(labelled, n_items)
    all_strata, n_strata = np.zeros(n_items, dtype=np.int64), 1
    if strata is not None:
        given = np.asarray(strata)
        if given.shape != (n_items,):
            raise DataError(
                f"strata must name the stratum of each of the {n_items:,} items; its shape is {given.shape}."
            )
        names, all_strata = np.unique(given, return_inverse=True)
        n_strata = len(names)
    sizes = np.bincount(all_strata, minlength=n_strata).astype(np.float64)
    counts = np.bincount(all_strata[rows], minlength=n_strata).astype(np.float64)
    few = (counts < 2) & (counts < sizes)
    if few.any():
        which = f"the stratum {quoted(names[few], 3)}" if strata is not None else "all"
        raise DataError(
            f"{int(counts[few].min())} labelled items in {which}: at least 2 are needed in each stratum. Label more of them, or "
            "merge strata before drawing."
        )
    stratum = all_strata[rows]
    chances = (counts / sizes)[stratum]
    if probabilities is not None:
        chances = _checked_probabilities(probabilities, rows, n_items)
    each = np.ones(n_items)
    if survey is not None:
        check_design(survey, n_items, "items")
        each = survey.item_weights / survey.item_weights.mean()
        sizes = np.bincount(all_strata, each, minlength=n_strata).astype(np.float64)
    weights = each[rows] / chances
    weights *= (sizes / np.bincount(stratum, weights=weights, minlength=n_strata))[stratum]
    return SamplingDesign(rows, weights, 1.0 - chances, stratum, all_strata, sizes, counts, each, survey)


def labelled_rows(labelled: Any, n_items: int) -> IntArray:
    """Return the positions of the labelled items, each once."""
    given: AnyArray = np.asarray(labelled)
    if given.dtype.kind == "b":
        if given.shape != (n_items,):
            raise DataError(
                f"labelled must say of each of the {n_items:,} items whether it is labelled; its shape is {given.shape}."
            )
        given = np.flatnonzero(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise DataError("labelled must be an array of booleans, one for each item, or of positions of items.")
    rows = given.astype(np.int64)
    if rows.size and (rows.min() < 0 or rows.max() >= n_items):
        raise DataError(
            f"labelled holds a position outside the {n_items:,} items: positions go from 0 to {n_items - 1:,}."
        )
    repeated = np.flatnonzero(np.bincount(rows, minlength=n_items) > 1)
    if repeated.size:
        raise DataError(f"The items at {quoted(repeated)} are labelled more than once: keep one label of each item.")
    return rows


def _checked_probabilities(probabilities: Any, rows: IntArray, n_items: int) -> FloatArray:
    given = np.asarray(probabilities, dtype=np.float64)
    if given.shape not in ((n_items,), (len(rows),)):
        raise DataError(
            f"probabilities must be one for each of the {n_items:,} items or of the {len(rows):,} labelled ones; its shape is "
            f"{given.shape}."
        )
    chances = given[rows] if given.shape == (n_items,) else given
    bad = ~((chances > 0.0) & (chances <= 1.0))
    if bad.any():
        raise DataError(
            f"The inclusion probability of a labelled item is {chances[bad][0]:g}: it must be above 0 and at most 1."
        )
    return np.asarray(chances, dtype=np.float64)
