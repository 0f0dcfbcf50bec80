"""Tests that the examples run, on generated reviews and, where they are available, on the real ones."""

import gzip
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "device_reviews.py"


def run_example(monkeypatch, capsys, *arguments):
    """Run the example as a script and return what it prints."""
    monkeypatch.setattr(sys, "argv", ["device_reviews.py", *map(str, arguments)])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    return capsys.readouterr().out


@pytest.fixture
def generated_reviews(tmp_path):
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


def test_example_runs_on_generated_reviews(monkeypatch, capsys, generated_reviews):
    out = run_example(monkeypatch, capsys, generated_reviews)
    assert "499 labelled reviews before July 2016, 1,000 later ones" in out
    assert "2016-Q3        500" in out
    assert "Best here: " in out


def test_option_split_writes_two_tables(monkeypatch, capsys, generated_reviews):
    train, new = generated_reviews / "train.tsv", generated_reviews / "new.tsv"
    run_example(monkeypatch, capsys, generated_reviews, "--split", train, new)
    assert len(train.read_text().splitlines()) == 500
    assert len(new.read_text().splitlines()) == 1001


def test_missing_data_gives_a_message(monkeypatch, tmp_path, capsys):
    with pytest.raises(SystemExit, match="There is no file"):
        run_example(monkeypatch, capsys, tmp_path)


@pytest.mark.data
@pytest.mark.slow
def test_pcc_is_best_on_real_reviews_whose_shares_move_little(monkeypatch, capsys, data_dir):
    out = run_example(monkeypatch, capsys, data_dir)
    assert "Best here: PCC." in out
