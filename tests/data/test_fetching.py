"""Downloads from a server that cuts connections, supports ranges or not, or does not answer."""

import http.server
import threading

import pytest

from headcount.data import PAPER_SETS, fetch_set
from headcount.exceptions import DataError, FileFormatError, UnknownNameError


def content(part):
    kindle = PAPER_SETS["kindle"]
    n = kindle.n_train if part == "train" else kindle.n_test
    positive = round(kindle.positive * n)
    return ("1\tgood\n" * positive + "0\tbad\n" * (n - positive)).encode()


class Server(http.server.BaseHTTPRequestHandler):
    """Serves the two files; `limit` cuts responses short, `ranges` says whether ranges are supported."""

    limit, ranges, requests = None, True, []
    files = {f"/kindle_{part}.txt": content(part) for part in ("train", "test")}  # noqa: RUF012

    def do_GET(self):
        whole, first = self.files[self.path], 0
        requested = self.headers.get("Range")
        type(self).requests.append((self.path, requested))
        if requested and self.ranges:
            first = int(requested.removeprefix("bytes=").removesuffix("-"))
            if first >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.end_headers()
                return
        self.send_response(206 if requested and self.ranges else 200)
        self.send_header("Content-Length", str(len(whole) - first))
        self.end_headers()
        self.wfile.write(whole[first:][: self.limit])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(Server, "limit", None)
    monkeypatch.setattr(Server, "ranges", True)
    monkeypatch.setattr(Server, "requests", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as http_server:
        thread = threading.Thread(target=http_server.serve_forever)
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
    monkeypatch.setattr(Server, "limit", None)
    monkeypatch.setattr(Server, "ranges", ranges)
    paths = fetch_set("kindle", tmp_path, base=server)
    assert paths[0].read_bytes() == content("train")
    assert ("/kindle_train.txt", "bytes=10000-") in Server.requests


def test_a_complete_part_is_used(server, tmp_path):
    (tmp_path / "kindle_train.txt.part").write_bytes(content("train"))
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_a_part_that_is_too_long_is_downloaded_again(server, tmp_path):
    (tmp_path / "kindle_train.txt.part").write_bytes(content("train") + b"more")
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


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
