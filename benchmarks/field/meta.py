"""Methods made of several quantifiers against QuaPy's, each over logistic regressions of the same items in the same folds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import quapy as qp
import quapy.method.aggregative as qa
import quapy.method.meta as qm
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool

STRENGTHS = [0.01, 0.1, 1.0, 10.0, 100.0]
MEMBERS = 10
SAMPLE_SIZE = 500


def _pacc() -> Any:
    """Return PACC by the published scheme, as QuaPy has it: rates of folds, and a classifier that is fitted again."""
    return hc.PACC(LogisticRegression(), validation=StratifiedKFold(5), refit=True)


def _one_vs_rest(pool: Pool) -> Any:
    return hc.OneVsRest(_pacc()).fit(pool.P_validation, pool.y_validation)


def _median(pool: Pool) -> Any:
    return hc.MedianQuantifier(_pacc(), {"classifier__C": STRENGTHS}).fit(pool.P_validation, pool.y_validation)


def _ensemble(selection: str | None) -> Callable[[Pool], Any]:
    def fit(pool: Pool) -> Any:
        q = hc.Ensemble(_pacc(), n_members=MEMBERS, selection=selection, n_selected=MEMBERS // 2, random_state=0)
        return q.fit(pool.P_validation, pool.y_validation)

    return fit


def _theirs(make: Callable[[], Any]) -> Callable[[Pool], Callable[[Any], Any]]:
    def fit(pool: Pool) -> Callable[[Any], Any]:
        qp.environ["SAMPLE_SIZE"] = SAMPLE_SIZE
        np.random.seed(0)  # noqa: NPY002 (they draw from it)
        model = make().fit(pool.P_validation, pool.y_validation)
        return lambda P: model.predict(P)

    return fit


def _their_pacc() -> Any:
    return qa.PACC(LogisticRegression(), val_split=5)


def _their_ensemble(policy: str) -> Any:
    return qm.Ensemble(_their_pacc(), size=MEMBERS, red_size=MEMBERS // 2, policy=policy, n_jobs=1)


_DRAWN = "other training samples: theirs have copies, of which some train and some validate"
CASES = [
    *(
        Case(
            "OneVsRest",
            k,
            _one_vs_rest,
            _theirs(lambda: qa.OneVsAllAggregative(_their_pacc(), n_jobs=1)),
            1e-4,
            note="over PACC",
        )
        for k in (3, 5)
    ),
    Case(
        "MedianQuantifier",
        2,
        _median,
        _theirs(lambda: qm.MedianEstimator(_their_pacc(), {"classifier__C": STRENGTHS}, n_jobs=1)),
        1e-4,
        note="five strengths of PACC",
    ),
    Case("Ensemble", 2, _ensemble(None), _theirs(lambda: _their_ensemble("ave")), None, note=_DRAWN),
    Case("Ensemble", 2, _ensemble("ptr"), _theirs(lambda: _their_ensemble("ptr")), None, note=f"ptr; {_DRAWN}"),
    Case("Ensemble", 2, _ensemble("ds"), _theirs(lambda: _their_ensemble("ds")), None, note=f"ds; {_DRAWN}"),
]
