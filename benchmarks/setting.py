"""Shared by the benchmarks: a scored pool of items, timing, and a description of the machine."""

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

SEED = 2021


class ScoredAlready(ClassifierMixin, BaseEstimator):
    """A classifier whose items are their own posteriors, so that classifying takes no time on either side."""

    def fit(self, X: Any, y: Any) -> "ScoredAlready":
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self)
        return X

    def predict(self, X: Any) -> Any:
        return self.classes_[X.argmax(axis=1)]


@dataclass(frozen=True)
class Pool:
    """Posteriors and labels of validation items and of a pool, from a Gaussian score model with a known accuracy."""

    classifier: FrozenEstimator
    P_validation: Any
    y_validation: Any
    P: Any
    y: Any


def make_pool(n_classes: int, n_validation: int = 10_000, n_pool: int = 25_000, separation: float = 2.0) -> Pool:
    """Draw items with the true posteriors of n_classes Gaussians: about 84 % accuracy for two classes."""
    generator = np.random.default_rng([SEED, n_classes])
    y = generator.integers(0, n_classes, n_validation + n_pool)
    centres = separation * np.eye(n_classes) / np.sqrt(2)
    scores = (centres[y] + generator.standard_normal((len(y), n_classes))) @ centres.T
    scores -= scores.max(axis=1, keepdims=True)
    P = np.exp(scores)
    P /= P.sum(axis=1, keepdims=True)
    validation, pool = slice(None, n_validation), slice(n_validation, None)
    classifier = FrozenEstimator(ScoredAlready().fit(P[validation], y[validation]))
    return Pool(classifier, P[validation], y[validation], P[pool], y[pool])


def seconds(job: Callable[[], Any], at_least: float = 1.0, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the median time of a job, by default on the wall, that is repeated until ``at_least`` seconds have passed."""
    times: list[float] = []
    while not times or sum(times) < at_least:
        start = clock()
        job()
        times.append(clock() - start)
    return float(np.median(times))


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # imported from a folder on the path, without metadata
        return "of unknown version"


def machine(*more: str) -> str:
    """Describe the machine and the versions of the libraries, and of ``more`` packages, in one line."""
    names = ("numpy", "scipy", "scikit-learn", "numba", "quapy", *more)
    cpu = next(
        (
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.processor(),
    )
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"{cpu}, {os.cpu_count()} cores, {threads} threads; Python {platform.python_version()}, "
        + ", ".join(f"{name} {_version(name)}" for name in names)
        + f"; seed {SEED}"
    )
