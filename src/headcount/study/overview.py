"""The overview of a study: the mean error of each method on each data set, the best first."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from headcount._validation import quoted
from headcount.errors import get_error
from headcount.exceptions import UnknownNameError
from headcount.selection.ranks import average_ranks
from headcount.study.results import Results

__all__ = ["Overview", "OverviewRow", "overview"]


class OverviewRow(NamedTuple):
    """The mean errors of a method over a learner, optimised for a target: one for each column, NaN where there is none."""

    method: str
    learner: str
    target: str
    errors: list[float]
    mean_rank: float
    """By the first measure, over the data sets that the row has an error on; equal errors share the mean of their ranks."""


@dataclass(frozen=True)
class Overview:
    """Mean errors of all methods.

    Attributes
    ----------
    columns : list of str
        Names of the errors: data set and measure.
    rows : list of OverviewRow
        Sorted by mean rank.
    missing : list of str
        Sentences on what the store lacks.
    """

    columns: list[str]
    rows: list[OverviewRow]
    missing: list[str]


def overview(results: Results, methods: list[str] | None = None, targets: list[str] | None = None) -> Overview:
    """Return the overview of a study, or only of the methods and targets that are named."""
    frame = results.to_frame()
    for column, names in (("method", methods), ("target", targets)):
        if names is not None:
            unknown = [name for name in names if name.lower() not in set(frame[column].str.lower())]
            if unknown:
                raise UnknownNameError(
                    f"The plan has no {column} {quoted(unknown)}; it has {quoted(list(frame[column].unique()), 50)}."
                )
            frame = frame[frame[column].str.lower().isin([name.lower() for name in names])]
    data_sets, measures = results.plan.data_sets, [get_error(name) for name in results.plan.measures]
    columns = [(data_set, measure) for measure in measures for data_set in data_sets]
    errors: dict[tuple[str, str, str], list[float]] = {}
    for entry in frame.to_dict("records"):
        row = errors.setdefault((entry["method"], entry["learner"], entry["target"]), [np.nan] * len(columns))
        for i, (data_set, measure) in enumerate(columns):
            if data_set == entry["data_set"]:
                row[i] = entry[measure.name]
    by_column = np.array(list(errors.values())).reshape(len(errors), len(columns)).T[: len(data_sets)]
    ranks = np.ma.masked_invalid([average_ranks(column, measures[0].lower_is_better) for column in by_column])
    mean_ranks = ranks.mean(axis=0).filled(np.nan)
    rows = [OverviewRow(*key, row, float(rank)) for (key, row), rank in zip(errors.items(), mean_ranks, strict=True)]
    rows.sort(key=lambda row: (np.isnan(row.mean_rank), row.mean_rank))
    missing = [
        f"{entry['data_set']}, {entry['method']} {entry['learner']} for {entry['target']}: {entry['runs']} of {entry['of']} runs "
        f"({entry['missing']})"
        for entry in frame[frame["runs"] < frame["of"]].to_dict("records")
    ]
    names = [f"{data_set} {measure.label}" for data_set, measure in columns]
    return Overview(names, rows, missing + results.notices)
