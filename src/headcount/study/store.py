"""`Store`: results of a study on disk, one file each, written completely or not at all, and checked when read.

A file is one line with the format's version and the SHA-256 of the rest, then JSON: what was computed (the task's description),
from which data, by which code, with which versions, how long it took, and the outcome. It is written under a temporary name,
flushed to the disk, and renamed. Only the run of a study writes here, and only one run at a time.
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
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from headcount._typing import AnyArray
from headcount._version import __version__
from headcount.exceptions import DataError, StoreError
from headcount.study.plan_changes import differences, merged

__all__ = [
    "FORMAT",
    "FORMAT_1",
    "Record",
    "Store",
    "existing_store",
    "from_plain",
    "key_of",
    "load",
    "to_plain",
    "versions",
]

FORMAT = "headcount-result 2"
FORMAT_1 = "headcount-result 1"
"""Format of earlier versions, whose results `restamp` can take over."""
_STAGES = ("select", "test", "truth")
_FILE_NAME = re.compile(r"([0-9a-f]{32}|plan)\.(part|result)")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Headcount and of the libraries that results depend on."""
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
    code : str
        Version of Headcount's code that computed it, or that has been found to give the same; empty in format 1.
    earlier_code : list of str
        Versions of the code that it was stamped with before, the one that computed it first.
    """

    task: dict[str, Any]
    data: str
    outcome: dict[str, Any]
    seconds: float
    versions: dict[str, str]
    code: str = ""
    earlier_code: list[str] = field(default_factory=list)

    def changed_versions(self) -> dict[str, str]:
        """Return the libraries of which there are other versions now; Headcount counts by its code."""
        now = versions()
        names = sorted({*self.versions, *now} - {"headcount"})
        was = {name: self.versions.get(name) for name in names}
        return {name: f"{was[name]}, now {now.get(name)}" for name in names if was[name] != now.get(name)}


_RECORD_TYPES: dict[str, Any] = {
    "task": dict,
    "data": str,
    "outcome": dict,
    "seconds": (int, float),
    "versions": dict,
    "code": str,
    "earlier_code": list,
}


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
        self._counted: dict[str, tuple[Path, int, int]] = {}
        """By reason: the first file, the position of its notice, and the number of further files."""
        self.other_code = 0
        """Number of results that were not used because other code had computed them."""

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
        self,
        task: dict[str, Any],
        data: str | None = None,
        code: str | None = None,
        any_versions: bool = False,
        then: str = "computed again",
    ) -> Record | None:
        """Return the record of a task, or None if there is no valid one; a notice says what is wrong with it.

        Parameters
        ----------
        task : dict
        data : str, optional
            Fingerprint of the data that it must be computed from.
        code : str, optional
            Version of the code that it must be stamped with.
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
            if key_of(record.task) != key_of(task):
                raise StoreError(f"{path} holds another task than its name says.")
            if not any_versions and record.changed_versions():
                self._count(path, f"computed with other versions ({record.changed_versions()})", then)
                return None
            if code is not None and record.code != code:
                self.other_code += 1
                self._count(path, "computed by other code of Headcount", then)
                return None
        except StoreError as error:
            self.notices.append(f"{error} It is {then}.")
            return None
        return record

    def _count(self, path: Path, reason: str, then: str) -> None:
        """Add a file to the notice of all files that can't be used for one reason: there may be thousands."""
        if reason not in self._counted:
            self._counted[reason] = path, len(self.notices), 0
            self.notices.append(f"{path} was {reason}. It is {then}.")
            return
        first, position, more = self._counted[reason]
        self._counted[reason] = first, position, more + 1
        self.notices[position] = f"{first} and {more + 1:,} more were {reason}. They are {then}."

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
        content = plan | {key: merged(before.get(key), value) for key, value in plan.items()}
        self._write(self.folder / "plan.result", json.dumps(content, sort_keys=True).encode())
        return list(differences(before, plan))

    def plan(self) -> dict[str, Any] | None:
        """Return the plan that the results are of, or None if there is none."""
        path = self.folder / "plan.result"
        # A plan of format 1 is read as well: it has the same form.
        return _checked(path, "a plan", formats=(FORMAT, FORMAT_1)) if path.is_file() else None

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

    def of_format_1(self) -> int:
        """Return the number of results that an earlier version of Headcount wrote in another format."""
        return sum(_format_of(path) == FORMAT_1 for path in self.records())

    def format_1_notice(self) -> list[str]:
        """Return a sentence on results of the earlier format and what to do with them, if there are any."""
        n = self.of_format_1()
        if not n:
            return []
        return [
            f"{n:,} results in {self.folder} are of format 1, of an earlier version of Headcount, and are not used. "
            f"'headcount study restamp PLAN --store {self.folder}' computes one of each kind and takes over those that come out "
            "the same; or name another store."
        ]


def existing_store(folder: str | Path) -> Store:
    """Return the store in a folder that must be there."""
    store = Store(folder)
    if not store.folder.is_dir():
        raise StoreError(f"There is no store at {folder}: run 'headcount study run --store {folder}' first.")
    return store


def load(path: Path, form: str = FORMAT) -> Record:
    """Read and check a file of the store."""
    record: Record = _checked(path, "a result", _record_of, (form,))
    return record


def _record_of(content: Any) -> Record:
    """Return a record whose values have the types that they are used with."""
    record = Record(**content)
    for name, kinds in _RECORD_TYPES.items():
        if not isinstance(getattr(record, name), kinds):
            raise TypeError(f"{name} is of type {type(getattr(record, name)).__name__}")
    if not all(isinstance(number, str) for number in record.versions.values()):
        raise TypeError("versions are not texts")
    members = record.outcome.get("members", [{}])
    if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
        raise TypeError("its members are not a list of tables")
    return record


def _format_of(path: Path) -> str:
    """Return the format that a file says it has; empty if it can't be read."""
    try:
        with path.open("rb") as file:
            return file.readline(200).decode("ascii", "replace").rpartition(" ")[0]
    except OSError:
        return ""


def _checked(
    path: Path,
    what: str,
    make: Callable[[Any], Any] = lambda content: content,
    formats: tuple[str, ...] = (FORMAT,),
) -> Any:
    """Return what is made of the content of a file, if version and checksum are right."""
    try:
        head, _, content = path.read_bytes().partition(b"\n")
    except OSError as error:
        raise StoreError(f"{path} can't be read: {error.strerror}.") from error
    form, _, digest = head.decode("ascii", "replace").rpartition(" ")
    if form not in formats:
        if form.startswith(FORMAT.rpartition(" ")[0]):
            raise StoreError(f"{path} is of another version ({form!r}, here {formats[0]!r}).")
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
