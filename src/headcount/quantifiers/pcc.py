"""PCC: average the posteriors of a classifier."""

from typing import Any

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.cc import COUNTED
from headcount.quantifiers.representations import Posteriors
from headcount.quantifiers.solvers import MeanVector
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["PCC"]


@register_method(
    "probabilistic classify and count", "Bella et al. 2010", group="counting", needs="posteriors", suggested=True
)
class PCC(SumsQuantifier):
    r"""Probabilistic classify and count: the mean posterior of each class.

    .. math:: \hat p_y^{\mathrm{PCC}}(U) = \frac{1}{|U|} \sum_{x \in U} \Pr(y | x)

    A classifier without ``predict_proba`` is calibrated by Platt's method, in five folds.

    **When to use it.** Where shares are known to move little, by less than five points: correcting costs variance there. Where they
    may move further use `PACC` or `SLD`.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. A ``FrozenEstimator`` is not fitted again.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

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
    solver = MeanVector()
    interval_refusal = COUNTED

    def __init__(self, classifier: Any = None, *, classes: Any = None) -> None:
        self.classifier = classifier
        self.classes = classes
