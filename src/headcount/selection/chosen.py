"""`ChosenQuantifier`: base of estimators that choose a quantifier in `fit` and then estimate with it."""

from abc import abstractmethod
from collections.abc import Collection
from typing import Any

from headcount._typing import FloatArray, Items
from headcount.learners import Need, Outputs
from headcount.quantifiers import Quantifier

__all__ = ["ChosenQuantifier"]


class ChosenQuantifier(Quantifier):
    """A quantifier that delegates scoring, reducing and solving to the quantifier that its `fit` chose."""

    best_estimator_: Quantifier

    @abstractmethod
    def _best(self) -> Quantifier:
        """Return the chosen quantifier; raise an error that says why if there is none."""

    @property
    def chosen(self) -> Quantifier:
        """The quantifier that answers: the one that was chosen."""
        return self._best().chosen

    @property
    def needs(self) -> frozenset[Need]:
        """What the chosen quantifier needs of each item."""
        return self._best().needs

    @property
    def classifier_(self) -> Any:
        """The classifier of the chosen quantifier, if it has one."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("There is no classifier before fit, nor after refit=False.")
        return self.best_estimator_.classifier_

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        return self._best().outputs(X, needs)

    def reduce(self, outputs: Outputs, samples: Any = None) -> Any:
        """Reduce outputs to statistics as the chosen quantifier does."""
        return self._best().reduce(outputs, samples)

    def solve(self, statistics: Any) -> FloatArray:
        """Turn statistics into shares as the chosen quantifier does."""
        return self._best().solve(statistics)
