"""A study on a real Dask cluster of two workers, one of which is killed during the run."""

import sys
import threading
import time
import warnings

import pytest

from headcount._dask import connect
from headcount.exceptions import DataError
from headcount.study import Store, run_study
from tests.study.test_run import figures

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # the cluster's own, at its end


@pytest.fixture
def cluster():
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        yield cluster


@pytest.mark.slow
def test_figures_are_the_same_when_a_worker_dies(plan, data_folder, tmp_path, cluster):
    run_study(plan, tmp_path / "alone", n_jobs=1, data_dir=data_folder)
    workers = list(cluster.workers.values())

    def kill_one():
        while len(list(Store(tmp_path / "store").records())) < 4:
            time.sleep(0.05)
        workers[0].process.process.kill()

    killer = threading.Thread(target=kill_one)
    killer.start()
    summary = run_study(plan, tmp_path / "store", dask=cluster.scheduler_address, data_dir=data_folder)
    killer.join()
    assert summary.failures == []
    assert figures(plan, tmp_path / "store") == figures(plan, tmp_path / "alone")


def test_missing_scheduler_raises_a_clear_error(plan, data_folder, tmp_path):
    with pytest.raises(DataError, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:1"):
        run_study(plan, tmp_path / "store", dask="tcp://127.0.0.1:1", data_dir=data_folder)


def test_connect_without_the_packages_raises_a_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(DataError, match=r"needs the packages dask and distributed: pip install 'headcount\[dask\]'"),
        connect("tcp://127.0.0.1:1"),
    ):
        pass
