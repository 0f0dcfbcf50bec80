"""Adjusted counting: undo the classifier's known confusions, with decisions and with posteriors."""

import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray
from headcount._validation import quoted
from headcount.exceptions import IdentifiabilityWarning
from headcount.quantifiers.base import normalised
from headcount.quantifiers.matching import MatchingQuantifier
from headcount.quantifiers.statistics import Decisions, Posteriors, Statistics
from headcount.simplex import mixture_least_squares

__all__ = ["ACC", "PACC"]

_SAME = 1e-12
"""Rates closer than this are the same but for rounding."""


class _Adjusted(MatchingQuantifier):
    M_: FloatArray

    def _learn_profiles(self, by_class: Statistics) -> None:
        self.M_ = normalised(by_class.means()).T
        self._warn_if_confused()

    def _warn_if_confused(self) -> None:
        """Warn if the profiles of the classes do not determine the shares."""
        differences = self.M_[:, 1:] - self.M_[:, :1]
        if len(self.classes_) == 2:
            if np.abs(differences).max() <= _SAME:
                warnings.warn(
                    f"On the validation part the classifier's true and false positive rates are the same ({self.M_[1, 1]:.4g}), so "
                    f"{type(self).__name__} can't adjust and returns the unadjusted shares. Use a better classifier (balanced "
                    "class weights, another C, more labelled items).",
                    IdentifiabilityWarning,
                    stacklevel=3,
                )
        elif np.linalg.svd(differences, compute_uv=False)[-1] <= max(_SAME, 1e-10 * np.abs(differences).max()):
            warnings.warn(
                f"On the validation part the classifier does not tell the classes {quoted(self.classes_, 10)} apart well enough "
                f"to determine all their shares: {type(self).__name__} returns one of several answers that fit equally well. Use "
                "a better classifier or merge classes.",
                IdentifiabilityWarning,
                stacklevel=3,
            )

    def solve(self, statistics: Statistics) -> FloatArray:
        """Turn sums into shares: the p on the simplex for which M p is nearest to the sample's mean vector q."""
        check_is_fitted(self)
        q = normalised(statistics.means())
        if len(self.classes_) > 2:
            return mixture_least_squares(self.M_, q)
        fpr, tpr = self.M_[1]
        if abs(tpr - fpr) <= _SAME:
            return q
        positive = np.clip((q[:, 1] - fpr) / (tpr - fpr), 0.0, 1.0)
        return np.column_stack([1.0 - positive, positive])


class ACC(_Adjusted):
    r"""Adjusted classify and count: counts corrected by the classifier's known rates of confusion.

    With two classes

    .. math:: \hat p^{\mathrm{ACC}} = \frac{\hat p^{\mathrm{CC}} - \mathrm{FPR}}{\mathrm{TPR} - \mathrm{FPR}}

    clipped to [0, 1]; where TPR = FPR there is nothing to correct with, a warning says so, and the counts are returned.
    With more, the shares p on the simplex that minimise :math:`\lVert M p - q \rVert^2`, where q are the shares of decisions
    in the sample and column j of M those among validation items of class j.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    validation : float, int or splitter, default=0.4
        A fraction: a stratified part of that size is held out to learn the rates, the classifier is fitted on the rest only.
        A number of folds or a splitter: rates from out-of-fold decisions, then the classifier is fitted on all items.
    random_state : int, RandomState, Generator or None, default=None
        For the split.

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
    >>> pile = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> CC_shares = ACC(random_state=0).fit(X[:2000], y[:2000])
    >>> CC_shares.predict(X[pile]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = Decisions()


class PACC(_Adjusted):
    r"""Probabilistic adjusted classify and count: mean posteriors corrected by their known means in each class.

    With two classes

    .. math:: \hat p^{\mathrm{PACC}} = \frac{\hat p^{\mathrm{PCC}} - \mathrm{FPR}_s}{\mathrm{TPR}_s - \mathrm{FPR}_s}

    clipped to [0, 1], where :math:`\mathrm{TPR}_s` and :math:`\mathrm{FPR}_s` are the mean posteriors of the positive class
    among positive and negative validation items. With more, the shares p on the simplex that minimise
    :math:`\lVert M p - q \rVert^2`, where q are the mean posteriors of the sample and column j of M those of validation items
    of class j. A classifier without ``predict_proba`` is calibrated by Platt's method, in five folds.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means ``LogisticRegression()``. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    validation : float, int or splitter, default=0.4
        A fraction: a stratified part of that size is held out to learn the rates, the classifier is fitted on the rest only.
        A number of folds or a splitter: rates from out-of-fold posteriors, then the classifier is fitted on all items.
    random_state : int, RandomState, Generator or None, default=None
        For the split.

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
    >>> pile = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> PACC(random_state=0).fit(X[:2000], y[:2000]).predict(X[pile]).round(1).tolist()
    [0.0, 1.0]
    """

    representation = Posteriors()
