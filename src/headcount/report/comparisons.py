"""Tests of a study's methods against each other, over test pools and runs, from the errors of each run."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from headcount._typing import FloatArray
from headcount.significance import LuckTest, PoolMembership, combined_test, luck_test
from headcount.study import Results
from headcount.study.chance import distinct_runs

__all__ = ["Comparisons", "p_text"]


class _Side(NamedTuple):
    """One side of a comparison on a data set: the errors of its runs, averaged over learners."""

    errors: FloatArray
    """Shape (n_runs, n_samples)."""
    runs: list[int]
    """Numbers of the runs: runs with one number have one seed."""
    draws: bool


class Comparisons:
    """Tests of errors over test pools and runs.

    Parameters
    ----------
    results : Results
    cells : dict of key to list of Cell
        The runs with estimates of each figure.
    losses_of : callable
        Returns the errors of each run (rows) on the test samples (columns) for a key and a measure, such that lower is better.
    """

    def __init__(
        self, results: Results, cells: dict[Any, list[Any]], losses_of: Callable[[Any, str], FloatArray]
    ) -> None:
        self._results, self._cells, self._losses_of = results, cells, losses_of
        self._pools: dict[str, PoolMembership | None] = {}
        self._runs: dict[Any, tuple[list[int], bool]] = {}

    def test(self, x: Any, y: Any, measure: str) -> LuckTest:
        """Test one figure against another of the same data set."""
        return self._test([(x, y)], measure)

    def joint_test(self, pairs: Sequence[tuple[Any, Any]], measure: str) -> tuple[LuckTest, int]:
        """Test one side against the other over several data sets and learners; return the number of pairs that are judged, too.

        Pairs with one run of a method that draws at random are left out, if there are others.
        """
        judged = [pair for pair in pairs if all(self._is_judged(key) for key in pair)]
        by_set: dict[str, list[tuple[Any, Any]]] = {}
        for pair in judged or pairs:
            by_set.setdefault(pair[0].data_set, []).append(pair)
        tests = [self._test(same_set, measure) for same_set in by_set.values()]
        n = sum(map(len, by_set.values()))
        return combined_test(tests, [len(same_set) / n for same_set in by_set.values()]), len(judged)

    def all_pairs(self, methods: Sequence[Mapping[str, Any]], measure: str) -> dict[tuple[int, int], LuckTest]:
        """Test each method against each other over the data sets that both have figures on.

        The influence of the pool's items on a mean error is linear, so that it is summed once for each method, not for each pair.

        Parameters
        ----------
        methods : sequence of dict of data set to key
        """
        by_pair: dict[tuple[int, int], list[LuckTest]] = {}
        for data_set in dict.fromkeys(name for keys in methods for name in keys):
            pool = self._pool(data_set)
            present = [i for i, keys in enumerate(methods) if data_set in keys]
            sides = {i: self._side([methods[i][data_set]], measure) for i in present}
            influences = {i: pool.influence(side.errors.mean(axis=0)) for i, side in sides.items()} if pool else {}
            for i, j in combinations(present, 2):
                influence = influences[i] - influences[j] if influences else None
                by_pair.setdefault((i, j), []).append(_luck_test(sides[i], sides[j], pool, influence))
        tests = {}
        for pair, of_sets in by_pair.items():
            judged = [test for test in of_sets if test.p_value is not None] or of_sets
            tests[pair] = combined_test(judged, [1.0 / len(judged)] * len(judged))
        return tests

    def _test(self, pairs: Sequence[tuple[Any, Any]], measure: str) -> LuckTest:
        x, y = (self._side(keys, measure) for keys in zip(*pairs, strict=True))
        pool = self._pool(pairs[0][0].data_set)
        return _luck_test(x, y, pool)

    def _side(self, keys: Sequence[Any], measure: str) -> _Side:
        """Return the mean errors over the keys, for each run that all keys have which draw at random."""
        by_key, drawn = [], []
        for key in keys:
            positions, draws = self.distinct_runs(key)
            losses = self._losses_of(key, measure)[positions]
            numbers = [self._cells[key][i].run for i in positions]
            by_key.append((losses, numbers, draws))
            drawn += [set(numbers)] if draws else []
        runs = sorted(set.intersection(*drawn)) if drawn else [0]
        parts = [
            losses[[numbers.index(run) for run in runs]] if draws else np.repeat(losses[:1], len(runs), axis=0)
            for losses, numbers, draws in by_key
        ]
        return _Side(np.mean(parts, axis=0), runs, bool(drawn))

    def distinct_runs(self, key: Any) -> tuple[list[int], bool]:
        """Return the positions of the runs of a figure that have a seed of their own, and whether the method draws at random."""
        if key not in self._runs:
            self._runs[key] = distinct_runs(self._results.plan, self._cells[key])
        return self._runs[key]

    def _is_judged(self, key: Any) -> bool:
        positions, draws = self.distinct_runs(key)
        return not draws or len(positions) > 1

    def _pool(self, data_set: str) -> PoolMembership | None:
        if data_set not in self._pools:
            drawn = self._results.drawn(data_set)
            self._pools[data_set] = None if drawn is None else PoolMembership(*drawn)
        return self._pools[data_set]


def _luck_test(x: _Side, y: _Side, pool: PoolMembership | None, influence: FloatArray | None = None) -> LuckTest:
    draws = x.draws, y.draws
    return luck_test(x.errors, y.errors, pool, draws=draws, paired=x.runs == y.runs, influence=influence)


def p_text(p_value: float | None) -> str:
    """Return a p-value as a figure's note shows it."""
    return "?" if p_value is None else "<0.001" if p_value < 0.001 else f"{p_value:.3f}"
