"""FM: Friedman's method, the share of items whose posterior of a class exceeds the class's training share."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount.learners import Fits, Need, Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.prior import PRIOR_CONSTRAINT, known_prior
from headcount.quantifiers.representations import Vectors
from headcount.quantifiers.solvers import LeastSquares
from headcount.quantifiers.sums import SumsQuantifier
from headcount.simplex import mixture_least_squares

__all__ = ["FM", "Exceedances"]


class Exceedances(Vectors):
    """An item is the vector of 1 for each class whose posterior exceeds a threshold of its own, else 0.

    Parameters
    ----------
    thresholds : array of shape (n_classes,)
    """

    needs: Need = "posteriors"
    is_binary = True

    def __init__(self, thresholds: FloatArray) -> None:
        self.thresholds = thresholds

    def width(self, n_classes: int) -> int:
        """Return the number of coordinates: one for each class."""
        return n_classes

    def vectors(self, outputs: Outputs) -> FloatArray:
        """Return the vector of each item."""
        exceeds: FloatArray = (outputs.need(self.needs) > self.thresholds).astype(np.float64)
        return exceeds

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the coordinates."""
        return tuple(f"CASE WHEN p{j} > {float(self.thresholds[j])!r} THEN 1.0 ELSE 0.0 END" for j in range(n_classes))


class _AnyVectors(LeastSquares):
    """Least squares for vectors that need not be shares: with two classes an item may exceed both thresholds or none."""

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        return mixture_least_squares(M, q)


@register_method(
    "shares of posteriors above the training shares, adjusted",
    "Friedman 2014",
    group="adjusting",
    needs="posteriors, validation part",
    aliases=("Friedman",),
)
class FM(SumsQuantifier):
    r"""Friedman's method: how often the posterior of each class exceeds its training share, corrected as in ACC.

    An item is the vector of the indicators

    .. math:: \phi_i(x) = [\, \Pr(i \mid x) > \pi_i \,]

    where :math:`\pi` are the shares under which the posteriors hold. With q the mean of the sample and column j of M that of the
    validation items of class j, the shares p on the simplex minimise :math:`\lVert M p - q \rVert^2`.

    **When to use it.** Where a class is rare in training, hardly any item is decided for it, so that ACC has little to count; a
    posterior above the class's small share is common. Like decisions, indicators do not depend on how far posteriors
    are spread. **When not.** With balanced classes and two of them it is ACC; where posteriors rank items well within the two sides
    of the threshold, PACC and SLD use what it drops.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    prior : {"train", "uniform"} or array of shape (n_classes,), default="train"
        The thresholds: the class shares among the items given to ``fit``, equal ones (for a classifier with balanced class
        weights), or given ones, in the order of ``classes_``.
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
        The thresholds.
    M_ : array of shape (n_classes, n_classes)
        ``M_[i, j]`` is the share of validation items of class j whose posterior of class i exceeds ``prior_[i]``.

    References
    ----------
    Friedman (2014). Class counts in future unlabeled samples (detecting and dealing with concept drift). MIT CSAIL Big Data Event.
    Tasche (2024). Comments on Friedman's method for class distribution estimation. LQ.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> FM(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    solver = _AnyVectors()
    prior_: FloatArray
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "prior": PRIOR_CONSTRAINT,
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        prior: Any = "train",
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.prior = prior

    @property
    def representation(self) -> Exceedances:  # type: ignore[override]
        """The indicators."""
        return Exceedances(getattr(self, "prior_", np.empty(0)))

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        # Thresholds depend on the labels' counts alone, so that no item's own vector was chosen by its posteriors.
        self.prior_ = known_prior(self.prior, codes, self.classes_, frozen=False, name=type(self).__name__)
        super()._learn(fits, codes)
