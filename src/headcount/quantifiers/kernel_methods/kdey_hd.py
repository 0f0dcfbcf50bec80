"""KDEy-HD: the mixture of the classes' kernel densities at the least Hellinger distance from a sample's, by Monte Carlo."""

from functools import reduce
from operator import add
from typing import Any, ClassVar

import numpy as np
from numpy.polynomial.chebyshev import chebvander

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import integers_from, seed_sequence
from headcount.learners import Fits, Need, Outputs, Validation
from headcount.protocols import Samples
from headcount.protocols.exact import ExactSums
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.classifiers import fit_validated
from headcount.quantifiers.kernel_methods.points import BANDWIDTH
from headcount.quantifiers.representations import Vectors, exact_sizes
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.statistics import Statistics
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["KDEyHD"]

_LEAST_DENSITY = 1e-10
"""Added to all densities, as the published code does: points far from all items must not decide."""
_POINTS_PER_BLOCK = 64
_ITEMS_PER_CHUNK = 1024
_SAMPLES_PER_CHUNK = 8
_TOL = 1e-7
_GAP = 1e-8
"""How far the distance may be from the least over the simplex."""
_START_EVERY, _START_TOL = 10, 1e-3
"""The search begins where that over every tenth point ends: a few steps over all points are left."""


class KernelsAtPoints(Vectors):
    """The Gaussian kernels between an item's posteriors and reference points, computed in blocks of points."""

    needs: Need = "posteriors"
    numbers_per_part = 1 << 23
    """Each part computes the kernels of all items again, which takes longer than their sums for a hundred samples."""

    def __init__(self, points: FloatArray, scale: float) -> None:
        self.points, self.scale = points, scale

    def width(self, n_classes: int) -> int:
        """Return the number of points."""
        return int(self.points.shape[1])

    def units(self, P: FloatArray, points: FloatArray) -> FloatArray:
        """Return the kernels of items at these points, in the units of exact sums."""
        from headcount.quantifiers.kernel_methods import _kernels

        U = np.empty((len(P), points.shape[1]))
        P, points = np.ascontiguousarray(P), np.ascontiguousarray(points)

        def compute(a: int, b: int) -> None:
            _kernels.kernel_units(P[a:b], points, self.scale, U[a:b])

        in_chunks(compute, len(P), _ITEMS_PER_CHUNK)
        return U

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return self.units(outputs.need(self.needs), self.points) / 2.0**40

    def reduce(self, outputs: Outputs, samples: Samples, products: bool = False) -> Statistics:
        """Add up the kernels of each sample's items, a block of points at a time; with folds, their mean over the folds."""
        folds = (outputs,) if outputs.folds is None else outputs.folds
        shape = len(samples), self.points.shape[1]
        high, low = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
        for start in range(0, self.points.shape[1], _POINTS_PER_BLOCK):
            points = self.points[:, start : start + _POINTS_PER_BLOCK]
            units = reduce(add, (self.units(fold.need(self.needs), points) for fold in folds))
            if len(folds) > 1:
                units = np.floor(units / len(folds) + 0.5)
            block, columns = samples.sum_exact(units), slice(start, start + points.shape[1])
            high[:, columns] = block.high
            low[:, columns] = 0 if block.low is None else block.low
        return Statistics(ExactSums(high, low), exact_sizes(samples))


class ChebyshevMoments(Vectors):
    """The Chebyshev polynomials of the second class's posterior: of two classes, few of them tell the kernels at all points.

    The kernel between an item and a point is an entire function of the posterior y in [-1, 1], a bell of spread
    sigma = sqrt(2) h, and its coefficient of degree m falls as exp(-m^2 sigma^2 / 2).
    """

    needs: Need = "posteriors"

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def width(self, n_classes: int) -> int:
        """Return the number of polynomials."""
        return self.degree + 1

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        return np.asarray(chebvander(2.0 * outputs.need(self.needs)[:, 1] - 1.0, self.degree), dtype=np.float64)


def degree_for(bandwidth: float) -> int:
    """Return the degree at which the polynomials' coefficients have fallen below 1e-14."""
    return int(np.ceil(6.0 / bandwidth)) + 12


def coefficients(points: FloatArray, scale: float, degree: int) -> FloatArray:
    """Return the coefficients of the kernels at points of two classes: shape (degree + 1, n_points)."""
    n = degree + 1
    angles = (np.arange(n) + 0.5) * np.pi / n
    y = np.cos(angles)
    squares = (0.5 - 0.5 * y[:, None] - points[0]) ** 2 + (0.5 + 0.5 * y[:, None] - points[1]) ** 2
    C: FloatArray = np.cos(np.outer(np.arange(n), angles)) @ np.exp(-scale * squares) * (2.0 / n)
    C[0] /= 2.0
    return C


class LeastHellinger(Solver):
    """The p on the simplex with the least squared Hellinger distance between the mixture of densities and a sample's.

    Reference points are drawn from the mixture with equal shares, whose density r weighs them: the mean of
    (sqrt(p'f) - sqrt(q))^2 / r estimates the integral. Vectors of polynomials are turned into kernels at the points first.
    """

    def __init__(self, points: FloatArray, bandwidth: float, degree: int | None) -> None:
        self.points, self.bandwidth, self.degree = points, bandwidth, degree

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        from headcount.quantifiers.kernel_methods import _kernels

        k, n = self.points.shape
        peak = (2.0 * np.pi * self.bandwidth**2) ** (-k / 2)
        scale = 0.5 / self.bandwidth**2
        C = None if self.degree is None else coefficients(self.points, scale, self.degree)

        def densities(vectors: FloatArray) -> FloatArray:
            at_points = vectors if C is None else np.maximum(vectors @ C, 0.0)
            return np.ascontiguousarray(peak * at_points + _LEAST_DENSITY)

        F = densities(M.T)
        weights = 1.0 / (n * F.mean(axis=0))
        linear = F @ weights
        shares = np.full((len(q), k), 1.0 / k)
        F_few = np.ascontiguousarray(F[:, ::_START_EVERY])

        def match(a: int, b: int) -> None:
            W = np.sqrt(densities(q[a:b])) * weights
            if k == 2:
                _kernels.nearest_of_two(F[0], F[1] - F[0], linear[1] - linear[0], W, _TOL, _GAP, shares[a:b])
            else:
                few = np.ascontiguousarray(W[:, ::_START_EVERY])
                linear_few = F_few @ weights[::_START_EVERY]
                _kernels.nearest_by_hellinger(F_few, linear_few, few, _START_TOL, np.inf, shares[a:b])
                _kernels.nearest_by_hellinger(F, linear, W, _TOL, _GAP, shares[a:b])

        with one_blas_thread():
            in_chunks(match, len(q), _SAMPLES_PER_CHUNK)
        return shares


@register_method(
    "least Hellinger distance of kernel densities",
    "Moreo et al. 2024",
    group="matching",
    needs="posteriors, validation part",
)
class KDEyHD(SumsQuantifier):
    r"""Match the kernel density of a sample's posteriors with a mixture of the classes' densities (Hellinger distance).

    With :math:`f_j` the kernel density of the validation items of class j, q that of the sample's items, and points
    :math:`x_1, .., x_T` drawn from the mixture r of the classes' densities with equal shares, the shares minimise

    .. math:: \frac{1}{T} \sum_t \frac{1}{r(x_t)} \left(\sqrt{\textstyle\sum_j p_j f_j(x_t)} - \sqrt{q(x_t)}\right)^2,

    an estimate of the squared Hellinger distance by importance sampling. The function is convex; Newton steps find its minimum.

    When to use it: to compare with published results; the square root makes it less sensitive than KDEy-ML to regions where the
    densities are nearly zero. When not: for intervals or many groups of more than two classes, which need 16 T bytes each
    (160 KB by default); KDEy-ML is more precise and cheaper.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. With a ``FrozenEstimator`` all data given to ``fit`` is the validation part.
    bandwidth : float, default=0.1
        Width h of the kernel, in units of posteriors; from 0.001 to 10.
    n_points : int, default=10000
        Number T of reference points, divided equally among the classes.
    validation : int, float or splitter, default=5
        Folds or a held-out fraction, as for :class:`PACC`.
    refit : bool, default=False
        As for :class:`PACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split and the reference points.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    M_ : array of shape (n_points, n_classes)
        Mean kernels between reference points and the validation items of each class. Of two classes, mean Chebyshev polynomials of
        the items' posteriors, by which the kernels are known to ten digits: 72 numbers by default, shape (72, 2).
    points_ : array of shape (n_classes, n_points)
        The reference points, a column each.

    References
    ----------
    Moreo, González and del Coz (2024). Kernel density estimation for multiclass quantification. Machine Learning 114.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> KDEyHD(n_points=2000, random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    interval_refusal = (
        "{name} minimises a distance between kernel densities at drawn points, and how far its estimates are off has not been "
        "worked out. Use KDEyML over the same classifier, whose interval holds, or pass method='bootstrap', whose coverage is not "
        "measured."
    )
    points_: FloatArray
    learnt_shapes: ClassVar[dict[str, tuple[str | int | None, ...]]] = {"points_": ("classes", "points")}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "bandwidth": BANDWIDTH,
        "n_points": integers_from(10),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        bandwidth: float = 0.1,
        n_points: int = 10_000,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.bandwidth = bandwidth
        self.n_points = n_points

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        fit_validated(self, fits, codes)
        self.points_ = self._drawn_points(self.validation_outputs_.need("posteriors"), self.validation_codes_)
        self._learn_profiles(
            self.validation_outputs_, self.validation_codes_, None if self.refit else self.validation_folds_
        )

    def _drawn_points(self, P: FloatArray, codes: IntArray) -> FloatArray:
        """Draw reference points from the kernel density of each class."""
        k = len(self.classes_)
        generators = [np.random.default_rng(seed) for seed in seed_sequence(self.random_state).spawn(k)]
        drawn = []
        for j, generator in enumerate(generators):
            items = generator.choice(np.flatnonzero(codes == j), max(1, self.n_points // k))
            drawn.append(P[items] + self.bandwidth * generator.standard_normal((len(items), k)))
        return np.ascontiguousarray(np.concatenate(drawn).T)

    @property
    def _degree(self) -> int | None:
        """The degree of polynomials that stand for the kernels at the points, if there are two classes and fewer of them."""
        degree = degree_for(self.bandwidth)
        return degree if len(self.points_) == 2 and degree < self.points_.shape[1] else None

    @property
    def representation(self) -> Vectors:  # type: ignore[override]
        """The kernels at the reference points, or polynomials that tell them."""
        if not hasattr(self, "points_"):
            return KernelsAtPoints(np.empty((0, 0)), 0.0)
        degree = self._degree
        return KernelsAtPoints(self.points_, 0.5 / self.bandwidth**2) if degree is None else ChebyshevMoments(degree)

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The search for the least Hellinger distance."""
        if not hasattr(self, "points_"):
            return LeastHellinger(np.empty((0, 0)), 1.0, None)
        return LeastHellinger(self.points_, self.bandwidth, self._degree)
