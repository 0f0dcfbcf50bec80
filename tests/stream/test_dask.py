"""A folder of Parquet files gives the same shares on a Dask cluster of two processes as in this process."""

import io
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.frozen import FrozenEstimator

from headcount import PACC, SLD
from headcount.cli import app as cli
from headcount.desk import estimate_tables, fit_table
from headcount.exceptions import DataError
from headcount.learners import BlackBox
from headcount.stream import Reading, Recipe, estimate_groups, tally_files
from tests.conftest import scored_items
from tests.features.test_table_columns import tickets

distributed = pytest.importorskip("distributed", reason="the extra 'dask' is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # warnings of the cluster when it shuts down

CODES, LABELLED = scored_items(500, 2, 1, separation=1.0)


@pytest.fixture(scope="module")
def cluster():
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        yield cluster


@pytest.fixture
def folder(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    _, P = scored_items(4000, 2, 5, separation=1.0, shares=[0.7, 0.3])
    frame = pd.DataFrame(
        {"month": np.array(["a", "b", "c"])[np.arange(4000) % 3], "score_0": P[:, 0], "score_1": P[:, 1]}
    )
    for part in range(4):
        frame[part * 1000 : (part + 1) * 1000].to_parquet(parts / f"part-{part}.parquet")
    pd.DataFrame({"score_0": LABELLED[:, 0], "score_1": LABELLED[:, 1], "y": CODES}).to_csv(
        tmp_path / "l.csv", index=False
    )
    return parts


def test_mixed_columns_on_a_cluster_give_the_bits_of_this_process(tmp_path, cluster):
    labelled, team = tickets(300)
    model = fit_table(labelled.assign(team=team), label="team", method="PACC", learner="lr", budget=0.001)
    new, _ = tickets(200, 1)
    (tmp_path / "parts").mkdir()
    for part in range(2):
        new[part * 100 : (part + 1) * 100].to_parquet(tmp_path / "parts" / f"{part}.parquet")
    local = estimate_tables(model, tmp_path / "parts", by="opened:week")
    on_cluster = estimate_tables(model, tmp_path / "parts", by="opened:week", cluster=cluster.scheduler_address)
    np.testing.assert_array_equal(on_cluster.shares, local.shares)
    assert on_cluster.records() == local.records()


@pytest.mark.parametrize(("method", "more"), [(PACC, {}), (SLD, {"calibration": "bcts"})])
def test_shares_on_a_cluster_equal_those_of_this_process(folder, cluster, method, more):
    box = FrozenEstimator(BlackBox((0, 1)).fit())
    recipe = Recipe(method(box, **more).fit(LABELLED, CODES), (LABELLED, CODES))
    reading = Reading(recipe, "scores", ("score_0", "score_1"), "month")
    rows = []
    local = estimate_groups(tally_files([folder], reading))
    on_cluster = estimate_groups(tally_files([folder], reading, rows.append, cluster.scheduler_address))
    np.testing.assert_array_equal(on_cluster.shares, local.shares)
    np.testing.assert_array_equal(on_cluster.low, local.low)
    assert on_cluster.verdicts == local.verdicts
    assert rows == [1000] * 4
    (folder / "part-9.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"part-9.parquet is a damaged Parquet file"):
        tally_files([folder], reading, None, cluster.scheduler_address)


def test_the_command_line_gives_the_same_with_and_without_a_cluster(folder, cluster, monkeypatch, capsys):
    def shares(*options):
        arguments = (
            "estimate",
            "--scored",
            str(folder.parent / "l.csv"),
            str(folder),
            "--label",
            "y",
            "--by",
            "month",
            "-o",
            "-",
        )
        monkeypatch.setattr(sys, "argv", ["headcount", *arguments, *options])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        assert stop.value.code == 0
        return pd.read_csv(io.StringIO(capsys.readouterr().out))

    pd.testing.assert_frame_equal(shares("--dask", cluster.scheduler_address), shares(), check_exact=True)
