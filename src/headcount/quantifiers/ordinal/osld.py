"""o-SLD: expectation maximisation whose shares are smoothed along the order of the classes in each round."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray, RandomState
from headcount._validation import Interval, integers_from
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.densities import Convergence
from headcount.quantifiers.sld import SLD
from headcount.quantifiers.statistics import SampleItems, require_items

__all__ = ["OSLD", "smoothing_matrix"]

_ITEMS_PER_CHUNK = 1 << 15


def smoothing_matrix(k: int, degree: int, interpolation: float) -> FloatArray:
    """Return S, such that S p is p moved by this part of the way to the polynomial of this degree that is nearest to it.

    >>> (smoothing_matrix(3, 1, 1.0) @ [0.5, 0.0, 0.5]).round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    basis, _ = np.linalg.qr(np.vander(np.linspace(-1.0, 1.0, k), min(degree, k - 1) + 1))
    S: FloatArray = (1.0 - interpolation) * np.eye(k) + interpolation * basis @ basis.T
    return S


@register_method(
    "likelihood rounds with smoothing along the order",
    "Bunse et al. 2024",
    group="likelihood",
    needs="posteriors, prior, an order",
    aliases=("o-SLD", "o-EMQ"),
    table_preset=lambda: OSLD(calibration="bcts"),
)
class OSLD(SLD):
    r"""SLD for ordered classes: in each round of expectation maximisation the shares are smoothed before they are the next prior.

    A polynomial of low degree is fitted to the shares :math:`p^{(t)}` over the class numbers; the prior of the next round is

    .. math:: (1 - \lambda) \, p^{(t)} + \lambda \, \mathrm{poly}(p^{(t)}),

    without negative entries. The answer is the last :math:`p^{(t)}` itself. With :math:`\lambda = 0` it is :class:`SLD` by rounds.

    **When to use it.** For many ordered classes whose shares are known to be smooth, where SLD's jump up and down; choose
    ``degree`` and ``interpolation`` by a search with ``scoring="nmd"``. **When not.** Where shares may be anything, each smoothing
    is bias. The interval is that of the likelihood without smoothing, extended to the estimate where it is outside.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. Without ``predict_proba`` it is calibrated by Platt's
        method. A ``FrozenEstimator`` is not fitted again, and ``prior`` or ``calibration`` must then be given.
    degree : int, default=2
        Of the polynomial; with the number of classes less one, or more, nothing is smoothed. 0, 1 and 2 are published.
    interpolation : float, default=0.1
        :math:`\lambda`, from 0 to 1; 0.01 and 0.1 are published.
    prior : {"train", "uniform"} or array of shape (n_classes,), default="train"
        The shares under which the posteriors hold, as for :class:`SLD`.
    tol, min_iter, max_iter
        When the rounds end, as for :class:`SLD`.
    calibration : {"bcts", "ts", "vs", "nbvs"}, optional
        As for :class:`SLD`; there is an interval with one.
    validation : int, float or splitter, default=5
        The validation part, if there is a ``calibration``.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes from lowest to highest; needed for more than two classes whose labels are texts.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    prior_ : array of shape (n_classes,)
    calibration_ : LogLinearCalibration or None

    References
    ----------
    Bunse, Moreo, Sebastiani and Senz (2024). Regularization-based methods for ordinal quantification. Data Mining and Knowledge
    Discovery 38.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, n_informative=6, n_classes=3, class_sep=2.0, random_state=0)
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # items of the second class only
    >>> OSLD().fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 0.9, 0.1]
    """

    adjusts_for_shift = True
    needs_order = True
    solver: str = "em"
    prior_: FloatArray
    smoothing: Any = 0.0
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: kind for name, kind in SLD._parameter_constraints.items() if name not in ("solver", "smoothing")},
        "degree": integers_from(0),
        "interpolation": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        degree: int = 2,
        interpolation: float = 0.1,
        prior: Any = "train",
        tol: float = 1e-6,
        min_iter: int = 10,
        max_iter: int = 1000,
        calibration: str | None = None,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        self.classifier = classifier
        self.degree = degree
        self.interpolation = interpolation
        self.prior = prior
        self.tol = tol
        self.min_iter = min_iter
        self.max_iter = max_iter
        self.calibration = calibration
        self.validation = validation
        self.refit = refit
        self.random_state = random_state
        self.classes = classes

    def _most_likely(self, statistics: SampleItems) -> Convergence:
        from headcount.quantifiers.ordinal import _kernels

        F, samples = statistics.vectors, statistics.samples
        require_items(statistics.weights)
        factors = np.empty(0) if samples.factors is None else samples.factors
        S = smoothing_matrix(F.shape[1], self.degree, float(self.interpolation))
        shares, change = np.empty((len(samples), F.shape[1])), np.empty(len(samples))
        n_iter = np.empty(len(samples), dtype=np.int64)

        def search(first: int, last: int) -> None:
            part, ends = slice(first, last), samples.indptr[first : last + 1]
            given = F, self.prior_, S, samples.indices, ends, factors
            ending = float(self.tol), int(self.min_iter), int(self.max_iter)
            _kernels.smoothed_rounds(*given, *ending, shares[part], n_iter[part], change[part])

        in_chunks(search, len(samples), max(1, _ITEMS_PER_CHUNK * len(samples) // max(1, samples.indices.size)))
        return Convergence(shares, n_iter, change, change < self.tol)
