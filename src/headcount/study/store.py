"""`Store`: results of a study on disk, one file each, written completely or not at all, and checked when read.

A file is one line with the format's version and the SHA-256 of the rest, then JSON: what was computed (the task's description),
from which data, with which versions, how long it took, and the outcome. It is written under a temporary name, flushed to the disk,
and renamed. Only the run of a study writes here, and only one run at a time.
"""

import base64
import errno
import hashlib
import json
import os
import platform
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from headcount._typing import AnyArray
from headcount._version import __version__
from headcount.exceptions import DataError, StoreError

__all__ = ["FORMAT", "Record", "Store", "existing_store", "from_plain", "key_of", "load", "to_plain", "versions"]

FORMAT = "headcount-result 1"
_STAGES = ("select", "test", "truth")
_FILE_NAME = re.compile(r"([0-9a-f]{32}|plan)\.(part|result)")


@cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    return {"headcount": __version__} | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}


@dataclass(frozen=True)
class Record:
    """The content of a file of the store.

    Attributes
    ----------
    task : dict
        Description of what was computed: everything that the outcome depends on except the data and the versions.
    data : str
        Fingerprint of the data.
    outcome : dict
    seconds : float
    versions : dict
    """

    task: dict[str, Any]
    data: str
    outcome: dict[str, Any]
    seconds: float
    versions: dict[str, str]


class Store:
    """A folder of results.

    Parameters
    ----------
    folder : str or Path
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.notices: list[str] = []
        """Sentences on files that can't be used."""

    @contextmanager
    def opened(self) -> Iterator["Store"]:
        """Lock the store for one run; another run on it gets an error that names the process that holds it."""
        # The system releases the lock of a process that is killed. The holder has a file of its own: where files are locked
        # exclusively (Windows), the lock itself can't be read.
        lock, holder = FileLock(self.folder / "lock", timeout=0), self.folder / "lock.holder"
        with _errors_explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                locked = lock.acquire()
            except Timeout as error:
                name = holder.read_text("utf-8").strip() if holder.is_file() else ""
                raise StoreError(
                    f"{self.folder} is in use by {name or 'another process'}: wait until it has ended, or name another folder "
                    "with --store."
                ) from error
        with locked:
            with _errors_explained(self.folder):
                holder.write_text(f"process {os.getpid()} on {platform.node()}\n", "utf-8")
                for path in self._half_written():
                    path.unlink()
            yield self

    def _half_written(self) -> list[Path]:
        """Return files that a killed run left half written; files whose names no store gives are not touched."""
        parts = [path for stage in _STAGES for path in (self.folder / stage).rglob("*.part") if path.is_file()]
        return [path for path in parts if _FILE_NAME.fullmatch(path.name)] + list(self.folder.glob("plan.part"))

    def path_of(self, task: dict[str, Any]) -> Path:
        """Return the file of a task: by stage, data set and learner, then by a hash of the whole description."""
        folder = self.folder_of(str(task["data_set"]), str(task["learner"]))
        return self.folder / str(task["stage"]) / folder / f"{key_of(task)}.result"

    def name_of(self, path: Path) -> str:
        """Return the name of a file within the store."""
        return path.relative_to(self.folder).as_posix()

    @staticmethod
    def folder_of(data_set: str, learner: str) -> str:
        """Return the folder of a data set and learner within that of a stage."""
        return "/".join(name.replace("/", "_") or "own" for name in (data_set, learner))

    def read(
        self, task: dict[str, Any], data: str | None = None, any_versions: bool = False, then: str = "computed again"
    ) -> Record | None:
        """Return the record of a task, or None if there is no valid one; a notice says what is wrong with it.

        Parameters
        ----------
        task : dict
        data : str, optional
            Fingerprint of the data that it must be computed from.
        any_versions : bool
            Whether it may be computed with other versions of the libraries than these.
        then : str
            What is done about a result that can't be used, for the notice.
        """
        path = self.path_of(task)
        if not path.is_file():
            return None
        try:
            record = load(path)
            if data is not None and record.data != data:
                raise StoreError(f"{path} was computed from other data ({record.data[:12]}, now {data[:12]}).")
            if not any_versions and record.versions != versions():
                now = versions()
                changed = {k: f"{was}, now {now.get(k)}" for k, was in record.versions.items() if was != now.get(k)}
                raise StoreError(f"{path} was computed with other versions ({changed}).")
            if key_of(record.task) != key_of(task):
                raise StoreError(f"{path} holds another task than its name says.")
        except StoreError as error:
            self.notices.append(f"{error} It is {then}.")
            return None
        return record

    def write(self, record: Record) -> Path:
        """Write a record, completely or not at all."""
        path = self.path_of(record.task)
        self._write(path, json.dumps(vars(record), separators=(",", ":"), sort_keys=True).encode())
        return path

    def write_plan(self, plan: dict[str, Any]) -> list[str]:
        """Write the plan that the results are of; return how it differs from the plan that was there."""
        plan = json.loads(json.dumps(plan))
        try:
            before = self.plan() or plan
        except StoreError as error:
            self.notices.append(f"{error} It is written again.")
            before = plan
        merged = plan | {key: _merged(before.get(key), value) for key, value in plan.items()}
        self._write(self.folder / "plan.result", json.dumps(merged, sort_keys=True).encode())
        return list(_differences(before, plan))

    def plan(self) -> dict[str, Any] | None:
        """Return the plan that the results are of, or None if there is none."""
        path = self.folder / "plan.result"
        return _checked(path, "a plan") if path.is_file() else None

    def _write(self, path: Path, content: bytes) -> None:
        part = path.with_suffix(".part")
        with _errors_explained(self.folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("wb") as file:
                    file.write(f"{FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode() + content)
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise

    def records(self) -> Iterator[Path]:
        """Yield the files of all results."""
        paths = (path for stage in _STAGES for path in (self.folder / stage).glob("*/*/*.result"))
        yield from sorted(path for path in paths if _FILE_NAME.fullmatch(path.name))


def existing_store(folder: str | Path) -> Store:
    """Return the store in a folder that must be there."""
    store = Store(folder)
    if not store.folder.is_dir():
        raise StoreError(f"There is no store at {folder}: run 'headcount study run --store {folder}' first.")
    return store


def load(path: Path) -> Record:
    """Read and check a file of the store."""
    record: Record = _checked(path, "a result", lambda content: Record(**content))
    return record


def _checked(path: Path, what: str, make: Callable[[Any], Any] = lambda content: content) -> Any:
    """Return what is made of the content of a file, if version and checksum are right."""
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}.") from error
    form, _, digest = head.decode("ascii", "replace").rpartition(" ")
    if form != FORMAT:
        if form.startswith(FORMAT.rpartition(" ")[0]):
            raise StoreError(f"{path} is of another version ({form!r}, here {FORMAT!r}).")
        raise StoreError(f"{path} is not a file of a store.")
    if hashlib.sha256(content).hexdigest() != digest:
        raise StoreError(f"{path} is damaged: its content does not match its checksum.")
    try:
        return make(json.loads(content))
    except (json.JSONDecodeError, TypeError) as error:
        raise StoreError(f"{path} does not hold {what} ({error}).") from error


def key_of(task: dict[str, Any]) -> str:
    """Return a hash of a task's description."""
    return hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:32]


@contextmanager
def _errors_explained(folder: Path) -> Iterator[None]:
    """Raise errors of the system as sentences that say what to do."""
    try:
        yield
    except StoreError:
        raise
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(
                f"There is no space left for {folder}. What has been computed so far is kept: free space, and run again to go on."
            ) from error
        raise StoreError(
            f"{folder} can't be written to: {error.strerror or error}. Name another folder with --store."
        ) from error


def to_plain(array: AnyArray) -> dict[str, Any]:
    """Return an array of floats as plain data that keeps every bit."""
    array = np.ascontiguousarray(array, dtype="<f8")
    return {"shape": list(array.shape), "float64": base64.b64encode(zlib.compress(array.tobytes(), 6)).decode()}


def from_plain(plain: dict[str, Any]) -> AnyArray:
    """Return the array that `to_plain` was given."""
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(plain["float64"])), dtype="<f8").reshape(plain["shape"])
    except (KeyError, ValueError, zlib.error) as error:
        raise DataError(f"This is not an array of a store: {error}.") from error


def _differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Yield what differs between two plans. Named entries that only one of them has do not count: it may be a part of the other."""
    if _named(old) and _named(new):
        before = {entry["name"]: entry for entry in old}
        for entry in new:
            yield from _differences(before.get(entry["name"], entry), entry, f"{where}[{entry['name']}]")
    elif isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _differences(old.get(key), new.get(key), f"{where}.{key}" if where else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from _differences(a, b, f"{where}[{i}]")
    elif old != new:
        yield f"{where} was {_short(old)}, is {_short(new)}"


def _named(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) and "name" in entry for entry in value)
    )


def _merged(old: Any, new: Any) -> Any:
    """Return the new value, with the named entries that only the old one has."""
    if not (_named(old) and _named(new)):
        return new
    names = {entry["name"] for entry in new}
    return [*new, *(entry for entry in old if entry["name"] not in names)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
