"""HDy: the mixture of the classes' histograms of posteriors that is nearest to a sample's in Hellinger distance."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import FloatArray, RandomState
from headcount._validation import integers_from, quoted
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.learners import Fits, Validation
from headcount.quantifiers.histograms import Histograms
from headcount.quantifiers.matching import MatchingQuantifier
from headcount.quantifiers.statistics import Statistics
from headcount.quantifiers.validated import DEFAULT_VALIDATION

__all__ = ["HDy"]

_CHUNK = 256


class HDy(MatchingQuantifier):
    r"""Match a sample's histogram of posteriors with a mixture of the two classes' histograms (Hellinger distance).

    For each number of bins the share :math:`\alpha` is chosen from a grid such that

    .. math:: \mathrm{HD}^2 = 1 - \sum_b \sqrt{q_b \, (\alpha h^{\oplus}_b + (1 - \alpha) h^{\ominus}_b)}

    is least, where q is the histogram of the sample's posteriors of the second class, and :math:`h^{\oplus}` and
    :math:`h^{\ominus}` are those of the validation items of the second and first class. The answer is the median over the
    numbers of bins. For two classes.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bins : sequence of int, default=(10, 20, .., 110)
        The numbers of bins.
    n_candidates : int, default=101
        Points of the grid of shares, 0 and 1 included.
    validation : float, int or splitter, default=0.4
        A fraction: a stratified part of that size is held out to learn the histograms, the classifier is fitted on the rest only.
        A number of folds or a splitter: histograms of out-of-fold posteriors, then the classifier is fitted on all items.
    random_state : int, RandomState, Generator or None, default=None
        For the split.

    Attributes
    ----------
    classes_ : array of shape (2,)
    classifier_ : fitted classifier
    profiles_ : array of shape (2, n_columns)
        The histograms of each class, side by side (those from which the others follow).

    References
    ----------
    González-Castro, Alaiz-Rodríguez and Alegre (2013). Class distribution estimation based on the Hellinger distance. Information
    Sciences 218.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> pile = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> HDy(random_state=0).fit(X[:2000], y[:2000]).predict(X[pile]).round(1).tolist()
    [0.0, 1.0]
    """

    profiles_: FloatArray

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **MatchingQuantifier._parameter_constraints,
        "bins": ["array-like"],
        "n_candidates": integers_from(2),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bins: Sequence[int] = tuple(range(10, 111, 10)),
        n_candidates: int = 101,
        validation: Validation = DEFAULT_VALIDATION,
        random_state: RandomState = None,
    ) -> None:
        super().__init__(classifier, validation=validation, random_state=random_state)
        self.bins = bins
        self.n_candidates = n_candidates

    @property
    def representation(self) -> Histograms:  # type: ignore[override]
        """The histograms that are added up."""
        return Histograms(self.bins)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def _learn(self, fits: Fits, codes: Any) -> None:
        if len(self.classes_) != 2:
            raise DataError(
                f"HDy is defined for two classes; the labels hold {len(self.classes_)} ({quoted(self.classes_)}). "
                "Use PACC or SLD, or merge classes."
            )
        super()._learn(fits, codes)

    def _learn_profiles(self, by_class: Statistics) -> None:
        self.profiles_ = by_class.means()
        if np.abs(self.profiles_[0] - self.profiles_[1]).max() < 1e-12:
            warnings.warn(
                "On the validation part both classes have the same histograms of posteriors, so HDy can't tell their shares. Use a "
                "better classifier (balanced class weights, another C, more labelled items).",
                IdentifiabilityWarning,
                stacklevel=2,
            )

    def solve(self, statistics: Statistics) -> FloatArray:
        """Find the nearest mixture for each number of bins, and take the median of their shares."""
        check_is_fitted(self)
        q = statistics.means()
        histograms = self.representation
        shares = np.linspace(0.0, 1.0, self.n_candidates)
        mixtures = (1.0 - shares)[:, None] * self.profiles_[0] + shares[:, None] * self.profiles_[1]
        # One matrix product a number of bins gives the affinity, 1 - HD^2, of all samples with all mixtures.
        roots = [np.sqrt(histograms.folded(mixtures, b)).T for b in histograms.bins]
        positive = np.empty(len(q))

        def match(start: int, stop: int) -> None:
            part = q[start:stop]
            best = [
                _middle_of_best(np.sqrt(histograms.folded(part, b)) @ root, shares)
                for b, root in zip(histograms.bins, roots, strict=True)
            ]
            positive[start:stop] = np.median(best, axis=0)

        with one_blas_thread():
            in_chunks(match, len(q), _CHUNK)
        return np.column_stack([1.0 - positive, positive])


def _middle_of_best(affinity: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the share of the largest affinity of each row; of several, the middle between the first and the last."""
    best = affinity >= affinity.max(axis=1, keepdims=True) - 1e-14
    first = best.argmax(axis=1)
    last = len(shares) - 1 - best[:, ::-1].argmax(axis=1)
    middle: FloatArray = (shares[first] + shares[last]) / 2
    return middle
