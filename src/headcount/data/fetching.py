"""Fetching the paper's data sets from their Zenodo record: resumable, and checked before they take their place."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from headcount._validation import quoted
from headcount.data.readers import read_corpus
from headcount.data.sets import PAPER_SETS, ZENODO, data_folder
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["fetch_set"]

_BLOCK = 1 << 16
_TIMEOUT = 30.0

Told = Callable[[str, int, int], None]
"""Hears of progress: file name, bytes so far, bytes in all (0 where unknown)."""


def _silent(name: str, done: int, total: int) -> None:
    """Hear nothing."""


def fetch_set(
    name: str, folder: str | Path | None = None, told: Told = _silent, base: str = f"{ZENODO}/files"
) -> list[Path]:
    """Download training and test file of one of the paper's data sets, going on where an earlier try was cut off.

    Parameters
    ----------
    name : {"imdb", "kindle", "hp"}
    folder : str or Path, optional
        The data folder; by default ``HEADCOUNT_DATA``, or one in the user's cache.
    told : callable, optional
        Hears of progress.
    base : str
        Where the files lie.

    Returns
    -------
    list of Path
        The two files.
    """
    if name not in PAPER_SETS:
        raise UnknownNameError(f"{name!r} can't be fetched; those that can: {quoted(list(PAPER_SETS))}.")
    target = data_folder(folder)
    paths = [target / f"{name}_{part}.txt" for part in ("train", "test")]
    if all(path.is_file() for path in paths):
        return paths
    try:
        target.mkdir(parents=True, exist_ok=True)
        parts = [path if path.is_file() else _downloaded(path.name, target, base, told) for path in paths]
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{base} can't be reached ({reason}). Put {name}_train.txt and {name}_test.txt from {ZENODO} into {target} by other "
            "means; what has been downloaded so far is kept, and the next try goes on from there."
        ) from error
    except OSError as error:
        raise DataError(f"{target} can't be written to: {error}. Name another folder with --data-dir.") from error
    try:
        PAPER_SETS[name].check(*(read_corpus(part, format="lines") for part in parts))
    except DataError:
        for part in set(parts) - set(paths):  # what is wrong must not be taken for a download to go on with
            part.unlink()
        raise
    for part, path in zip(parts, paths, strict=True):
        part.replace(path)
    return paths


def _downloaded(file_name: str, folder: Path, base: str, told: Told) -> Path:
    """Return the downloaded file, still under the name of one that is not checked."""
    part = folder / f"{file_name}.part"
    done = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(f"{base}/{file_name}", headers={"Range": f"bytes={done}-"} if done else {})
    try:
        answer = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # nothing left to send: the part is the whole, or more than that
            raise
        if error.headers.get("Content-Range", f"/{done}").rpartition("/")[2] == str(done):
            return part
        part.unlink()
        return _downloaded(file_name, folder, base, told)
    with answer, part.open("ab" if answer.status == 206 else "wb") as file:
        if answer.status != 206:
            done = 0
        length = answer.headers.get("Content-Length")
        total = done + int(length) if length else 0
        while block := answer.read(_BLOCK):
            file.write(block)
            done += len(block)
            told(file_name, done, total)
    if total and done < total:
        raise ConnectionError(f"{file_name} ended after {done:,} of {total:,} bytes")
    return part
