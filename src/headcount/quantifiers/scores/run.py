"""RUN: regularised unfolding, the likelihood of cells of items with a penalty on shares that are not smooth."""

from functools import partial
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions, integers_from
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs, Validation
from headcount.quantifiers.base import DEFAULT_VALIDATION
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Cells, Decisions, Posteriors, Representation, count_cells
from headcount.quantifiers.scores.regularised import (
    PENALTIES,
    RegularisedLeastSquares,
    RegularisedLikelihood,
    check_penalty,
)
from headcount.quantifiers.solvers import Solver
from headcount.quantifiers.statistics import Statistics
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["RUN", "ConfidenceCells"]


class ConfidenceCells(Cells):
    """An item falls into the cell of the class decided for and of the bin of its largest posterior.

    Parameters
    ----------
    n_bins : int
        Equal bins of the largest posterior, from 1 / n_classes to 1.
    """

    needs: Need = "posteriors"

    def __init__(self, n_bins: int) -> None:
        self.n_bins = n_bins

    def width(self, n_classes: int) -> int:
        """Return the number of cells."""
        return n_classes * self.n_bins

    def _cuts(self, n_classes: int) -> FloatArray:
        cuts: FloatArray = np.linspace(1.0 / n_classes, 1.0, self.n_bins + 1)[1:-1]
        return cuts

    def codes(self, outputs: Outputs) -> IntArray:
        """Return the cell of each item."""
        P = outputs.need(self.needs)
        bins = np.searchsorted(self._cuts(P.shape[1]), P.max(axis=1), side="right")
        codes: IntArray = (P.argmax(axis=1) * self.n_bins + bins).astype(np.int32)
        return codes

    def reduce_columns(self, C: FloatArray, groups: IntArray, n_groups: int, products: bool = False) -> Statistics:
        """Count the items of each group in each cell."""
        return count_cells(C, self._cuts(len(C)), groups, n_groups)

    def reduce_weighted_columns(
        self, C: FloatArray, groups: IntArray, n_groups: int, factors: FloatArray, products: bool = False
    ) -> Statistics:
        """Add up the factors of the items of each group in each cell."""
        return count_cells(C, self._cuts(len(C)), groups, n_groups, factors)

    def sql(self, n_classes: int) -> tuple[str, ...]:
        """Return SQL for the cell."""
        reached = [f"CASE WHEN largest >= {float(cut)!r} THEN 1 ELSE 0 END" for cut in self._cuts(n_classes)]
        return (" + ".join([f"decision * {self.n_bins}", *reached]),)


def _tikhonov(vectors: str) -> Any:
    """Return ACC or PACC with Tikhonov's penalty, at a strength in the middle of the published ones."""
    return RUN(vectors=vectors, loss="squares", strength=1e-3)


@register_method(
    "PACC drawn to smooth shares (Tikhonov)",
    "Bunse et al. 2024",
    name="OPACC",
    group="matching",
    needs="posteriors, validation part, an order",
    preset=partial(_tikhonov, "posteriors"),
    aliases=("o-PACC",),
)
@register_method(
    "ACC drawn to smooth shares (Tikhonov)",
    "Bunse et al. 2024",
    name="OACC",
    group="matching",
    needs="decisions, validation part, an order",
    preset=partial(_tikhonov, "decisions"),
    aliases=("o-ACC",),
)
@register_method(
    "regularised unfolding",
    "Blobel 1985",
    group="matching",
    needs="posteriors, validation part",
)
class RUN(SumsQuantifier):
    r"""Regularised unfolding: the most likely shares of counts in cells, drawn towards shares that are smooth along the classes.

    With q the shares of the sample's items in the cells and column j of M those of the validation items of class j, the shares p on
    the simplex minimise

    .. math:: -\sum_i q_i \log (M p)_i + \frac{\tau}{2} \lVert T p \rVert^2

    where the first term is the mean log-likelihood of an item under Poisson or multinomial counts, and the rows of T are the second
    differences :math:`p_{j-1} - 2 p_j + p_{j+1}` of neighbouring classes (Blobel's curvature), first differences, or the shares
    themselves. With ``loss="squares"`` the first term is :math:`\lVert M p - q \rVert^2` and the penalty's factor
    :math:`\tau`: ACC or PACC with Tikhonov's regularisation.

    **When to use it.** For ordered classes, such as bins of a quantity or stars, whose shares are known to be smooth, with many
    classes or few labelled items, so that the shares of ACC jump up and down; choose ``strength`` by a search. The default,
    0, is maximum likelihood of the cells without penalty. **When not.** Where classes have no order, "differences" and
    "curvature" have no meaning; where shares may be anything, each penalty is bias. The interval is that without the penalty,
    extended to the estimate where it is outside.

    Parameters
    ----------
    classifier : estimator, default=None
        Any scikit-learn classifier; None means `NewtonLogisticRegression`. With a ``FrozenEstimator`` all data given to
        ``fit`` is the validation part.
    strength : float, default=0.0
        :math:`\tau`. The likelihood is that of one item: publications that write it for all n items of a sample have
        :math:`n \tau`.
    penalty : {"curvature", "differences", "norm"}, default="curvature"
        What T takes of the shares. "curvature" needs three classes, and like "differences" depends on their order
        (``classes=[...]``); "norm" draws towards equal shares.
    loss : {"likelihood", "squares"}, default="likelihood"
    vectors : {"cells", "decisions", "posteriors"}, default="cells"
        What an item is: the cell of its decision and of the bin of its largest posterior, its decision alone, or, with
        ``loss="squares"``, its posteriors.
    n_bins : int, default=2
        Bins of the largest posterior, from 1 / n_classes to 1, with ``vectors="cells"``. More of them use more of the posteriors,
        and need more labelled items.
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
    M_ : array of shape (n_coordinates, n_classes)
        Column j is the mean vector of the validation items of class j.

    References
    ----------
    Blobel (1985). Unfolding methods in high-energy physics experiments. CERN School of Computing.
    Bunse, Moreo, Sebastiani and Senz (2024). Regularization-based methods for ordinal quantification. Data Mining and Knowledge
    Discovery 38.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(4000, flip_y=0.1, random_state=0)
    >>> import numpy as np
    >>> sample = np.flatnonzero(y[2000:] == 1)[:500] + 2000           # positives only
    >>> RUN(random_state=0).fit(X[:2000], y[:2000]).predict(X[sample]).round(1).tolist()
    [0.0, 1.0]
    """

    adjusts_for_shift = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SumsQuantifier._parameter_constraints,
        "strength": [Interval(Real, 0, None, closed="left")],
        "penalty": [StrOptions(set(PENALTIES))],
        "loss": [StrOptions({"likelihood", "squares"})],
        "vectors": [StrOptions({"cells", "decisions", "posteriors"})],
        "n_bins": integers_from(1),
    }

    def __init__(
        self,
        classifier: Any = None,
        *,
        strength: float = 0.0,
        penalty: str = "curvature",
        loss: str = "likelihood",
        vectors: str = "cells",
        n_bins: int = 2,
        validation: Validation = DEFAULT_VALIDATION,
        refit: bool = False,
        random_state: RandomState = None,
        classes: Any = None,
    ) -> None:
        super().__init__(classifier, validation=validation, refit=refit, random_state=random_state, classes=classes)
        self.strength = strength
        self.penalty = penalty
        self.loss = loss
        self.vectors = vectors
        self.n_bins = n_bins

    @property
    def needs_order(self) -> bool:  # type: ignore[override]
        """Whether the penalty takes differences of neighbouring classes."""
        return bool(self.strength > 0.0 and self.penalty != "norm")

    @property
    def representation(self) -> Representation:  # type: ignore[override]
        """What an item is."""
        if self.vectors == "cells":
            return ConfidenceCells(self.n_bins)
        return Decisions() if self.vectors == "decisions" else Posteriors()

    @property
    def solver(self) -> Solver:  # type: ignore[override]
        """The loss with its penalty."""
        if self.loss == "squares":
            return RegularisedLeastSquares(self.strength, self.penalty)
        return RegularisedLikelihood(self.strength, self.penalty)

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        if self.loss == "likelihood" and self.vectors == "posteriors":
            raise DataError(
                "RUN has vectors='posteriors', which are not counts and have no likelihood: pass loss='squares', or "
                "vectors='cells' or 'decisions'."
            )
        check_penalty(len(self.classes_), self.strength, self.penalty, type(self).__name__)
        super()._learn(fits, codes)
