"""SMM: the mixture of the two classes' mean scores that gives a sample's mean score."""

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Posteriors
from headcount.quantifiers.solvers import LeastSquares
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["SMM"]


@register_method(
    "mixture of mean scores",
    "Hassan et al. 2020",
    group="matching",
    needs="posteriors, validation part",
)
class SMM(SumsQuantifier):
    r"""Sample mean matching: mix the two classes' mean scores such that the mixture's mean is the sample's.

    .. math:: \hat p_{\oplus} = \frac{\bar s - \bar s_{\ominus}}{\bar s_{\oplus} - \bar s_{\ominus}}

    clipped to [0, 1], where :math:`\bar s` is the mean posterior of the second class in the sample, and
    :math:`\bar s_{\oplus}` and :math:`\bar s_{\ominus}` are its means over validation items of the second and the first class.
    These are the rates :math:`\mathrm{TPR}_s` and :math:`\mathrm{FPR}_s` of :class:`PACC`: for two classes both methods are the
    same estimator, which was found from two sides, and they return the same numbers. For two classes.

    **When to use it.** To compare with publications that use it. **When not.** PACC is the same and takes any number of classes.

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
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (2,)
    classifier_ : fitted classifier
    M_ : array of shape (2, 2)
        ``M_[i, j]`` is the mean posterior of class i among validation items of class j.

    References
    ----------
    Hassan, Maletzke and Batista (2020). Accurately quantifying a billion instances per second. DSAA.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> SMM(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = Posteriors()
    solver = LeastSquares()
    adjusts_for_shift = True
    max_classes = 2
