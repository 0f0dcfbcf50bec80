"""EDx: the mixture of the classes' items that has the least energy distance to a sample's items."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import StrOptions
from headcount.learners import Need, Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.on_features.affinities import LeastEnergy
from headcount.quantifiers.on_features.base import FeaturesQuantifier, dense_blocks, feature_ranges
from headcount.quantifiers.representations import Vectors

__all__ = ["EDx"]

_BLOCK = 1 << 21
"""Numbers of a block of distances."""


class MeanDistances(Vectors):
    """An item is its mean distance from the labelled items of each class, as part of the largest distance that there can be.

    Parameters
    ----------
    used, low, high : arrays of shape (n_features,)
        The features that vary, and the range that values are confined to.
    items : tuple of arrays of shape (n_items_of_class, n_features)
        The labelled items of each class, with each feature sorted for "manhattan".
    distance : {"manhattan", "euclidean"}
    """

    needs: Need = "features"

    def __init__(
        self, used: IntArray, low: FloatArray, high: FloatArray, items: tuple[FloatArray, ...], distance: str
    ) -> None:
        self.used, self.low, self.high, self.items, self.distance = used, low, high, items, distance

    def width(self, n_classes: int) -> int:
        return n_classes

    def vectors(self, outputs: Outputs) -> FloatArray:
        vectors = np.zeros((outputs.n_items, len(self.items)))
        spans = self.high - self.low
        if self.distance == "manhattan":
            means, largest = self._manhattan, float(spans.sum())
        else:
            means, largest = self._euclidean, float(np.sqrt((spans**2).sum()))
        block = min(1 << 22, max(1, _BLOCK // max(len(items) for items in self.items)) * len(self.used))
        for rows, X in dense_blocks(outputs.need(self.needs), self.used, block):
            confined = np.clip(X, self.low, self.high)
            for j, items in enumerate(self.items):
                vectors[rows, j] = means(confined, items)
        return vectors / largest

    def _manhattan(self, X: FloatArray, items: FloatArray) -> FloatArray:
        """Return the mean distances by sums over sorted values: with r values below x, x (2 r - n) + sum of all - 2 sum of r."""
        n, total = len(items), np.zeros(len(X))
        for f in range(X.shape[1]):
            x, values = X[:, f], items[:, f]
            below = np.searchsorted(values, x)
            sums = np.concatenate([[0.0], np.cumsum(values)])
            total += x * (2 * below - n) + sums[-1] - 2.0 * sums[below]
        return total / n

    def _euclidean(self, X: FloatArray, items: FloatArray) -> FloatArray:
        squares = (X**2).sum(axis=1)[:, None] + (items**2).sum(axis=1) - 2.0 * X @ items.T
        means: FloatArray = np.sqrt(np.maximum(squares, 0.0)).mean(axis=1)
        return means


@register_method(
    "least energy distance between features",
    "Kawakubo et al. 2016",
    group="on features",
    needs="features",
)
class EDx(FeaturesQuantifier):
    r"""Match a sample's items with a mixture of the classes' labelled items, by the least energy distance.

    With :math:`q_j` the mean distance between the sample's items and the labelled items of class j, and :math:`M_{jl}` that between
    the labelled items of classes j and l, the shares p on the simplex minimise the energy distance

    .. math:: 2 \, p' q - p' M p

    up to a constant: a convex problem, solved exactly. A labelled item's distance from itself does not count, so that q has the
    mean
    :math:`M p` where the classes have not changed. (QuaPy counts it, which biases M by one part in the number of labelled items.)
    Values outside the range of the labelled items are set to its ends. For any number of classes, without a classifier.

    When to use it: a few features on one scale (put a scaler into ``transformer``), whose distances tell the classes apart, and
    no classifier at hand; it has no bins to choose. Where a classifier can be trained, methods over its outputs are nearly
    always better.

    Memory: the labelled items are kept. With "manhattan" time grows with the number of features and items times the logarithm
    of the number of labelled items; with "euclidean" with the product of all three.

    Parameters
    ----------
    distance : {"manhattan", "euclidean"}, default="manhattan"
    transformer : transformer, optional
        Makes numeric features of the items, such as ``StandardScaler()``; fitted on the labelled items. By default items are
        vectors of numbers, dense or sparse. Features that are constant among labelled items are left out.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    features_ : array of int
        The features that are used: those that vary.
    M_ : array of shape (n_classes, n_classes)
        Mean distance between items of two classes, as part of the largest distance that there can be.

    References
    ----------
    Kawakubo, du Plessis and Sugiyama (2016). Computationally efficient class-prior estimation under class balance change using
    energy distance. IEICE Transactions on Information and Systems 99.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(6000, n_informative=6, n_redundant=0, n_features=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[3000:] == 1)[:500] + 3000           # items of the second class only
    >>> bool(EDx().fit(X[:3000], y[:3000]).predict(X[sample])[1] > 0.8)
    True
    """

    solver = LeastEnergy()
    features_: IntArray
    ranges_: FloatArray
    items_: tuple[FloatArray, ...]
    distance_: str
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {"features_": ("used",), "ranges_": (2, "used")}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **FeaturesQuantifier._parameter_constraints,
        "distance": [StrOptions({"manhattan", "euclidean"})],
    }

    def __init__(self, distance: str = "manhattan", *, transformer: Any = None, classes: Any = None) -> None:
        super().__init__(transformer, classes=classes)
        self.distance = distance

    @property
    def representation(self) -> MeanDistances:  # type: ignore[override]
        """The mean distances from the classes."""
        if not hasattr(self, "items_"):
            return MeanDistances(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0), (), self.distance)
        low, high = self.ranges_
        return MeanDistances(self.features_, low, high, self.items_, self.distance_)

    def _learn_features(self, outputs: Outputs, codes: IntArray) -> None:
        features = outputs.need("features")
        self.features_, low, high = feature_ranges(features, type(self).__name__)
        self.ranges_, self.distance_ = np.stack([low, high]), self.distance
        items = np.concatenate([X for _, X in dense_blocks(features, self.features_)])
        by_class = [items[codes == j] for j in range(len(self.classes_))]
        self.items_ = tuple(np.sort(X, axis=0) if self.distance == "manhattan" else X for X in by_class)

    def _learn_profiles(self, outputs: Outputs, codes: IntArray, folds: IntArray | None = None) -> None:
        self._learn_features(outputs, codes)
        vectors = self._left_out(outputs, codes)
        means = [vectors[codes == j].mean(axis=0) for j in range(len(self.classes_))]
        self.M_ = np.ascontiguousarray(np.column_stack(means))
        self.solver.check_profiles(self.M_, self.classes_, type(self).__name__)

    def _left_out(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the mean distances of labelled items from the others of each class; an only item of its class has 0."""
        vectors = self.representation.vectors(outputs)
        sizes = np.bincount(codes, minlength=len(self.classes_))[codes]
        vectors[np.arange(len(codes)), codes] *= sizes / np.maximum(sizes - 1, 1)
        return vectors

    def projected_validation(self, A: FloatArray) -> FloatArray:
        """Return A times the vector of each labelled item, made with the others."""
        projected: FloatArray = self._left_out(self.validation_outputs_, self.validation_codes_) @ A.T
        return projected
