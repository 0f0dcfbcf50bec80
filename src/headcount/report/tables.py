"""The paper's six tables of a study: errors and how optimisation changes them (1-4), paired tests (5), all methods ranked (6)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np

from headcount.data import PAPER_SETS
from headcount.report.comparisons import p_text
from headcount.report.published import published, published_test
from headcount.report.scores import VARIANTS, Errors, Key, label_of, losses, ranks_of, settings_text
from headcount.report.table import Cell, Column, Table
from headcount.significance import LuckTest, PairedTest, holm, paired_t
from headcount.study import Results
from headcount.study.plan import DEFAULT

__all__ = ["numbered_tables", "optimisation_table", "overview_table", "tables", "tests_table"]


def tables(results: Results, errors: Errors | None = None) -> list[Table]:
    """Return the tables that a study has methods for: one for each of CC, ACC, PCC and PACC, the tests, the overview."""
    return [make() for make in numbered_tables(results, errors).values()]


def numbered_tables(results: Results, errors: Errors | None = None) -> dict[int, Callable[[], Table]]:
    """Return a function that makes the table for each number of a table that a study has methods for."""
    errors = Errors(results) if errors is None else errors
    planned = {method.name for method in results.plan.methods}
    variants = [name for name in VARIANTS if name in planned]
    makers: dict[int, Callable[[], Table]] = {
        VARIANTS.index(name) + 1: partial(optimisation_table, errors, name) for name in variants
    }
    if variants:
        makers[len(VARIANTS) + 1] = partial(tests_table, errors, variants)
    return makers | {len(VARIANTS) + 2: partial(overview_table, errors)}


def optimisation_table(errors: Errors, method: str) -> Table:
    """Return a variant's errors for each learner and target, with the change against the learner's defaults."""
    plan = errors.plan
    planned = next(m for m in plan.methods if m.name == method)
    columns = list(product(plan.measures, plan.data_sets))
    table = Table(
        f"Table {VARIANTS.index(method) + 1}: {method}",
        "A figure is the mean error over the test samples. In brackets are its change against the learner's defaults (negative is "
        "better) and, where the data set is the paper's own, the published figure. Green is better than the defaults, red worse. "
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
    if value is None:
        return Cell(None)
    default = errors.mean(key._replace(target=DEFAULT), measure) if key.target != DEFAULT else None
    notes, details = _notes_and_details(errors, key, measure)
    shade, change, hint = 0.0, None, _hint(errors, key, measure)
    if default:
        change = value / default - 1.0
        shade = float(np.clip(-losses(change, measure), -1.0, 1.0))
        hint.insert(1, f"At the learner's defaults it is {default:.4f}; the change is {change:+z.1%}.")
    note = "" if change is None else f"{change:+z.1%}"
    details = {"change": change, **details}
    return Cell(value, note=note, more=", ".join(notes), shade=shade, hint=hint, details=details)


def _hint(errors: Errors, key: Key, measure: str) -> list[str]:
    """Return what is shown of a mean error on demand: the figure, its spread over runs, the published one, the settings."""
    name = " ".join(filter(None, (key.method, key.learner)))
    target = "at its defaults" if key.target == DEFAULT else f"optimised for {key.target}"
    error, n = errors.run_error(key, measure), errors.runs(key)[0]
    spread = " from one run" if error is None else f" ± {error:.4f} (Monte Carlo error over {n} runs)" if error else ""
    lines = [f"{name}, {target}, on {key.data_set}: {label_of(measure)} {errors.mean(key, measure):.4f}{spread}."]
    paper = published(key, measure)
    lines += [] if paper is None else [f"The published figure is {paper:.3f}."]
    chosen = errors.settings(key)
    return lines + ([f"Setting: {settings_text(chosen)}."] if chosen else [])


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
    runs = f"runs ({', '.join(several)}; one of each other method) and" if several else "one run of each method and"
    n = plan.protocol.n_prevalences * plan.protocol.test_repeats
    return f"The plan {plan.name} has means over {runs} {n:,} test samples of {plan.protocol.sample_size:,} documents."


def tests_table(errors: Errors, variants: Sequence[str]) -> Table:
    """Return tests of targets against each other, for each variant and measure, over all data sets and learners together."""
    plan = errors.plan
    planned = {target for m in plan.methods if m.name in variants for target in m.targets}
    in_paper = [target for target in ("ae", "rae", "f1", "accuracy", DEFAULT) if target in planned]
    targets = [*in_paper, *sorted(planned - set(in_paper))]
    pairs, columns = list(combinations(targets, 2)), list(product(plan.measures, variants))
    tests: dict[Any, PairedTest | None] = {
        (pair, measure, name): errors.target_test(name, pair, measure)
        for pair, (measure, name) in product(pairs, columns)
    }
    luck_tests: dict[Any, tuple[LuckTest, int] | None] = {
        (pair, measure, name): errors.target_luck_test(name, pair, measure)
        for pair, (measure, name) in product(pairs, columns)
    }
    corrected = _corrected({key: test.p_value for key, test in tests.items() if test is not None})
    luck_corrected = _corrected({key: test[0].p_value for key, test in luck_tests.items() if test is not None})
    table = Table(
        "Table 5: optimised for x or for y",
        "The mark >> says that the method errs less when optimised for x than for y, by a two-sided test at 0.001; > says so at "
        "0.05, and << and < say the same of y. The mark ~ stands for no significant difference, ? for a pair that is not judged. "
        + _LUCK_CAPTION
        + "Data sets and learners with one run of a method that draws at random are left out of it. In brackets are the mark of "
        "the paper's paired t-test (t) over all samples, the mark after Holm's correction over the whole table, Cohen's d, and the "
        "published mark if the data sets are the paper's. " + _runs_caption(errors, variants),
        ["x", "y"],
        [Column(name, label_of(measure), _EXPORTED) for measure, name in columns],
    )
    same_data = set(plan.data_sets) == set(PAPER_SETS)
    for pair in pairs:
        cells = [
            _test_cell(
                tests[pair, measure, name],
                corrected.get((pair, measure, name)),
                luck_tests[pair, measure, name],
                luck_corrected.get((pair, measure, name)),
                published_test(*pair, name, measure) if same_data else None,
                errors.files_of_mark(*pair, name),
            )
            for measure, name in columns
        ]
        table.rows.append((list(pair), cells))
    return table


_EXPORTED = {"p_pool_and_runs": "p", "p_value": "p of paired t-test"}
"""Details of tested figures that CSV files and data frames have as columns, with the names of these."""
_LUCK_CAPTION = (
    "The test counts that samples share the items of one test pool, and that runs differ by luck; it is about the methods with "
    "these training data, over pools and runs. With one run of a method that draws at random a difference holds for that fit only, "
    "and is not judged. "
)


def _corrected(p_values: Mapping[Any, float | None], n_tests: int | None = None) -> dict[Any, float]:
    """Return the p-values after Holm's correction, without those that are not judged."""
    judged = {key: p for key, p in p_values.items() if p is not None}
    return dict(zip(judged, holm(list(judged.values()), n_tests).tolist(), strict=True))


def _test_cell(
    paired: PairedTest | None,
    corrected: float | None,
    luck: tuple[LuckTest, int] | None,
    luck_corrected: float | None,
    paper: str | None,
    files: list[str],
) -> Cell:
    if paired is None or luck is None:
        return Cell(None)
    test, n_pairs = luck
    more = [f"Holm {test.mark(luck_corrected)}", f"d = {paired.effect:+z.2f}"]
    more += [f"paper {paper}"] if paper else []
    details = {
        **_test_details(test, luck_corrected, paired, corrected),
        "judged_pairs": n_pairs,
        "published": paper,
        "files": files,
    }
    hint = _in_words(test, luck_corrected, paired, corrected)
    hint.append(f"The first test is over {n_pairs} pairs of data set and learner.")
    return Cell(test.mark(), note=f"t {paired.mark()}", more=", ".join(more), hint=hint, details=details)


def _test_details(
    test: LuckTest, luck_corrected: float | None, paired: PairedTest, corrected: float | None
) -> dict[str, Any]:
    return {
        "p_pool_and_runs": test.p_value,
        "holm_pool_and_runs": luck_corrected,
        "standard_error": None if test.reason else test.standard_error,
        "not_judged": test.reason if test.p_value is None else "",
        "p_value": paired.p_value,
        "holm": corrected,
        "effect": paired.effect,
        "n": paired.n,
    }


def _in_words(
    test: LuckTest, luck_corrected: float | None, paired: PairedTest, corrected: float | None, against: str = ""
) -> list[str]:
    """Return a sentence on each of the two tests."""
    found = f"finds {_p(test.p_value)}, after Holm {_p(luck_corrected)}"
    said = found if test.p_value is not None else f"can't judge: {test.reason}"
    return [
        f"{against}{'t' if against else 'T'}he test over test pools and runs {said}.",
        f"The paired t-test finds {_p(paired.p_value)}, n = {paired.n:,}, after Holm {_p(corrected)}, d = {paired.effect:+z.2f}.",
    ]


def _p(p: float | None) -> str:
    return "no p" if p is None else "p < 1e-15" if p < 1e-15 else f"p = {p:.3g}"


def overview_table(errors: Errors) -> Table:
    """Return the mean errors and ranks of all methods as the paper compares them: optimised for AE (else RAE, else not)."""
    plan, rows = errors.plan, errors.rows
    keys = list(product(plan.measures, plan.data_sets))
    columns = [_ranked_cells(errors, measure, data_set) for measure, data_set in keys]
    table = Table(
        "Table 6: all methods",
        "A figure is the mean error over the test samples. In brackets are the rank, the rank if the CC variants were left at "
        "their learners' defaults, the p-values of two tests against the best, and where the data set is the paper's own the "
        "published figure. Bold is best, and green to red is best to worst. By a two-sided test against the best, ‡ stands for p ≥ "
        "0.05 (no significant difference), † for p ≥ 0.001, and ? for a pair that is not judged. "
        + _LUCK_CAPTION
        + "Its p-value is p; t is that of the paper's paired t-test, which takes the samples as independent. "
        + _runs_caption(errors, list(dict.fromkeys(row.method for row in rows))),
        ["method", "learner", "optimised for"],
        [Column(data_set, label_of(measure), _EXPORTED) for measure, data_set in keys],
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
    luck_tests = {i: errors.comparisons.test(keys[i], keys[best], measure) for i in tests}
    corrected = _corrected({i: test.p_value for i, test in tests.items()})
    # The figures say which is the best, so that each of these pairs is one of all pairs of methods.
    n_pairs = (len(tests) + 1) * len(tests) // 2
    luck_corrected = _corrected({i: test.p_value for i, test in luck_tests.items()}, n_pairs)
    cells = []
    for i, (key, mean) in enumerate(zip(keys, means, strict=True)):
        if np.isnan(mean):
            cells.append(Cell(None))
            continue
        notes, details = _notes_and_details(errors, key, measure)
        details = {"rank": ranks[i], "rank_unoptimised": unoptimised_ranks[i], **details}
        mark, hint = "", _hint(errors, key, measure)
        hint.insert(
            1, f"Its rank is {ranks[i]:g}, or {unoptimised_ranks[i]:g} if the variants of CC are at their defaults."
        )
        if i in tests:
            both = luck_tests[i], luck_corrected.get(i), tests[i], corrected[i]
            p = both[0].p_value
            mark = "?" if p is None else "‡" if p >= 0.05 else "†" if p >= 0.001 else ""
            notes = [f"p {p_text(p)}", f"t {p_text(tests[i].p_value)}", *notes]
            details |= _test_details(*both)
            hint += _in_words(*both, against=f"Against the best, {rows[best].name}, ")
        note = f"{ranks[i]:g}, {unoptimised_ranks[i]:g}"
        shade = 1.0 - 2.0 * float((mean - means[best]) / (worst - means[best])) if worst > means[best] else 0.0
        value = errors.mean(key, measure)
        style: Any = {"shade": shade, "bold": i == best, "mark": mark}
        cells.append(Cell(value, note=note, more=", ".join(notes), hint=hint, details=details, **style))
    return cells
