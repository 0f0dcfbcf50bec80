"""DMy: the mixture of the classes' histograms of all posteriors that is nearest to a sample's, for any number of classes."""

from typing import Any, ClassVar

from headcount._typing import RandomState
from headcount._validation import StrOptions, integers_from
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.matching.class_histograms import ClassHistograms
from headcount.quantifiers.matching.distances import DISTANCES
from headcount.quantifiers.matching.solvers import NearestHistograms
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["DMy"]


@register_method(
    "nearest mixture of histograms of all posteriors",
    "Firat 2016; Moreo et al. 2024",
    group="matching",
    needs="posteriors, validation part",
)
class DMy(SumsQuantifier):
    r"""Match a sample's histograms of posteriors with a mixture of the classes' histograms, for any number of classes.

    Each class's posterior has a histogram; :math:`q_{cb}` is the sample's share of items whose posterior of class c is in bin b,
    and :math:`M_{cb,j}` that of the validation items of class j. The shares p on the simplex minimise

    .. math:: \sum_c d(q_c, m_c), \qquad m_{cb} = \sum_j p_j M_{cb,j},

    for one of the distances d of :class:`DyS`. With "hellinger", the squared Hellinger distance, this is GHDy, the extension of
    HDy to any number of classes. With ``cdf`` the distribution functions at the inner edges of the bins take the place of the
    histograms. The sum is convex in p, and Newton steps find its least value. (QuaPy's DMy adds up the roots of the Hellinger
    distances of the classes, which is not convex; for two classes both are the same.) Two classes have one histogram, as the two
    posteriors sum to 1.

    **When to use it.** Up to a few classes with a hundred or more validation items each: in our simulations its error was then at
    most that of PACC; with ten classes PACC's was less. With about thirty items of a class the bins are poorly known: take
    ``cdf=True``, which is about as good as PACC there. "l2" is for distribution functions; on histograms it was mostly the worst.

    The interval is that of the equation whose solution minimises the distance: for "l2", and in place of "l1", the normal
    equations, for the others those of the weighted sum of squares that they equal near the minimum. It counts that the profiles are
    learnt.

    Memory: ``n_classes * bins`` numbers for each sample, and as many 32-bit codes as classes for each item.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bins : int, default=8
        The number of bins of each histogram.
    distance : {"hellinger", "topsoe", "probsymm", "l2", "l1"}, default="hellinger"
        With ``cdf`` "l1" is the sum of the earth mover's distances between the histograms of each class (HDy with EMD).
    cdf : bool, default=False
        Whether distribution functions are compared instead of histograms.
    validation : int, float or splitter, default=5
        A number of folds or a splitter: cross-fitting. Each fold's classifier is fitted on the other folds, the histograms are
        learnt from its own fold, and later items are scored by all of them; that takes K fits, K scorings of each item and K times
        the memory for outputs. Fewer folds where the rarest class has fewer items. A fraction: a stratified part of that size is
        held out to learn the histograms, the classifier is fitted on the rest only: one fit, one scoring, estimates that vary more.
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
    M_ : array of shape (n_classes * bins, n_classes), or (bins, 2) for two classes
        The histograms of each class's validation items, that of the first class's posterior first.

    References
    ----------
    Firat (2016). Unified framework for quantification. arXiv:1606.00868.
    Bunse (2022). On multi-class extensions of adjusted classify and count. LQ.
    Moreo, González and del Coz (2024). Kernel density estimation for multiclass quantification. Machine Learning 114.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, n_informative=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # items of the second class only
    >>> DMy(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0, 0.0]
    """

    adjusts_for_shift = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "bins": integers_from(2),
        "distance": [StrOptions(set(DISTANCES))],
        "cdf": ["boolean"],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bins: int = 8,
        distance: str = "hellinger",
        cdf: bool = False,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.bins = bins
        self.distance = distance
        self.cdf = cdf

    @property
    def representation(self) -> ClassHistograms:  # type: ignore[override]
        """The histograms that are counted."""
        return ClassHistograms(self.bins)

    @property
    def solver(self) -> NearestHistograms:  # type: ignore[override]
        """The search for the nearest mixture."""
        return NearestHistograms(self.representation, self.distance, self.cdf)
