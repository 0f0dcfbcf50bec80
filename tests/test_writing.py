"""Several files are written all or none."""

import os
import socket
import stat
from pathlib import Path

import pytest

from headcount._writing import check_outputs, write_all
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


def special_files(folder):
    """A device, a pipe, a socket and a link that leads to itself, with the words they are refused with."""
    os.mkfifo(folder / "pipe.csv")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket.csv"))
    (folder / "device.csv").symlink_to(os.devnull)
    (folder / "loop.csv").symlink_to("loop.csv")
    return {
        "pipe.csv": "a pipe",
        "socket.csv": "a socket",
        "device.csv": "a device",
        "loop.csv": "leads back to itself",
    }


def test_only_regular_files_are_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    special = special_files(tmp_path)
    kinds = {name: Path(name).lstat().st_mode for name in special}
    for name, words in {**special, os.devnull: "a device"}.items():
        for act in (check_outputs, lambda files: write_all(dict.fromkeys(files, "figures"))):
            with pytest.raises(DataError, match=words):
                act([Path(name)])
    assert {name: Path(name).lstat().st_mode for name in special} == kinds
    assert Path(os.devnull).is_char_device()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(special)


def test_the_file_that_a_link_leads_to_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "elsewhere" / "real.csv")
    for text in ("new", "replaced"):
        write_all({tmp_path / "link.csv": text})
        assert (tmp_path / "link.csv").is_symlink()
        assert (tmp_path / "elsewhere" / "real.csv").read_text() == text
        (tmp_path / "elsewhere" / "real.csv").chmod(0o600)
    assert stat.S_IMODE((tmp_path / "elsewhere" / "real.csv").stat().st_mode) == 0o600


def test_an_input_is_not_overwritten_by_any_of_its_names(tmp_path):
    source = tmp_path / "new.csv"
    source.write_text("rows")
    (tmp_path / "hard.csv").hardlink_to(source)
    (tmp_path / "soft.csv").symlink_to(source)
    for name in ("new.csv", "hard.csv", "soft.csv"):
        with pytest.raises(DataError, match="is an input of this command"):
            check_outputs([tmp_path / name], inputs=[source])
    with pytest.raises(DataError, match="named twice"):
        check_outputs([tmp_path / "new.csv", tmp_path / "hard.csv"])


def test_a_read_only_folder_is_named_before_the_work(tmp_path, monkeypatch):
    check_outputs([tmp_path / "page.html"])
    monkeypatch.setattr("headcount._writing.os.access", lambda path, mode: mode != os.W_OK or path != tmp_path)
    with pytest.raises(DataError, match=r"page.html can't be written: nothing can be written to the folder"):
        check_outputs([tmp_path / "page.html"])
