"""Downloads from a server that cuts connections, supports ranges or not, or does not answer."""

import errno
import hashlib
import http.server
import io
import json
import threading
import zlib
from pathlib import Path

import pytest

from headcount.data import PAPER_SETS, digests, fetch_set, fetching, list_sets, load_set
from headcount.exceptions import DataError, FileFormatError, UnknownNameError


def content(part):
    kindle = PAPER_SETS["kindle"]
    n = kindle.n_train if part == "train" else kindle.n_test
    positive = round(kindle.positive * n)
    return ("1\tgood\n" * positive + "0\tbad\n" * (n - positive)).encode()


class Server(http.server.BaseHTTPRequestHandler):
    """Serves the two files; `limit` cuts responses short, the others say what the server supports and sends."""

    limit, ranges, if_range, tags, length, unasked, requests = None, True, True, True, True, False, []
    files = {f"/kindle_{part}.txt": content(part) for part in ("train", "test")}  # noqa: RUF012

    def do_GET(self):
        whole, first = self.files[self.path], 0
        tag = f'"{zlib.crc32(whole)}"'
        requested, version = self.headers.get("Range"), self.headers.get("If-Range")
        type(self).requests.append((self.path, requested))
        resumed = requested and self.ranges and (not self.if_range or version in (None, tag))
        if resumed:
            first = int(requested.removeprefix("bytes=").removesuffix("-"))
            if first >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.end_headers()
                return
        if self.unasked:
            first = 5
        self.send_response(206 if resumed or self.unasked else 200)
        if resumed or self.unasked:
            self.send_header("Content-Range", f"bytes {first}-{len(whole) - 1}/{len(whole)}")
        if self.length:
            self.send_header("Content-Length", str(len(whole) - first))
        if self.tags:
            self.send_header("ETag", tag)
        self.end_headers()
        self.wfile.write(whole[first:][: self.limit])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(Server, "requests", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as http_server:
        thread = threading.Thread(target=http_server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{http_server.server_address[1]}"
        http_server.shutdown()
        thread.join()


def test_two_files_are_fetched_and_checked(server, tmp_path):
    calls = []
    paths = fetch_set("kindle", tmp_path, lambda *arguments: calls.append(arguments), base=server)
    assert [path.read_bytes() for path in paths] == [content("train"), content("test")]
    assert calls[-1] == ("kindle_test.txt", len(content("test")), len(content("test")))
    Server.requests.clear()
    fetch_set("kindle", tmp_path, base=server)
    assert Server.requests == []  # the files exist already


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_download_is_resumed(server, tmp_path, monkeypatch, ranges):
    monkeypatch.setattr(Server, "limit", 10_000)
    with pytest.raises(DataError, match="what was downloaded so far is kept"):
        fetch_set("kindle", tmp_path, base=server)
    assert (tmp_path / "kindle_train.txt.part").stat().st_size == 10_000
    assert not (tmp_path / "kindle_train.txt").exists()
    assert list_sets(tmp_path) == list_sets(tmp_path / "none")
    monkeypatch.setattr(Server, "limit", None)
    monkeypatch.setattr(Server, "ranges", ranges)
    paths = fetch_set("kindle", tmp_path, base=server)
    assert paths[0].read_bytes() == content("train")
    assert ("/kindle_train.txt", "bytes=10000-") in Server.requests


def interrupt(server, folder, monkeypatch, limit=10_000):
    """Leave parts of the two files; the training part may be whole."""
    with monkeypatch.context() as patch:
        patch.setattr(Server, "limit", limit)
        with pytest.raises(DataError, match="what was downloaded so far is kept"):
            fetch_set("kindle", folder, base=server)
    Server.requests.clear()


def other_version(monkeypatch):
    """Change the files on the server, to others of the same lengths and shares."""
    files = {path: whole.replace(b"good", b"gold") for path, whole in Server.files.items()}
    monkeypatch.setattr(Server, "files", files)
    return files


@pytest.mark.parametrize("if_range", [True, False])
def test_a_part_of_another_version_is_not_continued(server, tmp_path, monkeypatch, if_range):
    interrupt(server, tmp_path, monkeypatch)
    files = other_version(monkeypatch)
    monkeypatch.setattr(Server, "if_range", if_range)
    paths = fetch_set("kindle", tmp_path, base=server)
    assert [path.read_bytes() for path in paths] == list(files.values())


@pytest.mark.parametrize("state", [None, "", "[]", '{"version": "", "total": 30000}'])
def test_a_part_of_an_unknown_version_is_not_continued(server, tmp_path, state):
    (tmp_path / "kindle_train.txt.part").write_bytes(b"1\tbetter\n" * 100)
    if state is not None:
        (tmp_path / "kindle_train.txt.part.json").write_text(state)
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")
    assert Server.requests[0] == ("/kindle_train.txt", None)


def test_a_part_is_not_continued_where_versions_have_no_name(server, tmp_path, monkeypatch):
    monkeypatch.setattr(Server, "tags", False)
    interrupt(server, tmp_path, monkeypatch)
    fetch_set("kindle", tmp_path, base=server)
    assert Server.requests[0] == ("/kindle_train.txt", None)


def test_a_whole_part_is_used(server, tmp_path, monkeypatch):
    interrupt(server, tmp_path, monkeypatch, limit=len(content("train")))
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")
    assert [path for path, _ in Server.requests] == ["/kindle_test.txt"]


def test_a_part_that_is_too_long_is_downloaded_again(server, tmp_path, monkeypatch):
    interrupt(server, tmp_path, monkeypatch)
    (tmp_path / "kindle_train.txt.part").write_bytes(content("train") + b"more")
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")
    interrupt(server, tmp_path / "shorter", monkeypatch)
    monkeypatch.setattr(Server, "if_range", False)
    monkeypatch.setattr(Server, "files", dict.fromkeys(Server.files, b"1\tgood\n"))  # fewer bytes than the part has
    with pytest.raises(FileFormatError, match="has 1 documents"):
        fetch_set("kindle", tmp_path / "shorter", base=server)


def test_a_part_that_was_not_asked_for_is_refused(server, tmp_path, monkeypatch):
    interrupt(server, tmp_path, monkeypatch)
    monkeypatch.setattr(Server, "unasked", True)
    with pytest.raises(DataError, match=r"a part of kindle_train.txt was sent, and the whole was asked for"):
        fetch_set("kindle", tmp_path, base=server)
    assert Server.requests == [("/kindle_train.txt", "bytes=10000-"), ("/kindle_train.txt", None)]
    assert not list(tmp_path.iterdir())


def test_two_downloads_of_one_file_at_a_time_are_not_mixed(server, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "_BLOCK", 1000)

    def other_download(file_name, done, total):
        with (tmp_path / f"{file_name}.part").open("ab") as file:
            file.write(b"0\tbad\n")

    with pytest.raises(DataError, match=r"another process downloads kindle_train\.txt at the same time"):
        fetch_set("kindle", tmp_path, other_download, base=server)
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_named_and_the_download_resumed(server, tmp_path, monkeypatch):
    class FullDisk(io.FileIO):
        def write(self, block):
            if self.tell() + len(block) > 100_000:
                raise OSError(errno.ENOSPC, "No space left on device")
            return super().write(block)

    def open_there(path, mode="r", *_, **__):
        return FullDisk(path, "a") if mode == "ab" else io.open(path, mode)  # noqa: UP020 (Path.open is replaced)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", open_there)
        patch.setattr(Server, "files", {path: whole * 4 for path, whole in Server.files.items()})
        with pytest.raises(DataError, match=r"can't be written to: .*No space left on device. Name another folder"):
            fetch_set("kindle", tmp_path, base=server)
    assert not (tmp_path / "kindle_train.txt").exists()
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_a_file_of_unknown_length_is_refused(server, tmp_path, monkeypatch):
    monkeypatch.setattr(Server, "length", False)
    monkeypatch.setattr(Server, "limit", len(content("train")) - 2)  # which cuts off a label's text, and no document
    with pytest.raises(DataError, match=r"kindle_train.txt was sent without its length"):
        fetch_set("kindle", tmp_path, base=server)
    assert not list(tmp_path.iterdir())


def test_other_bytes_than_the_first_ones_are_refused(server, tmp_path, monkeypatch):
    paths = fetch_set("kindle", tmp_path, base=server)
    record = json.loads((tmp_path / "sha256.json").read_text())
    assert record == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert {path.name for path in tmp_path.iterdir()} == {"kindle_train.txt", "kindle_test.txt", "sha256.json"}

    paths[1].write_bytes(content("test").replace(b"bad", b"mad"))
    for use in (fetch_set, load_set):
        with pytest.raises(
            DataError, match=r"kindle_test.txt is not the file that was fetched: .* Delete it and fetch it again"
        ):
            use("kindle", tmp_path)

    paths[1].unlink()
    other_version(monkeypatch)
    with pytest.raises(
        DataError, match=r"/kindle_test.txt has changed, .* delete the line kindle_test.txt from .*sha256.json"
    ):
        fetch_set("kindle", tmp_path, base=server)
    assert {path.name for path in tmp_path.iterdir()} == {"kindle_train.txt", "sha256.json"}

    (tmp_path / "sha256.json").write_text(json.dumps({"kindle_train.txt": record["kindle_train.txt"]}))
    fetch_set("kindle", tmp_path, base=server)
    assert len(load_set("kindle", tmp_path)[1]) == PAPER_SETS["kindle"].n_test


def test_a_shipped_digest_goes_before_a_recorded_one(server, tmp_path, monkeypatch):
    fetch_set("kindle", tmp_path, base=server)
    monkeypatch.setitem(digests.SHIPPED, "kindle_train.txt", "0" * 64)
    with pytest.raises(DataError, match=r"0000000000000000\.\.\. is expected"):
        load_set("kindle", tmp_path)
    with pytest.raises(DataError, match=r"0000000000000000\.\.\. is expected"):
        fetch_set("kindle", tmp_path / "new", base=server)


def test_files_put_there_by_other_means_are_recorded_when_first_fetched(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"kindle_{part}.txt").write_bytes(content(part))
    fetch_set("kindle", tmp_path)
    (tmp_path / "kindle_test.txt").write_bytes(content("test")[:-1])
    with pytest.raises(DataError, match="is not the file that was fetched"):
        load_set("kindle", tmp_path)


@pytest.mark.parametrize("record", ["{", "[]", '{"kindle_test.txt": 3}', "[" * 100_000])
def test_an_unreadable_record_is_named(tmp_path, record):
    for part in ("train", "test"):
        (tmp_path / f"kindle_{part}.txt").write_bytes(content(part))
    (tmp_path / "sha256.json").write_text(record)
    with pytest.raises(DataError, match=r"sha256.json (can't be read|must list).* Delete it"):
        load_set("kindle", tmp_path)


def test_wrong_content_is_deleted(server, tmp_path, monkeypatch):
    good = Server.files
    monkeypatch.setattr(Server, "files", dict.fromkeys(good, b"<html>come back later</html>"))
    with pytest.raises(FileFormatError):
        fetch_set("kindle", tmp_path, base=server)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(Server, "files", good)
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_unknown_sets_and_unusable_servers_and_folders_are_refused(server, tmp_path, monkeypatch):
    with pytest.raises(
        UnknownNameError, match=r"'yelp' can't be fetched; the sets to fetch are 'imdb', 'kindle', 'hp'"
    ):
        fetch_set("yelp", tmp_path)
    with pytest.raises(
        DataError, match=r"can't be reached .* Put hp_train.txt and hp_test.txt from https://zenodo.org"
    ):
        fetch_set("hp", tmp_path, base="http://127.0.0.1:1")
    monkeypatch.setattr(Server, "files", dict.fromkeys(Server.files, b"1\tgood\n0\tbad\n"))
    with pytest.raises(FileFormatError, match="has 2 documents"):
        fetch_set("kindle", tmp_path, base=server)
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(DataError, match="can't be written to"):
        fetch_set("kindle", blocked / "folder", base=server)
