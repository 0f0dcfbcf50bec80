"""KDEy-ML: maximum likelihood shares, with kernel densities of the posteriors of each class."""

from typing import Any, ClassVar

from headcount._typing import FloatArray, IntArray, RandomState
from headcount.learners import Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.densities import DensitiesQuantifier
from headcount.quantifiers.kernel_methods.points import (
    BANDWIDTH,
    RELATIVE_GAUSSIAN,
    check_points,
    means_to_classes,
    positions,
    sorted_points,
    sorted_weights,
)

__all__ = ["KDEyML"]


@register_method(
    "maximum likelihood over kernel densities of posteriors",
    "Moreo et al. 2024",
    group="likelihood",
    needs="posteriors, validation part",
)
class KDEyML(DensitiesQuantifier):
    r"""Find the most likely shares, where the density of a class is a mean of Gaussian kernels about its validation items.

    With P(x) the vector of posteriors of item x, and :math:`V_j` the validation items of class j,

    .. math:: f_j(x) \propto \frac{1}{|V_j|} \sum_{v \in V_j} \exp\left(-\frac{\lVert P(x) - P(v) \rVert^2}{2 h^2}\right)

    and the shares maximise :math:`\sum_x \log \sum_j p_j f_j(x)`, which is to minimise the Kullback-Leibler divergence between the
    sample's density and the mixture of the classes' densities. The maximum is found by Newton steps.

    When to use it: posteriors need not be calibrated, only validated, and any number of classes is as good as two; with some
    hundreds of validation items it is among the most accurate methods. When not: with fewer than about ten validation items of a
    class, whose density depends on each of them (intervals nominally at 95 % then held the truth in 90 to 91 % of simulations); or
    with millions of items and many validation items, as each pair of them takes about a nanosecond.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bandwidth : float, default=0.1
        Width h of the kernel, in units of posteriors; from 0.001 to 10.
    validation : int, float or splitter, default=5
        Folds or a held-out fraction, as for :class:`PACC`. With folds the densities are those of the items of all folds, and each
        new item counts once for each fold classifier, with weight 1 / K.
    refit : bool, default=False
        As for :class:`PACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    points_ : array of shape (n_classes, n_validation_items)
        Posteriors of the validation items, a column each, those of a class side by side.
    ends_ : array of shape (n_classes + 1,)
        Where the points of each class begin and end.

    References
    ----------
    Moreo, González and del Coz (2024). Kernel density estimation for multiclass quantification. Machine Learning 114.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> KDEyML(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    points_: FloatArray
    ends_: IntArray

    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {
        "points_": ("classes", "points"),
        "ends_": (None,),
    }

    def check_learnt(self) -> None:
        """Raise DataError unless the points are those of the validation items."""
        check_points(self.points_, self.ends_, self.validation_codes_)

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **DensitiesQuantifier._parameter_constraints,
        "bandwidth": BANDWIDTH,
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bandwidth: float = 0.1,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.bandwidth = bandwidth

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether the densities are weighted means of kernels."""
        return self._is_inherited(KDEyML, "_learn", "_learn_densities", "densities")

    def _learn_weighted_densities(self, outputs: Outputs, codes: IntArray, weights: FloatArray) -> None:
        self._learn_densities(outputs, codes)  # the design keeps the weights of the points

    def _learn_densities(self, outputs: Outputs, codes: IntArray) -> None:
        self.points_, self.ends_ = sorted_points(outputs.need("posteriors"), codes, len(self.classes_))

    def densities(self, outputs: Outputs) -> FloatArray:
        """Return the densities of items under each class, divided by the kernel of the nearest validation item."""
        return self._densities(outputs)

    def _densities(self, outputs: Outputs, own: IntArray | None = None) -> FloatArray:
        # The factor keeps densities far from all points above zero, and the same factor for all classes changes no shares.
        scale = 0.5 / self.bandwidth**2
        P, weights = outputs.need("posteriors"), sorted_weights(self)
        return means_to_classes(P, self.points_, self.ends_, RELATIVE_GAUSSIAN, scale, own, weights)

    def validation_densities(self) -> FloatArray:
        """Return the densities of the validation items, each without its own kernel; the only item of a class keeps it."""
        return self._densities(self.validation_outputs_, positions(self.validation_codes_))
