"""AC-ord: counts of decisions corrected by the classifier's confusion, by the earth mover's distance between ordered classes."""

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.ordinal.solvers import EarthMover
from headcount.quantifiers.representations import Decisions
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["ACOrd"]


@register_method(
    "adjusted counts of ordered classes, by the earth mover's distance",
    "Castaño et al. 2022",
    group="matching",
    needs="decisions, validation part, an order",
    aliases=("AC-ord", "AC_Ord"),
)
class ACOrd(SumsQuantifier):
    r"""Adjusted classify and count for ordered classes: the shares whose counts are nearest by the earth mover's distance.

    With q the shares of decisions in the sample and column j of M those among validation items of class j, the shares p on the
    simplex minimise

    .. math:: \sum_{k < K} \Bigl| \sum_{i \le k} (M p - q)_i \Bigr|,

    the cost of moving decisions from class to neighbouring class. A linear programme, solved exactly.

    **When to use it.** For ordered classes where there are decisions and no posteriors. Its errors were those of :class:`ACC` in
    the published comparison: with as many decisions as classes, both reproduce q exactly wherever that is possible. With posteriors
    take ``EDy(distance="emd")`` or :class:`EDyMAP`.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    validation : int, float or splitter, default=5
        A number of folds or a splitter, or a fraction to hold out, as for :class:`ACC`.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes from lowest to highest; needed for more than two classes whose labels are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (n_classes, n_classes)
        ``M_[i, j]`` is the share of validation items of class j that were decided for class i.

    References
    ----------
    Castaño, González, González and del Coz (2022). Matching distributions algorithms based on the earth mover's distance for
    ordinal quantification. IEEE Transactions on Neural Networks and Learning Systems.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, n_informative=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # items of the second class only
    >>> ACOrd(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0, 0.0]
    """

    representation = Decisions()
    solver = EarthMover()
    adjusts_for_shift = True
    needs_order = True
