"""The data of the page's plots: estimated against true shares, error against shift, bias, ranks, time."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.report.scores import Errors, Key, label_of, ranks_of
from headcount.study import Results

__all__ = ["Bias", "Curve", "Ranks", "Spent", "as_records", "biases", "diagonals", "rank_chart", "shifts", "times"]

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


def as_records(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """Return entries as plain dicts."""
    return [asdict(entry) for entry in entries]


def diagonals(errors: Errors) -> list[Curve]:
    """Return estimated against true shares of each compared method: of the second of two classes, or of all of more."""
    return [
        Curve(*key, **_binned(_plotted_shares(true), _plotted_shares(estimated), _STEP), files=files)
        for key, true, estimated, files in _compared(errors)
    ]


def shifts(errors: Errors, results: Results) -> list[Curve]:
    """Return error against shift of each compared method: shift is the mean absolute difference of shares to those in training."""
    measure = errors.plan.measures[0]
    curves = []
    for key, true, _, files in _compared(errors):
        truth = results.truth(key.data_set)
        runs = errors.runs_of(key, measure)
        if truth is None or runs is None:
            continue
        shift = np.abs(true[: runs.shape[1]] - np.asarray(truth["training"])).mean(axis=1)
        curves.append(Curve(*key, **_binned(np.tile(shift, len(runs)), runs.ravel(), _STEP), files=files))
    return curves


def biases(errors: Errors, results: Results) -> list[Bias]:
    """Return the bias of each compared method, for the class that is most frequent in training."""
    entries = []
    for key, true, estimated, files in _compared(errors):
        truth = results.truth(key.data_set)
        if truth is None:
            continue
        most = majority(truth)
        signed = estimated[:, most] - true[:, most]
        quantiles = np.quantile(signed, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
        entries.append(Bias(*key, truth["classes"][most], float(signed.mean()), quantiles, files))
    return entries


def majority(truth: dict[str, Any]) -> int:
    """Return the position of the class that is most frequent in training; of equally frequent ones, the last."""
    shares = np.asarray(truth["training"])
    return int(len(shares) - 1 - np.argmax(shares[::-1]))


def rank_chart(errors: Errors) -> list[Ranks]:
    """Return the ranks of all compared methods that have figures: first those with figures in all columns, the best first."""
    rows = errors.rows
    keys = [(measure, data_set) for measure in errors.plan.measures for data_set in errors.plan.data_sets]
    ranked = [(f"{label_of(m)} {name}", *ranks_of(errors, rows, name, m)) for m, name in keys]
    ranked = [column for column in ranked if not np.isnan(column[1]).all()]
    columns = [name for name, _, _ in ranked]
    entries = []
    for i, row in enumerate(rows):
        ranks = [float(optimised[i]) for _, optimised, _ in ranked]
        defaults = [float(unoptimised[i]) for _, _, unoptimised in ranked]
        if not np.isnan(ranks).all():
            files = [name for data_set in errors.plan.data_sets for name in errors.files.get(row.on(data_set), [])]
            means = _mean(ranks), _mean(defaults)
            entries.append(Ranks(*row, columns, _without_nan(ranks), _without_nan(defaults), *means, files))
    return sorted(entries, key=lambda entry: (entry.ranks.count(None), entry.mean))


def times(results: Results) -> list[Spent]:
    """Return the time spent on each data set and learner that the store has results of."""
    return [
        Spent(*key, *seconds, [f"{stage}/{results.store.folder_of(*key)}" for stage in ("select", "test")])
        for key, seconds in results.seconds.items()
    ]


def _without_nan(values: Sequence[float]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _mean(values: Sequence[float]) -> float:
    """Return the mean of the values that are not NaN; there is at least one."""
    return float(np.nanmean(values))


def _compared(errors: Errors) -> Iterator[tuple[Key, FloatArray, FloatArray, list[str]]]:
    """Yield key, true and estimated shares of all runs, and files, of each row of table 6 on each data set."""
    for data_set in errors.plan.data_sets:
        for row in errors.rows:
            key = row.on(data_set)
            shares = errors.shares(key)
            if shares is not None:
                yield key, *shares, errors.files[key]


def _plotted_shares(shares: AnyArray) -> FloatArray:
    return shares[:, 1] if shares.shape[1] == 2 else shares.ravel()


def _binned(x: FloatArray, y: FloatArray, step: float) -> dict[str, Any]:
    """Return mean, tenth and ninetieth percentile, and count of y at each x, or in bins where there are many x.

    A bin reaches from a multiple of the step up to the next, and is plotted at the mean of its x.
    """
    exact = np.round(x, 9)
    bins = exact if len(np.unique(exact)) <= _MOST_POINTS else np.floor(np.round(exact / step, 9))
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
