"""Several files are written all or none."""

from pathlib import Path

import pytest

from headcount._writing import write_all
from headcount.exceptions import DataError


def test_either_all_files_are_written_or_none(tmp_path):
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "folder").mkdir()
    first = tmp_path / "new.html"
    for invalid, message in (
        (tmp_path / "file" / "x.json", "can't be written"),
        (tmp_path / "folder", "is a folder"),
        (tmp_path / "none" / "x.json", "can't be written"),
        (tmp_path / "nul\0.json", "can't be written"),
        (first.parent / "folder" / ".." / "new.html", "named twice"),
        (Path(), "is a folder"),
    ):
        with pytest.raises(DataError, match=message):
            write_all({first: "page", invalid: "figures"})
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "folder"]
    write_all(
        {first: "text that is not valid UTF-8: \udcff", tmp_path / "made" / "x.json": "figures"}, [tmp_path / "made"]
    )
    assert first.read_text() == "text that is not valid UTF-8: ?"
