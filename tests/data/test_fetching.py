"""Fetching from a server that cuts connections, knows ranges or not, or is not there at all."""

import http.server
import threading

import pytest

from headcount.data import PAPER_SETS, fetch_set
from headcount.exceptions import DataError, FileFormatError, UnknownNameError


def content(part):
    own = PAPER_SETS["kindle"]
    n = own.n_train if part == "train" else own.n_test
    positive = round(own.positive * n)
    return ("1\tgood\n" * positive + "0\tbad\n" * (n - positive)).encode()


class Server(http.server.BaseHTTPRequestHandler):
    """Serves the two files; `limit` cuts answers short, `ranges` says whether parts can be asked for."""

    limit, ranges, asked = None, True, []
    files = {f"/kindle_{part}.txt": content(part) for part in ("train", "test")}  # noqa: RUF012

    def do_GET(self):
        whole, first = self.files[self.path], 0
        asked = self.headers.get("Range")
        type(self).asked.append((self.path, asked))
        if asked and self.ranges:
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            if first >= len(whole):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(whole)}")
                self.end_headers()
                return
        self.send_response(206 if asked and self.ranges else 200)
        self.send_header("Content-Length", str(len(whole) - first))
        self.end_headers()
        self.wfile.write(whole[first:][: self.limit])

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(Server, "limit", None)
    monkeypatch.setattr(Server, "ranges", True)
    monkeypatch.setattr(Server, "asked", [])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as own:
        thread = threading.Thread(target=own.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{own.server_address[1]}"
        own.shutdown()
        thread.join()


def test_two_files_are_fetched_and_checked(server, tmp_path):
    heard = []
    paths = fetch_set("kindle", tmp_path, lambda *words: heard.append(words), base=server)
    assert [path.read_bytes() for path in paths] == [content("train"), content("test")]
    assert heard[-1] == ("kindle_test.txt", len(content("test")), len(content("test")))
    Server.asked.clear()
    fetch_set("kindle", tmp_path, base=server)
    assert Server.asked == []  # they are there


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_that_was_cut_goes_on(server, tmp_path, monkeypatch, ranges):
    monkeypatch.setattr(Server, "limit", 10_000)
    with pytest.raises(DataError, match="what has been downloaded so far is kept"):
        fetch_set("kindle", tmp_path, base=server)
    assert (tmp_path / "kindle_train.txt.part").stat().st_size == 10_000
    assert not (tmp_path / "kindle_train.txt").exists()
    monkeypatch.setattr(Server, "limit", None)
    monkeypatch.setattr(Server, "ranges", ranges)
    paths = fetch_set("kindle", tmp_path, base=server)
    assert paths[0].read_bytes() == content("train")
    assert ("/kindle_train.txt", "bytes=10000-") in Server.asked


def test_a_part_that_is_the_whole_is_taken(server, tmp_path):
    (tmp_path / "kindle_train.txt.part").write_bytes(content("train"))
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_a_part_that_is_too_long_is_fetched_anew(server, tmp_path):
    (tmp_path / "kindle_train.txt.part").write_bytes(content("train") + b"more")
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_what_is_not_the_set_is_not_kept(server, tmp_path, monkeypatch):
    good = Server.files
    monkeypatch.setattr(Server, "files", dict.fromkeys(good, b"<html>come back later</html>"))
    with pytest.raises(FileFormatError):
        fetch_set("kindle", tmp_path, base=server)
    assert not list(tmp_path.iterdir())
    monkeypatch.setattr(Server, "files", good)
    assert fetch_set("kindle", tmp_path, base=server)[0].read_bytes() == content("train")


def test_what_is_wrong_gets_a_sentence(server, tmp_path, monkeypatch):
    with pytest.raises(UnknownNameError, match=r"'yelp' can't be fetched; those that can: 'imdb', 'kindle', 'hp'"):
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
