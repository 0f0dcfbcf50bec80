"""The library's methods on the league's recipe: the same forests, splits, bags and test items, through fit and aggregate.

They learn from the training items' posteriors out of fold, as the league does (`fit(Outputs, y)`), and see the test items' posteriors
by the forests that were fitted on the whole training part.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import headcount as hc
from studies.ordinal_league.published import Task

SETTINGS: dict[str, Callable[[], Any]] = {
    "PCC": hc.PCC,
    "ACC": hc.ACC,
    "PACC": hc.PACC,
    "SLD": lambda: hc.SLD(calibration="bcts", smoothing=1.0),
    "KDEyML": hc.KDEyML,
    "EDy": hc.EDy,
    "DMy": hc.DMy,
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


METHODS: dict[str, Callable[[Task], Any]] = {f"our {name}": by_library(make) for name, make in SETTINGS.items()}
