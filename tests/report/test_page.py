"""The page of a small study, without a browser: complete, self-contained, each figure with its file."""

import csv
import json
import re

import pytest

from headcount.exceptions import DataError
from headcount.report import gather, render, to_json, write_csv, write_whole
from headcount.report.words import in_words
from headcount.study import Results, read_plan


@pytest.fixture(scope="module")
def contents(study_results):
    return gather(study_results)


@pytest.fixture(scope="module")
def page(contents):
    return render(contents)


def test_the_page_needs_nothing_else(page):
    assert not re.search(r'(src|href)="(?!#|data:)[^"]*"', page)
    assert "@import" not in page
    assert "url(http" not in page


def test_names_are_escaped(page):
    assert "A &lt;small&gt; &amp; whole study" in page
    assert "<small>" not in page


def test_all_parts_are_there(page):
    for part in ("words", "claims", "tables", "diagonals", "shifts", "biases", "ranks", "times", "provenance"):
        assert f'<section id="{part}">' in page
    assert 'id="missing"' not in page
    assert page.count("<figure ") == page.count("</svg>") == 2 * 6 * 2 + 2 + 1 + 2


def test_ids_are_distinct(page):
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_each_figure_of_the_tables_names_its_files(page, study_results):
    cells = re.findall(r'<td class="figure[^>]*data-value="([0-9.]+)"[^>]*title="([^"]*)"', page)
    assert len(cells) == 4 * 12 * 4 + 16 * 4
    for _, title in cells:
        names = re.findall(r"test/\S+\.result", title)
        assert names
        assert all((study_results.store.folder / name).is_file() for name in names)


def test_plots_name_their_files(contents, study_results):
    for entry in [*contents.diagonals, *contents.shifts, *contents.biases]:
        assert entry.files
        assert all((study_results.store.folder / name).is_file() for name in entry.files)


def test_the_same_store_gives_the_same_page(page, study_results):
    again = Results(study_results.plan, study_results.store.folder)
    assert render(gather(again)) == page


def test_words_name_the_winner_and_the_test(contents):
    said = " ".join(contents.words)
    first = contents.ranks[0]
    assert f"The best by mean rank is {first.method}" in said
    assert "Holm's correction" in said
    assert "from" in said
    assert "p-values flatter" in said
    assert in_words(None, []) == ["The store has no results of this plan yet, so nothing can be said."]


def test_json_has_everything(contents):
    whole = json.loads(to_json(contents))
    assert [table["title"][:7] for table in whole["tables"]] == [f"Table {i}" for i in range(1, 7)]
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


def test_csv_has_everything(contents, tmp_path):
    written = write_csv(contents, tmp_path / "figures")
    names = {path.stem for path in written}
    assert names == {
        *(f"table-{i}" for i in range(1, 7)),
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


def test_what_cannot_be_written_is_said(contents, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="can't be made"):
        write_csv(contents, tmp_path / "file" / "folder")
    with pytest.raises(DataError, match="can't be written"):
        write_whole(tmp_path / "none" / "page.html", "")
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize(
    ("data_sets", "learners"), [(["uneven"], None), (None, ["lr"]), (["even"], ["own"]), (None, ["mnb"])]
)
def test_a_part_of_the_plan_gives_a_page(study_results, data_sets, learners):
    part = Results(study_results.plan.only(data_sets, learners), study_results.store.folder)
    page = render(gather(part))
    assert "cannot be judged here" in page
    assert 'id="missing"' not in page


def test_missing_cells_are_said(study_results, tmp_path):
    import shutil

    shutil.copytree(study_results.store.folder, tmp_path / "store")
    for path in [
        *(tmp_path / "store" / "test" / "even" / "mnb").iterdir(),
        *(tmp_path / "store" / "select" / "uneven" / "own").iterdir(),
    ]:
        path.unlink()
    next((tmp_path / "store" / "test" / "even" / "lr").iterdir()).write_text("broken")
    part = gather(Results(study_results.plan, tmp_path / "store"))
    said = " ".join(part.missing)
    assert "even, mnb: nothing" in said
    assert "uneven, methods without a learner of the plan: 1 of 2 runs are missing" in said
    assert "It is left out" in said
    assert 'id="missing"' in render(part)


def test_another_plan_gives_a_page_that_says_so(study_results):
    nothing = gather(Results(read_plan("stand-ins"), study_results.store.folder))
    page = render(nothing)
    assert "no results of this plan yet" in page
    assert "nothing (" in page
    assert {claim.verdict for claim in nothing.claims} == {"cannot be judged here"}
