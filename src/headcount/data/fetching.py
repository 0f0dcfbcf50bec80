"""Download the paper's data sets from Zenodo; downloads are resumed, and checked before they are used."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from headcount._validation import quoted
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
    if all(path.is_file() for path in paths):
        return paths
    try:
        target.mkdir(parents=True, exist_ok=True)
        parts = [path if path.is_file() else _download(path.name, target, base, progress) for path in paths]
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{base} can't be reached ({reason}). Put {name}_train.txt and {name}_test.txt from {ZENODO} into {target} by other "
            "means; what was downloaded so far is kept, and the next attempt resumes there."
        ) from error
    except OSError as error:
        raise DataError(f"{target} can't be written to: {error}. Name another folder with --data-dir.") from error
    try:
        PAPER_SETS[name].check(*(read_corpus(part, format="lines") for part in parts))
    except DataError:
        for part in set(parts) - set(paths):  # a wrong file must not be resumed
            part.unlink()
        raise
    for part, path in zip(parts, paths, strict=True):
        part.replace(path)
    return paths


def _download(file_name: str, folder: Path, base: str, progress: Progress | None) -> Path:
    """Download a file to its name with ``.part``, under which it stays until it is checked."""
    part = folder / f"{file_name}.part"
    done = part.stat().st_size if part.is_file() else 0
    request = urllib.request.Request(f"{base}/{file_name}", headers={"Range": f"bytes={done}-"} if done else {})
    try:
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416:  # range not satisfiable: the part is complete, or too long
            raise
        if error.headers.get("Content-Range", f"/{done}").rpartition("/")[2] == str(done):
            return part
        part.unlink()
        return _download(file_name, folder, base, progress)
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        if response.status != 206:
            done = 0
        length = response.headers.get("Content-Length")
        total = done + int(length) if length else 0
        while block := response.read(_BLOCK):
            file.write(block)
            done += len(block)
            if progress is not None:
                progress(file_name, done, total)
    if total and done < total:
        raise ConnectionError(f"{file_name} ended after {done:,} of {total:,} bytes")
    return part
