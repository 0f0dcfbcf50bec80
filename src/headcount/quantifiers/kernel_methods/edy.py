"""EDy: the mixture of classes at the least energy distance from a sample, over posteriors."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import StrOptions
from headcount.learners import Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.kernel_methods.base import MeansToItems
from headcount.quantifiers.kernel_methods.class_means import MeansToPoints
from headcount.quantifiers.kernel_methods.coordinates import MeanEarthMovers
from headcount.quantifiers.kernel_methods.points import (
    EUCLIDEAN,
    MANHATTAN,
    check_points,
    require_two_each,
    sorted_points,
    sorted_weights,
)
from headcount.quantifiers.kernel_methods.solvers import QuadraticMatch

__all__ = ["EDy"]

_KINDS = {"manhattan": MANHATTAN, "euclidean": EUCLIDEAN}
_EARTH_MOVERS = "emd"


@register_method(
    "least energy distance of posteriors",
    "Castaño et al. 2022",
    group="matching",
    needs="posteriors, validation part",
)
class EDy(MeansToItems):
    r"""Match the distribution of a sample's posteriors with a mixture of the classes' distributions by the energy distance.

    With :math:`K_{jl}` the mean distance between the posteriors of validation items of classes j and l, and :math:`q_j` that
    between items of the sample and of class j, the shares minimise the energy distance

    .. math:: 2 \sum_j p_j q_j - \sum_{jl} p_j p_l K_{jl}

    up to a constant, a quadratic programme. The mean distance within a class is that between different items; where few items make
    some, but not all, classes appear nearer to others than to themselves, it counts each item's distance of 0 from itself too, so
    that the programme stays convex.

    When to use it: for any number of classes, as PACC, where posteriors tell more than their means do; there is no bandwidth to be
    chosen, and it has an interval. When not: the distance weighs differences of posteriors by their size, so that rare classes that
    change posteriors little count little.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    distance : {"manhattan", "euclidean", "emd"}, default="manhattan"
        Between vectors of posteriors; with two classes all give the same shares. "emd" is the earth mover's distance, for ordered
        classes: with it EDy had the best mean score of thirteen published methods on twelve ordinal tables.
    validation : int, float or splitter, default=5
        Folds or a held-out fraction, as for :class:`PACC`.
    refit : bool, default=False
        As for :class:`PACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted. With "emd" they are needed for more than two classes whose
        labels are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (n_classes, n_classes)
        Mean distances between validation items.
    points_, ends_
        Posteriors of the validation items, a column each, and where those of each class begin and end.

    References
    ----------
    Castaño, Alonso, González and del Coz (2022). An equivalence analysis of binary quantification methods. AAAI.
    Castaño, González, González and del Coz (2022). Matching distributions algorithms based on the earth mover's distance for
    ordinal quantification. IEEE Transactions on Neural Networks and Learning Systems.
    Kawakubo, du Plessis and Sugiyama (2016). Computationally efficient class-prior estimation under class balance change using
    energy distance. IEICE Transactions on Information and Systems 99.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> EDy(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    solver = QuadraticMatch(-1)
    value_with_itself = 0.0
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
        "distance": [StrOptions({*_KINDS, _EARTH_MOVERS})],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        distance: str = "manhattan",
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.distance = distance

    @property
    def needs_order(self) -> bool:  # type: ignore[override]
        """Whether the distance knows the order of the classes."""
        return bool(self.distance == _EARTH_MOVERS)

    @property
    def representation(self) -> MeansToPoints:  # type: ignore[override]
        """Mean distances to the points."""
        if not hasattr(self, "points_"):
            return MeansToPoints(np.empty((0, 0)), np.zeros(1, dtype=np.int64), 0)
        weights = sorted_weights(self)
        if self.distance == _EARTH_MOVERS:
            return MeanEarthMovers(self.points_, self.ends_, weights)
        return MeansToPoints(self.points_, self.ends_, _KINDS[self.distance], weights=weights)

    @property
    def takes_labelled_weights(self) -> bool:
        """Whether the means over validation items are weighted."""
        return self._is_inherited(EDy, "_learn", "_learn_weighted_profiles", "_learn_representation")

    def _learn_representation(self, outputs: Outputs, codes: IntArray) -> None:
        require_two_each(codes, self.classes_, type(self).__name__)
        self.points_, self.ends_ = sorted_points(outputs.need("posteriors"), codes, len(self.classes_))
