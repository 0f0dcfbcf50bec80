"""The trivial baseline: nothing has changed since training."""

from collections.abc import Collection
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from headcount._typing import FloatArray, Items, Labels
from headcount._validation import as_items, labelled_items, learn_classes
from headcount.learners import Need, Outputs
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.statistics import Statistics, require_items

__all__ = ["MLPE"]


class MLPE(Quantifier):
    r"""Maximum likelihood prevalence estimation: the training shares, whatever the sample.

    .. math:: \hat p_y^{\mathrm{MLPE}}(U) = p_y(L)

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

    prevalence_: FloatArray
    _parameter_constraints: dict[str, Any] = {}  # noqa: RUF012

    @property
    def needs(self) -> frozenset[Need]:
        """Nothing need be known of the items."""
        return frozenset()

    def fit(self, X: Items, y: Labels) -> Self:
        """Learn the shares of the labels; of the items only their number is looked at."""
        X, labels = labelled_items(X, y)
        validate_data(self, X, skip_check_array=True)
        self.classes_, codes = learn_classes(labels)
        self.prevalence_ = np.bincount(codes) / len(codes)
        return self

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:  # noqa: ARG002
        return Outputs(self.classes_, as_items(X)[1])

    def reduce(self, outputs: Outputs, samples: Any = None) -> Statistics:
        """Keep only how many items each sample has."""
        _, samples = self._ready(outputs, samples)
        return Statistics(np.zeros((len(samples), 0)), samples.total_weights())

    def solve(self, statistics: Statistics) -> FloatArray:
        """Repeat the training shares for each sample."""
        check_is_fitted(self)
        require_items(statistics.weights)
        return np.tile(self.prevalence_, (len(statistics), 1))
