"""CC: count the decisions of a classifier."""

from typing import Any

from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Decisions
from headcount.quantifiers.solvers import MeanVector
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["CC"]


COUNTED = (
    "{name} is biased as soon as the class shares differ from those in training, and even if they do not, by mistakes that do not "
    "balance: no interval can say by how much. Use ACC, PACC or SLD over the same classifier."
)
"""Why methods that count without adjusting have no interval."""


@register_method("classify and count", "Forman 2008", group="counting", needs="decisions", suggested=True)
class CC(SumsQuantifier):
    r"""Classify and count: the share of items that the classifier assigns to each class.

    .. math:: \hat p_y^{\mathrm{CC}}(U) = \frac{1}{|U|} \sum_{x \in U} h_y(x)

    with :math:`h_y(x) = 1` if the classifier decides for y, else 0. Biased as soon as the shares in U differ from those in
    training.

    **When to use it.** As a baseline, or where shares are known to stay as in training and decisions are nearly free of error.
    Where shares may have changed use `ACC` or `PACC`.

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
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, random_state=0)
    >>> CC().fit(X[:1000], y[:1000]).predict(X[1000:]).round(2).tolist()
    [0.51, 0.49]
    """

    representation = Decisions()
    solver = MeanVector()
    interval_refusal = COUNTED

    def __init__(self, classifier: Any = None, *, classes: Any = None) -> None:
        self.classifier = classifier
        self.classes = classes
