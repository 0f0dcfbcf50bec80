"""SELSE: the linear equations between sample and classes whose solution varies least."""

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import BiasCorrectedTemperature, Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.densities import DensitiesQuantifier
from headcount.quantifiers.scores.least_variance import LabelledDensities
from headcount.quantifiers.statistics import SampleItems

__all__ = ["SELSE"]


@register_method(
    "linear equations of least variance",
    "Chow 2022",
    group="adjusting",
    needs="posteriors, validation part",
    suggested=True,
)
class SELSE(DensitiesQuantifier):
    r"""Least variance among the methods that solve linear equations between the sample and the classes.

    ACC, PACC and their relatives choose functions h of an item and solve

    .. math:: \frac{1}{n} \sum_{x \in U} h(x) = \sum_l p_l \, \frac{1}{n_l} \sum_{x \in L_l} h(x)

    with n items in the sample U and :math:`n_l` validation items of class l. Whatever h is, the solution is consistent; its
    variance is least for the ratios

    .. math:: h_j(x) = \frac{f_j(x)}{\sum_l w_l f_l(x)}, \qquad w_l = \frac{p_l}{n} + \frac{p_l^2}{n_l}

    of the classes' densities f, which count both sides' items. With far more labelled items than new ones w is p, and the equations
    are those of SLD's maximum; with far fewer, they weigh what the labelled items know worst.

    From the reference: the family of estimators, and the aim of least variance in it. Ours: the functions above, and how they are
    found. Densities are
    posteriors calibrated by bias-corrected temperature scaling, divided by the labelled items' shares; w is taken at the most
    likely shares (those of ``SLD(calibration="bcts")``), of each class at least one item; validation items are calibrated without
    themselves and serve both sides, without splitting them; and the answer is confined to the simplex in the metric of the
    equations' covariance.

    **When to use it.** With fewer labelled items than new ones, over a classifier that separates the classes well in part. If the
    densities are wrong it stays consistent, unlike SLD. **When not.** In streams and with many classes it costs a product over all
    validation items and k² coordinates for each sample. Memory grows with 16 k² bytes a validation item.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    validation : int, float or splitter, default=5
        A number of folds or a splitter, or a fraction to hold out, as for :class:`ACC`.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    prior_ : array of shape (n_classes,)
        The class shares among the labelled items.
    calibration_ : BiasCorrectedTemperature

    References
    ----------
    Chow (2022). A semiparametric efficient approach to label shift estimation and quantification. arXiv 2211.04274.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> SELSE(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    prior_: FloatArray
    calibration_: BiasCorrectedTemperature

    def _learn_densities(self, outputs: Outputs, codes: IntArray) -> None:
        self.prior_ = np.bincount(codes, minlength=len(self.classes_)) / len(codes)
        self.calibration_ = BiasCorrectedTemperature.learnt(outputs.need("posteriors"), codes)

    def densities(self, outputs: Outputs) -> FloatArray:
        """Return calibrated posteriors divided by the labelled items' shares: densities, up to a factor for each item."""
        F: FloatArray = self.calibration_.posteriors(outputs.need("posteriors")) / self.prior_
        return F

    def validation_densities(self) -> FloatArray:
        """Return the densities of the validation items, for each of them calibrated by the others."""
        P, codes = self.validation_outputs_.need("posteriors"), self.validation_codes_
        F: FloatArray = self.calibration_.jackknifed_posteriors(P, codes) / self.prior_
        return F

    def starting_shares(self) -> FloatArray:
        """Return the shares at which the search for the most likely ones begins."""
        return self.prior_

    def solve(self, statistics: SampleItems) -> FloatArray:
        """Solve the equations of each sample, with weights at its most likely shares."""
        pilot = super().solve(statistics)
        labelled = LabelledDensities(
            self.validation_densities(), self.validation_codes_, self.validation_folds_, self.validation_repeats_
        )
        return labelled.shares(statistics, pilot)

    @property
    def has_interval(self) -> bool:
        """Whether the class means are those of the classifier that is used, so that the interval of the equations holds."""
        return not self._is_refitted()

    @property
    def can_stream(self) -> bool:
        """Whether the estimate is made of the items' densities and of nothing else."""
        return self._is_inherited(DensitiesQuantifier, "reduce", "aggregate", "predict")
