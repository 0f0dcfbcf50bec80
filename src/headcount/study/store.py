"""`Store`: results of a study on disk, one file each, complete or not there at all, and checked when read.

A file is one line with the format's version and the SHA-256 of the rest, then JSON: what was computed (the task's description),
from which data, with which versions, how long it took, and the outcome. It is written under another name, flushed to the disk,
and renamed. Nothing but a study's run writes here, and one run at a time.
"""

import base64
import errno
import fcntl
import hashlib
import json
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._version import __version__
from headcount.exceptions import DataError, StoreError

__all__ = ["FORMAT", "Record", "Store", "from_plain", "to_plain", "versions"]

FORMAT = "headcount-result 1"
_STAGES = ("select", "test", "truth")
_NAME = re.compile(r"([0-9a-f]{32}|plan)\.(part|result)")


@cache
def versions() -> dict[str, str]:
    """Return the versions of the libraries that results depend on."""
    return {"headcount": __version__} | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}


@dataclass(frozen=True)
class Record:
    """What a file of the store holds.

    Attributes
    ----------
    task : dict
        Description of what was computed: all that the outcome depends on but the data and the versions.
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
        """Sentences on what was found wrong and is computed again."""

    @contextmanager
    def opened(self) -> Iterator["Store"]:
        """Hold the store for one run; another run on it gets a sentence."""
        with _explained(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("a+")
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.seek(0)
                holder = lock.read().strip() or "another process"
                raise StoreError(
                    f"{self.folder} is in use by {holder}: wait until it has ended, or name another folder with --store."
                ) from error
            with _explained(self.folder):
                lock.truncate(0)
                lock.write(f"process {os.getpid()} on {os.uname().nodename}\n")
                lock.flush()
                for left in self._half_written():  # by a run that was killed
                    left.unlink()
            yield self

    def _half_written(self) -> list[Path]:
        """Return files that bear names which only a store gives."""
        own = [path for stage in _STAGES for path in (self.folder / stage).rglob("*.part")]
        return [path for path in [*own, self.folder / "plan.part"] if path.is_file() and _NAME.fullmatch(path.name)]

    def path_of(self, task: dict[str, Any]) -> Path:
        """Return the file of a task: by stage, data set and learner, then by a hash of the whole description."""
        place = self.folder_of(str(task["data_set"]), str(task["learner"]))
        return self.folder / str(task["stage"]) / place / f"{key_of(task)}.result"

    def name_of(self, path: Path) -> str:
        """Return the name of a file within the store."""
        return path.relative_to(self.folder).as_posix()

    @staticmethod
    def folder_of(data_set: str, learner: str) -> str:
        """Return the folder of a data set and learner within that of a stage."""
        return "/".join(name.replace("/", "_") or "own" for name in (data_set, learner))

    def read(self, task: dict[str, Any], data: str) -> Record | None:
        """Return the record of a task if it is there and sound, of this data and of these versions; a notice says why it is not."""
        path = self.path_of(task)
        if not path.is_file():
            return None
        try:
            record = load(path)
        except StoreError as error:
            self.notices.append(f"{error} It is computed again.")
            return None
        if record.data != data:
            self.notices.append(
                f"{path} was computed from other data ({record.data[:12]}, now {data[:12]}). It is computed again."
            )
            return None
        if record.versions != versions():
            other = {
                name: f"{was}, now {versions().get(name)}"
                for name, was in record.versions.items()
                if was != versions().get(name)
            }
            self.notices.append(f"{path} was computed with other versions ({other}). It is computed again.")
            return None
        if key_of(record.task) != key_of(task):
            self.notices.append(f"{path} holds another task than its name says. It is computed again.")
            return None
        return record

    def write(self, record: Record) -> Path:
        """Write a record, whole or not at all."""
        path = self.path_of(record.task)
        self._write(path, json.dumps(vars(record), separators=(",", ":"), sort_keys=True).encode())
        return path

    def write_plan(self, plan: dict[str, Any]) -> list[str]:
        """Keep the plan that the store was made by; return what differs from the one before."""
        path = self.folder / "plan.result"
        plan = json.loads(json.dumps(plan))
        differences: list[str] = []
        if path.is_file():
            try:
                before = json.loads(_checked(path))
                differences = list(_differences(before, plan))
                plan = plan | {key: _merged(before.get(key), value) for key, value in plan.items()}
            except (StoreError, json.JSONDecodeError) as error:
                self.notices.append(f"{error} It is written again.")
        self._write(path, json.dumps(plan, sort_keys=True).encode())
        return differences

    def plan(self) -> dict[str, Any] | None:
        """Return the plan that the store was made by."""
        path = self.folder / "plan.result"
        try:
            return json.loads(_checked(path)) if path.is_file() else None
        except json.JSONDecodeError as error:
            raise StoreError(f"{path} does not hold a plan ({error}).") from error

    def _write(self, path: Path, content: bytes) -> None:
        part = path.with_suffix(".part")
        with _explained(self.folder):
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
        found = (path for stage in _STAGES for path in (self.folder / stage).glob("*/*/*.result"))
        yield from sorted(path for path in found if _NAME.fullmatch(path.name))


def load(path: Path) -> Record:
    """Read a file of the store, checking it."""
    try:
        return Record(**json.loads(_checked(path)))
    except (json.JSONDecodeError, TypeError) as error:
        raise StoreError(f"{path} does not hold a result ({error}).") from error


def _checked(path: Path) -> bytes:
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}.") from error
    form, _, digest = head.decode("ascii", "replace").rpartition(" ")
    if form != FORMAT:
        known = form.startswith(FORMAT.rpartition(" ")[0])
        raise StoreError(
            f"{path} is of another version ({form!r}, here {FORMAT!r})." if known else f"{path} is no file of a store."
        )
    if hashlib.sha256(content).hexdigest() != digest:
        raise StoreError(f"{path} is damaged: its content does not match its checksum.")
    return content


def key_of(task: dict[str, Any]) -> str:
    """Return a hash of a task's description."""
    return hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()[:32]


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn what the system says about a folder into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StoreError(
                f"There is no space left for {folder}. What has been computed so far is kept: make room, and run again to go on."
            ) from error
        raise StoreError(
            f"{folder} can't be written to: {error.strerror or error}. Name another folder with --store."
        ) from error


def to_plain(array: AnyArray) -> dict[str, Any]:
    """Return an array of floats as plain data, to the bit."""
    array = np.ascontiguousarray(array, dtype="<f8")
    return {"shape": list(array.shape), "float64": base64.b64encode(zlib.compress(array.tobytes(), 6)).decode()}


def from_plain(plain: dict[str, Any]) -> AnyArray:
    """Return the array that `to_plain` was given."""
    try:
        return np.frombuffer(zlib.decompress(base64.b64decode(plain["float64"])), dtype="<f8").reshape(plain["shape"])
    except (KeyError, ValueError, zlib.error) as error:
        raise DataError(f"This is no array of a store: {error}.") from error


def _differences(old: Any, new: Any, where: str = "") -> Iterator[str]:
    """Say what differs; of lists of named things, those that only one of them has do not count: they are parts of a plan."""
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
    """Return the new value, with the named things that only the old one has."""
    if not (_named(old) and _named(new)):
        return new
    names = {entry["name"] for entry in new}
    return [*new, *(entry for entry in old if entry["name"] not in names)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
