"""MAX: the count above the threshold where the true and the false positive rate differ most, adjusted."""

from headcount._typing import FloatArray
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.thresholds.one_threshold import OneThreshold

__all__ = ["MAX"]


@register_method(
    "adjusted count above the threshold with the largest TPR - FPR",
    "Forman 2008",
    group="thresholds",
    needs="posteriors, validation part",
)
class MAX(OneThreshold):
    r"""Adjusted count above the threshold where the true and the false positive rate differ most.

    .. math:: \hat p = \frac{q(t) - \mathrm{FPR}(t)}{\mathrm{TPR}(t) - \mathrm{FPR}(t)}
        \qquad t = \arg\min_t \; \mathrm{FPR}(t) - \mathrm{TPR}(t)

    clipped to [0, 1], where q(t) is the share of the sample's items whose posterior of the second class is at least t, and
    TPR(t) and FPR(t) are those shares among the validation items of the second and of the first class. Thresholds with equal
    rates are left out; of equally good ones the one with the largest difference of rates is taken. For two classes.

    When to use it: Where the classifier's own decisions are of little use, such as with rare classes, and a simple adjusted
    count is wanted. Its denominator is the largest there is. With few labelled items the largest of many noisy differences is
    too large by chance, and the estimate is biased towards the middle: `PACC` uses all posteriors and has no threshold to
    choose.

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
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> MAX(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    @staticmethod
    def criterion(tpr: FloatArray, fpr: FloatArray) -> FloatArray:
        """Return what is least at the best threshold, for each threshold's rates."""
        least: FloatArray = fpr - tpr
        return least
