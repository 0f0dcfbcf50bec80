"""The progress bar."""

import sys

from headcount.cli.progress import progress_bar


def test_progress_is_shown_only_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress_bar("Reading") as progress:
        progress(1000)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    with progress_bar("Reading") as progress:
        assert progress is None
