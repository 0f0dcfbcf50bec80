"""SLD against QuaPy's EMQ: expectation maximisation with its tolerance, and its calibrations."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import quapy.method.aggregative as qa

import headcount as hc
from benchmarks.field.case import Case
from benchmarks.setting import Pool


def _ours(pool: Pool) -> Any:
    prior = np.bincount(pool.y_validation) / len(pool.y_validation)
    return hc.SLD(pool.classifier, prior=prior).fit(pool.P_validation, pool.y_validation)


def _theirs(pool: Pool) -> Callable[[Any], Any]:
    model = qa.EMQ(pool.classifier, fit_classifier=False, val_split=None).fit(pool.P_validation, pool.y_validation)
    return lambda P: model.predict(P)


def _ours_calibrated(calibration: str, pool: Pool) -> Any:
    return hc.SLD(pool.classifier, calibration=calibration).fit(pool.P_validation, pool.y_validation)


def _theirs_calibrated(calibration: str, pool: Pool) -> Callable[[Any], Any]:
    model = qa.EMQ(pool.classifier, fit_classifier=False, calib=calibration, val_split=5)
    model.train_prevalence = np.bincount(pool.y_validation) / len(pool.y_validation)
    model.aggregation_fit(pool.P_validation, pool.y_validation)  # its fit would train the classifier again
    return lambda P: model.aggregate(P)


CASES = [
    *(Case("SLD", k, _ours, _theirs, 5e-3, note="their EM stops at 1e-4") for k in (2, 3)),
    *(
        Case(f"SLD {name}", k, partial(_ours_calibrated, name), partial(_theirs_calibrated, name), 1e-2)
        for name in ("ts", "bcts", "vs", "nbvs")
        for k in (2, 3)
    ),
]
