"""Which methods of table 6 differ significantly: the data of the critical-difference diagram."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from headcount.report.scores import Errors, ranks_of
from headcount.significance import holm

__all__ = ["Differences", "differences"]

_LEVEL = 0.05


@dataclass(frozen=True)
class Differences:
    """Methods by mean rank, and the groups of neighbours among which no two differ significantly.

    Attributes
    ----------
    measure : str
    methods : list of (method, learner, target)
        The lowest mean rank first.
    mean_ranks : list of float
        Over the data sets.
    data_sets : list of str
    groups : list of (int, int)
        Positions of the first and the last method of each group of two or more.
    not_judged : list of int
        Positions of methods that can't be judged against any other.
    n_tests, n_significant : int
        Number of pairs that were judged, and of those that differ at 0.05 after Holm's correction.
    files : list of str
    """

    measure: str
    methods: list[tuple[str, str, str]]
    mean_ranks: list[float]
    data_sets: list[str]
    groups: list[tuple[int, int]]
    not_judged: list[int]
    n_tests: int
    n_significant: int
    files: list[str]


def differences(errors: Errors, measure: str) -> Differences | None:
    """Test each method against each other over test pools and runs; None if fewer than two methods have figures.

    The methods are those with figures on as many data sets as any. A bar joins neighbours by mean rank among which no pair differs.
    Methods that can't be judged (one run of what draws at random) do not bound a bar.
    """
    ranks = np.array([ranks_of(errors, errors.rows, name, measure)[0] for name in errors.data_sets])
    counts = (~np.isnan(ranks)).sum(axis=0)
    which = np.flatnonzero((counts == counts.max()) & (counts > 0)) if counts.size else np.zeros(0, dtype=int)
    if len(which) < 2:
        return None
    means = np.nanmean(ranks[:, which], axis=0)
    order = np.argsort(means, kind="stable")
    rows, means = [errors.rows[which[i]] for i in order], means[order]
    keys = [{name: row.on(name) for name in errors.data_sets if row.on(name) in errors.cells} for row in rows]
    tests = errors.comparisons.all_pairs(keys, measure)
    judged = {pair: test.p_value for pair, test in tests.items() if test.p_value is not None}
    corrected = dict(zip(judged, holm([p for p in judged.values() if p is not None]).tolist(), strict=True))
    different = {pair for pair, p in corrected.items() if p < _LEVEL}
    alone = [i for i in range(len(rows)) if not any(i in pair for pair in judged)]
    names = [name for name in errors.data_sets if any(name in by_set for by_set in keys)]
    return Differences(
        measure=measure,
        methods=[tuple(row) for row in rows],
        mean_ranks=means.tolist(),
        data_sets=names,
        groups=_groups([i for i in range(len(rows)) if i not in alone], different),
        not_judged=alone,
        n_tests=len(corrected),
        n_significant=len(different),
        files=errors.files(*(key for by_set in keys for key in by_set.values())),
    )


def _groups(positions: list[int], different: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the first and the last of each longest group of neighbours without a pair that differs."""
    groups: list[tuple[int, int]] = []
    for start in range(len(positions)):
        end = start
        while end + 1 < len(positions) and not any(
            pair in different for pair in combinations(positions[start : end + 2], 2)
        ):
            end += 1
        if end > start and not (groups and groups[-1][1] >= positions[end]):
            groups.append((positions[start], positions[end]))
    return groups
