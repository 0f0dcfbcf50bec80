"""The library's methods on the league's recipe: the same forests, splits, bags and test items, through fit and aggregate.

They learn from the training items' posteriors out of fold, as the league does (`fit(Outputs, y)`), and see the test items'
posteriors by the forests that were fitted on the whole training part.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from studies.ordinal_league.published import Task

import headcount as hc

SETTINGS: dict[str, Callable[[], Any]] = {
    "PCC": hc.PCC,
    "ACC": hc.ACC,
    "ACOrd": hc.ACOrd,
    "PACC": hc.PACC,
    "SELSE": hc.SELSE,
    "SLD": lambda: hc.SLD(calibration="bcts", smoothing=1.0),
    "OSLD": lambda: hc.OSLD(calibration="bcts"),
    "RUN (cells, strength 0.01)": lambda: hc.RUN(strength=0.01),
    "o-ACC (RUN, squares)": lambda: hc.RUN(vectors="decisions", loss="squares", strength=1e-3),
    "o-PACC (RUN, squares)": lambda: hc.RUN(vectors="posteriors", loss="squares", strength=1e-3),
    "KDEyML": hc.KDEyML,
    "EDy (manhattan)": hc.EDy,
    "EDy (euclidean)": lambda: hc.EDy(distance="euclidean"),
    "EDy (emd)": lambda: hc.EDy(distance="emd"),
    "EDyMAP": hc.EDyMAP,
    "CvMy": hc.CvMy,
    "DMy (hellinger)": hc.DMy,
    "DMy (emd)": lambda: hc.DMy(distance="l1", cdf=True),
    "PDFOrd (emd)": hc.PDFOrd,
    "PDFOrd (l2)": lambda: hc.PDFOrd(distance="l2", bins=4),
}


def by_library(make: Callable[[], Any]) -> Callable[[Task], Any]:
    """Return a method of the study out of one of the library."""

    def estimate(task: Task) -> Any:
        classes = np.arange(task.part.n_classes)
        train, test = (hc.Outputs.from_posteriors(P, classes) for P in (task.train, task.test))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return make().fit(train, task.part.y_train).aggregate(test, task.bags)

    return estimate


METHODS: dict[str, Callable[[Task], Any]] = {f"headcount {name}": by_library(make) for name, make in SETTINGS.items()}
