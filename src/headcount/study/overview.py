"""The overview of a study: the mean error of each method on each data set, the best first."""

from dataclasses import dataclass

import numpy as np

from headcount._validation import quoted
from headcount.exceptions import UnknownNameError
from headcount.study.results import Results

__all__ = ["Overview", "overview"]


@dataclass(frozen=True)
class Overview:
    """Rows of figures.

    Attributes
    ----------
    columns : list of str
        Names of the figures: data set and measure.
    rows : list of (method, learner, target, figures, mean rank)
        A figure that is missing is NaN; ranks are over the rows that have one, by the first measure.
    missing : list of str
        Sentences on what is not there.
    """

    columns: list[str]
    rows: list[tuple[str, str, str, list[float], float]]
    missing: list[str]


def overview(results: Results, methods: list[str] | None = None, targets: list[str] | None = None) -> Overview:
    """Return the overview of a study, or of some methods and targets of it."""
    frame = results.to_frame()
    for column, names in (("method", methods), ("target", targets)):
        if names is not None:
            unknown = [name for name in names if name.lower() not in set(frame[column].str.lower())]
            if unknown:
                raise UnknownNameError(
                    f"The plan has no {column} {quoted(unknown)}; it has {quoted(list(frame[column].unique()), 50)}."
                )
            frame = frame[frame[column].str.lower().isin([name.lower() for name in names])]
    sets, measures = results.plan.data_sets, results.plan.measures
    places = [(name, measure) for measure in measures for name in sets]
    figures: dict[tuple[str, str, str], list[float]] = {}
    for entry in frame.to_dict("records"):
        key = entry["method"], entry["learner"], entry["target"]
        row = figures.setdefault(key, [np.nan] * len(places))
        for i, (name, measure) in enumerate(places):
            if name == entry["data_set"]:
                row[i] = entry[measure]
    ranks = _mean_ranks(np.array(list(figures.values()))[:, : len(sets)]) if figures else []
    rows = [(*key, row, float(rank)) for (key, row), rank in zip(figures.items(), ranks, strict=True)]
    rows.sort(key=lambda row: (np.isnan(row[-1]), row[-1]))
    lacking = frame[frame["runs"] < frame["of"]]
    missing = [
        f"{entry['data_set']}, {entry['method']} {entry['learner']} for {entry['target']}: {entry['runs']} of {entry['of']} runs "
        f"({entry['missing']})"
        for entry in lacking.to_dict("records")
    ]
    return Overview([f"{name} {measure.upper()}" for name, measure in places], rows, missing + results.notices)


def _mean_ranks(errors: np.ndarray) -> list[float]:
    """Return each row's mean rank over the columns that have figures; equal errors share a rank."""
    from scipy.stats import rankdata

    ranks = np.full(errors.shape, np.nan)
    for column in range(errors.shape[1]):
        there = ~np.isnan(errors[:, column])
        ranks[there, column] = rankdata(errors[there, column])
    counted = (~np.isnan(ranks)).sum(axis=1)
    return [float(np.nansum(row) / n) if n else np.nan for row, n in zip(ranks, counted, strict=True)]
