"""X: the count above the threshold where both classes have the same error rate, adjusted."""

import numpy as np

from headcount._typing import FloatArray
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.thresholds.one_threshold import OneThreshold

__all__ = ["X"]


@register_method(
    "adjusted count above the threshold where FPR = 1 - TPR",
    "Forman 2008",
    group="thresholds",
    needs="posteriors, validation part",
)
class X(OneThreshold):
    r"""Adjusted count above the threshold where both classes have the same error rate.

    .. math:: \hat p = \frac{q(t) - \mathrm{FPR}(t)}{\mathrm{TPR}(t) - \mathrm{FPR}(t)}
        \qquad t = \arg\min_t \; \lvert 1 - \mathrm{TPR}(t) - \mathrm{FPR}(t) \rvert

    clipped to [0, 1], where q(t) is the share of the sample's items whose posterior of the second class is at least t, and
    TPR(t) and FPR(t) are those shares among the validation items of the second and of the first class. Thresholds with equal
    rates are left out; of equally good ones the one with the largest difference of rates is taken. For two classes.

    When to use it: Where classes are unbalanced and the classifier's own decisions nearly all fall on one side. Both error
    rates are equal there, so that both are learnt from items in the middle of the scores. Otherwise `PACC`, which uses all
    posteriors.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    thresholds : "scores" or int, default="scores"
        Thresholds of the second class's posterior that are considered: "scores" means the distinct posteriors of the validation
        items (of more than 2,000, as many at equal steps of their order); a number, so many equal steps from 0 to 1, such as 100.
    validation : int, float or splitter, default=5
        A number of folds or a splitter: cross-fitting. Each fold's classifier is fitted on the other folds, the rates are
        learnt from its own fold, and later items are scored by all of them; that takes K fits, K scorings of each item and K times
        the memory for outputs. Fewer folds where the rarest class has fewer items. A fraction: a stratified part of that size is
        held out to learn the rates, the classifier is fitted on the rest only: one fit, one scoring, estimates that vary more.
    refit : bool, default=False
        With folds: whether a classifier that is fitted on all items scores later ones, with the rates of the fold classifiers (the
        published scheme: one scoring). It is better than they are, so that estimates are biased and there is no interval.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted. The second is the positive class.

    Attributes
    ----------
    classes_ : array of shape (2,)
    classifier_ : fitted classifier
    threshold_ : float
    M_ : array of shape (2, 2)
        Shares of each class's validation items below and above the threshold: the second row holds FPR and TPR.

    References
    ----------
    Forman (2006). Quantifying trends accurately despite classifier error and class imbalance. KDD.
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> import numpy as np
    >>> items, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> X(random_state=0).fit(items[:2000], y[:2000]).predict(items[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    @staticmethod
    def criterion(tpr: FloatArray, fpr: FloatArray) -> FloatArray:
        """Return what is least at the best threshold, for each threshold's rates."""
        least: FloatArray = np.abs(1.0 - tpr - fpr)
        return least
