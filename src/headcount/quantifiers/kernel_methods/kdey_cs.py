"""KDEy-CS: the mixture of the classes' kernel densities at the least Cauchy-Schwarz divergence from a sample's."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount.learners import Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.kernel_methods.base import MeansToItems
from headcount.quantifiers.kernel_methods.class_means import MeansToPoints
from headcount.quantifiers.kernel_methods.points import (
    BANDWIDTH,
    GAUSSIAN,
    check_points,
    require_two_each,
    sorted_points,
    sorted_weights,
)
from headcount.quantifiers.kernel_methods.solvers import CauchySchwarz

__all__ = ["KDEyCS"]


@register_method(
    "least Cauchy-Schwarz divergence of kernel densities",
    "Moreo et al. 2024",
    group="matching",
    needs="posteriors, validation part",
)
class KDEyCS(MeansToItems):
    r"""Match the kernel density of a sample's posteriors with a mixture of the classes' densities (Cauchy-Schwarz divergence).

    The integral of the product of two Gaussian kernels of bandwidth h is a Gaussian kernel of bandwidth :math:`\sqrt 2 h`, so that
    no density is ever computed: with :math:`B_{jl}` the mean of :math:`\exp(-\lVert P(x) - P(v) \rVert^2 / 4 h^2)` over
    validation items x of class l and v of class j, and :math:`q_j` that over items x of the sample, the shares minimise

    .. math:: -\log \sum_j p_j q_j + \tfrac12 \log \sum_{jl} p_j p_l B_{jl} .

    The mean within a class is that of different items. The published code counts each item's kernel with itself too.

    When to use it: as KDEy-ML, of which it is a cheaper relative for large samples: an item is reduced to one number for each
    class, and these are added up. When not: where a class is rare: KDEy-ML is more precise there.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bandwidth : float, default=0.1
        Width h of the kernel, in units of posteriors; from 0.001 to 10.
    validation : int, float or splitter, default=5
        Folds or a held-out fraction, as for :class:`PACC`.
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
    M_ : array of shape (n_classes, n_classes)
        Mean kernels between validation items.
    points_, ends_
        Posteriors of the validation items, a column each, and where those of each class begin and end.

    References
    ----------
    Moreo, González and del Coz (2024). Kernel density estimation for multiclass quantification. Machine Learning 114.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> KDEyCS(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    solver = CauchySchwarz()
    value_with_itself = 1.0
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
        **MeansToItems._parameter_constraints,
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
    def representation(self) -> MeansToPoints:  # type: ignore[override]
        """Mean kernels to the points."""
        if not hasattr(self, "points_"):
            return MeansToPoints(np.empty((0, 0)), np.zeros(1, dtype=np.int64), 0)
        return MeansToPoints(self.points_, self.ends_, GAUSSIAN, 0.25 / self.bandwidth**2, sorted_weights(self))

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether the means over validation items are weighted."""
        return self._is_inherited(KDEyCS, "_learn", "_learn_weighted_profiles", "_learn_representation")

    def _learn_representation(self, outputs: Outputs, codes: IntArray) -> None:
        require_two_each(codes, self.classes_, type(self).__name__)
        self.points_, self.ends_ = sorted_points(outputs.need("posteriors"), codes, len(self.classes_))
