"""The errors of ranked entrants, broken down: by part, size of samples, size of shift, imbalance and size of data sets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from headcount._typing import FloatArray
from headcount.report.league.ranking import Ranking
from headcount.report.league.sets import IMBALANCES, SIZES, SetFacts
from headcount.report.league.standing import Entrant, Standings, shift_names
from headcount.report.scores import label_of

__all__ = ["BY_SHIFT", "Breakdown", "breakdowns", "usual_seconds"]

BY_SHIFT = "shift"
_KINDS = {"app": "shares on a grid", "upp": "random shares", "natural": "shares as they are"}


@dataclass(frozen=True, eq=False)
class Breakdown:
    """Mean errors of entrants in groups of samples or of data sets.

    Attributes
    ----------
    name : str
        Short, for ids and files.
    title, caption : str
    groups : list of str
    entrants : list of Entrant
    values : array of shape (n_entrants, n_groups)
        Mean over data sets; those of the same items count once.
    n_units : list of int
        Data sets of each group.
    """

    name: str
    title: str
    caption: str
    groups: list[str]
    entrants: list[Entrant]
    values: FloatArray
    n_units: list[int]


def breakdowns(standings: Standings, ranking: Ranking) -> list[Breakdown]:
    """Return the breakdowns of a ranking that have two groups at least."""
    if not ranking.units:
        return []
    made = [
        _by_shift(standings, ranking),
        _by_sample_size(standings, ranking),
        _by_part(standings, ranking),
        _by_sets(ranking, "imbalance", [name for _, name in IMBALANCES], lambda facts: facts.imbalance),
        _by_sets(ranking, "size", [name for _, name in SIZES], lambda facts: facts.size),
    ]
    return [breakdown for breakdown in made if len(breakdown.groups) > 1]


def usual_seconds(standings: Standings, ranking: Ranking) -> FloatArray:
    """Return the median time of a fit of each ranked entrant over its data sets; one that compiled kernels does not change it."""
    if not ranking.units:
        return np.full(len(ranking.entrants), np.nan)
    median: FloatArray = np.median(list(_unit_means(standings, ranking, standings.seconds)), axis=0)
    return median


def _by_shift(standings: Standings, ranking: Ranking) -> Breakdown:
    values = _over_units(standings, ranking, standings.by_shift)
    counts = [int(n) for n in _units_with(standings, ranking)]
    kept = [b for b, n in enumerate(counts) if n]
    ends = shift_names()
    label = label_of(standings.plan.measures[0])
    return Breakdown(
        BY_SHIFT,
        f"{label} by size of shift",
        f"Mean {label} of the test samples whose class shares are so far from those of the training part. The shift of a sample is "
        "the mean absolute difference between the two; with two classes, by how much the share of either has moved.",
        [ends[b] for b in kept],
        ranking.entrants,
        values[:, kept],
        [counts[b] for b in kept],
    )


def _by_sample_size(standings: Standings, ranking: Ranking) -> Breakdown:
    parts = {part.name: part for part in standings.plan.protocol.parts if part.name in standings.parts}
    sizes: dict[str, set[int]] = {}
    for part in parts.values():
        sizes.setdefault(part.kind, set()).add(part.sample_size)
    kind = next((kind for kind, several in sizes.items() if len(several) > 1), "")
    chosen = sorted((part for part in parts.values() if part.kind == kind), key=lambda part: part.sample_size)
    label = label_of(ranking.view.measure)
    return Breakdown(
        "sample-size",
        f"{label} by size of samples",
        f"Mean {label} of test samples of each size, drawn alike ({_KINDS.get(kind, kind)}).",
        [f"{part.sample_size:,} items" for part in chosen],
        ranking.entrants,
        _of_parts(standings, ranking, [part.name for part in chosen]),
        [len(ranking.units)] * len(chosen),
    )


def _by_part(standings: Standings, ranking: Ranking) -> Breakdown:
    names = [part for part in standings.parts if part]
    label = label_of(ranking.view.measure)
    return Breakdown(
        "part",
        f"{label} by part of the test samples",
        f"Mean {label} of the test samples of each part. Parts differ in how class shares are drawn and in the size of samples.",
        names,
        ranking.entrants,
        _of_parts(standings, ranking, names),
        [len(ranking.units)] * len(names),
    )


def _by_sets(ranking: Ranking, name: str, groups: Sequence[str], of: Callable[[SetFacts], str]) -> Breakdown:
    words = {
        "imbalance": (
            "imbalance of the training part",
            "the share of the rarest class in the training part (with more than two classes, times half their number)",
        ),
        "size": ("size of the training part", "the number of labelled items"),
    }
    title, by = words[name]
    of_units = [of(unit[0]) for unit in ranking.units]
    kept = [group for group in groups if group in of_units]
    rows = [[i for i, group in enumerate(of_units) if group == one] for one in kept]
    means = [ranking.errors[these].mean(axis=0) for these in rows]
    label = label_of(ranking.view.measure)
    return Breakdown(
        name,
        f"{label} by {title}",
        f"Mean {label} over the data sets of each group, by {by}. Groups have different data sets: compare methods within a group, "
        "not groups with each other.",
        kept,
        ranking.entrants,
        np.array(means).reshape(len(kept), len(ranking.entrants)).T,
        list(map(len, rows)),
    )


def _of_parts(standings: Standings, ranking: Ranking, names: Sequence[str]) -> FloatArray:
    columns = [standings.parts.index(name) for name in names]
    return _over_units(standings, ranking, standings.errors[ranking.view.measure][:, :, columns])


def _over_units(standings: Standings, ranking: Ranking, values: FloatArray) -> FloatArray:
    """Return the mean over the units of a ranking of values by data set and entrant, for the ranked entrants."""
    means = np.array(list(_unit_means(standings, ranking, values)))
    has = np.isfinite(means)
    n = has.sum(axis=0)
    mean: FloatArray = np.divide(np.where(has, means, 0.0).sum(axis=0), n, out=np.full(n.shape, np.nan), where=n > 0)
    return mean


def _unit_means(standings: Standings, ranking: Ranking, values: FloatArray) -> Iterator[FloatArray]:
    index = {facts.name: i for i, facts in enumerate(standings.sets)}
    columns = [standings.entrants.index(entrant) for entrant in ranking.entrants]
    for unit in ranking.units:
        yield values[np.ix_([index[facts.name] for facts in unit], columns)].mean(axis=0)


def _units_with(standings: Standings, ranking: Ranking) -> FloatArray:
    """Return the number of units that have samples in each bin of shift."""
    counts: FloatArray = (
        np.isfinite(np.array(list(_unit_means(standings, ranking, standings.by_shift)))).all(axis=1).sum(axis=0)
    )
    return counts
