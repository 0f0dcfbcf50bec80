"""ELM: explicit loss minimisation, classify and count over a learner that was trained for an error of the shares."""

from functools import partial
from typing import Any

from sklearn.utils import ClassifierTags, get_tags

from headcount.learners import SVMperf
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.cc import COUNTED
from headcount.quantifiers.representations import Decisions
from headcount.quantifiers.solvers import MeanVector
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["ELM"]

_TITLE = "classify and count over a learner trained for it"


@register_method(_TITLE, "Esuli and Sebastiani 2015", group="explicit loss", needs="decisions")
class ELM(SumsQuantifier):
    r"""Explicit loss minimisation: classify and count over a classifier trained for a quantification loss.

    .. math:: \hat p_y^{\mathrm{ELM}}(U) = \frac{1}{|U|} \sum_{x \in U} h_y(x)

    where h minimises, over the training items, a loss of the shares that it gives rather than one of its single decisions. With
    ``SVMperf(loss="kld")`` it is SVM(KLD), and so with NKLD, Q, AE and RAE.

    **When to use it.** To compare with published results: its errors were larger than those of methods that correct over a learner
    trained as usual.

    Parameters
    ----------
    classifier : estimator, default=None
        None means ``SVMperf()``, which is SVM(AE). A ``FrozenEstimator`` is not fitted again.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier

    References
    ----------
    Esuli and Sebastiani (2015). Optimizing text quantifiers for multivariate loss functions. ACM TKDD 9.
    Barranquero, Díez and del Coz (2015). Quantification-oriented learning based on reliable classifiers. Pattern Recognition 48.

    Examples
    --------
    >>> from headcount import SVMperf
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(2000, flip_y=0.1, random_state=0)
    >>> ELM(SVMperf(loss="kld", C=10)).fit(X[:1000], y[:1000]).predict(X[1000:]).round(2).tolist()
    [0.5, 0.5]
    """

    representation = Decisions()
    solver = MeanVector()
    brings_learner = True
    interval_refusal = COUNTED

    def __init__(self, classifier: Any = None, *, classes: Any = None) -> None:
        self.classifier = classifier
        self.classes = classes

    @staticmethod
    def default_classifier() -> Any:
        """Return the classifier that ``classifier=None`` means."""
        return SVMperf()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.default_classifier() if self.classifier is None else self.classifier).classifier_tags
        tags.classifier_tags = ClassifierTags(multi_class=inner is None or inner.multi_class)
        return tags


def _svm(loss: str) -> Quantifier:
    return ELM(SVMperf(loss=loss))


for _loss, _error, _reference in (
    ("kld", "Kullback-Leibler divergence", "Esuli and Sebastiani 2015"),
    ("nkld", "normalised KLD", "Esuli and Sebastiani 2014"),
    ("q", "recall and shares together", "Barranquero et al. 2015"),
    ("ae", "absolute error", "Moreo and Sebastiani 2021"),
    ("rae", "relative absolute error", "Moreo and Sebastiani 2021"),
):
    register_method(
        f"linear SVM trained for {_error}",
        _reference,
        name=f"SVM({_loss.upper()})",
        group="explicit loss",
        needs="labels",
        preset=partial(_svm, _loss),
        max_classes=2,
    )(ELM)
