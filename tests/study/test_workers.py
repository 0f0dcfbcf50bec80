"""Workers end with the process that started them, however that is killed."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from sklearn.linear_model import LogisticRegression

from headcount.exceptions import DataError
from headcount.study import Store, run_study
from headcount.study.tasks import select_tasks
from tests.study.conftest import PLAN
from tests.study.test_killed import start

FOLDER = "HEADCOUNT_TEST_WORKERS"


class Endless(LogisticRegression):
    """Notes its process and never ends."""

    def fit(self, X, y):
        (Path(os.environ[FOLDER]) / str(os.getpid())).touch()
        while True:
            time.sleep(0.1)


def is_alive(process):
    """Whether a process runs; one that has ended may stay as an entry until its parent, or who adopts it, asks."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("how", [signal.SIGHUP, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_workers_end_with_a_run_that_is_killed(tmp_path, data_folder, monkeypatch, how):
    (tmp_path / "plan.toml").write_text(
        PLAN.replace("sklearn.linear_model.LogisticRegression", "tests.study.test_workers.Endless")
    )
    (tmp_path / "workers").mkdir()
    monkeypatch.setenv(FOLDER, str(tmp_path / "workers"))
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # tests run by nohup ignore it, and so would the run
    process = start(tmp_path / "plan.toml", tmp_path / "store", data_folder)
    try:
        assert wait_for(lambda: len(list((tmp_path / "workers").iterdir())) == 2, 60)
        workers = [int(path.name) for path in (tmp_path / "workers").iterdir()]
        assert process.pid not in workers
        assert all(map(is_alive, workers))
        process.send_signal(how)
        assert process.wait(10) == -how
        assert wait_for(lambda: not any(map(is_alive, workers)), 10)
    finally:
        os.killpg(process.pid, signal.SIGKILL) if process.poll() is None else None
        process.stderr.close()


def test_worker_with_other_code_is_refused(plan, data_folder, tmp_path, monkeypatch):
    """As when the code changes during a long run, and a new worker takes the place of another."""
    codes = iter(["parent"] * 3 + ["worker"] * 99)
    monkeypatch.setattr("headcount.study.tasks.code_version", lambda roots: next(codes))
    with pytest.raises(DataError, match="A worker has other code of Headcount than the run that started it"):
        run_study(plan.only(learners=["own"]), tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert not list((tmp_path / "store" / "select").rglob("*.result"))


def test_results_are_stamped_with_the_version_of_the_code_of_their_task(plan, data_folder, tmp_path):
    part = plan.only(learners=["own"])
    run_study(part, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    (task,) = select_tasks(part, "small")
    record = Store(tmp_path / "store").read(task.description, code=task.code)
    assert record is not None
    assert record.code == task.code_here(task.error_measures())
