"""One trial of the attack: files in a folder of its own, commands that are run on them, and what may not come of it.

The commands run in a process of their own, which `watch` limits and looks after.
"""

import json
import os
import re
import resource
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

CPU_SECONDS, MOST_BYTES = 20, 2 * 2**30
"""Limits of a command: CPU time, and memory beyond that of the process that it is started from."""
_LINE = re.compile(r"headcount: .|Written: .|Missing: .|\.\.\. and .|Stopped\. |Failed: |$")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MEMORY = re.compile(r"MemoryError|Unable to allocate|ArrayMemoryError|realloc of size|malloc of size|bad_alloc")
_TRACEBACK = re.compile(r"Traceback \(most recent|^  File \"|Warning: ", re.MULTILINE)
_STARTS = (
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "os.spawn",
    "socket.connect",
    "webbrowser.open",
)
_CHANGES = (
    "os.remove",
    "os.rename",
    "os.mkdir",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "shutil.rmtree",
)


@dataclass
class Trial:
    """Files, commands, and the files that the commands are told to write."""

    files: dict[str, bytes]
    commands: list[list[str]]
    outputs: frozenset[str] = frozenset()
    what: str = ""
    """What was forged, in a few words."""
    folders: tuple[str, ...] = ()
    """Folders that the commands may fill, such as the store of a study."""


@dataclass
class Result:
    """What came of a trial: a word for each command (answered, refused), and what must not have happened."""

    answers: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0


def run_commands(trial: Trial, folder: Path) -> None:
    """Run the commands of a trial in its folder, in this process, and write what came of each; the process then ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MOST_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    used = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
    _watch_what_is_done(folder)
    records = []
    for number, command in enumerate(trial.commands):
        seconds = used + CPU_SECONDS * (number + 1)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
        began = time.process_time()
        code, wrong = _run(command, folder, number)
        records.append({"command": command, "code": code, "wrong": wrong, "seconds": time.process_time() - began})
        (folder.parent / "records.json").write_text(json.dumps(records))


def _run(command: list[str], folder: Path, number: int) -> tuple[int, str]:
    """Run a command with its output in files; return the exit code, and the traceback of a bug."""
    from headcount.cli.app import main

    names = [folder.parent / f"{name}.{number}" for name in ("stdout", "stderr")]
    streams = [open(name, "w", encoding="utf-8", errors="backslashreplace") for name in names]  # noqa: SIM115, PTH123
    for descriptor, stream in zip((1, 2), streams, strict=True):
        os.dup2(stream.fileno(), descriptor)
    sys.stdout, sys.stderr = streams
    sys.argv = ["headcount", *command]
    try:
        main()
    except SystemExit as stop:
        return (stop.code if isinstance(stop.code, int) else int(stop.code is not None)), ""
    except BaseException:
        return 1, traceback.format_exc()
    finally:
        for stream in streams:
            stream.flush()
    return 0, ""


def _watch_what_is_done(folder: Path) -> None:
    """Write down each program that is started, each connection, and each file that is changed elsewhere."""
    package = Path(sys.modules["headcount"].__file__ or "").parent
    caches = [
        os.environ.get("NUMBA_CACHE_DIR", str(package)),
        str(Path.home() / ".config"),
        str(Path.home() / ".cache"),
    ]
    allowed = (str(folder.parent), str(package), "/dev/", *caches)
    log = open(folder.parent / "events", "a", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115, PTH123

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in _STARTS:
            log.write(f"{event} {arguments!r:.300}\n")
            log.flush()
        elif event in _CHANGES or (event == "open" and _writes(arguments)):
            path = os.path.abspath(os.fsdecode(arguments[0])) if isinstance(arguments[0], str | bytes) else ""  # noqa: PTH100
            if path and not path.startswith(allowed):
                log.write(f"{event} {path}\n")
                log.flush()

    sys.addaudithook(hook)


def _writes(arguments: tuple[object, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC))


def judge(trial: Trial, folder: Path, status: int, timed_out: bool, result: Result) -> None:
    """Look at what a trial has left, and write down what must not have happened."""
    path = folder.parent / "records.json"
    records = json.loads(path.read_text()) if path.exists() else []
    at = records[-1]["command"] if len(records) == len(trial.commands) else trial.commands[len(records)]
    if timed_out or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (24, 9)):
        result.wrong.append(f"time: {at}")
    elif os.WIFSIGNALED(status):
        result.wrong.append(f"crash: signal {os.WTERMSIG(status)} in {at}")
    elif status:
        result.wrong.append(f"crash: exit status {status} in {at}")
    if result.peak_bytes > MOST_BYTES:
        result.wrong.append(f"memory: {result.peak_bytes / 2**30:.1f} GB in {at}")
    for number, record in enumerate(records):
        result.answers.append({0: "answered", 2: "refused"}.get(record["code"], "failed"))
        _judge_words(record, folder.parent / f"stdout.{number}", folder.parent / f"stderr.{number}", result)
    events = folder.parent / "events"
    result.wrong += [f"event: {line}" for line in events.read_text().splitlines()] if events.exists() else []
    _judge_files(trial, folder, result)


def _judge_words(record: dict[str, object], out: Path, err: Path, result: Result) -> None:
    said, at = err.read_text(errors="replace"), record["command"]
    words = out.read_text(errors="replace") if out.stat().st_size < 2**24 else ""
    result.said.append(said.strip()[:200])
    if record["wrong"]:
        result.wrong.append(f"traceback: {at}\n{record['wrong']}")
    elif record["code"] not in (0, 2) and not _run_failed(record, said):
        result.wrong.append(f"exit code {record['code']}: {at}\n{said[-500:]}")
    elif _TRACEBACK.search(said):
        result.wrong.append(f"traceback in words: {at}\n{said[:1000]}")
    elif any(not _LINE.match(line) for line in said.splitlines()):
        result.wrong.append(f"not a sentence: {at}\n{said[:1000]}")
    elif record["code"] == 2 and not said.rstrip().endswith((".", "?", "!", "…")):
        result.wrong.append(f"not a sentence: {at}\n{said[-300:]}")
    if _MEMORY.search(said):
        result.wrong.append(f"memory: {at}\n{said[:500]}")
    if _CONTROL.search(said) or (_CONTROL.search(words) and "-o" not in at):  # type: ignore[operator]
        result.wrong.append(f"control characters: {at}")


def _run_failed(record: dict[str, object], said: str) -> bool:
    """Whether a study said of each fit that failed what happened: the exit code is 1 then."""
    of_study = record["command"][:2] == ["study", "run"]  # type: ignore[index]
    return record["code"] == 1 and of_study and said.lstrip().startswith("Failed: ")


def _judge_files(trial: Trial, folder: Path, result: Result) -> None:
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() or name.startswith(trial.folders or "\0"):
            continue
        if name in trial.files:
            if path.read_bytes() != trial.files[name]:
                result.wrong.append(f"file changed: {name}")
        elif name not in trial.outputs:
            result.wrong.append(f"file made: {name}")
    for name in trial.files:
        if not (folder / name).exists():
            result.wrong.append(f"file removed: {name}")
    for path in (folder.parent / "tmp").iterdir():
        result.wrong.append(f"file left in the temporary folder: {path.name}")
