"""The six tables of a small study: each figure is the mean that its cells give, each test that of its pairs."""

import re
import shutil
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from pandas import read_csv
from scipy.stats import ttest_rel

from headcount.errors import ErrorMeasure, ae, register_error
from headcount.errors import registry as error_registry
from headcount.report import tables
from headcount.report.comparisons import p_text
from headcount.report.published import published
from headcount.report.scores import Errors, Key, Row, ranks_of
from headcount.study import Results, Store, read_plan, run_study
from headcount.study.tasks import truth_task
from tests.study.conftest import PLAN


@pytest.fixture(scope="module")
def results(tmp_path_factory, data_folder):
    folder = tmp_path_factory.mktemp("tables")
    (folder / "small.toml").write_text(PLAN)
    plan = read_plan(folder / "small.toml")
    run_study(plan, folder / "store", n_jobs=1, data_dir=data_folder)
    return Results(plan, folder / "store")


def errors_of(results, method, learner, target, measure):
    runs = [
        c.errors(measure, 40) for c in results.cells if (c.method, c.learner, c.target) == (method, learner, target)
    ]
    return np.mean(runs, axis=0)


def test_there_is_a_table_for_each_variant_then_tests_and_overview(results):
    assert [table.title.split(":")[0] for table in tables(results)] == [
        "Table 1",
        "Table 3",
        "Table 4",
        "Table 5",
        "Table 6",
    ]


def test_figures_and_changes(results):
    table = tables(results)[0]
    frame = table.to_frame().set_index(["learner", "optimised for"])
    default, optimised = (errors_of(results, "CC", "lr", target, "ae").mean() for target in ("none", "ae"))
    assert frame.loc[("lr", "ae"), "AE small"] == pytest.approx(optimised)
    cell = next(cells[0] for labels, cells in table.rows if labels == ["lr", "ae"])
    assert cell.note == f"{optimised / default - 1:+.1%}"
    assert np.sign(cell.shade) == np.sign(default - optimised)
    assert f"AE {optimised:.4f}" in cell.hint[0]
    assert f"defaults it is {default:.4f}" in cell.hint[1]
    assert cell.hint[-1].startswith("Setting: C = ")
    assert not any(".result" in line for line in cell.hint)  # values, not names of files


def test_targets_that_a_variant_lacks_have_no_figure(results):
    table = next(t for t in tables(results) if t.title.startswith("Table 5"))
    assert [labels for labels, _ in table.rows] == [["ae", "f1"], ["ae", "none"], ["f1", "none"]]
    names = [column.name for column in table.columns]
    for _, cells in table.rows:  # PACC is optimised for AE alone
        assert [cell.text() == "–" for cell in cells] == [name == "PACC" for name in names]


def test_unoptimised_ranks_are_over_the_same_rows(results):
    table = tables(results)[-1]
    for (method, *_), cells in table.rows:
        for cell in cells:
            if method == "PACC":  # never at its learner's defaults
                assert cell.details["rank_unoptimised"] is not None
    others = [cells[0].details["rank_unoptimised"] for _, cells in table.rows]
    assert max(others) >= len(others) - 3


def test_tests_with_common_targets(results, tmp_path, data_folder):
    text = PLAN.replace('targets = ["ae"]\nruns = 2', 'targets = ["none", "f1", "ae"]\nruns = 2')
    (tmp_path / "more.toml").write_text(text)
    plan = read_plan(tmp_path / "more.toml")
    run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    more = Results(plan, tmp_path / "store")
    table = next(t for t in tables(more) if t.title.startswith("Table 5"))
    assert [labels for labels, _ in table.rows] == [["ae", "f1"], ["ae", "none"], ["f1", "none"]]
    x, y = (
        np.concatenate([errors_of(more, "CC", learner, target, "ae") for learner in ("lr", "rf")])
        for target in ("ae", "none")
    )
    expected = ttest_rel(x, y)
    cell = table.rows[1][1][0]
    assert f"p = {expected.pvalue:.3g}, n = {len(x)}" in " ".join(cell.hint)
    better = "~" if expected.pvalue >= 0.05 else (">" if expected.statistic < 0 else "<")
    assert cell.note.startswith(f"t {better}")
    # CC over a forest has one run, so that only LR is judged.
    test, n_judged = Errors(more).target_luck_test("CC", ("ae", "none"), "ae")
    assert n_judged == cell.details["judged_pairs"] == 1
    alone = Errors(more).comparisons.test(*(Key("small", "CC", "lr", t) for t in ("ae", "none")), "ae")
    assert (test.p_value, test.mark()) == (pytest.approx(alone.p_value), cell.value)


def test_the_overview_ranks_and_marks(results):
    table = tables(results)[-1]
    means = [cells[0].value for _, cells in table.rows]
    best = int(np.argmin(means))
    assert [cells[0].bold for _, cells in table.rows].index(True) == best
    assert table.rows[best][1][0].note.startswith("1, ")
    assert "Its rank is 1" in table.rows[best][1][0].hint[1]
    assert [labels for labels, _ in table.rows][-2:] == [["SVM(AE)", "", "ae"], ["MLPE", "", "none"]]
    errors = Errors(results)
    keys = [Row(*labels).on("small") for labels, _ in table.rows]
    marks = []
    for labels, cells in table.rows:
        cell = cells[0]
        if cell.bold:
            assert cell.mark == ""
            continue
        p = errors.comparisons.test(Row(*labels).on("small"), keys[best], "ae").p_value
        assert cell.mark == ("?" if p is None else "‡" if p >= 0.05 else "†" if p >= 0.001 else "")
        paired = ttest_rel(errors_of(results, *labels, "ae"), errors_of(results, *table.rows[best][0], "ae")).pvalue
        assert cell.details["p_value"] == pytest.approx(paired)
        assert cell.details["p_pool_and_runs"] == p
        assert cell.more.startswith(f"p {p_text(p)}, t {p_text(paired)}")
        marks.append(cell.mark)
    # A forest is drawn once by CC and PCC, so that their luck is unknown.
    unknown = {labels[0] for labels, cells in table.rows if cells[0].mark == "?" and labels[1] == "rf"}
    assert {"CC", "PCC"} <= unknown
    assert any(mark != "?" for mark in marks)


def test_table_6_shows_both_tests_in_every_form(results):
    table = tables(results)[-1]
    row = next(i for i, (_, cells) in enumerate(table.rows) if not cells[0].bold and cells[0].mark != "?")
    cell = table.rows[row][1][0]
    p, paired = cell.details["p_pool_and_runs"], cell.details["p_value"]
    for text in (table.to_text(), table.to_markdown(), table.to_latex(), table.to_html()):
        assert "paired t-test" in " ".join(text.split())
        assert "one run" in " ".join(text.split())
        unescaped = re.sub(r"</?span[^>]*>", "", text).replace("\u00a0", " ").replace("textless{}", "")
        unescaped = unescaped.replace("&lt;", "").replace("<", "").replace("\\", "")
        assert f"p {p_text(p)}, t {p_text(paired)}".replace("<", "") in unescaped
    frame = read_csv(StringIO(table.to_csv()))
    assert frame.loc[row, "AE small p"] == pytest.approx(p)
    assert frame.loc[row, "AE small p of paired t-test"] == pytest.approx(paired)


def test_a_store_without_labels_of_the_test_items_is_read_and_not_judged(results, tmp_path, data_folder):
    """Stores of earlier versions have no labels; a new run adds them and computes nothing again."""
    shutil.copytree(results.store.folder, tmp_path / "store")
    store = Store(tmp_path / "store")
    task = truth_task(results.plan, "small")
    record = store.read(task)
    store.write(replace(record, outcome={k: v for k, v in record.outcome.items() if k != "labels"}))
    old = Results(results.plan, tmp_path / "store")
    assert old.drawn("small") is None
    for now, before in zip(tables(results)[-1].rows, tables(old)[-1].rows, strict=True):
        assert before[1][0].value == now[1][0].value
        if not before[1][0].bold:
            assert before[1][0].mark == "?"
            assert before[1][0].details["not_judged"]
    summary = run_study(results.plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert summary.computed == 0
    samples, codes, true = Results(results.plan, tmp_path / "store").drawn("small")
    np.testing.assert_array_equal(samples.sum(np.eye(2)[codes]) / 40, true)


def test_missing_figures_are_shown_as_a_dash(results):
    part = Results(read_plan("stand-ins"), results.store.folder)
    for table in tables(part):
        assert all(cell.text() == "–" for _, cells in table.rows for cell in cells)
        assert table.to_text()


def test_published_figures_are_found_by_key():
    assert published(Key("imdb", "CC", "svm", "none"), "ae") == 0.065
    assert published(Key("imdb", "SVM(KLD)", "", "ae"), "ae") == 0.064
    assert published(Key("imdb", "MLPE", "", "none"), "ae") == 0.262
    assert published(Key("synthetic-imdb", "CC", "svm", "none"), "ae") is None


class Means:
    """Mean errors by method."""

    def __init__(self, **means):
        self.means = means

    def mean(self, key, measure):
        return self.means.get(key.method)


def test_equal_means_share_the_mean_of_their_ranks():
    rows = [Row(name, "", "ae") for name in ("A", "B", "C", "D")]
    ranks, unoptimised = ranks_of(Means(A=0.2, B=0.1, C=0.2), rows, "imdb", "ae")
    np.testing.assert_array_equal(ranks, [2.5, 1.0, 2.5, np.nan])
    np.testing.assert_array_equal(unoptimised, ranks)


def test_ranks_follow_the_direction_of_the_measure(monkeypatch):
    monkeypatch.setattr(error_registry, "_REGISTRY", dict(error_registry._REGISTRY))
    register_error(ErrorMeasure("gain", "1 - AE", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False))
    ranks, _ = ranks_of(Means(A=0.2, B=0.1), [Row("A", "", "ae"), Row("B", "", "ae")], "imdb", "gain")
    assert ranks.tolist() == [1.0, 2.0]


def test_tables_of_a_measure_with_higher_is_better(results, monkeypatch):
    """The best, the shades and the tests of 1 - AE are those of AE; its label heads the columns."""
    monkeypatch.setattr(error_registry, "_REGISTRY", dict(error_registry._REGISTRY))
    register_error(ErrorMeasure("gain", "1 - AE", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False))
    both = tables(Results(replace(results.plan, measures=("ae", "gain")), results.store.folder))
    assert [column.group for column in both[-1].columns] == ["AE", "1 - AE"]
    for _, (error, gain) in both[-1].rows:
        assert gain.value == pytest.approx(1.0 - error.value)
        assert (gain.bold, gain.mark, gain.details["rank"]) == (error.bold, error.mark, error.details["rank"])
        assert gain.shade == pytest.approx(error.shade)
    for _, cells in both[-2].rows:
        half = len(cells) // 2
        assert [cell.value for cell in cells[:half]] == [cell.value for cell in cells[half:]]
