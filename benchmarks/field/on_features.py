"""DMx, HDx and ReadMe against QuaPy's, with the pool's posteriors as features. (Its EDx needs the package quadprog.)"""

from collections.abc import Callable
from typing import Any

import numpy as np
import quapy.method.non_aggregative as qn

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool


def _numbers(P: Any) -> Any:
    """Return features made of the posteriors of all classes."""
    return np.column_stack([P[:, :-1], P[:, :-1] ** 2, np.sqrt(P[:, 1:])])


def _words(P: Any) -> Any:
    """Return twenty features of 0 and 1."""
    return np.column_stack([P[:, 1] > t for t in np.linspace(0.05, 0.95, 20)]).astype(np.int64)


class _Transformer:
    """Changes posteriors into features."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self.change = change

    def fit(self, X: Any, y: Any = None) -> "_Transformer":
        return self

    def transform(self, X: Any) -> Any:
        return self.change(X)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"change": self.change}


def _ours(quantifier: Any, change: Callable[[Any], Any] = _numbers) -> Callable[[Pool], Any]:
    def fitted(pool: Pool) -> Any:
        return quantifier.set_params(transformer=_Transformer(change)).fit(pool.P_validation, pool.y_validation)

    return fitted


def _theirs(model: Any, change: Callable[[Any], Any] = _numbers) -> Callable[[Pool], Callable[[Any], Any]]:
    def fitted(pool: Pool) -> Callable[[Any], Any]:
        model.fit(change(pool.P_validation), pool.y_validation)
        return lambda P: model.predict(change(P))

    return fitted


def _their_readme(pool: Pool) -> Callable[[Any], Any]:
    """Return the mean of their answers in our subsets: their `predict` fails in version 0.2.3, as it makes a region of a list."""
    ours, words = _ours_readme(pool), _words(pool.P_validation)
    model = qn.ReadMe(bootstrap_trials=1, random_state=0).fit(words, pool.y_validation)
    subsets = ours.words_[ours.subsets_]

    def predict(P: Any) -> Any:
        sample = _words(P)
        return np.mean(
            [model._quantify_iteration(words[:, s], pool.y_validation, sample[:, s]) for s in subsets], axis=0
        )

    return predict


_ours_readme = _ours(hc.ReadMe(100, subset_size=8, random_state=0), _words)
_ROOTS = "they add up the roots of the distances, which is not convex; ours is the convex sum"
CASES = [
    Case("HDx", 2, _ours(hc.HDx()), _theirs(qn.HDx()), 0.011, note="their grid has 100 points, ours 101"),
    Case("DMx", 2, _ours(hc.DMx()), _theirs(qn.DMx()), None, note=_ROOTS),
    Case("DMx", 3, _ours(hc.DMx()), _theirs(qn.DMx()), None, note=_ROOTS),
    Case(
        "DMx topsoe",
        3,
        _ours(hc.DMx(distance="topsoe")),
        _theirs(qn.DMx(divergence="topsoe")),
        None,
        note="theirs stops early: its distance is larger",
    ),
    Case(
        "ReadMe",
        2,
        _ours_readme,
        _their_readme,
        None,
        note="they confine each share to [0, 1] and divide by the sum; ours is the least on the simplex",
    ),
]
