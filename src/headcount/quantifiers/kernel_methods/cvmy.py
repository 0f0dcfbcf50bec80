"""CvMy: the energy distance between ranks of posteriors, a Cramér-von Mises statistic, for any number of classes."""

from typing import ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.kernel_methods.base import MeansToItems
from headcount.quantifiers.kernel_methods.class_means import MeansToPoints
from headcount.quantifiers.kernel_methods.coordinates import MeanRankDistances
from headcount.quantifiers.kernel_methods.points import check_points, require_two_each, sorted_points
from headcount.quantifiers.kernel_methods.solvers import QuadraticMatch

__all__ = ["CvMy"]


@register_method(
    "least energy distance of ranks of posteriors",
    "Castaño et al. 2019",
    group="matching",
    needs="posteriors, validation part",
)
class CvMy(MeansToItems):
    r"""Match the ranks of a sample's posteriors with a mixture of the classes' ranks, by the energy distance.

    Each class's posterior is replaced by its rank among the validation items, the share of them whose posterior is smaller; of
    equals half counts. Then the shares p minimise the energy distance of :class:`EDy`, with Euclidean distances between vectors
    of ranks,

    .. math:: 2 \sum_j p_j q_j - \sum_{jl} p_j p_l K_{jl}.

    With one score the energy distance of ranks is the Cramér-von Mises statistic. The published method ranks validation items and
    sample together, so that both change with each sample; here ranks are those among validation items, so that an item's vector
    is its own, sums can be added up, and there is an interval. On twelve ordinal tables both had the same errors.

    **When to use it.** As :class:`EDy`, where the posteriors' size means little, as with classifiers that are too sure of
    themselves: any increasing change of a class's posteriors leaves the answer as it is.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
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
        Mean distances between validation items.
    points_, ends_
        Posteriors of the validation items, a column each, and where those of each class begin and end.

    References
    ----------
    Castaño, Morán-Fernández, Alonso, Bolón-Canedo, Alonso-Betanzos and del Coz (2019). Cramér-von Mises distance for
    quantification. Castaño, González, González and del Coz (2022). Matching distributions algorithms based on the earth mover's
    distance for ordinal quantification. IEEE Transactions on Neural Networks and Learning Systems.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> CvMy(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
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

    @property
    def representation(self) -> MeansToPoints:  # type: ignore[override]
        """Mean distances of ranks to those of the points."""
        if not hasattr(self, "points_"):
            return MeansToPoints(np.empty((0, 0)), np.zeros(1, dtype=np.int64), 0)
        return MeanRankDistances(self.points_, self.ends_)

    def _learn_representation(self, outputs: Outputs, codes: IntArray) -> None:
        require_two_each(codes, self.classes_, type(self).__name__)
        self.points_, self.ends_ = sorted_points(outputs.need("posteriors"), codes, len(self.classes_))
