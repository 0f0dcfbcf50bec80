"""The estimates of simpler methods that are inputs of QuaNet's network, for all samples at once."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers.adjusted import ACC, PACC
from headcount.quantifiers.counting import CC, PCC
from headcount.quantifiers.sld import SLD

__all__ = ["Estimates"]


class Estimates:
    """CC, ACC, PCC, PACC and SLD over the same outputs; ACC and PACC take their rates from labelled items."""

    def __init__(self, outputs: Outputs, codes: IntArray, prior: FloatArray) -> None:
        self._methods: list[Any] = [CC(), ACC(), PCC(), PACC(), SLD()]
        groups = Samples._grouped(codes, len(outputs.classes))
        for method in self._methods:
            method.classes_ = outputs.classes
            if isinstance(method, ACC | PACC):
                method._learn_profiles(method.representation.reduce(outputs, groups))
            elif isinstance(method, SLD):
                method.prior_, method.calibration_ = prior, None

    def __call__(self, outputs: Outputs, samples: Samples) -> FloatArray:
        """Return the shares that each method estimates, side by side: shape (n_samples, 5 n_classes)."""
        columns = [
            method.convergence(outputs, samples).shares
            if isinstance(method, SLD)
            else method.aggregate(outputs, samples)
            for method in self._methods
        ]
        return np.hstack(columns)
