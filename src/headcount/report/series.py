"""The data of the page's plots: mean errors, estimated against true shares, error by true share and by shift, bias, ranks, time."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.report.scores import Errors, label_of, majority, ranks_of
from headcount.study import Results

__all__ = [
    "Bias",
    "Curve",
    "MeanError",
    "Ranks",
    "Spent",
    "biases",
    "diagonals",
    "mean_errors",
    "prevalences",
    "rank_chart",
    "shifts",
    "times",
]

_STEP = 0.05
"""Width of bins, where values do not lie on a grid."""
_MOST_POINTS = 101
"""Distinct values up to which they count as a grid."""


@dataclass(frozen=True)
class Curve:
    """A line with a band: the mean, the tenth and the ninetieth percentile at each point.

    Attributes
    ----------
    data_set, method, learner, target : str
    at : list of float
        True shares, or amounts of shift.
    mean, low, high : list of float
    n : list of int
        Number of values at each point.
    files : list of str
        Files of the store.
    """

    data_set: str
    method: str
    learner: str
    target: str
    at: list[float]
    mean: list[float]
    low: list[float]
    high: list[float]
    n: list[int]
    files: list[str]


@dataclass(frozen=True)
class MeanError:
    """The mean error of a method by a measure, with its Monte Carlo error over runs: 0 if nothing is drawn, None with one run."""

    data_set: str
    method: str
    learner: str
    target: str
    measure: str
    mean: float
    run_error: float | None
    files: list[str]


@dataclass(frozen=True)
class Bias:
    """Estimated minus true share of the class that is most frequent in training.

    Attributes
    ----------
    data_set, method, learner, target, of : str
        `of` is the name of the class.
    mean : float
    quantiles : list of float
        The 5th, 25th, 50th, 75th and 95th percentile over test samples and runs.
    files : list of str
    """

    data_set: str
    method: str
    learner: str
    target: str
    of: str
    mean: float
    quantiles: list[float]
    files: list[str]


@dataclass(frozen=True)
class Ranks:
    """The ranks of a method in each column of table 6, and its ranks if the variants of CC were not optimised."""

    method: str
    learner: str
    target: str
    columns: list[str]
    ranks: list[float | None]
    unoptimised: list[float | None]
    mean: float
    mean_unoptimised: float
    files: list[str]


@dataclass(frozen=True)
class Spent:
    """Seconds that the tasks of a data set and learner took, summed over processes."""

    data_set: str
    learner: str
    choosing: float
    testing: float
    files: list[str]
    """Folders of the store that hold the results."""


def diagonals(errors: Errors) -> list[Curve]:
    """Return estimated against true shares of each compared method: of the second of two classes, or of all of more."""
    return [
        Curve(*key, **_binned(*map(_plotted_shares, errors.shares(key))), files=errors.files(key))
        for key in errors.compared()
    ]


def mean_errors(errors: Errors) -> list[MeanError]:
    """Return the mean errors of each compared method by each measure, row by row of table 6."""
    entries = []
    keys = [
        row.on(data_set) for row in errors.rows for data_set in errors.data_sets if row.on(data_set) in errors.cells
    ]
    for measure in errors.plan.measures:
        for key in keys:
            mean: Any = errors.mean(key, measure)
            entries.append(MeanError(*key, measure, mean, errors.run_error(key, measure), errors.files(key)))
    return entries


def prevalences(errors: Errors) -> list[Curve]:
    """Return error against true share of each compared method: of the second of two classes, or of the largest of more."""
    curves = []
    for key in errors.compared():
        true = errors.shares(key)[0]
        share = true[:, 1] if true.shape[1] == 2 else true.max(axis=1)
        runs = errors.runs_of(key, errors.plan.measures[0])
        curves.append(Curve(*key, **_binned(share, runs.ravel()), files=errors.files(key)))
    return curves


def shifts(errors: Errors) -> list[Curve]:
    """Return error against shift of each compared method: shift is the mean absolute difference of shares to those in training."""
    curves = []
    for key in errors.compared():
        truth: Any = errors.results.truth(key.data_set)
        shift = np.abs(errors.shares(key)[0] - np.asarray(truth["training"])).mean(axis=1)
        runs = errors.runs_of(key, errors.plan.measures[0])
        curves.append(Curve(*key, **_binned(shift, runs.ravel()), files=errors.files(key)))
    return curves


def biases(errors: Errors) -> list[Bias]:
    """Return the bias of each compared method, for the class that is most frequent in training."""
    entries = []
    for key in errors.compared():
        truth: Any = errors.results.truth(key.data_set)
        values = errors.biases(key, majority(truth))
        quantiles = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
        name = truth["classes"][majority(truth)]
        entries.append(Bias(*key, name, float(values.mean()), quantiles, errors.files(key)))
    return entries


def rank_chart(errors: Errors) -> list[Ranks]:
    """Return the ranks of all compared methods that have figures: first those with figures in all columns, the best first."""
    ranked = {
        f"{label_of(measure)} {data_set}": np.array(ranks_of(errors, errors.rows, data_set, measure))
        for measure in errors.plan.measures
        for data_set in errors.data_sets
    }
    ranked = {column: ranks for column, ranks in ranked.items() if not np.isnan(ranks).all()}
    entries = []
    for i, row in enumerate(errors.rows):
        both = np.array([ranks[:, i] for ranks in ranked.values()]).T
        if not np.isnan(both).all():
            optimised, defaults = ([None if np.isnan(rank) else float(rank) for rank in side] for side in both)
            mean, mean_defaults = np.nanmean(both, axis=1).tolist()
            files = errors.files(*(row.on(data_set) for data_set in errors.data_sets))
            entries.append(Ranks(*row, list(ranked), optimised, defaults, mean, mean_defaults, files))
    return sorted(entries, key=lambda entry: (entry.ranks.count(None), entry.mean))


def times(results: Results) -> list[Spent]:
    """Return the time spent on each data set and learner that the store has results of."""
    return [
        Spent(*key, *seconds, [f"{stage}/{results.store.folder_of(*key)}" for stage in ("select", "test")])
        for key, seconds in results.seconds.items()
    ]


def _plotted_shares(shares: AnyArray) -> FloatArray:
    return shares[:, 1] if shares.shape[1] == 2 else shares.ravel()


def _binned(x: FloatArray, y: FloatArray) -> dict[str, Any]:
    """Return mean, tenth and ninetieth percentile, and count of y at each x, or in bins where there are many x.

    A bin reaches from a multiple of the step up to the next, and is plotted at the mean of its x.
    """
    exact = np.round(x, 9)
    bins = exact if len(np.unique(exact)) <= _MOST_POINTS else np.floor(np.round(exact / _STEP, 9))
    which = np.unique(bins, return_inverse=True)[1]
    at = np.bincount(which, exact) / np.bincount(which)
    parts = [y[which == i] for i in range(len(at))]
    return {
        "at": np.round(at, 9).tolist(),
        "mean": [float(part.mean()) for part in parts],
        "low": [float(np.quantile(part, 0.1)) for part in parts],
        "high": [float(np.quantile(part, 0.9)) for part in parts],
        "n": [len(part) for part in parts],
    }
