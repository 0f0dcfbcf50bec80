"""`survey_mean`: weighted means of numbers under a survey design, with standard errors, design effects and intervals."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._distributions import student_quantile
from headcount._typing import FloatArray
from headcount.designs.design import SurveyDesign, check_design
from headcount.designs.linearised import linearised_covariance
from headcount.exceptions import DataError

__all__ = ["SurveyMean", "survey_mean"]


@dataclass(frozen=True, eq=False, repr=False)
class SurveyMean:
    """Weighted means of one or several numbers an item, under a survey design.

    Attributes
    ----------
    mean : array of shape (n_columns,)
    covariance : array of shape (n_columns, n_columns)
        Of the errors of the means.
    design_effects : array of shape (n_columns,)
        Variance over that of the mean of as many independent items of equal weight, drawn with replacement (R's
        ``deff="replace"``); NaN of a number that is the same for all items.
    degrees : int
        Degrees of freedom: clusters less strata.
    n_items, n_clusters : int
    """

    mean: FloatArray
    covariance: FloatArray
    design_effects: FloatArray
    degrees: int
    n_items: int
    n_clusters: int

    @property
    def standard_error(self) -> FloatArray:
        """Standard errors of the means."""
        errors: FloatArray = np.sqrt(np.diag(self.covariance))
        return errors

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return the ends of intervals with Student's quantiles for the degrees of freedom."""
        if not 0.0 < level < 1.0:
            raise DataError(f"level must be between 0 and 1, such as 0.95; got {level!r}.")
        half = float(student_quantile((1.0 - level) / 2.0, float(self.degrees))) * self.standard_error
        return self.mean - half, self.mean + half

    def __repr__(self) -> str:
        low, high = self.interval()
        lines = [
            f"Means of {self.n_items:,} items in {self.n_clusters:,} clusters, {self.degrees:,} degrees of freedom"
        ]
        figures = zip(self.mean, self.standard_error, low, high, self.design_effects, strict=True)
        lines += [
            f"  {mean:.6g}, standard error {error:.4g}, 95 % interval {start:.6g} to {stop:.6g}, design effect {effect:.3g}"
            for mean, error, start, stop, effect in figures
        ]
        return "\n".join(lines)


def survey_mean(values: Any, design: SurveyDesign) -> SurveyMean:
    r"""Return weighted means of what was seen of each item, with their errors under the design.

    .. math:: \bar y = \sum_i w_i y_i / \sum_i w_i

    The variance is that of the cluster totals of :math:`w_i (y_i - \bar y) / \sum w` within strata (`linearised_covariance`): the
    one of R's ``svymean``, to the last digits. Of indicators, such as ``labels == "yes"``, it is the share of items that are
    labelled by hand; of items that a classifier has scored, `headcount.estimate` corrects the share.

    Parameters
    ----------
    values : array of shape (n_items,) or (n_items, n_columns)
        Numbers, or True and False.
    design : SurveyDesign of these items

    Returns
    -------
    SurveyMean

    References
    ----------
    Lumley (2004). Analysis of complex survey samples. Journal of Statistical Software 9(8).

    Examples
    --------
    >>> from headcount import SurveyDesign
    >>> income = [20.0, 24.0, 31.0, 45.0, 38.0, 52.0]
    >>> survey_mean(income, SurveyDesign(weights=[1, 1, 1, 2, 2, 2], clusters=["a", "a", "b", "b", "c", "c"]))
    Means of 6 items in 3 clusters, 2 degrees of freedom
      38.3333, standard error 5.796, 95 % interval 13.394 to 63.2727, design effect 1.43
    """
    given = np.asarray(values)
    if given.dtype.kind not in "fiub" or given.ndim not in (1, 2) or not np.isfinite(given).all():
        raise DataError(
            "values must be finite numbers, one or several for each item; compare labels first, as in survey_mean(y == 'yes', "
            "design)."
        )
    check_design(design, len(given), "values")
    Y = given.astype(np.float64).reshape(len(given), -1)
    weights = design.item_weights / design.item_weights.sum()
    mean = weights @ Y
    centred = Y - mean
    found = linearised_covariance(weights[:, None] * centred, design)
    if found.n_clusters < 2:
        raise DataError("The design has one item or cluster only: a standard error can't be told from one.")
    plain = weights @ centred**2 / (len(Y) - 1)
    varies = plain > 1e-15 * np.maximum(mean**2, 1e-300)
    effects = np.where(varies, np.diag(found.covariance) / np.where(varies, plain, 1.0), np.nan)
    return SurveyMean(mean, found.covariance, effects, found.degrees, len(Y), found.n_clusters)
