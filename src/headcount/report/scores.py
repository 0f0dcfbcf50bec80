"""The numbers that tables, claims and plots are made of: errors of each test sample, compared rows, ranks, paired tests."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from headcount._typing import FloatArray
from headcount.errors import get_error
from headcount.report.comparisons import Comparisons
from headcount.selection.ranks import average_ranks
from headcount.significance import LuckTest, PairedTest, paired_t
from headcount.study import Results
from headcount.study.plan import DEFAULT, Plan

__all__ = [
    "VARIANTS",
    "Errors",
    "Key",
    "Row",
    "label_of",
    "losses",
    "majority",
    "ranks_of",
    "settings_text",
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

    Claims are judged by these, or by `evidence.Published`, which has the methods that claims need.

    Parameters
    ----------
    results : Results

    Attributes
    ----------
    results : Results
    plan : Plan
    data_sets : tuple of str
    rows : list of Row
        The rows of table 6.
    cells : dict of Key to list of Cell
        The runs with estimates that each figure is the mean of.
    comparisons : Comparisons
        Tests over test pools and runs.
    """

    def __init__(self, results: Results) -> None:
        self.results, self.plan, self.data_sets = results, results.plan, results.plan.data_sets
        self.rows = _compared_rows(results.plan)
        self.planned = {method.name: method.runs for method in results.plan.methods}
        self.cells: dict[Key, list[Any]] = {}
        for cell in results.cells:
            if cell.estimated is not None:
                key = Key(cell.data_set, cell.method, cell.learner, cell.target)
                self.cells.setdefault(key, []).append(cell)
        self._cache: dict[tuple[Key, str], FloatArray] = {}
        self.comparisons = Comparisons(results, self.cells, lambda key, by: losses(self.runs_of(key, by), by))

    def of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors on the test samples, averaged over runs, or None if there are none."""
        if key not in self.cells:
            return None
        if (key, measure) not in self._cache:
            self._cache[key, measure] = self.runs_of(key, measure).mean(axis=0)
        return self._cache[key, measure]

    def runs_of(self, key: Key, measure: str) -> FloatArray:
        """Return the errors of each run (rows) on the test samples (columns), for a key with figures.

        They are rounded to twelve digits, so that no rank and no test depends on rounding in the last bits.
        """
        size = self.plan.protocol.sample_size
        return np.round([cell.errors(measure, size) for cell in self.cells[key]], 12)

    def shares(self, key: Key) -> tuple[FloatArray, FloatArray]:
        """Return true and estimated shares of the test samples, one run after the other, for a key with figures."""
        cells = self.cells[key]
        return np.concatenate([cell.true for cell in cells]), np.concatenate([cell.estimated for cell in cells])

    def compared(self) -> list[Key]:
        """Return the keys of the rows of table 6 on each data set, where they have figures."""
        keys = (row.on(data_set) for data_set in self.data_sets for row in self.rows)
        return [key for key in keys if key in self.cells]

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the mean error over samples and runs, or None if there is none."""
        errors = self.of(key, measure)
        return None if errors is None else float(errors.mean())

    def runs(self, key: Key) -> tuple[int, int]:
        """Return the number of runs that a figure is the mean of, and the number that the plan has."""
        return len(self.cells.get(key, [])), self.planned.get(key.method, 1)

    def run_means(self, key: Key, measure: str) -> tuple[dict[int, float], bool]:
        """Return the mean error of each run with a seed of its own, by number of run, and whether the method draws at random."""
        positions, draws = self.comparisons.distinct_runs(key)
        means = self.runs_of(key, measure)[positions].mean(axis=1)
        return {self.cells[key][i].run: float(mean) for i, mean in zip(positions, means, strict=True)}, draws

    def run_error(self, key: Key, measure: str) -> float | None:
        """Return the Monte Carlo error of a mean error over runs: 0 if nothing is drawn at random, None with one run of what is."""
        means, draws = self.run_means(key, measure)
        if not draws:
            return 0.0
        return float(np.std(list(means.values()), ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None

    def settings(self, key: Key) -> list[tuple[dict[str, Any], int]]:
        """Return the settings that the runs of a figure chose, the most frequent first, with the number of runs of each."""
        cells = self.cells.get(key, [])
        by_setting = {cell.setting: cell.params for cell in cells}
        return [
            (by_setting[setting], n)
            for setting, n in Counter(c.setting for c in cells).most_common()
            if setting != "[]"
        ]

    def files(self, *keys: Key) -> list[str]:
        """Return the files of the store that figures come from."""
        return [self.results.store.name_of(cell.file) for key in keys for cell in self.cells.get(key, [])]

    def where(self, key: Key) -> str:
        """Return the files of the store that a figure comes from, as text."""
        return ", ".join(dict.fromkeys(self.files(key)))

    def largest_share(self, data_set: str) -> float | None:
        """Return the training share of the more frequent of two classes; None with more classes, or if it is unknown."""
        truth = self.results.truth(data_set)
        return None if truth is None or len(truth["training"]) != 2 else float(max(truth["training"]))

    def biases(self, key: Key, class_index: int) -> FloatArray:
        """Return estimated minus true share of a class, for each test sample and run of a key with figures."""
        true, estimated = self.shares(key)
        return estimated[:, class_index] - true[:, class_index]

    def bias(self, key: Key) -> float | None:
        """Return by how much the share of the most frequent class is overestimated on average, or None without figures."""
        if key not in self.cells:
            return None
        return float(np.mean(self.biases(key, majority(self.results.truth(key.data_set)))))

    def target_test(self, method: str, pair: tuple[str, str], measure: str) -> PairedTest | None:
        """Test a variant optimised for one target against another as the paper does: over all samples, data sets and learners."""
        both = [
            [losses(self.of(key, measure), measure) for key in keys]
            for keys in self._target_keys(method, pair, known=True)
        ]
        return paired_t(*(np.concatenate(side) for side in zip(*both, strict=True))) if both else None

    def target_luck_test(self, method: str, pair: tuple[str, str], measure: str) -> tuple[LuckTest, int] | None:
        """Test likewise over test pools and runs; return the number of data sets and learners that could be judged, too."""
        both = self._target_keys(method, pair, known=True)
        return self.comparisons.joint_test(both, measure) if both else None

    def mark(self, x: str, y: str, method: str, measure: str) -> str | None:
        """Return the mark of two targets by the test over test pools and runs, without a correction; None without figures."""
        test = self.target_luck_test(method, (x, y), measure)
        return None if test is None else test[0].mark()

    def paired_mark(self, x: str, y: str, method: str, measure: str) -> str | None:
        """Return the mark of two targets by the paper's paired t-test, without a correction; None without figures."""
        test = self.target_test(method, (x, y), measure)
        return None if test is None else test.mark()

    def files_of_mark(self, x: str, y: str, method: str) -> list[str]:
        """Return the files of the store that a test of two targets comes from."""
        return [name for keys in self._target_keys(method, (x, y)) for name in self.files(*keys)]

    def _target_keys(self, method: str, pair: tuple[str, str], known: bool = False) -> list[tuple[Key, Key]]:
        """Return the pairs of keys that a test of two targets compares; only those with figures if `known`."""
        learners = [row.learner for row in self.rows if row.method == method]
        x, y = pair
        keys = [
            (Key(name, method, learner, x), Key(name, method, learner, y))
            for name in self.data_sets
            for learner in learners
        ]
        return [both for both in keys if all(key in self.cells for key in both)] if known else keys


def settings_text(settings: Sequence[tuple[dict[str, Any], int]]) -> str:
    """Return chosen settings as text, each with its number of runs if they differ.

    >>> settings_text([({"C": 1.0, "class_weight": None}, 8), ({"C": 10.0, "class_weight": "balanced"}, 2)])
    'C = 1, class_weight = none (8 runs); C = 10, class_weight = balanced (2 runs)'
    """
    texts = [", ".join(f"{name} = {_value_text(value)}" for name, value in params.items()) for params, _ in settings]
    if len(settings) == 1:
        return texts[0]
    runs = [f"{n} run{'s' if n > 1 else ''}" for _, n in settings]
    return "; ".join(f"{text} ({n})" for text, n in zip(texts, runs, strict=True))


def _value_text(value: Any) -> str:
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def majority(truth: Any) -> int:
    """Return the position of the class that is most frequent in training; of equally frequent ones, the last."""
    shares = np.asarray(truth["training"])
    return int(len(shares) - 1 - np.argmax(shares[::-1]))


def label_of(measure: str) -> str:
    """Return the label of an error measure, as tables and axes show it."""
    return get_error(measure).label


def losses(errors: Any, measure: str) -> Any:
    """Return errors such that lower is better: negated for a measure of which more is better."""
    return errors if get_error(measure).lower_is_better else -errors


def _compared_rows(plan: Plan) -> list[Row]:
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
