"""The numbers that tables, claims and plots are made of: errors of each test sample, compared rows, ranks, paired tests."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from headcount._typing import FloatArray
from headcount.errors import get_error
from headcount.selection.ranks import average_ranks
from headcount.significance import PairedTest, paired_t
from headcount.study import Cell, Results
from headcount.study.plan import DEFAULT, Plan

__all__ = [
    "VARIANTS",
    "Errors",
    "Key",
    "Row",
    "compared_rows",
    "label_of",
    "losses",
    "ranks_of",
    "target_files",
    "target_test",
    "unoptimised",
]

VARIANTS = ("CC", "ACC", "PCC", "PACC")
"""The methods of tables 1 to 4: classify and count, and its variants."""


class Key(NamedTuple):
    """What a figure is about. It is the mean over the runs of a `study.choice.Use`, each with the setting that it chose."""

    data_set: str
    method: str
    learner: str
    target: str


class Row(NamedTuple):
    """A row of table 6: a method over a learner, optimised for a target, on all data sets."""

    method: str
    learner: str
    target: str

    @property
    def name(self) -> str:
        """Method and learner."""
        return f"{self.method} {self.learner}".strip()

    def on(self, data_set: str) -> Key:
        """Return the key of the row's figure on a data set."""
        return Key(data_set, *self)


class HasMeans(Protocol):
    """Anything that gives mean errors: those of a study, or the published ones."""

    def mean(self, key: Key, measure: str) -> float | None:
        """Return a mean error, or None if there is none."""


class Errors:
    """Errors on each test sample, averaged over runs; errors of one data set are paired by sample.

    Parameters
    ----------
    results : Results

    Attributes
    ----------
    plan : Plan
    rows : list of Row
        The rows of table 6.
    files : dict of Key to list of str
        The files of the store that each figure comes from.
    """

    def __init__(self, results: Results) -> None:
        self.plan = results.plan
        self.rows = compared_rows(results.plan)
        self.size = results.plan.protocol.sample_size
        self._cells: dict[Key, list[Cell]] = {}
        self.files: dict[Key, list[str]] = {}
        self.planned = {method.name: method.runs for method in results.plan.methods}
        for cell in results.cells:
            if cell.estimated is not None:
                key = Key(cell.data_set, cell.method, cell.learner, cell.target)
                self._cells.setdefault(key, []).append(cell)
                self.files.setdefault(key, []).append(results.store.name_of(cell.file) if cell.file else "")
        self._cache: dict[tuple[Key, str], FloatArray] = {}

    def of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors on the test samples, averaged over runs, or None if there are none."""
        if (key, measure) not in self._cache:
            runs = self.runs_of(key, measure)
            if runs is None:
                return None
            self._cache[key, measure] = runs.mean(axis=0)
        return self._cache[key, measure]

    def runs_of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors of each run (rows) on the test samples (columns), or None if there are none.

        They are rounded to twelve digits, so that no rank and no test depends on rounding in the last bits.
        """
        if key not in self._cells:
            return None
        return np.round([cell.errors(measure, self.size) for cell in self._cells[key]], 12)

    def shares(self, key: Key) -> tuple[FloatArray, FloatArray] | None:
        """Return true and estimated shares of the test samples, one run after the other, or None if there are none."""
        if key not in self._cells:
            return None
        cells: list[Any] = self._cells[key]
        return np.concatenate([cell.true for cell in cells]), np.concatenate([cell.estimated for cell in cells])

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the mean error over samples and runs, or None if there is none."""
        errors = self.of(key, measure)
        return None if errors is None else float(errors.mean())

    def runs(self, key: Key) -> tuple[int, int]:
        """Return the number of runs that a figure is the mean of, and the number that the plan has."""
        return len(self._cells.get(key, [])), self.planned.get(key.method, 1)

    def where(self, key: Key) -> str:
        """Return the files of the store that a figure comes from."""
        return ", ".join(dict.fromkeys(self.files.get(key, [])))


def label_of(measure: str) -> str:
    """Return the label of an error measure, as tables and axes show it."""
    return get_error(measure).label


def losses(errors: Any, measure: str) -> Any:
    """Return errors such that lower is better: negated for a measure of which more is better."""
    return errors if get_error(measure).lower_is_better else -errors


def compared_rows(plan: Plan) -> list[Row]:
    """Return the rows of table 6: each method with each learner, optimised for AE (else RAE, else not at all)."""
    rows = []
    for row in plan.rows():
        targets = row.method.targets
        target = next((t for t in ("ae", "rae", DEFAULT) if t in targets), targets[0])
        rows.append(Row(row.method.name, row.learner_name, target))
    return rows


def unoptimised(row: Row) -> Row:
    """Return the row with its learner at its defaults, if it is a variant of CC."""
    return row._replace(target=DEFAULT) if row.method in VARIANTS else row


def ranks_of(evidence: HasMeans, rows: Sequence[Row], data_set: str, measure: str) -> tuple[FloatArray, FloatArray]:
    """Return the ranks of rows by mean error, and the ranks if the variants of CC were not optimised; NaN without a figure.

    Both are over the same rows: a variant that was not tested at its learner's defaults keeps its figure.
    """
    optimised = [evidence.mean(row.on(data_set), measure) for row in rows]
    defaults = [evidence.mean(unoptimised(row).on(data_set), measure) for row in rows]
    mixed = [
        None if mean is None else mean if default is None else default
        for mean, default in zip(optimised, defaults, strict=True)
    ]
    lower_is_better = get_error(measure).lower_is_better
    return average_ranks(optimised, lower_is_better), average_ranks(mixed, lower_is_better)


def target_test(errors: Errors, method: str, pair: tuple[str, str], measure: str) -> PairedTest | None:
    """Test a variant optimised for one target against another, over the samples of all data sets and learners together."""
    sides: tuple[list[Any], list[Any]] = ([], [])
    keys = _target_keys(errors.plan, method, pair)
    for key_x, key_y in zip(keys[::2], keys[1::2], strict=True):
        x, y = errors.of(key_x, measure), errors.of(key_y, measure)
        if x is not None and y is not None:
            sides[0].append(losses(x, measure))
            sides[1].append(losses(y, measure))
    return paired_t(np.concatenate(sides[0]), np.concatenate(sides[1])) if sides[0] else None


def target_files(errors: Errors, method: str, pair: tuple[str, str]) -> list[str]:
    """Return the files of the store that a test of two targets comes from."""
    return [name for key in _target_keys(errors.plan, method, pair) for name in errors.files.get(key, [])]


def _target_keys(plan: Plan, method: str, pair: tuple[str, str]) -> list[Key]:
    """Return the keys that a test of two targets pairs, one of each target in turn."""
    learners = [row.learner_name for row in plan.rows() if row.method.name == method]
    return [
        Key(data_set, method, learner, target) for data_set in plan.data_sets for learner in learners for target in pair
    ]
