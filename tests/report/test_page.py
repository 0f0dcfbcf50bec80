"""The page of a small study, without a browser: complete, self-contained, each figure with its files."""

import csv
import json
import re
import shutil
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import numpy as np
import pytest
from scipy.stats import ttest_rel

from headcount._writing import write_all
from headcount.report import gather, render, summary, to_csv, to_json, to_latex
from headcount.report.claims import OPEN
from headcount.report.scores import Errors, Key
from headcount.report.sentences import in_words
from headcount.study import Results, read_plan


@pytest.fixture(scope="module")
def contents(study_results):
    return gather(study_results)


@pytest.fixture(scope="module")
def page(contents):
    return render(contents)


def test_page_refers_to_no_other_files(page):
    assert not re.search(r'(src|href)="(?!#|data:)[^"]*"', page)
    assert "@import" not in page
    assert "url(http" not in page


def test_names_are_escaped(page):
    assert "A &lt;small&gt; &amp; whole study" in page
    assert "<small>" not in page


def test_page_has_all_sections(page):
    parts = [
        "words",
        "claims",
        "mean-errors",
        "differences",
        "prevalences",
        "tables",
        "diagonals",
        "shifts",
    ]
    parts += ["biases", "ranks", "times", "convergence", "provenance"]
    for part in parts:
        assert f'<section id="{part}">' in page
    assert '<a href="#chosen-settings">' in page
    assert 'id="chosen-settings"' in page
    assert 'id="missing"' not in page
    assert 'id="agreement"' not in page  # none of the data sets is the paper's
    assert page.count("<figure ") == page.count("</svg>") == 2 + 2 + 2 + 2 * 6 * 2 + 2 + 1 + 2


def test_ids_on_the_page_are_distinct(page):
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_hints_of_figures_have_values_and_settings_not_files(page, contents):
    cells = re.findall(r'<td class="figure[^>]*data-value="([0-9.]+)"[^>]*title="([^"]*)"', page)
    assert len(cells) == 4 * 12 * 4 + 16 * 4
    for value, title in cells:
        assert f" {float(value):.4f}" in title
        assert ".result" not in title
    assert sum("Setting: " in title for _, title in cells) == 4 * 9 * 4 + 15 * 4  # not for defaults, nor for MLPE
    assert "Setting: C = " in cells[-5][1]


def test_each_figure_of_the_tables_names_its_files_in_the_data(contents, study_results):
    for table in contents.tables[:4] + contents.tables[5:]:
        for record in table.to_records():
            assert record["files"]
            assert all((study_results.store.folder / name).is_file() for name in record["files"])


def test_tables_and_all_figures_can_be_saved(page, contents):
    links = dict(re.findall(r'<a download="([^"]+)" href="data:[^;]*;base64,([^"]*)"', page))
    names = [f"table-{i}.{ending}" for i in range(1, 7) for ending in ("csv", "json", "tex")]
    assert {*names, "chosen-settings.csv", "whole.zip"} <= set(links)
    assert b64decode(links["table-6.csv"]).decode() == contents.tables[5].to_csv()
    assert b64decode(links["table-6.tex"]).decode() == contents.tables[5].to_latex()
    records = json.loads(b64decode(links["table-6.json"]))
    assert records[0]["value"] == contents.tables[5].rows[0][1][0].value
    with ZipFile(BytesIO(b64decode(links["whole.zip"]))) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("figures.json")) == json.loads(to_json(contents))
        assert set(archive.namelist()) == {"figures.json", "tables.tex", *to_csv(contents)}
        assert archive.read("tables.tex").decode() == to_latex(contents)


def test_points_of_plots_have_the_values_of_the_data(page, contents):
    points = json.loads(re.search(r'id="points">(.*?)</script>', page, re.S)[1])
    assert set(points) == set(re.findall(r'data-plot="([^"]+)"', page))
    entry = contents.mean_errors[0]
    series = points["mean-errors-0"]["series"][0]
    assert (series["method"], series["learner"]) == (entry.method, entry.learner)
    assert series["points"][0][2].startswith(f"{entry.data_set}: {entry.mean:.4f}")
    for plot in points.values():
        assert plot["reading"]
        for x, y, text in (point for series in plot["series"] for point in series["points"]):
            assert 0.0 <= x <= 1.0
            assert 0.0 <= y <= 1.0
            assert text


def test_settings_are_shown_with_their_runs(contents, study_results):
    table = contents.settings
    row = {tuple(labels): cells for labels, cells in table.rows}["PACC", "lr", "ae"]
    chosen = [c.params for c in study_results.cells if (c.data_set, *c_key(c)) == ("even", "PACC", "lr", "ae")]
    assert len(chosen) == 2
    for params in chosen:
        assert f"C = {params['C']:g}, class_weight = {params['class_weight'] or 'none'}" in row[0].value
    distinct = len({str(params) for params in chosen})
    assert row[0].value.count("(1 run)") == (2 if distinct == 2 else 0)
    assert not any(labels[2] == "none" for labels, _ in table.rows)


def c_key(cell):
    return cell.method, cell.learner, cell.target


def without_plots(contents):
    """Return the contents of a page without plots, whose drawing takes most of its time."""
    plots = "mean_errors", "prevalences", "differences", "diagonals", "shifts", "biases"
    return replace(contents, **{name: [] for name in plots})


def test_fits_that_did_not_converge_are_listed(contents, page):
    assert "All fits whose results are shown here report that they converged." in page
    fit = (1, "PACC", "lr", "even", "lr at C = 10 stopped at a gap of 0.01")
    listed = render(replace(without_plots(contents), not_converged=[fit]))
    assert "even, PACC lr, run 2: lr at C = 10 stopped at a gap of 0.01" in listed
    assert "Some fits did not converge" in listed
    text = summary(replace(contents, not_converged=[fit]), "command")
    assert "- even, PACC lr, run 2: lr at C = 10 stopped at a gap of 0.01" in text


def test_each_plot_names_its_files_on_the_page(page, study_results):
    figures = re.findall(r"<figure .*?</figure>", page, flags=re.S)
    for figure in figures:
        (listed,) = re.findall(r'<p class="files">Files of the store: ([^<]*)</p>', figure)
        assert listed
        assert all((study_results.store.folder / name).exists() for name in listed.split(", "))


def test_tests_and_claims_name_their_files(contents, study_results):
    there = {path.relative_to(study_results.store.folder).as_posix() for path in study_results.store.records()}
    cells = contents.tables[4].to_records()
    assert all(cell["files"] and there.issuperset(cell["files"]) for cell in cells)
    figures = [figure for claim in contents.claims for figure in claim.figures]
    assert len(figures) > 40
    assert all(figure.files and there.issuperset(figure.files) for figure in figures)


@pytest.mark.slow
def test_the_same_store_gives_the_same_page(page, study_results):
    again = Results(study_results.plan, study_results.store.folder)
    assert render(gather(again)) == page


def test_sentences_name_the_best_method_and_the_test(contents, study_results):
    text = " ".join(contents.words)
    first = contents.ranks[0]
    assert f"The best by mean rank over all measures and data sets is {first.method}" in text
    assert "Holm's correction" in text
    assert "from" in text
    assert "p-values are too small" in text
    tuned, plain = (list(rows(study_results, target)) for target in ("ae", "none"))
    assert f"it helps in {sum(x < y for x, y in zip(tuned, plain, strict=True))} of 24 cases" in text
    assert f"from {np.mean(plain):.3f} at defaults to {np.mean(tuned):.3f}" in text
    assert in_words(None, []) == ["The store has no results of this plan yet."]


def rows(results, target):
    """Yield the mean AE of each variant and learner on each data set."""
    for data_set in ("even", "uneven"):
        for method in ("CC", "PCC", "ACC", "PACC"):
            for learner in ("svm", "lr", "mnb"):
                yield mean_errors(results, data_set, method, learner, target).mean()


def mean_errors(results, data_set, method, learner, target, measure="ae"):
    key = data_set, method, learner, target
    runs = [c.errors(measure, 40) for c in results.cells if (c.data_set, c.method, c.learner, c.target) == key]
    return np.mean(runs, axis=0)


def holm(p):
    """Correct p-values the long way round."""
    order, corrected, last = np.argsort(p), np.empty(len(p)), 0.0
    for rank, i in enumerate(order):
        last = max(last, min(1.0, (len(p) - rank) * p[i]))
        corrected[i] = last
    return corrected


def test_lead_of_the_best_is_tested_with_holms_correction(contents, study_results):
    first, second = contents.ranks[:2]
    sides = [
        [mean_errors(study_results, d, e.method, e.learner, e.target) for d in ("even", "uneven")]
        for e in (first, second)
    ]
    comparisons = Errors(study_results).comparisons
    keys = [[Key(d, e.method, e.learner, e.target) for e in (first, second)] for d in ("even", "uneven")]
    p_values = [comparisons.test(*pair, "ae").p_value for pair in keys]
    corrected = iter(holm(np.array([p for p in p_values if p is not None])))
    text = " ".join(contents.words)
    for name, x, y, p in zip(("even", "uneven"), *sides, p_values, strict=True):
        verdict = "not judged" if p is None else said(next(corrected), "no significant difference")
        paired = said(ttest_rel(x, y).pvalue)
        assert f"{x.mean():.3f} against {y.mean():.3f} on {name} ({verdict}; paired t-test {paired}, d = " in text


def said(p, not_significant=None):
    return not_significant if not_significant and p >= 0.05 else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def test_one_run_is_not_called_significant(study_results, tmp_path):
    """With one run, words and claims say that the luck of the run is unknown."""
    methods = tuple(replace(m, runs=1) for m in study_results.plan.methods if m.name in ("ACC", "PACC"))
    one_run = Results(replace(study_results.plan, methods=methods), study_results.store.folder)
    contents = gather(one_run)
    text = " ".join(contents.words)
    assert "(not judged; paired t-test p" in text
    assert "one run of a method that draws at random" in text
    marks = [cell.value for _, cells in contents.tables[2].rows for cell in cells if cell.value is not None]
    assert set(marks) <= {"?", "~"}  # "~" where both targets chose the same setting
    assert "?" in marks
    beats = next(claim for claim in contents.claims if claim.name == "pacc-prefers-ae")
    assert beats.verdict == OPEN


def test_table_5_is_corrected_over_the_whole_table(contents, study_results):
    table = contents.tables[4]
    cells = [
        (labels, column, cell) for labels, all_ in table.rows for column, cell in zip(table.columns, all_, strict=True)
    ]
    tests = []
    for (x, y), column, _ in cells:
        sides = [
            np.concatenate(
                [
                    mean_errors(study_results, d, column.name, m, t, column.group.lower())
                    for d in ("even", "uneven")
                    for m in ("svm", "lr", "mnb")
                ]
            )
            for t in (x, y)
        ]
        tests.append(ttest_rel(*np.round(sides, 12)) if not np.allclose(*sides, atol=1e-12) else None)
    p = holm(np.array([1.0 if test is None else test.pvalue for test in tests]))
    errors = Errors(study_results)
    found = [
        errors.target_luck_test(column.name, tuple(labels), column.group.lower())[0] for labels, column, _ in cells
    ]
    corrected = holm(np.array([test.p_value for test in found]))
    fewer = set()
    for (_, _, cell), test, p_value, luck, luck_p in zip(cells, tests, p, found, corrected, strict=True):
        assert cell.details["holm"] == pytest.approx(p_value)
        assert cell.details["holm_pool_and_runs"] == pytest.approx(luck_p)
        better = "" if test is None else (">" if test.statistic < 0 else "<")
        paired = "~" if test is None or test.pvalue >= 0.05 else better * (2 if test.pvalue < 0.001 else 1)
        assert (cell.value, cell.details["p_pool_and_runs"]) == (luck.mark(), luck.p_value)
        assert cell.note == f"t {paired}"
        assert cell.more.startswith(f"Holm {luck.mark(luck_p)}, d = ")
        fewer.add(len(cell.value.strip("~")) - len(paired.strip("~")))
    assert min(fewer) < 0  # the paired t-test finds more than there is


def test_table_6_corrects_for_the_choice_of_the_best(contents):
    cells = [cells[1] for _, cells in contents.tables[5].rows]
    p_values = sorted(p for cell in cells if (p := cell.details.get("p_pool_and_runs")) is not None)
    smallest = min(
        cell.details["holm_pool_and_runs"] for cell in cells if cell.details.get("holm_pool_and_runs") is not None
    )
    assert smallest == pytest.approx(min(1.0, p_values[0] * 16 * 15 / 2))


def test_table_6_is_corrected_over_its_column(contents, study_results):
    table = contents.tables[5]
    of = [mean_errors(study_results, "uneven", *labels) for labels, _ in table.rows]
    best = int(np.argmin([e.mean() for e in of]))
    others = [i for i in range(len(of)) if i != best]
    p = holm(np.array([ttest_rel(of[i], of[best]).pvalue for i in others]))
    for i, p_value in zip(others, p, strict=True):
        assert table.rows[i][1][1].details["holm"] == pytest.approx(p_value)


def test_json_has_everything(contents):
    whole = json.loads(to_json(contents))
    assert [table["title"][:7] for table in whole["tables"]] == [*(f"Table {i}" for i in range(1, 7)), "Chosen "]
    cell = whole["tables"][5]["cells"][0]
    assert {
        "method",
        "learner",
        "column",
        "measure",
        "value",
        "rank",
        "rank_unoptimised",
        "p_value",
        "holm",
        "effect",
        "files",
    } <= set(cell)
    assert len(whole["claims"]) == 14
    assert {"diagonals", "shifts", "biases", "ranks", "times", "missing", "provenance"} <= set(whole)
    assert {"mean_errors", "prevalences", "differences", "not_converged", "reproduction"} <= set(whole)


def test_ends_of_bands_are_named_after_their_mean(contents):
    curve = contents.diagonals[0]
    entry = json.loads(to_json(contents))["diagonals"][0]
    assert (entry["percentile_10"], entry["percentile_90"]) == (curve.low, curve.high)
    for name in ("prevalences", "diagonals", "shifts"):
        head = next(csv.reader(to_csv(contents)[f"{name}.csv"].splitlines()))
        assert head[-5:] == ["at", "mean", "percentile_10", "percentile_90", "n"]
        assert not {"low", "high"} & set(head)


def test_csv_has_everything(contents, tmp_path):
    write_all({tmp_path / "figures" / name: text for name, text in to_csv(contents).items()}, [tmp_path / "figures"])
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    assert names == {
        *(f"table-{i}" for i in range(1, 7)),
        "chosen-settings",
        "mean_errors",
        "prevalences",
        "differences",
        "not_converged",
        "claims",
        "diagonals",
        "shifts",
        "biases",
        "ranks",
        "times",
        "provenance",
        "missing",
    }
    with (tmp_path / "figures" / "table-6.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 16 * 4
    assert float(rows[0]["value"]) == contents.tables[-1].rows[0][1][0].value
    with (tmp_path / "figures" / "diagonals.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 16 * 2 * 5


@pytest.mark.parametrize(
    ("data_sets", "learners"),
    [
        (["even"], ["own"]),
        pytest.param(["uneven"], None, marks=pytest.mark.slow),
        pytest.param(None, ["lr"], marks=pytest.mark.slow),
        pytest.param(None, ["mnb"], marks=pytest.mark.slow),
    ],
)
def test_page_of_a_part_of_the_plan(study_results, data_sets, learners):
    part = Results(study_results.plan.only(data_sets, learners), study_results.store.folder)
    page = render(gather(part))
    assert "cannot be judged here" in page
    assert 'id="missing"' not in page


@pytest.mark.slow
def test_missing_cells_are_reported(study_results, tmp_path):
    shutil.copytree(study_results.store.folder, tmp_path / "store")
    for path in [
        *(tmp_path / "store" / "test" / "even" / "mnb").iterdir(),
        *(tmp_path / "store" / "select" / "uneven" / "own").iterdir(),
    ]:
        path.unlink()
    next((tmp_path / "store" / "test" / "even" / "lr").iterdir()).write_text("broken")
    part = gather(Results(study_results.plan, tmp_path / "store"))
    text = " ".join(part.missing)
    assert "even, mnb: there are no results" in text
    assert "uneven, methods without a learner of the plan: 1 of 2 runs are missing" in text
    assert "It is left out" in text
    page = render(part)
    assert 'id="missing"' in page
    assert "1 of 2 runs" in page
    best = part.ranks[0]
    assert None not in best.ranks  # a method without figures in all columns is not called the best
    assert part.ranks[-1].ranks.count(None) > 0


def test_page_of_a_plan_without_results_says_so(study_results):
    nothing = gather(Results(read_plan("stand-ins"), study_results.store.folder))
    page = render(nothing)
    assert "no results of this plan yet" in page
    assert "there are no results (" in page
    assert {claim.verdict for claim in nothing.claims} == {"cannot be judged here"}
