"""SMM, BBSE and RLLS against QuaPy's, from the same posteriors; RLLS needs the package cvxpy there."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import quapy.method.aggregative as qa

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool


def _ours(method: type, **options: Any) -> Callable[[Pool], Any]:
    return lambda pool: method(pool.classifier, **options).fit(pool.P_validation, pool.y_validation)


def _theirs(method: type, **options: Any) -> Callable[[Pool], Callable[[Any], Any]]:
    def make(pool: Pool) -> Callable[[Any], Any]:
        model = method(pool.classifier, fit_classifier=False, val_split=None, **options)
        return model.fit(pool.P_validation, pool.y_validation).predict

    return make


_EXACT = "their solver 'exact-raise'; 'minimize' is near our constrained=True"
CASES = [
    Case("SMM", 2, _ours(hc.SMM), _theirs(qa.SMM), 1e-9, 300, "the mean of 500 numbers: what is left is drawing them"),
    *(
        Case(name, k, _ours(hc.BBSE, confusion=confusion), _theirs(method, solver="exact-raise"), 1e-9, note=_EXACT)
        for k in (2, 3, 10)
        for name, confusion, method in (("BBSE", "hard", qa.BBSEhard), ("BBSE, soft", "soft", qa.BBSEsoft))
    ),
]
if find_spec("cvxpy") is not None:
    CASES += [
        Case(
            "RLLS",
            k,
            _ours(hc.RLLS),
            _theirs(qa.RLLS),
            2e-4,
            note="their first-order solver stops at 1e-5; our objective is lower",
        )
        for k in (2, 3, 10)
    ]
