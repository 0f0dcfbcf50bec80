"""Download the paper's data sets from Zenodo; downloads are resumed, and checked before they are used."""

import contextlib
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from typing import TypeAlias

from headcount._validation import quoted
from headcount.data.digests import RECORD, SHIPPED, check_digest, expected_digest, record_digests, sha256_of
from headcount.data.readers import read_corpus
from headcount.data.sets import PAPER_SETS, ZENODO, data_folder
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["fetch_set"]

_BLOCK = 1 << 16
_TIMEOUT = 30.0

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with file name, bytes so far and bytes in total (0 if unknown)."""


def fetch_set(
    name: str, folder: str | Path | None = None, progress: Progress | None = None, base: str = f"{ZENODO}/files"
) -> list[Path]:
    """Download the training and test file of a data set of the paper; an interrupted download is resumed.

    The SHA-256 of the files is recorded in ``sha256.json`` in the data folder; from then on other bytes are refused, on
    this machine or from the server.

    Parameters
    ----------
    name : {"imdb", "kindle", "hp"}
    folder : str or Path, optional
        The data folder; by default ``HEADCOUNT_DATA``, or one in the user's cache.
    progress : callable, optional
        Called with file name, bytes so far and bytes in total (0 if unknown).
    base : str
        The address that the file names are appended to.

    Returns
    -------
    list of Path
        The two files.
    """
    if name not in PAPER_SETS:
        raise UnknownNameError(f"{name!r} can't be fetched; the sets to fetch are {quoted(list(PAPER_SETS))}.")
    target = data_folder(folder)
    paths = [target / f"{name}_{part}.txt" for part in ("train", "test")]
    for path in paths:
        if path.is_file():
            check_digest(path)
    if all(path.is_file() for path in paths):
        with contextlib.suppress(DataError):  # the folder may be read-only
            record_digests(target, {path.name: sha256_of(path) for path in paths})
        return paths
    try:
        target.mkdir(parents=True, exist_ok=True)
        files = [path if path.is_file() else _download(path.name, target, base, progress) for path in paths]
        digests = {path.name: sha256_of(file) for path, file in zip(paths, files, strict=True)}
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{base} can't be reached ({reason}). Put {name}_train.txt and {name}_test.txt from {ZENODO} into {target} by other "
            "means; what was downloaded so far is kept, and the next attempt resumes there."
        ) from error
    except OSError as error:
        raise DataError(f"{target} can't be written to: {error}. Name another folder with --data-dir.") from error
    try:
        for file_name, digest in digests.items():
            _check_download(f"{base}/{file_name}", target, file_name, digest)
        PAPER_SETS[name].check(*(read_corpus(file, format="lines") for file in files))
    except DataError:
        for path in set(paths) - set(files):  # a wrong file must not be resumed
            _Part(path).remove()
        raise
    record_digests(target, digests)
    for file, path in zip(files, paths, strict=True):
        if file != path:
            file.replace(path)
            _Part(path).remove()
    return paths


def _check_download(address: str, folder: Path, file_name: str, digest: str) -> None:
    """Raise if a downloaded file is not the version that is known by its SHA-256."""
    expected = expected_digest(folder, file_name)
    if expected is not None and digest != expected:
        accept = f"; if you trust the new version, delete the line {file_name} from {folder / RECORD} first"
        raise DataError(
            f"{address} has changed, or was changed on the way: its SHA-256 is {digest[:16]}..., and {expected[:16]}... is "
            f"expected. Nothing of it is kept. Try again later or from another network{'' if file_name in SHIPPED else accept}."
        )


class _Part:
    """A file while it is downloaded: ``NAME.part``, and ``NAME.part.json``, which says what version it is a part of.

    Attributes
    ----------
    path : Path
        The part.
    version : str
        Strong ETag or date of the version, for the header ``If-Range``; empty if unknown.
    total : int
        Bytes of the whole file; 0 if unknown.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}.part")
        self._state = path.with_name(f"{path.name}.part.json")
        try:
            state = json.loads(self._state.read_bytes())
            self.version, self.total = str(state["version"]), int(state["total"])
        except (OSError, ValueError, LookupError, TypeError):
            self.version, self.total = "", 0

    @property
    def size(self) -> int:
        """Bytes downloaded so far."""
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def is_whole(self) -> bool:
        return 0 < self.total == self.size

    def start(self, version: str, total: int) -> None:
        """Begin a version anew. The part is emptied first: no bytes are ever beside the name of another version."""
        self.path.write_bytes(b"")
        self.version, self.total = version, total
        self._state.write_text(json.dumps({"version": version, "total": total}))

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)


def _download(file_name: str, folder: Path, base: str, progress: Progress | None) -> Path:
    """Download a file to its name with ``.part``, under which it stays until it is checked."""
    part = _Part(folder / file_name)
    if part.is_whole:
        return part.path
    if part.size and not (part.version and part.size < part.total):
        part.remove()  # of an unknown version, or too long
    done = part.size
    headers = {"Range": f"bytes={done}-", "If-Range": part.version} if done else {}
    request = urllib.request.Request(f"{base}/{file_name}", headers=headers)
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not done:  # range not satisfiable
            raise
        part.remove()
        return _download(file_name, folder, base, progress)
    with response:
        if response.status == 206 and not _continues(response.headers, part, done):
            if not done:
                raise ConnectionError(f"a part of {file_name} was sent, and the whole was asked for")
            part.remove()
            return _download(file_name, folder, base, progress)
        if response.status != 206:
            length = response.headers.get("Content-Length")
            part.start(_version(response.headers), int(length) if length else 0)
            done = 0
        with part.path.open("ab", buffering=0) as file:
            while block := response.read(_BLOCK):
                done += file.write(block)
                if file.tell() != done:
                    part.remove()
                    raise ConnectionError(f"another process downloads {file_name} at the same time")
                if progress is not None:
                    progress(file_name, done, part.total)
        if not part.total and response.headers.get("Transfer-Encoding", "").lower() != "chunked":
            part.remove()  # whether all of it has come can't be told
            raise ConnectionError(f"{file_name} was sent without its length")
    if part.total and part.size != part.total:
        raise ConnectionError(f"{file_name} ended after {part.size:,} of {part.total:,} bytes")
    return part.path


def _version(headers: Message) -> str:
    """Name of a version that ``If-Range`` accepts: a strong ETag, else the date of the last change."""
    tag = headers.get("ETag", "")
    return tag if tag.startswith('"') else headers.get("Last-Modified", "")


def _continues(headers: Message, part: _Part, done: int) -> bool:
    """Whether a response is the rest of a part; a server that ignores ``If-Range`` may send that of another version."""
    return (
        _version(headers) in ("", part.version)
        and headers.get("Content-Range") == f"bytes {done}-{part.total - 1}/{part.total}"
    )
