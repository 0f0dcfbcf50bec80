"""What the page's plots show, as plain figures: estimated against true shares, error against shift, bias, ranks, time."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.report.figures import Errors, compared_rows, ranks_of
from headcount.study import Results

__all__ = ["Bias", "Curve", "Ranks", "Spent", "as_records", "biases", "diagonals", "rank_chart", "shifts", "times"]

_STEP = 0.05
"""Width of bins, where figures do not lie on a grid."""
_MOST_PLACES = 101


@dataclass(frozen=True)
class Curve:
    """A line with a band: the mean, and the tenth and ninetieth percentile, of what was found at each place.

    Attributes
    ----------
    data_set, method, learner, target : str
    at : list of float
        True shares, or amounts of shift.
    mean, low, high : list of float
    n : list of int
        Figures at each place.
    files : list of str
        Of the store.
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
    """How far the share of the class that is most frequent in training is over- or underestimated.

    Attributes
    ----------
    data_set, method, learner, target, of : str
        `of` is the class.
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
    """The ranks of a method: in each column of table 6, and had the variants of CC not been optimised."""

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
    """Seconds that the tasks of a data set and learner took, added up over processes."""

    data_set: str
    learner: str
    choosing: float
    testing: float
    files: list[str]
    """Folders of the store that the results lie in."""


def as_records(entries: Sequence[Any]) -> list[dict[str, Any]]:
    """Return entries as plain dicts."""
    return [asdict(entry) for entry in entries]


def diagonals(errors: Errors) -> list[Curve]:
    """Return estimated against true shares of each compared method: of the last of two classes, or of all of more."""
    return [
        Curve(
            *key,
            **_binned(_class_of(true), _class_of(estimated), _STEP),
            files=files,
        )
        for key, true, estimated, files in _compared(errors)
    ]


def shifts(errors: Errors, results: Results) -> list[Curve]:
    """Return the error of each compared method against shift: the mean absolute difference of a sample's shares to training's."""
    measure = errors.plan.measures[0]
    curves = []
    for key, true, _, files in _compared(errors):
        truth = results.truth(key[0])
        of = errors.runs_of(key, measure)
        if truth is None or of is None:
            continue
        shift = np.abs(true[: of.shape[1]] - np.asarray(truth["training"])).mean(axis=1)
        curves.append(Curve(*key, **_binned(np.tile(shift, len(of)), of.ravel(), _STEP), files=files))
    return curves


def biases(errors: Errors, results: Results) -> list[Bias]:
    """Return the bias of each compared method, for the class that is most frequent in training."""
    found = []
    for key, true, estimated, files in _compared(errors):
        truth = results.truth(key[0])
        if truth is None:
            continue
        most = majority(truth)
        signed = estimated[:, most] - true[:, most]
        quantiles = np.quantile(signed, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist()
        found.append(Bias(*key, truth["classes"][most], float(signed.mean()), quantiles, files))
    return found


def majority(truth: dict[str, Any]) -> int:
    """Return the class that is most frequent in training, the last of several."""
    shares = np.asarray(truth["training"])
    return int(len(shares) - 1 - np.argmax(shares[::-1]))


def rank_chart(errors: Errors) -> list[Ranks]:
    """Return the ranks of all compared methods that have figures, the best first; those that lack columns come after all others."""
    rows = compared_rows(errors.plan)
    columns, ranks, others = [], [], []
    for measure in errors.plan.measures:
        for data_set in errors.plan.data_sets:
            optimised, plain = ranks_of(errors, rows, data_set, measure)
            if not np.isnan(optimised).all():
                columns.append(f"{measure.upper()} {data_set}")
                ranks.append(optimised)
                others.append(plain)
    found = []
    for i, row in enumerate(rows):
        own, without = [float(r[i]) for r in ranks], [float(r[i]) for r in others]
        if not np.isnan(own).all():
            files = [name for data_set in errors.plan.data_sets for name in errors.files.get((data_set, *row), [])]
            found.append(Ranks(*row, columns, _plain(own), _plain(without), _mean(own), _mean(without), files))
    return sorted(found, key=lambda entry: (entry.ranks.count(None), entry.mean))


def times(results: Results) -> list[Spent]:
    """Return the time spent on each data set and learner that the store has results of."""
    return [
        Spent(*place, *seconds, [f"{stage}/{results.store.folder_of(*place)}" for stage in ("select", "test")])
        for place, seconds in results.seconds.items()
    ]


def _plain(values: Sequence[float]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _mean(values: Sequence[float]) -> float:
    there = [value for value in values if not np.isnan(value)]
    return float(np.mean(there)) if there else float("nan")


def _compared(errors: Errors) -> Iterator[tuple[tuple[str, str, str, str], FloatArray, FloatArray, list[str]]]:
    """Yield key, true and estimated shares of all runs, and files, of each row of table 6 on each data set."""
    for data_set in errors.plan.data_sets:
        for row in compared_rows(errors.plan):
            key = (data_set, *row)
            shares = errors.shares(key)
            if shares is not None:
                yield key, *shares, errors.files[key]


def _class_of(shares: AnyArray) -> FloatArray:
    return shares[:, 1] if shares.shape[1] == 2 else shares.ravel()


def _binned(x: FloatArray, y: FloatArray, step: float) -> dict[str, Any]:
    """Return places, means, tenth and ninetieth percentiles, and counts of y at each x, or in bins where there are many x.

    A bin takes what lies from a multiple of the step up to the next, and stands at the mean of its x.
    """
    exact = np.round(x, 9)
    bins = exact if len(np.unique(exact)) <= _MOST_PLACES else np.floor(np.round(exact / step, 9))
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
