"""KDEy-ML, KDEy-CS, KDEy-HD and EDy against QuaPy's; densities and kernels of the pool are part of our time."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import quapy.method.aggregative as qa
from scipy.optimize import minimize
from sklearn.neighbors import KernelDensity

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool

BANDWIDTH, POINTS = 0.1, 10_000


def _ours(name: str, pool: Pool) -> Any:
    return getattr(hc, name)(pool.classifier).fit(pool.P_validation, pool.y_validation)


def _ours_with_their_points(pool: Pool) -> Any:
    """KDEy-HD at the reference points that QuaPy draws with random_state=0."""
    quantifier = hc.KDEyHD(pool.classifier, bandwidth=BANDWIDTH).fit(pool.P_validation, pool.y_validation)
    drawn = [
        KernelDensity(bandwidth=BANDWIDTH)
        .fit(pool.P_validation[pool.y_validation == label])
        .sample(POINTS // len(quantifier.classes_), random_state=0)
        for label in quantifier.classes_
    ]
    quantifier.points_ = np.ascontiguousarray(np.concatenate(drawn).T)
    quantifier._learn_profiles(quantifier.validation_outputs_, quantifier.validation_codes_)
    return quantifier


def _theirs(name: str, pool: Pool, **options: Any) -> Callable[[Any], Any]:
    model = getattr(qa, name)(pool.classifier, fit_classifier=False, val_split=None, **options)
    model.fit(pool.P_validation, pool.y_validation)
    return lambda P: model.predict(P)


def _their_edy(pool: Pool) -> Callable[[Any], Any]:
    """QuaPy's EDy, with its quadratic programme solved by scipy: the package quadprog is not needed."""
    model = qa.EDy(pool.classifier, fit_classifier=False, val_split=None)
    model.fit(pool.P_validation, pool.y_validation)

    def solve(G: Any, a: Any, C: Any, b: Any) -> Any:
        start = np.full(len(a), 1.0 / (len(a) + 1))
        bounds = {"type": "ineq", "fun": lambda x: C.T @ x - b}
        found = minimize(
            lambda x: x @ G @ x / 2 - a @ x, start, method="SLSQP", constraints=bounds, options={"ftol": 1e-12}
        )
        return np.clip(np.append(found.x, 1.0 - found.x.sum()), 0.0, 1.0)

    model._solve_ed = solve
    return lambda P: model.predict(P)


_OWN = "they count each item's kernel or distance with itself"
_FLOOR = "theirs ends at a change of 1e-6 in the loss"

CASES = [
    *(
        Case("KDEyML", k, partial(_ours, "KDEyML"), partial(_theirs, "KDEyML"), 5e-3, target, _FLOOR)
        for k, target in ((2, 200), (3, 100), (10, 100))
    ),
    *(
        Case("KDEyCS", k, partial(_ours, "KDEyCS"), partial(_theirs, "KDEyCS"), 1e-2, target, _OWN)
        for k, target in ((2, 200), (3, 200))
    ),
    *(
        Case("KDEyHD", k, _ours_with_their_points, partial(_theirs, "KDEyHD", random_state=0), 5e-3, 100, _FLOOR)
        for k in (2, 3)
    ),
    *(Case("EDy", k, partial(_ours, "EDy"), _their_edy, 5e-3, None, _OWN) for k in (2, 3)),
]
