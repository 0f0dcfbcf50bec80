"""MS2: the median of the adjusted counts above thresholds with TPR - FPR > 1/4."""

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.thresholds.sweep import MedianOfThresholds, MedianSweep

__all__ = ["MS2"]


@register_method(
    "median of the adjusted counts above thresholds with TPR - FPR > 1/4",
    "Forman 2008",
    group="thresholds",
    needs="posteriors, validation part",
)
class MS2(MedianSweep):
    r"""Median sweep: the median of the adjusted counts above thresholds with TPR - FPR > 1/4.

    .. math:: \hat p = \operatorname*{median}_{t \,:\, \mathrm{TPR}(t) - \mathrm{FPR}(t) > \tfrac14} \;
        \frac{q(t) - \mathrm{FPR}(t)}{\mathrm{TPR}(t) - \mathrm{FPR}(t)}

    each clipped to [0, 1], where q(t) is the share of the sample's items whose posterior of the second class is at least t, and
    TPR(t) and FPR(t) are those shares among the validation items of the second and of the first class. For two classes.

    When to use it: A robust adjusted count for unbalanced classes and scores that are no probabilities: only the order of the
    scores counts. Where posteriors are good, `PACC` and calibrated `SLD` vary less.

    The interval is that of the mean over thresholds with :math:`|\mathrm{TPR} - \mathrm{FPR}| > 1/4`, which is a mean of item
    scores; it is widened to hold the median where that lies outside.

    Memory: a sample takes one number for each threshold, up to 2,000.

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
    thresholds_ : array of shape (n_thresholds,)
    M_ : array of shape (n_thresholds + 1, 2)
        Row c: shares of each class's validation items that reach exactly c of the thresholds.

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
    >>> MS2(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    solver = MedianOfThresholds(0.25)
