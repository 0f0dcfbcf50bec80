"""RLLS: importance weights that are drawn towards 1, as far as few labelled items can't tell them."""

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from headcount._threads import in_chunks, one_blas_thread
from headcount._typing import FloatArray, RandomState
from headcount._validation import Interval
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Decisions, Posteriors, Representation
from headcount.quantifiers.scores._weights_search import regularised_weights
from headcount.quantifiers.scores.weights import ImportanceWeights
from headcount.quantifiers.solvers import LeastSquares, Solver
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["RLLS", "RegularisedWeights"]

_SAMPLES_PER_CHUNK = 256


class RegularisedWeights(LeastSquares):
    """The weights w that minimise ||C w - q|| + rho ||w - 1||, none below 0, turned into shares.

    The equation that it declares, for intervals, is that of the weights without regularisation.

    Parameters
    ----------
    prior : array of shape (n_classes,)
        Class shares among the labelled items: C is M with its columns multiplied by them.
    rho : float
    """

    def __init__(self, prior: FloatArray, rho: float) -> None:
        self.prior, self.rho = prior, rho

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        w = np.empty((len(q), M.shape[1]))

        def search(start: int, stop: int) -> None:
            w[start:stop] = regularised_weights(M * self.prior, q[start:stop], self.rho)

        with one_blas_thread():
            in_chunks(search, len(q), _SAMPLES_PER_CHUNK)
        p = w * self.prior
        totals = p.sum(axis=1, keepdims=True)
        shares: FloatArray = np.divide(p, totals, out=np.tile(self.prior, (len(q), 1)), where=totals > 0.0)
        return shares


@register_method(
    "regularised importance weights",
    "Azizzadenesheli et al. 2019",
    group="adjusting",
    needs="posteriors (or decisions), validation part",
)
class RLLS(ImportanceWeights, SumsQuantifier):
    r"""Regularised learning under label shift: the weights of :class:`BBSE`, drawn towards 1.

    The weights are :math:`w = 1 + \theta`, where :math:`\theta` minimises

    .. math:: \lVert C \theta - (q - C \mathbf{1}) \rVert_2 + \rho \lVert \theta \rVert_2, \qquad \theta \ge -1, \qquad
        \rho = 3 \alpha \left( \frac{2 \log (2 k / \delta)}{3 n} + \sqrt{\frac{2 \log (2 k / \delta)}{n}} \right)

    with C as for BBSE, k classes and n validation items; the bracket bounds, with probability :math:`1 - \delta`, how far
    C is off. The shares are :math:`w_j \pi_j` divided by their sum, where :math:`\pi` are the class shares among the labelled
    items. The norms are not squared: where the equations have a solution that is not far away, it is the
    answer, without any shrinkage. The regularisation acts where C is nearly singular, or the solution has negative weights.

    **When to use it.** With few labelled items, many classes or a weak classifier, where the shares may stay near those of
    training. **When not.** Where they may be anything: shrinkage is then bias. The interval is that of the equations without
    regularisation, extended to the estimate where it is outside.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    confusion : {"hard", "soft"}, default="soft"
        Count decisions, or add up posteriors.
    alpha : float, default=0.01
        Factor of the regularisation; 0.01 in the authors' experiments.
    delta : float, default=0.05
        Probability with which C may be farther off than the bound.
    validation : int, float or splitter, default=5
        A number of folds or a splitter, or a fraction to hold out, as for :class:`ACC`.
    refit : bool, default=False
        As for :class:`ACC`.
    random_state : int, RandomState, Generator or None, default=None
        For the split.
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    classifier_ : fitted classifier
    prior_ : array of shape (n_classes,)
        The class shares among the labelled items.
    M_ : array of shape (n_classes, n_classes)
        ``M_[i, j]`` is the mean posterior of class i, or the share of decisions for it, among validation items of class j.
    rho_ : float
        The regularisation.

    References
    ----------
    Azizzadenesheli, Liu, Yang and Anandkumar (2019). Regularized learning for domain adaptation under label shifts. ICLR.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> RLLS(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ImportanceWeights._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="left")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        confusion: str = "soft",
        alpha: float = 0.01,
        delta: float = 0.05,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.confusion = confusion
        self.alpha = alpha
        self.delta = delta

    @property
    def rho_(self) -> float:
        """The weight of the regularisation."""
        k, n = len(self.classes_), len(self.validation_codes_) / self.validation_repeats_
        log = 2.0 * np.log(2.0 * k / self.delta)
        return float(3.0 * self.alpha * (log / (3.0 * n) + np.sqrt(log / n)))

    @property
    def representation(self) -> Representation:  # type: ignore[override]
        """Decisions for the hard confusion matrix, posteriors for the soft one."""
        return Posteriors() if self.confusion == "soft" else Decisions()

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The search for regularised weights; before `fit`, of any."""
        if not hasattr(self, "validation_codes_"):
            return RegularisedWeights(np.empty(0), 0.0)
        return RegularisedWeights(self.prior_, self.rho_)
