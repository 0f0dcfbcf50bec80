"""The figures that tables, claims and plots are made of: errors of each test sample by use, rows to compare, ranks, tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from headcount._typing import FloatArray
from headcount.significance import PairedTest, paired_t
from headcount.study import Results
from headcount.study.plan import Plan

__all__ = [
    "VARIANTS",
    "Errors",
    "Key",
    "Row",
    "compared_rows",
    "rank",
    "ranks_of",
    "target_keys",
    "target_test",
    "unoptimised",
]

VARIANTS = ("CC", "ACC", "PCC", "PACC")
"""The methods of tables 1 to 4."""
Key = tuple[str, str, str, str]
"""Data set, method, learner, target."""
Row = tuple[str, str, str]
"""Method, learner, target."""


class Errors:
    """Errors of each test sample, averaged over the runs of a use; pairs are samples of the same data set.

    Parameters
    ----------
    results : Results
    """

    def __init__(self, results: Results) -> None:
        self.plan = results.plan
        self.size = results.plan.protocol.sample_size
        self._runs: dict[Key, list[Any]] = {}
        self.files: dict[Key, list[str]] = {}
        self.planned = {method.name: method.runs for method in results.plan.methods}
        for cell in results.cells:
            if cell.estimated is not None:
                key = cell.data_set, cell.method, cell.learner, cell.target
                self._runs.setdefault(key, []).append(cell)
                self.files.setdefault(key, []).append(results.store.name_of(cell.file) if cell.file else "")
        self._known: dict[tuple[Key, str], FloatArray] = {}

    def of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors of a use on the test samples, or None if there are none."""
        if (key, measure) not in self._known:
            runs = self.runs_of(key, measure)
            if runs is None:
                return None
            self._known[key, measure] = runs.mean(axis=0)
        return self._known[key, measure]

    def runs_of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors of each run (rows) on the test samples (columns), or None if there are none.

        They are rounded to twelve digits, so that the last bits of a sum decide no rank and no test.
        """
        if key not in self._runs:
            return None
        return np.round([cell.errors(measure, self.size) for cell in self._runs[key]], 12)

    def shares(self, key: Key) -> tuple[FloatArray, FloatArray] | None:
        """Return true and estimated shares of the test samples, one run after the other, or None if there are none."""
        if key not in self._runs:
            return None
        cells = self._runs[key]
        return np.concatenate([cell.true for cell in cells]), np.concatenate([cell.estimated for cell in cells])

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the mean error of a use."""
        errors = self.of(key, measure)
        return None if errors is None else float(errors.mean())

    def runs(self, key: Key) -> tuple[int, int]:
        """Return how many runs a figure is the mean of, and how many the plan has."""
        return len(self._runs.get(key, [])), self.planned.get(key[1], 1)

    def where(self, key: Key) -> str:
        """Return the files of the store that a figure comes from."""
        return ", ".join(dict.fromkeys(self.files.get(key, [])))


def compared_rows(plan: Plan) -> list[Row]:
    """Return the rows of table 6: each method with each learner, optimised for AE (RAE where only that is)."""
    rows = []
    for method, learner in plan.rows():
        target = next((t for t in ("ae", "rae", "none") if t in method.targets), method.targets[0])
        rows.append((method.name, learner.name if learner else "", target))
    return rows


def unoptimised(row: Row) -> Row:
    """Return the row with its learner left at its defaults, if it is a variant of CC."""
    return (row[0], row[1], "none") if row[0] in VARIANTS else row


def ranks_of(errors: Any, rows: Sequence[Row], data_set: str, measure: str) -> tuple[FloatArray, FloatArray]:
    """Return the ranks of rows by mean error, and had the variants of CC not been optimised; NaN where there is no figure.

    Both are over the same rows: a variant that was not tested at its learner's defaults keeps its figure.
    """
    own = [errors.mean((data_set, *row), measure) for row in rows]
    plain = [errors.mean((data_set, *unoptimised(row)), measure) for row in rows]
    return rank(own), rank(
        [None if mine is None else mine if other is None else other for mine, other in zip(own, plain, strict=True)]
    )


def rank(values: Sequence[float | None]) -> FloatArray:
    """Return ranks from 1, the smallest first, equal ones sharing the better rank; NaN where there is no value."""
    known = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    ranks = np.full(known.shape, np.nan)
    there = ~np.isnan(known)
    ranks[there] = rankdata(known[there], method="min")
    return ranks


def target_test(errors: Errors, method: str, pair: tuple[str, str], measure: str) -> PairedTest | None:
    """Test a variant optimised for one target against another, over the samples of all data sets and learners together."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    keys = target_keys(errors.plan, method, pair)
    for two in zip(keys[::2], keys[1::2], strict=True):
        x, y = (errors.of(key, measure) for key in two)
        if x is not None and y is not None:
            sides[0].append(x)
            sides[1].append(y)
    return paired_t(np.concatenate(sides[0]), np.concatenate(sides[1])) if sides[0] else None


def target_keys(plan: Plan, method: str, pair: tuple[str, str]) -> list[Key]:
    """Return the uses that a test of two targets pairs, one of each target in turn."""
    learners = [learner for m in plan.methods if m.name == method for learner in m.learners or ("",)]
    return [
        (data_set, method, learner, target) for data_set in plan.data_sets for learner in learners for target in pair
    ]
