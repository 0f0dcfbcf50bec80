"""The paper's six tables from a study's results: errors and how optimisation changes them, paired tests, all methods ranked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from headcount._typing import FloatArray
from headcount.report.published import published
from headcount.report.table import Cell, Column, Table
from headcount.significance import PairedTest, holm, paired_t
from headcount.study import Results

__all__ = ["Errors", "optimisation_table", "overview_table", "tables", "tests_table"]

_VARIANTS = ("CC", "ACC", "PCC", "PACC")
"""The methods of tables 1 to 4."""
Key = tuple[str, str, str, str]
"""Data set, method, learner, target."""


class Errors:
    """Errors of each test sample, averaged over the runs of a use; pairs are samples of the same data set."""

    def __init__(self, results: Results) -> None:
        self.plan = results.plan
        self.size = results.plan.protocol.sample_size
        runs: dict[Key, list[Any]] = {}
        self.files: dict[Key, list[str]] = {}
        for cell in results.cells:
            if cell.estimated is not None:
                key = cell.data_set, cell.method, cell.learner, cell.target
                runs.setdefault(key, []).append(cell)
                self.files.setdefault(key, []).append(cell.file.name if cell.file else "")
        self._runs = runs
        self._known: dict[tuple[Key, str], FloatArray] = {}

    def of(self, key: Key, measure: str) -> FloatArray | None:
        """Return the errors of a use on the test samples, or None if there are none."""
        if key not in self._runs:
            return None
        if (key, measure) not in self._known:
            own = [cell.errors(measure, self.size) for cell in self._runs[key]]
            self._known[key, measure] = np.mean(own, axis=0)
        return self._known[key, measure]

    def mean(self, key: Key, measure: str) -> float | None:
        """Return the mean error of a use."""
        errors = self.of(key, measure)
        return None if errors is None else float(errors.mean())

    def where(self, key: Key) -> str:
        """Return the files of the store that a figure comes from."""
        return ", ".join(self.files.get(key, []))


def tables(results: Results) -> list[Table]:
    """Return all tables that a study has the methods for: one for each of CC, ACC, PCC and PACC, the tests, the overview."""
    errors = Errors(results)
    there = {method.name for method in results.plan.methods}
    variants = [name for name in _VARIANTS if name in there]
    made = [optimisation_table(errors, name) for name in variants]
    if variants:
        made.append(tests_table(errors, variants))
    return [*made, overview_table(errors, variants)]


def optimisation_table(errors: Errors, method: str) -> Table:
    """Return a variant's errors for each learner and target, with the change against the learner's defaults."""
    plan = errors.plan
    own = next(m for m in plan.methods if m.name == method)
    columns = [Column(name, measure.upper()) for measure in plan.measures for name in plan.data_sets]
    table = Table(
        f"Table {_VARIANTS.index(method) + 1}: {method}",
        "Mean error over the test samples; in brackets the change against the learner's defaults (negative: better) and, where the "
        "data set is the paper's own, the published figure. Green is better than the defaults, red worse.",
        ["learner", "optimised for"],
        columns,
    )
    for learner in own.learners:
        for target in own.targets:
            cells = []
            for measure in plan.measures:
                for data_set in plan.data_sets:
                    key = data_set, method, learner, target
                    value = errors.mean(key, measure)
                    default = errors.mean((data_set, method, learner, "none"), measure)
                    cells.append(
                        _changed(
                            value, default if target != "none" else None, published(key, measure), errors.where(key)
                        )
                    )
            table.rows.append(([learner, target], cells))
    return table


def _changed(value: float | None, default: float | None, paper: float | None, where: str) -> Cell:
    notes, shade = [], 0.0
    if value is not None and default:
        change = value / default - 1.0
        notes.append(f"{change:+.1%}")
        shade = float(np.clip(-change, -1.0, 1.0))
    if paper is not None:
        notes.append(f"paper {paper:.3f}")
    return Cell(value, note=", ".join(notes), shade=shade, title=where)


def tests_table(errors: Errors, variants: Sequence[str]) -> Table:
    """Return paired tests of targets against each other, for each variant and measure, over all data sets and learners together."""
    plan = errors.plan
    targets = [
        t for t in ("ae", "f1", "accuracy", "none") if all(t in m.targets for m in plan.methods if m.name in variants)
    ]
    pairs = [(x, y) for i, x in enumerate(targets) for y in targets[i + 1 :]]
    columns = [Column(name, measure.upper()) for measure in plan.measures for name in variants]
    found: dict[Any, PairedTest | None] = {
        (pair, measure, name): _paired(errors, name, pair, measure)
        for pair in pairs
        for measure in plan.measures
        for name in variants
    }
    there = {key: test for key, test in found.items() if test is not None}
    corrected = dict(zip(there, holm([test.p_value for test in there.values()]), strict=True))
    table = Table(
        "Table 5: optimised for x or for y",
        ">> (<<): x (y) errs less, two-sided paired t-test at 0.001; > (<): at 0.05; ~: neither can be said. In brackets the mark "
        "after Holm's correction over the whole table, and Cohen's d. Samples share items, so these p-values flatter.",
        ["x", "y"],
        columns,
    )
    for pair in pairs:
        cells = []
        for measure in plan.measures:
            for name in variants:
                test = found[pair, measure, name]
                if test is None:
                    cells.append(Cell(None))
                    continue
                mark = test.mark(float(corrected[pair, measure, name]))
                cells.append(
                    Cell(
                        test.mark(),
                        note=f"{mark}, d = {test.effect:+.2f}",
                        title=f"p = {test.p_value:.3g}, n = {test.n:,}",
                    )
                )
        table.rows.append((list(pair), cells))
    return table


def _paired(errors: Errors, method: str, pair: tuple[str, str], measure: str) -> PairedTest | None:
    own = next(m for m in errors.plan.methods if m.name == method)
    sides: tuple[list[Any], list[Any]] = ([], [])
    for data_set in errors.plan.data_sets:
        for learner in own.learners:
            two = [errors.of((data_set, method, learner, target), measure) for target in pair]
            if two[0] is not None and two[1] is not None:
                sides[0].append(two[0])
                sides[1].append(two[1])
    return paired_t(np.concatenate(sides[0]), np.concatenate(sides[1])) if sides[0] else None


def overview_table(errors: Errors, variants: Sequence[str]) -> Table:
    """Return the errors of all methods as the paper compares them: optimised for AE (RAE where only that is), with ranks."""
    plan = errors.plan
    rows: list[tuple[str, str, str]] = []
    for method, learner in plan.rows():
        target = next((t for t in ("ae", "rae", "none") if t in method.targets), method.targets[0])
        rows.append((method.name, learner.name if learner else "", target))
    places = [(measure, data_set) for measure in plan.measures for data_set in plan.data_sets]
    columns = []
    for measure, data_set in places:
        of = [errors.of((data_set, *row), measure) for row in rows]
        plainly = [
            errors.of((data_set, row[0], row[1], "none" if row[0] in variants else row[2]), measure) for row in rows
        ]
        columns.append(_compared(of, plainly, [(data_set, *row) for row in rows], measure, errors))
    table = Table(
        "Table 6: all methods",
        "Mean error over the test samples; in brackets the rank, the rank had the CC variants been left at their learners' "
        "defaults, and where the data set is the paper's own the published figure. Bold is best; paired two-sided t-test against "
        "it: ‡ p ≥ 0.05 (not different), † p ≥ 0.001.",
        ["method", "learner", "optimised for"],
        [Column(data_set, measure.upper()) for measure, data_set in places],
    )
    for i, row in enumerate(rows):
        table.rows.append((list(row), [column[i] for column in columns]))
    return table


def _compared(
    of: Sequence[FloatArray | None],
    plainly: Sequence[FloatArray | None],
    keys: Sequence[Key],
    measure: str,
    errors: Errors,
) -> list[Cell]:
    """Return the cells of one column: ranked, and each tested against the best."""
    means = [np.nan if e is None else float(e.mean()) for e in of]
    if np.isnan(means).all():
        return [Cell(None) for _ in of]
    best = int(np.nanargmin(means))
    ranks, other = _ranks(means), _ranks([np.nan if e is None else float(e.mean()) for e in plainly])
    cells = []
    for i, mean in enumerate(means):
        if np.isnan(mean):
            cells.append(Cell(None))
            continue
        p = 1.0 if i == best else paired_t(of[i], of[best]).p_value
        notes = [f"{ranks[i]:g}", f"{other[i]:g}"]
        paper = published(keys[i], measure)
        if paper is not None:
            notes.append(f"paper {paper:.3f}")
        mark = "" if i == best else "‡" if p >= 0.05 else "†" if p >= 0.001 else ""
        cells.append(Cell(mean, note=", ".join(notes), bold=i == best, mark=mark, title=errors.where(keys[i])))
    return cells


def _ranks(means: Sequence[float]) -> FloatArray:
    values = np.array(means, dtype=np.float64)
    ranks = np.full(values.shape, np.nan)
    there = ~np.isnan(values)
    ranks[there] = rankdata(values[there], method="min")
    return ranks
