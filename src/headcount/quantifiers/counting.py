"""Classify and count, with decisions and with posteriors."""

from typing import Any

from headcount._typing import FloatArray, IntArray
from headcount.learners import Fits
from headcount.quantifiers.aggregative import AggregativeQuantifier
from headcount.quantifiers.base import normalised
from headcount.quantifiers.statistics import Decisions, Posteriors, Statistics

__all__ = ["CC", "PCC"]


class _Counting(AggregativeQuantifier):
    def __init__(self, classifier: Any = None) -> None:
        self.classifier = classifier

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        """Fit the classifier on all labelled items (a frozen one is taken as it is)."""
        self.classifier_ = fits.fit(self._learner(codes))

    def solve(self, statistics: Statistics) -> FloatArray:
        """Turn sums into shares: the mean over each sample."""
        return normalised(statistics.means())


class CC(_Counting):
    r"""Classify and count: the share of items that the classifier assigns to each class.

    .. math:: \hat p_y^{\mathrm{CC}}(U) = \frac{1}{|U|} \sum_{x \in U} h_y(x)

    with :math:`h_y(x) = 1` if the classifier decides for y, else 0. Biased as soon as the shares in U differ from those in
    training.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. A ``FrozenEstimator`` is not fitted again.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier

    References
    ----------
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, random_state=0)
    >>> CC().fit(X[:1000], y[:1000]).predict(X[1000:]).round(2).tolist()
    [0.51, 0.49]
    """

    representation = Decisions()


class PCC(_Counting):
    r"""Probabilistic classify and count: the mean posterior of each class.

    .. math:: \hat p_y^{\mathrm{PCC}}(U) = \frac{1}{|U|} \sum_{x \in U} \Pr(y | x)

    A classifier without ``predict_proba`` is calibrated by Platt's method, in five folds.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. A ``FrozenEstimator`` is not fitted again.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier

    References
    ----------
    Bella, Ferri, Hernández-Orallo and Ramírez-Quintana (2010). Quantification via probability estimators. ICDM.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, random_state=0)
    >>> PCC().fit(X[:1000], y[:1000]).predict(X[1000:]).round(2).tolist()
    [0.51, 0.49]
    """

    representation = Posteriors()
