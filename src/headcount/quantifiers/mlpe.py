"""MLPE: the trivial baseline, which answers that nothing has changed since training."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from headcount._typing import FloatArray, IntArray
from headcount.learners import Fits, Outputs
from headcount.quantifiers.catalogue import register_method
from headcount.quantifiers.representations import Vectors
from headcount.quantifiers.solvers import MeanVector
from headcount.quantifiers.statistics import Statistics, require_items
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["MLPE"]


class _Nothing(Vectors):
    """An item is the empty vector: only how many there are is counted."""

    def width(self, n_classes: int) -> int:
        return 0

    def vectors(self, outputs: Outputs) -> FloatArray:
        return np.empty((outputs.n_items, 0))


@register_method("the training shares, as a baseline", "Barranquero et al. 2013", group="baseline", needs="labels")
class MLPE(SumsQuantifier):
    r"""Maximum likelihood prevalence estimation: the training shares, whatever the sample.

    .. math:: \hat p_y^{\mathrm{MLPE}}(U) = p_y(L)

    **When to use it.** As a baseline: a method that does not beat the training shares is not worth using on such data. Where shares
    may have changed, never as an estimate.

    Parameters
    ----------
    classes : sequence of labels, optional
        The classes in order, where they have one; by default sorted.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    prevalence_ : array of shape (n_classes,)
        The class shares in training.

    References
    ----------
    Barranquero, González, Díez and del Coz (2013). On the study of nearest neighbor algorithms for prevalence estimation in
    binary problems. Pattern Recognition 46.

    Examples
    --------
    >>> MLPE().fit([[0.0], [0.0], [0.0], [0.0]], ["a", "a", "a", "b"]).predict([[1.0]]).tolist()
    [0.75, 0.25]
    """

    representation = _Nothing()
    solver = MeanVector()
    brings_learner = False
    interval_refusal = (
        "MLPE never looks at the items, so it knows nothing of how far they are from training. Use PACC or SLD."
    )
    prevalence_: FloatArray

    def __init__(self, *, classes: Any = None) -> None:
        self.classes = classes

    def _learn(self, fits: Fits, codes: IntArray) -> None:
        self.prevalence_ = np.bincount(codes, minlength=len(self.classes_)) / len(codes)

    def solve(self, statistics: Statistics) -> FloatArray:
        """Repeat the training shares for each sample."""
        check_is_fitted(self)
        require_items(statistics.weights)
        return np.tile(self.prevalence_, (len(statistics), 1))
