"""`headcount open`: a page in a temporary file, and a browser that is told to show it."""

import webbrowser
from pathlib import Path

import pytest

from tests.cli.conftest import SCORED, scored_files

OPEN = "open", *SCORED[1:]


@pytest.fixture
def opened(monkeypatch, tmp_path):
    """Addresses that a browser was told to open; temporary files go to a folder of their own."""
    addresses = []
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setattr(webbrowser, "open", lambda address: addresses.append(address) or True)
    return addresses


def test_the_page_is_written_and_opened(tmp_path, run, opened):
    scored_files(tmp_path)
    code, out, err = run(*OPEN, "--by", "g")
    assert code == 0, err
    path = Path(out.strip())
    assert path.parent == tmp_path / "tmp"
    assert opened == [path.as_uri()]
    page = path.read_text(encoding="utf-8")
    assert "Shares of y by g" in page
    assert "All items together" in page  # the total, with its interval
    assert sorted(file.name for file in tmp_path.iterdir()) == ["labelled.csv", "new.csv", "tmp"]


def test_help_shows_an_example(run):
    assert "Example: headcount open stars.headcount new.csv" in " ".join(run("open", "--help")[1].split())


def test_no_browser_is_opened_where_none_is_wanted_or_found(tmp_path, run, opened, monkeypatch):
    scored_files(tmp_path)
    code, out, err = run(*OPEN, "--no-browser")
    assert (code, opened) == (0, [])
    assert "No browser" not in err
    assert Path(out.strip()).is_file()
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    code, out, err = run(*OPEN)
    assert code == 0
    assert "No browser could be opened" in err
    assert Path(out.strip()).is_file()


def test_a_refused_command_writes_no_page(tmp_path, refused, opened):
    scored_files(tmp_path)
    refused("has no column 'h'", *OPEN, "--by", "h")
    assert opened == []
    assert list((tmp_path / "tmp").iterdir()) == []
