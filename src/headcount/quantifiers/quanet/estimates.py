"""The estimates of simpler methods that are inputs of QuaNet's network, for all samples at once."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.acc import ACC
from headcount.quantifiers.cc import CC
from headcount.quantifiers.pacc import PACC
from headcount.quantifiers.pcc import PCC
from headcount.quantifiers.sld import SLD

__all__ = ["Estimates"]


class Estimates:
    """CC, ACC, PCC, PACC and SLD over the same outputs; ACC and PACC take their rates from labelled items."""

    def __init__(self, outputs: Outputs, codes: IntArray, prior: FloatArray) -> None:
        self._methods: list[Any] = [CC(), ACC(), PCC(), PACC(), SLD(prior=prior)]
        for method in self._methods:
            if method.uses_validation:
                method.classes_ = outputs.classes
                method._learn_profiles(outputs, codes)
            else:
                method.fit(outputs, outputs.classes[codes])

    def __call__(self, outputs: Outputs, samples: Samples) -> FloatArray:
        """Return the shares that each method estimates, side by side: shape (n_samples, 5 n_classes).

        SLD's search may end at its limit of steps without a warning: the network learns how much each estimate is worth.
        """
        *linear, sld = self._methods
        columns = [method.aggregate(outputs, samples) for method in linear]
        return np.hstack([*columns, sld.convergence(outputs, samples).shares])
