"""The paper's six tables of a study: errors and how optimisation changes them (1-4), paired tests (5), all methods ranked (6)."""

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from headcount.data import PAPER_SETS
from headcount.report.published import published, published_test
from headcount.report.scores import VARIANTS, Errors, Key, label_of, losses, ranks_of
from headcount.report.table import Cell, Column, Table
from headcount.significance import PairedTest, holm, paired_t
from headcount.study import Results
from headcount.study.plan import DEFAULT

__all__ = ["optimisation_table", "overview_table", "tables", "tests_table"]


def tables(results: Results, errors: Errors | None = None) -> list[Table]:
    """Return the tables that a study has methods for: one for each of CC, ACC, PCC and PACC, the tests, the overview."""
    errors = Errors(results) if errors is None else errors
    planned = {method.name for method in results.plan.methods}
    variants = [name for name in VARIANTS if name in planned]
    tests = [tests_table(errors, variants)] if variants else []
    return [*(optimisation_table(errors, name) for name in variants), *tests, overview_table(errors)]


def optimisation_table(errors: Errors, method: str) -> Table:
    """Return a variant's errors for each learner and target, with the change against the learner's defaults."""
    plan = errors.plan
    planned = next(m for m in plan.methods if m.name == method)
    columns = list(product(plan.measures, plan.data_sets))
    table = Table(
        f"Table {VARIANTS.index(method) + 1}: {method}",
        "Mean error over the test samples; in brackets the change against the learner's defaults (negative: better) and, where the "
        "data set is the paper's own, the published figure. Green is better than the defaults, red worse. "
        + _runs_caption(errors, [method]),
        ["learner", "optimised for"],
        [Column(data_set, label_of(measure)) for measure, data_set in columns],
        about={"method": method},
    )
    for learner, target in product(planned.learners, planned.targets):
        cells = [_change_cell(errors, Key(data_set, method, learner, target), measure) for measure, data_set in columns]
        table.rows.append(([learner, target], cells))
    return table


def _change_cell(errors: Errors, key: Key, measure: str) -> Cell:
    """Return a mean error with its change against the learner's defaults."""
    value = errors.mean(key, measure)
    default = errors.mean(key._replace(target=DEFAULT), measure) if key.target != DEFAULT else None
    notes, details = _notes_and_details(errors, key, measure)
    shade, change = 0.0, None
    if value is not None and default:
        change = value / default - 1.0
        notes = [f"{change:+.1%}", *notes]
        shade = float(np.clip(-losses(change, measure), -1.0, 1.0))
    details = {"change": change, **details}
    return Cell(value, note=", ".join(notes), shade=shade, title=errors.where(key), details=details)


def _notes_and_details(errors: Errors, key: Key, measure: str) -> tuple[list[str], dict[str, Any]]:
    """Return what is said of each mean error: the published figure, the number of runs, the files."""
    paper, (done, planned) = published(key, measure), errors.runs(key)
    notes = [] if paper is None else [f"paper {paper:.3f}"]
    if 0 < done < planned:
        notes.append(f"{done} of {planned} runs")
    return notes, {"published": paper, "runs": done, "files": errors.files(key)}


def _runs_caption(errors: Errors, methods: Sequence[str]) -> str:
    """Return the sentence of a caption that says how many runs and test samples the figures are means over."""
    plan = errors.plan
    several = [f"{name} {errors.planned[name]}" for name in methods if errors.planned[name] > 1]
    runs = f"means over runs ({', '.join(several)}) and" if several else "one run, means over"
    n = plan.protocol.n_prevalences * plan.protocol.test_repeats
    return f"Plan {plan.name}: {runs} {n:,} test samples of {plan.protocol.sample_size:,}."


def tests_table(errors: Errors, variants: Sequence[str]) -> Table:
    """Return paired tests of targets against each other, for each variant and measure, over all data sets and learners together."""
    plan = errors.plan
    planned = {target for m in plan.methods if m.name in variants for target in m.targets}
    in_paper = [target for target in ("ae", "rae", "f1", "accuracy", DEFAULT) if target in planned]
    targets = [*in_paper, *sorted(planned - set(in_paper))]
    pairs, columns = list(combinations(targets, 2)), list(product(plan.measures, variants))
    tests: dict[Any, PairedTest | None] = {
        (pair, measure, name): errors.target_test(name, pair, measure)
        for pair, (measure, name) in product(pairs, columns)
    }
    p_values = {key: test.p_value for key, test in tests.items() if test is not None}
    corrected = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    table = Table(
        "Table 5: optimised for x or for y",
        ">> (<<): x (y) errs less, two-sided paired t-test at 0.001; > (<): at 0.05; ~: no significant difference. In brackets the "
        "mark after Holm's correction over the whole table, Cohen's d, and the published mark if the data sets are the paper's. "
        "Samples share items, so these p-values are too small. " + _runs_caption(errors, variants),
        ["x", "y"],
        [Column(name, label_of(measure)) for measure, name in columns],
    )
    same_data = set(plan.data_sets) == set(PAPER_SETS)
    for pair in pairs:
        cells = [
            _test_cell(
                tests[pair, measure, name],
                corrected.get((pair, measure, name), 1.0),
                published_test(*pair, name, measure) if same_data else None,
                errors.files_of_mark(*pair, name),
            )
            for measure, name in columns
        ]
        table.rows.append((list(pair), cells))
    return table


def _test_cell(test: PairedTest | None, corrected: float, paper: str | None, files: list[str]) -> Cell:
    if test is None:
        return Cell(None)
    note = f"{test.mark(corrected)}, d = {test.effect:+.2f}" + (f", paper {paper}" if paper else "")
    details = {**_test_details(test, corrected), "published": paper, "files": files}
    title = f"p = {test.p_value:.3g}, n = {test.n:,}, after Holm p = {corrected:.3g}; {', '.join(files)}"
    return Cell(test.mark(), note=note, title=title, details=details)


def _test_details(test: PairedTest, corrected: float) -> dict[str, Any]:
    return {"p_value": test.p_value, "holm": corrected, "effect": test.effect, "n": test.n}


def overview_table(errors: Errors) -> Table:
    """Return the mean errors and ranks of all methods as the paper compares them: optimised for AE (else RAE, else not)."""
    plan, rows = errors.plan, errors.rows
    keys = list(product(plan.measures, plan.data_sets))
    columns = [_ranked_cells(errors, measure, data_set) for measure, data_set in keys]
    table = Table(
        "Table 6: all methods",
        "Mean error over the test samples; in brackets the rank, the rank if the CC variants were left at their learners' "
        "defaults, and where the data set is the paper's own the published figure. Bold is best, green to red is best to worst; "
        "paired two-sided t-test against the best: ‡ p ≥ 0.05 (not different), † p ≥ 0.001. "
        + _runs_caption(errors, list(dict.fromkeys(row.method for row in rows))),
        ["method", "learner", "optimised for"],
        [Column(data_set, label_of(measure)) for measure, data_set in keys],
    )
    for i, row in enumerate(rows):
        table.rows.append((list(row), [column[i] for column in columns]))
    return table


def _ranked_cells(errors: Errors, measure: str, data_set: str) -> list[Cell]:
    """Return the cells of one column: ranked, and each tested against the best."""
    rows = errors.rows
    keys = [row.on(data_set) for row in rows]
    by_row = [None if e is None else losses(e, measure) for e in (errors.of(key, measure) for key in keys)]
    means = np.array([np.nan if e is None else float(e.mean()) for e in by_row])
    if np.isnan(means).all():
        return [Cell(None) for _ in rows]
    best, worst = int(np.nanargmin(means)), float(np.nanmax(means))
    ranks, unoptimised_ranks = ranks_of(errors, rows, data_set, measure)
    tests = {i: paired_t(e, by_row[best]) for i, e in enumerate(by_row) if e is not None and i != best}
    corrected = dict(zip(tests, holm([test.p_value for test in tests.values()]).tolist(), strict=True))
    cells = []
    for i, (key, mean) in enumerate(zip(keys, means, strict=True)):
        if np.isnan(mean):
            cells.append(Cell(None))
            continue
        notes, details = _notes_and_details(errors, key, measure)
        details = {"rank": ranks[i], "rank_unoptimised": unoptimised_ranks[i], **details}
        mark, title = "", errors.where(key)
        if i in tests:
            test = tests[i]
            mark = "‡" if test.p_value >= 0.05 else "†" if test.p_value >= 0.001 else ""
            details |= _test_details(test, corrected[i])
            title = f"against the best: p = {test.p_value:.3g}, after Holm {corrected[i]:.3g}, d = {test.effect:+.2f}; {title}"
        note = ", ".join([f"{ranks[i]:g}", f"{unoptimised_ranks[i]:g}", *notes])
        shade = 1.0 - 2.0 * float((mean - means[best]) / (worst - means[best])) if worst > means[best] else 0.0
        value = errors.mean(key, measure)
        cells.append(Cell(value, note=note, shade=shade, bold=i == best, mark=mark, title=title, details=details))
    return cells
