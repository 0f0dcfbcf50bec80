"""Kernels give the same bits compiled and as plain Python; little work is run as plain Python."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from headcount import PACC, SLD, Samples, _interpreted, estimate
from headcount._compile import kernel
from headcount.data import examples
from headcount.intervals import difference
from headcount.intervals.likelihood import moments
from headcount.protocols import UniformPrevalence
from headcount.simplex import least_squares
from headcount.stream.sketch import Sketch
from headcount.tables import read_table
from tests.conftest import frozen, scored_items

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="numba is switched off: nothing is compiled")


def fitted(n_classes, n_labelled=60, absent=False):
    codes, P = scored_items(n_labelled, n_classes, seed=n_classes, separation=1.0)
    P[:5] = np.eye(n_classes)[codes[:5] % n_classes]  # posteriors of 0 and 1
    if absent:
        P[:, -1] = 0.0
        P /= P.sum(axis=1, keepdims=True)
    return PACC(frozen(range(n_classes)), validation="train").fit(P, codes)


def pools(n_classes):
    shares = np.arange(1.0, n_classes + 1.0) ** 2
    return [scored_items(n, n_classes, seed=n, shares=shares / shares.sum())[1] for n in (3, 80)]


def intervals(n_classes, **options):
    model = fitted(n_classes, **options)
    results = [estimate(model, P) for P in pools(n_classes)]
    gap = difference(model, *pools(n_classes))
    return [value for r in [*results, gap] for value in (r.low, r.high)] + [results[1].mean(np.arange(n_classes)).low]
