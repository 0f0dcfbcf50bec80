"""DyS and DMy against QuaPy's. Its divergence may be any function, so that both sides minimise the same sum."""

from collections.abc import Callable
from typing import Any

import numpy as np
import quapy.method.aggregative as qa

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool


def _squared_hellinger(p: Any, q: Any) -> Any:
    return np.sum((np.sqrt(p) - np.sqrt(q)) ** 2)


def _squares(p: Any, q: Any) -> Any:
    return np.sum((p - q) ** 2)


def _ours(name: str, **options: Any) -> Callable[[Pool], Any]:
    return lambda pool: getattr(hc, name)(pool.classifier, **options).fit(pool.P_validation, pool.y_validation)


def _theirs(name: str, **options: Any) -> Callable[[Pool], Callable[[Any], Any]]:
    def made(pool: Pool) -> Callable[[Any], Any]:
        model = getattr(qa, name)(pool.classifier, fit_classifier=False, val_split=None, **options)
        model.fit(pool.P_validation, pool.y_validation)
        return lambda P: model.predict(P)

    return made


def _published_median(pool: Pool) -> Callable[[Any], Any]:
    """Return DyS with the median over the published numbers of bins, one model of QuaPy's for each."""
    single = [_theirs("DyS", n_bins=b, divergence="topsoe")(pool) for b in (*range(2, 21, 2), 30)]
    return lambda P: np.median([predict(P) for predict in single], axis=0)


def _dys(distance: str, theirs: Any) -> Case:
    note = f"{distance}, 8 bins; their ternary search stops at 1e-5"
    return Case("DyS", 2, _ours("DyS", bins=8, distance=distance), _theirs("DyS", divergence=theirs), 1e-4, 300, note)


def _dmy(k: int, distance: str, cdf: bool, theirs: Any, bound: float | None, note: str = "") -> Case:
    what = f"{distance}{', cdf' if cdf else ''}, 8 bins{'; ' + note if note else ''}"
    ours, other = _ours("DMy", distance=distance, cdf=cdf), _theirs("DMy", divergence=theirs, cdf=cdf)
    return Case("DMy", k, ours, other, bound, 300, what)


_STOPS = "their search stops early"
CASES = [
    _dys("topsoe", "topsoe"),
    _dys("hellinger", "HD"),
    Case("DyS", 2, _ours("DyS"), _published_median, 1e-4, 300, "topsoe, median over 2, 4, .., 20, 30 bins"),
    _dmy(2, "hellinger", False, _squared_hellinger, 5e-3, _STOPS),
    _dmy(3, "hellinger", False, _squared_hellinger, 5e-3, _STOPS),
    _dmy(3, "topsoe", False, "topsoe", 5e-3, _STOPS),
    _dmy(3, "l2", True, _squares, 5e-2, _STOPS),
    _dmy(10, "hellinger", False, _squared_hellinger, 2e-2, _STOPS),
    _dmy(3, "hellinger", False, "HD", None, "they add up roots, which is not convex"),
]
