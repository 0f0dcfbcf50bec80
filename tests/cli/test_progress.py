"""The progress bar."""

import sys
from types import SimpleNamespace

from joblib import delayed

from headcount.cli.progress import download_bars, progress_bar
from headcount.selection.progress import run_all


def test_progress_is_shown_only_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("Reading") as progress:
        progress(1000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress_bar("Reading") as progress:
        assert progress is None


def test_downloads_are_shown_only_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with download_bars() as progress:
        progress("a.txt", 500, 2000)
        progress("a.txt", 2000, 2000)
        progress("b.txt", 10, 0)
    shown = capsys.readouterr().err
    assert "a.txt" in shown
    assert "2.0/2.0 kB" in shown
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with download_bars() as progress:
        assert progress is None
    assert capsys.readouterr().err == ""


def test_the_bar_names_what_is_being_tried(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal to rich
    jobs = [delayed(SimpleNamespace)(job=job) for job in (0, 2)]
    names = {0: "a forest", 2: "PACC over naive Bayes"}
    assert sorted(result.job for result in run_all(jobs, 1, "Trying", True, names)) == [0, 2]
    assert "Trying a forest" in capsys.readouterr().err
