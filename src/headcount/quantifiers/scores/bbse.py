"""BBSE: importance weights of the classes from the joint confusion matrix, solved without constraints."""

from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, RandomState
from headcount.learners import Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Decisions, Posteriors, Representation
from headcount.quantifiers.scores.weights import ImportanceWeights
from headcount.quantifiers.solvers import LeastSquares, Solver
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["BBSE", "Inverse"]

_SINGULAR = 1e-10
"""Singular values below this part of the largest count as 0."""


class Inverse(LeastSquares):
    """The p with M p = q, free to leave the simplex; negative shares are then set to 0, and the others divided by their sum.

    Where M is singular, the p of least norm among those for which M p is nearest to q.
    """

    def solve(self, q: FloatArray, M: FloatArray) -> FloatArray:
        """Return the shares of each sample."""
        p = np.clip(q @ np.linalg.pinv(M, rcond=_SINGULAR).T, 0.0, None)
        totals = p.sum(axis=1, keepdims=True)
        equal = np.full_like(p, 1.0 / p.shape[1])  # where no share is above 0
        shares: FloatArray = np.divide(p, totals, out=equal, where=totals > 0.0)
        return shares


@register_method(
    "black box shift estimation",
    "Lipton et al. 2018",
    group="adjusting",
    needs="decisions (or posteriors), validation part",
)
class BBSE(ImportanceWeights, SumsQuantifier):
    r"""Black box shift estimation: importance weights from the inverse of the joint confusion matrix.

    With :math:`C_{ij}` the share of validation items of class j that are decided for class i, among all of them, and q the shares
    of decisions in the sample, the weights are :math:`w = C^{-1} q` and the shares :math:`p_j = w_j \pi_j`, where
    :math:`\pi` are the class shares among the labelled items; negative ones are set to 0, and the others divided by their sum.
    Since :math:`C_{ij} = M_{ij} \pi_j`, with M the matrix of :class:`ACC`, that is :math:`p = M^{-1} q`: ACC without constraints.
    Where the solution has no negative share both are the same.

    **When to use it.** Where importance weights are wanted (`importance_weights`), or to compare with publications.
    **When not.** Setting negative shares to 0 moves all others in the same proportion; ``constrained=True``, ACC and PACC
    return the shares of the simplex that explain the sample best, and are nearer to the truth where classes are absent.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    confusion : {"hard", "soft"}, default="hard"
        Count decisions, or add up posteriors (then PACC takes the place of ACC in the above).
    constrained : bool, default=False
        Whether to minimise :math:`\lVert C w - q \rVert^2` over the weights whose shares are on the simplex: ACC or PACC.
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
        ``M_[i, j]`` is the share of decisions for class i, or the mean posterior of class i, among validation items of class j.

    References
    ----------
    Lipton, Wang and Smola (2018). Detecting and correcting for label shift with black box predictors. ICML.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> BBSE(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **ImportanceWeights._parameter_constraints,
        "constrained": ["boolean"],
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        confusion: str = "hard",
        constrained: bool = False,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.confusion = confusion
        self.constrained = constrained

    @property
    def representation(self) -> Representation:  # type: ignore[override]
        """Decisions for the hard confusion matrix, posteriors for the soft one."""
        return Posteriors() if self.confusion == "soft" else Decisions()

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The inverse of the matrix of rates, or least squares on the simplex."""
        return LeastSquares() if self.constrained else Inverse()
