"""The examples run, on made-up reviews, and on the real ones where they are."""

import gzip
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "device_reviews.py"


def told(monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["device_reviews.py", *map(str, arguments)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    return capsys.readouterr().out


@pytest.fixture
def made_up(tmp_path):
    generator = np.random.default_rng(0)
    rows = ["date\trow\tstars\tasins\ttitle\ttext"]
    for i in range(1500):
        stars = generator.choice([1, 2, 3, 4, 5], p=[0.1, 0.1, 0.2, 0.2, 0.4])
        words = " ".join(f"word{generator.poisson(4 * stars)}" for _ in range(12))
        date = ("2016-03-01", "2016-08-01", "2017-02-02")[i % 3] if i else ""
        rows.append(f"{date}\t{i}\t{stars}\tA\tt\t{words}")
    (tmp_path / "amazon_devices").mkdir()
    (tmp_path / "amazon_devices" / "all.tsv.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    return tmp_path


def test_the_example_runs(monkeypatch, capsys, made_up):
    out = told(monkeypatch, capsys, made_up)
    assert "499 labelled reviews before July 2016, 1,000 later ones" in out
    assert "2016-Q3        500" in out
    assert "Best here: " in out


def test_the_example_writes_tables_for_the_command_line(monkeypatch, capsys, made_up):
    train, new = made_up / "train.tsv", made_up / "new.tsv"
    told(monkeypatch, capsys, made_up, "--split", train, new)
    assert len(train.read_text().splitlines()) == 500
    assert len(new.read_text().splitlines()) == 1001


def test_without_the_data_it_says_so(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit, match="There is no file"):
        told(monkeypatch, capsys, tmp_path)


@pytest.mark.data
def test_real_reviews_move_little_and_pcc_is_best(monkeypatch, capsys, data_dir):
    out = told(monkeypatch, capsys, data_dir)
    assert "Best here: PCC." in out
