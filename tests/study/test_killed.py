"""A study that is killed at any moment, even inside a write, goes on where it was and ends with the same figures."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from headcount.study import read_plan, run_study
from tests.study.conftest import PLAN
from tests.study.test_run import figures


def start(plan, store, data):
    command = [
        sys.executable,
        "-m",
        "headcount",
        "study",
        "run",
        str(plan),
        "--store",
        str(store),
        "--jobs",
        "2",
        "--data-dir",
        str(data),
    ]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def killed_study(folder, data, moments):
    """Start a study and kill it with all its workers after each number of seconds; then run it to the end and check it."""
    (folder / "small.toml").write_text(PLAN)
    plan = read_plan(folder / "small.toml")
    run_study(plan, folder / "whole", n_jobs=1, data_dir=data)
    for moment in moments:
        process = start(folder / "small.toml", folder / "store", data)
        time.sleep(moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    process = start(folder / "small.toml", folder / "store", data)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert errors == ""
    assert figures(plan, folder / "store") == figures(plan, folder / "whole")
    assert not list((folder / "store").rglob("*.part"))


@pytest.mark.slow
def test_killed_twice(tmp_path, data_folder):
    killed_study(tmp_path, data_folder, [2.5, 4.0])


@pytest.mark.slow
def test_killed_at_30_random_moments(tmp_path, data_folder):
    generator = np.random.default_rng(0)
    killed_study(tmp_path, data_folder, generator.uniform(1.0, 6.0, 30))


def test_killed_inside_a_write(tmp_path, data_folder):
    """The process dies when half of a file is written: the next run removes the file and computes it."""
    (tmp_path / "small.toml").write_text(PLAN)
    code = f"""
import os, signal
from headcount.study import read_plan, run_study, store
write, count = store.Store._write, [0]
def dying(self, path, content):
    count[0] += 1
    if count[0] == 12:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".part").write_bytes(content[: len(content) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    write(self, path, content)
store.Store._write = dying
run_study(read_plan({str(tmp_path / "small.toml")!r}), {str(tmp_path / "store")!r}, n_jobs=1, data_dir={str(data_folder)!r})
"""
    died = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL
    assert list((tmp_path / "store").rglob("*.part"))
    plan = read_plan(tmp_path / "small.toml")
    after = run_study(plan, tmp_path / "store", n_jobs=1, data_dir=data_folder)
    assert after.kept > 0
    assert not list((tmp_path / "store").rglob("*.part"))
    run_study(plan, tmp_path / "whole", n_jobs=1, data_dir=data_folder)
    assert figures(plan, tmp_path / "store") == figures(plan, tmp_path / "whole")
