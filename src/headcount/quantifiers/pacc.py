"""PACC: mean posteriors corrected by what the classifier gives for validation items of each class."""

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Posteriors
from headcount.quantifiers.solvers import LeastSquares
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["PACC"]


@register_method(
    "probabilistic adjusted classify and count",
    "Bella et al. 2010",
    group="adjusting",
    needs="posteriors, validation part",
    aliases=("PAC", "GPAC"),
    suggested=True,
)
class PACC(SumsQuantifier):
    r"""Probabilistic adjusted classify and count: mean posteriors corrected by their known means in each class.

    With two classes

    .. math:: \hat p^{\mathrm{PACC}} = \frac{\hat p^{\mathrm{PCC}} - \mathrm{FPR}_s}{\mathrm{TPR}_s - \mathrm{FPR}_s}

    clipped to [0, 1], where :math:`\mathrm{TPR}_s` and :math:`\mathrm{FPR}_s` are the mean posteriors of the positive class
    among positive and negative validation items. With more, the shares p on the simplex that minimise
    :math:`\lVert M p - q \rVert^2`, where q are the mean posteriors of the sample and column j of M those of validation items
    of class j. With more than two classes the literature also calls it GPAC. A classifier without ``predict_proba`` is calibrated
    by Platt's method, in five folds.

    **When to use it.** Where shares may be anything: for any number of classes, with an interval. `SELSE` varies less; where few
    labelled items of each class are there, and shares hardly move, `PCC` has smaller errors.

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
        ``M_[i, j]`` is the mean posterior of class i among validation items of class j.

    References
    ----------
    Bella, Ferri, Hernández-Orallo and Ramírez-Quintana (2010). Quantification via probability estimators. ICDM.
    Bunse (2022). On multi-class extensions of adjusted classify and count. LQ.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> PACC(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = Posteriors()
    solver = LeastSquares()
    adjusts_for_shift = True
