"""MMDy: the mixture of classes at the least maximum mean discrepancy from a sample, over random Fourier features of posteriors."""

from typing import Any, ClassVar

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import integers_from, seed_sequence
from headcount.exceptions import DataError
from headcount.learners import Fits, Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.kernel_methods.base import MeansToItems
from headcount.quantifiers.kernel_methods.class_means import MadeOfItems
from headcount.quantifiers.kernel_methods.points import BANDWIDTH, require_two_each
from headcount.quantifiers.kernel_methods.solvers import QuadraticMatch

__all__ = ["MMDy", "RandomFeatures"]

_ITEMS_PER_CHUNK = 256


class RandomFeatures(MadeOfItems):
    """Products of an item's random Fourier features with the mean features of each class.

    The features are cos(w'x) and sin(w'x) for each column w of ``frequencies``, divided by the root of the number of columns, so
    that the product of an item's features with itself is 1. A row of ``means`` holds the mean features of a class, of ``sizes``
    items.
    """

    def __init__(self, frequencies: FloatArray, means: FloatArray, sizes: IntArray) -> None:
        self.frequencies, self.means, self.sizes = frequencies, means, sizes

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        from headcount.quantifiers.kernel_methods import _kernels

        P = np.ascontiguousarray(outputs.need(self.needs))
        V = np.empty((len(P), len(self.means)))

        def multiply(a: int, b: int) -> None:
            _kernels.fourier_products(P[a:b], self.frequencies, self.means, V[a:b])

        in_chunks(multiply, len(P), _ITEMS_PER_CHUNK)
        return V

    def validation_vectors(self, outputs: Outputs, codes: IntArray) -> FloatArray:
        """Return the vectors of the items that the means are made of, each without itself."""
        V, rows, n = self.vectors(outputs), np.arange(len(codes)), self.sizes[codes]
        V[rows, codes] = (V[rows, codes] * n - 1.0) / (n - 1)
        return V


def features(P: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Return the random Fourier features of items with these posteriors, a row each: cosines, then sines."""
    angles = P @ frequencies
    scaled: FloatArray = np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(frequencies.shape[1])
    return scaled


@register_method(
    "least maximum mean discrepancy of posteriors",
    "Dussap et al. 2023",
    group="matching",
    needs="posteriors, validation part",
)
class MMDy(MeansToItems):
    r"""Match a sample's mean random Fourier features of posteriors with a mixture of the classes' (maximum mean discrepancy).

    With m the number of features, :math:`\omega_t \sim N(0, h^{-2} I)` drawn at fit, and
    :math:`z(x) = m^{-1/2} (\cos \omega_1' P(x), .., \cos \omega_m' P(x), \sin \omega_1' P(x), .., \sin \omega_m' P(x))`, the
    product :math:`z(x)'z(v)` estimates the Gaussian kernel :math:`\exp(-\lVert P(x) - P(v) \rVert^2 / 2 h^2)` without bias. The
    shares minimise the squared distance of means, as the distribution feature matching of Dussap et al. does:

    .. math:: \lVert \bar z - \sum_j p_j \bar z_j \rVert^2 = p'Bp - 2 q'p + \text{const}

    where :math:`q_j` are mean products of the sample's items with those of class j, and B those between classes; within a class,
    between different items, so that a class's own noise is not taken for a difference; where few items would make the programme
    not convex, each item's product with itself counts too.

    When to use it: as EDy, with a cost for each item that does not grow with the number of validation items; it has an interval.
    When not: if shares must not depend on a seed at all, or if the bandwidth can't be chosen: take EDy or PACC.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bandwidth : float, default=0.5
        Width h of the kernel, in units of posteriors; from 0.001 to 10.
    n_features : int, default=500
        Number m of frequencies.
    validation : int, float or splitter, default=5
        Folds or a held-out fraction, as for :class:`PACC`.
    refit : bool, default=False
        As for :class:`PACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split and the frequencies.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (n_classes, n_classes)
        Mean products of features between validation items.
    frequencies_ : array of shape (n_classes, n_features)
    means_ : array of shape (n_classes, 2 * n_features)
        Mean features of the validation items of each class.
    sizes_ : array of shape (n_classes,)
        Number of these items.

    References
    ----------
    Dussap, Blanchard and Chérief-Abdellatif (2023). Label shift quantification with robustness guarantees via distribution feature
    matching. ECML PKDD.
    Rahimi and Recht (2007). Random features for large-scale kernel machines. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> MMDy(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    solver = QuadraticMatch()
    value_with_itself = 1.0
    adjusts_for_shift = True
    frequencies_: FloatArray
    means_: FloatArray
    sizes_: IntArray
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {
        "frequencies_": ("classes", "frequencies"),
        "means_": ("classes", None),
        "sizes_": ("classes",),
    }

    def check_learnt(self) -> None:
        """Raise DataError unless there are two mean features for each frequency, of the validation items of each class."""
        sizes = np.bincount(self.validation_codes_, minlength=len(self.classes_))
        two_each = self.means_.shape[1] == 2 * self.frequencies_.shape[1] > 0
        if not two_each or self.sizes_.dtype != np.int64 or not np.array_equal(self.sizes_, sizes):
            raise DataError("the mean features are not those of the frequencies and the validation items of each class")

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **MeansToItems._parameter_constraints,
        "bandwidth": BANDWIDTH,
        "n_features": integers_from(1),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bandwidth: float = 0.5,
        n_features: int = 500,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.bandwidth = bandwidth
        self.n_features = n_features

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        k = len(self.classes_)
        generator = np.random.default_rng(seed_sequence(self.random_state))
        self.frequencies_ = generator.standard_normal((k, self.n_features)) / self.bandwidth
        super()._learn(fits, codes)

    def _learn_representation(self, outputs: Outputs, codes: IntArray) -> None:
        require_two_each(codes, self.classes_, type(self).__name__)
        Z = features(outputs.need("posteriors"), self.frequencies_)
        self.sizes_ = np.bincount(codes, minlength=len(self.classes_))
        self.means_ = np.stack([Z[codes == j].mean(axis=0) for j in range(len(self.classes_))])

    @property
    def representation(self) -> RandomFeatures:  # type: ignore[override]
        """Products with the classes' mean features."""
        if not hasattr(self, "means_"):
            return RandomFeatures(np.empty((0, 0)), np.empty((0, 0)), np.empty(0, dtype=np.int64))
        return RandomFeatures(self.frequencies_, self.means_, self.sizes_)
