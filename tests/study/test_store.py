"""The store: files are complete or not there, and every damaged or foreign file is noticed."""

import errno
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest

from headcount.exceptions import DataError, StoreError
from headcount.study.store import FORMAT, FORMAT_1, Record, Store, from_plain, load, to_plain, versions

TASK = {"stage": "test", "data_set": "imdb", "learner": "lr", "C": 1.0}


def record(**changes):
    return Record(
        **({"task": TASK, "data": "abc", "outcome": {"x": 1}, "seconds": 0.5, "versions": versions()} | changes)
    )


def test_record_is_read_as_it_was_written(tmp_path):
    with Store(tmp_path).opened() as store:
        path = store.write(record())
    assert path.parent == tmp_path / "test" / "imdb" / "lr"
    assert Store(tmp_path).read(TASK, "abc") == record()
    assert Store(tmp_path).read(TASK | {"C": 2.0}, "abc") is None
    assert list(Store(tmp_path).records()) == [path]


def test_arrays_are_stored_to_the_bit():
    array = np.random.default_rng(0).standard_normal((7, 3))
    assert np.array_equal(from_plain(to_plain(array)), array)
    assert from_plain(to_plain(np.empty((0, 2)))).shape == (0, 2)
    with pytest.raises(DataError, match="not an array of a store"):
        from_plain({"shape": [1], "float64": "!!"})


@pytest.mark.parametrize("position", [0, 20, 60, 100, -1])
def test_one_damaged_byte_is_noticed(tmp_path, position):
    store = Store(tmp_path)
    path = store.write(record())
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    assert store.read(TASK, "abc") is None
    assert str(path) in store.notices[0]
    assert "computed again" in store.notices[0]


@pytest.mark.parametrize("length", [0, 10, 90, 200])
def test_truncated_file_is_noticed(tmp_path, length):
    store = Store(tmp_path)
    path = store.write(record())
    path.write_bytes(path.read_bytes()[:length])
    assert store.read(TASK, "abc") is None
    assert store.notices


def test_other_versions_and_other_data_are_noticed(tmp_path):
    store = Store(tmp_path)
    store.write(record(versions=versions() | {"numpy": "1.0"}))
    assert store.read(TASK, "abc") is None
    assert "'numpy': '1.0, now" in store.notices[-1]
    store.write(record(data="other data"))
    assert store.read(TASK, "abc") is None
    assert "from other data (other data, now abc)" in store.notices[-1]
    path = store.write(record())
    path.write_bytes(path.read_bytes().replace(FORMAT.encode(), b"headcount-result 3"))
    assert store.read(TASK, "abc") is None
    assert "is of another version ('headcount-result 3', here 'headcount-result 2')" in store.notices[-1]
    path.write_text("something else")
    with pytest.raises(StoreError, match="is not a file of a store"):
        load(path)


def test_results_of_other_code_are_counted_in_one_notice(tmp_path):
    store = Store(tmp_path)
    tasks = [TASK | {"C": float(i)} for i in range(3)]
    paths = [store.write(record(task=task, code="before")) for task in tasks]
    assert store.read(tasks[0], "abc", code="before") == record(task=tasks[0], code="before")
    assert store.read(tasks[0], "abc") is not None  # whatever its code
    assert [store.read(task, "abc", code="after") for task in tasks] == [None] * 3
    assert store.notices == [
        f"{paths[0]} and 2 more were computed by other code of Headcount. They are computed again."
    ]
    assert store.other_code == 3


def test_another_version_of_headcount_with_the_same_code_is_no_reason_to_compute_again(tmp_path):
    store = Store(tmp_path)
    store.write(record(versions=versions() | {"headcount": "0.0"}, code="same"))
    assert store.read(TASK, "abc", code="same") is not None


def test_results_of_format_1_are_recognised_and_not_read(tmp_path):
    store = Store(tmp_path)
    assert store.format_1_notice() == []
    path = store.write(record())
    path.write_bytes(path.read_bytes().replace(FORMAT.encode(), FORMAT_1.encode()))
    assert store.read(TASK, "abc") is None
    assert "1 results in" in store.format_1_notice()[0]
    assert "headcount study restamp" in store.format_1_notice()[0]
    assert load(path, FORMAT_1) == record()


def test_renamed_file_is_noticed(tmp_path):
    store = Store(tmp_path)
    path = store.write(record())
    path.rename(store.path_of(TASK | {"C": 2.0}))
    assert store.read(TASK | {"C": 2.0}, "abc") is None
    assert "another task than its name says" in store.notices[0]


def test_second_run_on_a_store_raises_an_error_that_names_the_first(tmp_path):
    code = f"""
import time
from headcount.study import Store
with Store({str(tmp_path)!r}).opened():
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with (
            pytest.raises(StoreError, match=f"is in use by process {other.pid} on .* --store"),
            Store(tmp_path).opened(),
        ):
            pass
        other.kill()
    with Store(tmp_path).opened():  # the system releases the lock of a killed process
        pass


def test_half_written_files_of_a_killed_run_are_removed(tmp_path):
    half_written = tmp_path / "test" / "imdb" / "lr" / f"{'0' * 32}.part"
    foreign = [tmp_path / "imdb_train.txt.part", half_written.parent / "mine.part"]
    half_written.parent.mkdir(parents=True)
    for path in (half_written, *foreign):
        path.write_text("half")
    with Store(tmp_path).opened():
        assert not half_written.exists()
        assert all(path.exists() for path in foreign)


def test_a_full_disk_loses_nothing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    kept = store.write(record())
    before = kept.read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match=r"There is no space left .* run again to go on"):
        store.write(record(outcome={"x": 2}))
    assert kept.read_bytes() == before
    assert not list(tmp_path.rglob("*.part"))


def test_folder_that_cannot_be_written_to_raises_a_clear_error(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with (
        pytest.raises(StoreError, match=r"can't be written to: .* Name another folder with --store"),
        Store(blocked / "store").opened(),
    ):
        pass


def test_changes_of_a_plan_are_listed(tmp_path):
    store = Store(tmp_path)
    plan = {"seed": 1, "learners": [{"name": "lr", "grid": {"C": [1, 2]}}], "name": "x"}
    assert store.write_plan(plan) == []
    assert store.plan() == plan
    changed = {"seed": 2, "learners": [{"name": "lr", "grid": {"C": [1, 3]}}], "name": "x"}
    assert store.write_plan(changed) == ["learners[lr].grid.C[1] was 2, is 3", "seed was 1, is 2"]
    other = changed | {"learners": [{"name": "rf", "grid": {}}]}
    assert store.write_plan(other) == []  # another part of the same plan
    assert store.write_plan(changed) == []
    assert store.write_plan(plan) != []
    (tmp_path / "plan.result").write_text("broken")
    assert store.write_plan(plan) == []
    assert "It is written again" in store.notices[0]
    content = b"no JSON"
    (tmp_path / "plan.result").write_bytes(f"{FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode() + content)
    with pytest.raises(StoreError, match="does not hold a plan"):
        store.plan()
    assert store.write_plan(plan) == []


def test_studies_can_be_imported_without_fcntl():
    """As on Windows."""
    code = "import sys; sys.modules['fcntl'] = None; import headcount.study"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "changes",
    [
        {"versions": None},
        {"versions": {"numpy": 2}},
        {"outcome": None},
        {"outcome": {"members": [None]}},
        {"seconds": "1"},
        {"data": None},
        {"code": 1},
        {"earlier_code": {}},
    ],
)
def test_values_of_another_type_are_noticed(tmp_path, changes):
    store = Store(tmp_path)
    store.write(record(**changes))
    assert store.read(TASK) is None
    assert "does not hold a result" in store.notices[0]
