"""The threshold methods against QuaPy's: all distinct validation scores are thresholds on both sides."""

from collections.abc import Callable
from typing import Any

import quapy.method._threshold_optim as qt

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool, ScoredAlready


class _Decided(ScoredAlready):
    """QuaPy asks for a decision function: the posterior of the second class."""

    def decision_function(self, X: Any) -> Any:
        return X[:, 1]


def _ours(name: str) -> Callable[[Pool], Any]:
    return lambda pool: getattr(hc.quantifiers, name)(pool.classifier).fit(pool.P_validation, pool.y_validation)


def _theirs(name: str) -> Callable[[Pool], Callable[[Any], Any]]:
    def fitted(pool: Pool) -> Callable[[Any], Any]:
        classifier = _Decided().fit(pool.P_validation, pool.y_validation)
        model = getattr(qt, name)(classifier, fit_classifier=False, val_split=None)
        model.fit(pool.P_validation, pool.y_validation)
        return lambda P: model.predict(P)

    return fitted


_TARGETS = {"MS": 300.0, "MS2": 300.0}
_NOTES = {"T50": "of thresholds with the same TPR ours is the one with the lowest FPR, theirs any"}
CASES = [
    Case(
        name, 2, _ours(name), _theirs(name), None if name in _NOTES else 1e-9, _TARGETS.get(name), _NOTES.get(name, "")
    )
    for name in ("T50", "MAX", "X", "MS", "MS2")
]
