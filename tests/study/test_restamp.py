"""Results are kept after a change of the code only if one task of each kind comes out the same; format 1 is taken over likewise."""

import json
import shutil

import pytest

from headcount.exceptions import DataError, StoreError
from headcount.study import Results, Store, execution, read_plan, restamp, run_study, store, tasks
from headcount.study.choice import choose, distinct
from headcount.study.status import status
from headcount.study.store import FORMAT, FORMAT_1, Record, load
from tests.study.conftest import PLAN
from tests.study.test_run import figures


@pytest.fixture(scope="module")
def done(tmp_path_factory, data_folder):
    """A plan and a store with all its results."""
    folder = tmp_path_factory.mktemp("restamp")
    (folder / "small.toml").write_text(PLAN)
    plan = read_plan(folder / "small.toml").only(learners=["lr", "own"])
    run_study(plan, folder / "store", n_jobs=1, data_dir=data_folder)
    return plan, folder / "store"


@pytest.fixture
def copied(done, tmp_path):
    plan, folder = done
    shutil.copytree(folder, tmp_path / "store")
    return plan, tmp_path / "store"


@pytest.fixture
def changed(monkeypatch):
    """Change the code of all tasks; its figures stay the same."""
    monkeypatch.setattr(tasks, "code_version", lambda roots: "changed")


def test_status_counts_only_results_that_a_run_would_use(copied, changed):
    plan, folder = copied
    rows, notices = status(plan, folder)
    assert sum(row.judged + row.tested for row in rows) == 0
    assert notices == []
    n = sum(row.other_code for row in rows)
    assert n == sum(row.to_judge + row.to_test for row in rows) == len(list(Store(folder).records())) - 1
    results = Results(plan, folder)
    assert all(cell.estimated is not None for cell in results.cells)  # a report shows them
    assert results.of_other_code == n


def test_status_says_what_speaks_against_a_result(copied):
    plan, folder = copied
    paths = sorted((folder / "select" / "small" / "lr").iterdir())
    for path, change in ((paths[0], {"versions": {"numpy": "0"}}), (paths[1], {"data": "other"})):
        Store(folder).write(Record(**(vars(load(path)) | change)))
    paths[2].write_text("damaged")
    (paths[0].parent / f"{'0' * 32}.result").write_text("of no task")
    rows, notices = status(plan, folder)
    row = next(row for row in rows if row.learner == "lr")
    assert (row.judged, row.to_judge, row.other_versions, row.other_data, row.other_code) == (15, 18, 1, 1, 0)
    assert (
        len([notice for notice in notices if "is not a file of a store. The next run computes it again" in notice]) == 2
    )


def test_results_are_kept_if_one_task_of_each_kind_comes_out_the_same(copied, data_folder, changed):
    plan, folder = copied
    codes = {path: load(path).code for path in Store(folder).records()}
    before, n = figures(plan, folder), len(codes) - 1
    found = restamp(plan, folder, n_jobs=1, data_dir=data_folder)
    assert (found.stamped, found.refused, found.kept, found.other) == (n, 0, 0, 0)
    assert all(kind.checked == 1 and kind.differences == [] for kind in found.kinds)
    assert {(kind.stage, kind.learner) for kind in found.kinds} == {
        (stage, learner) for stage in ("select", "test") for learner in ("lr", "own")
    }
    again = run_study(plan, folder, n_jobs=1, data_dir=data_folder)
    assert (again.computed, again.kept, again.notices) == (0, n, [])
    assert figures(plan, folder) == before
    for path in Store(folder).records():
        record = load(path)
        assert record.code == "changed"
        assert record.earlier_code == [codes[path]]
    assert restamp(plan, folder, n_jobs=1, data_dir=data_folder).kept == n


def test_results_of_a_kind_that_comes_out_otherwise_are_computed_again(copied, data_folder, changed, monkeypatch):
    plan, folder = copied
    judged = execution.judged

    def other(members, fold, measures):
        entries = judged(members, fold, measures)
        if members[0].method == "PACC":
            entries[0]["scores"]["ae"] += 1e-16
        return entries

    monkeypatch.setattr(execution, "judged", other)
    found = restamp(plan, folder, per_kind=2, n_jobs=1, data_dir=data_folder)
    refused = [kind for kind in found.kinds if kind.differences]
    assert [(kind.stage, kind.learner, kind.methods, kind.results) for kind in refused] == [
        ("select", "lr", ["PACC"], 12)
    ]
    assert refused[0].checked == 2
    assert "PACC lr (C=" in refused[0].differences[0]
    assert ": scores ae was " in refused[0].differences[0]
    lines = []
    again = run_study(plan, folder, n_jobs=1, data_dir=data_folder, notify=lines.append)
    assert again.computed == found.refused == 12
    assert any("12 results of the store were computed by other code of Headcount" in line for line in lines)


def test_other_estimates_errors_and_warnings_are_differences(copied, data_folder, changed, monkeypatch):
    plan, folder = copied
    tested = execution.tested

    def other(members, fold):
        entries = tested(members, fold)
        for member, entry in zip(members, entries, strict=True):
            if member.method == "MLPE":
                entry["estimated"] = store.to_plain(store.from_plain(entry["estimated"]) + 0.25)
            elif member.method == "SVM(AE)":
                entry["estimated"], entry["error"] = None, "ValueError: new"
            else:
                entry["warnings"] = ["UserWarning: new"]
        return entries

    monkeypatch.setattr(execution, "tested", other)
    found = restamp(plan, folder, n_jobs=1, data_dir=data_folder)
    text = "\n".join(line for kind in found.kinds for line in kind.differences)
    assert "MLPE (at its defaults), run 0: estimated differ by up to 0.25" in text
    assert "error was 'none', is 'ValueError: new'" in text
    assert "estimated are of another form" in text
    assert "warnings were of [], are of ['UserWarning']" in text
    assert {kind.stage for kind in found.kinds if kind.differences} == {"test"}


def test_results_of_other_versions_or_other_data_are_left_alone(copied, data_folder, changed):
    plan, folder = copied
    opened, (first, second) = Store(folder), list((folder / "select" / "small" / "lr").iterdir())[:2]
    for path, change in ((first, {"versions": {"numpy": "0"}}), (second, {"data": "other"})):
        opened.write(Record(**(vars(load(path)) | change)))
    found = restamp(plan, folder, n_jobs=1, data_dir=data_folder)
    assert found.other == 1
    assert load(first).code != "changed" != load(second).code


def in_format_1(plan, folder):
    """Rewrite a store as earlier versions would have written it."""
    opened = Store(folder)
    selecting = tasks.select_tasks(plan, "small")
    outcomes = [(task, load(opened.path_of(task.description)).outcome) for task in selecting]
    testing = tasks.chosen_tasks(plan, "small", distinct(choose(plan, outcomes)))
    pairs = [(task.description, task.in_format_1()) for task in (*selecting, *testing)]
    for new, old in [*pairs, (tasks.truth_task(plan, "small"), tasks.truth_task_in_format_1(plan, "small"))]:
        path = opened.path_of(new)
        content = {key: value for key, value in vars(load(path)).items() if key not in ("code", "earlier_code")}
        path.unlink()
        opened._write(opened.path_of(old), json.dumps(content | {"task": old}).encode())
    for path in folder.rglob("*.result"):
        path.write_bytes(path.read_bytes().replace(FORMAT.encode(), FORMAT_1.encode(), 1))
    return len(pairs)


def test_store_of_format_1_is_recognised_and_taken_over(copied, data_folder):
    plan, folder = copied
    before = figures(plan, folder)
    n = in_format_1(plan, folder)
    rows, notices = status(plan, folder)
    assert sum(row.judged + row.tested for row in rows) == 0
    assert notices == Store(folder).format_1_notice() == Results(plan, folder).notices[:1]
    assert f"{n + 1} results in {folder} are of format 1" in notices[0]
    assert all(cell.missing for cell in Results(plan, folder).cells)
    found = restamp(plan, folder, n_jobs=1, data_dir=data_folder)
    assert (found.stamped, found.refused) == (n, 0)
    assert Store(folder).format_1_notice() == []
    assert figures(plan, folder) == before
    again = run_study(plan, folder, n_jobs=1, data_dir=data_folder)
    assert (again.computed, again.kept, again.notices) == (0, n, [])


def test_run_on_a_store_of_format_1_says_so_and_leaves_its_files_alone(copied, data_folder):
    plan, folder = copied
    in_format_1(plan, folder)
    old = set(folder.rglob("*/*.result"))
    lines = []
    summary = run_study(plan.only(learners=["own"]), folder, n_jobs=1, data_dir=data_folder, notify=lines.append)
    assert "are of format 1" in lines[0]
    assert "are of format 1" in summary.notices[0]
    assert summary.kept == 0
    assert {path for path in old if path.parent.name != "own"} <= set(folder.rglob("*/*.result"))


def test_mistakes_raise_clear_errors(copied, tmp_path):
    plan, folder = copied
    with pytest.raises(DataError, match="At least one task of each kind must be computed; got 0"):
        restamp(plan, folder, per_kind=0)
    with pytest.raises(StoreError, match="There is no store"):
        restamp(plan, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
