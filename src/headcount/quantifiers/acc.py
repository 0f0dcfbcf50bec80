"""ACC: counts corrected by what the classifier gives for validation items of each class."""

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Decisions
from headcount.quantifiers.solvers import LeastSquares
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["ACC"]


@register_method(
    "adjusted classify and count",
    "Forman 2008",
    group="adjusting",
    needs="decisions, validation part",
    aliases=("AC", "GAC"),
)
class ACC(SumsQuantifier):
    r"""Adjusted classify and count: counts corrected by the classifier's known rates of confusion.

    With two classes

    .. math:: \hat p^{\mathrm{ACC}} = \frac{\hat p^{\mathrm{CC}} - \mathrm{FPR}}{\mathrm{TPR} - \mathrm{FPR}}

    clipped to [0, 1]; where TPR = FPR there is nothing to correct with, a warning says so, and the counts are returned.
    With more, the shares p on the simplex that minimise :math:`\lVert M p - q \rVert^2`, where q are the shares of decisions
    in the sample and column j of M those among validation items of class j. With more than two classes the literature also calls it
    GAC (generalised adjusted count).

    **When to use it.** Where there are decisions and no posteriors, or posteriors that mean little. Otherwise `PACC` or `SELSE`,
    which vary less.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    validation : int, float or splitter, default=5
        A number of folds or a splitter: cross-fitting. Each fold's classifier is fitted on the other folds, the rates are
        learnt from its own fold, and later items are scored by all of them; that takes K fits, K scorings of each item and K times
        the memory for outputs. Fewer folds where the rarest class has fewer items. A fraction: a stratified part of that size is
        held out to learn the rates, the classifier is fitted on the rest only: one fit, one scoring, and estimates that vary more.
    refit : bool, default=False
        With folds: whether a classifier that is fitted on all items scores later ones, with the rates of the fold classifiers (the
        published scheme: one scoring). It is better than they are, so that estimates are biased and there is no interval.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (n_classes, n_classes)
        ``M_[i, j]`` is the share of validation items of class j that were decided for class i.

    References
    ----------
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.
    Bunse (2022). On multi-class extensions of adjusted classify and count. LQ.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> ACC(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = Decisions()
    solver = LeastSquares()
    adjusts_for_shift = True
