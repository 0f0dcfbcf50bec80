"""Fixtures of the commands over tables: run them, expect them to be refused, small files to run them on."""

import sys

import numpy as np
import pandas as pd
import pytest

from headcount.cli import app as cli
from tests.conftest import scored_items
from tests.modelfile.test_modelfile import texts


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run the command line in an empty folder; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["headcount", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return stop.value.code, captured.out, captured.err

    return call


@pytest.fixture
def refused(run, tmp_path):
    """Run a command that must fail: exit code 2, one line that contains ``words``, no new files."""

    def call(words, *arguments):
        before = sorted(path.name for path in tmp_path.iterdir())
        code, out, err = run(*arguments)
        assert code == 2, err
        assert err.startswith("headcount: ")
        assert err.count("\n") == 1
        assert words in err
        assert out == ""
        assert sorted(path.name for path in tmp_path.iterdir()) == before

    return call


@pytest.fixture
def reviews(tmp_path):
    """A labelled table of texts, and a new one with dates."""
    words, y = texts(400)
    table = pd.DataFrame({"review": words, "stars": np.where(y == 1, "good", "bad"), "row": range(400)})
    table.to_csv(tmp_path / "labelled.csv", index=False)
    words, _ = texts(303, 7)
    days = ["2016-01-05"] * 150 + ["2016-02-07"] * 150 + ["2016-05-01"] * 3
    new = pd.DataFrame({"review": words, "day": days, "shop": ["x", "y", "z"] * 101})
    new.to_csv(tmp_path / "new.csv", index=False)
    new.to_parquet(tmp_path / "new.parquet")
    return tmp_path


FIT = ("fit", "labelled.csv", "--text", "review", "--label", "stars", "-o", "m.headcount", "--learner", "lr", "-j", 1)


@pytest.fixture
def model(reviews, run):
    code, out, err = run(*FIT, "--method", "PACC")
    assert code == 0, err
    assert "PACC over logistic regression" in out
    return reviews / "m.headcount"


def scored_files(folder, k=2):
    """Write labelled.csv and new.csv with scores, decisions (said), labels (y) and groups (g)."""
    names = ["neg", "pos", "mid"][:k]
    for name, n, seed in (("labelled.csv", 500, 0), ("new.csv", 900, 1)):
        codes, P = scored_items(n, k, seed, separation=1.2)
        frame = pd.DataFrame(P, columns=[f"score_{label}" for label in sorted(names)])
        labels = np.array(sorted(names))[codes]
        said = np.array(sorted(names))[P.argmax(axis=1)]
        frame.assign(y=labels, said=said, g=["a", "b", "c"] * (n // 3) + ["a"] * (n % 3)).to_csv(
            folder / name, index=False
        )


SCORED = "estimate", "--scored", "labelled.csv", "new.csv", "--label", "y"


def scored_table(n, seed=0):
    """Scores of two classes and labels."""
    y, P = scored_items(n, 2, seed)
    return pd.DataFrame({"score_0": P[:, 0], "score_1": P[:, 1], "y": y})
