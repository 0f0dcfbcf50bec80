"""Run trials, each in a forked process, a few at a time: none can harm the next, and what becomes of it is seen from outside."""

import os
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tests.attack.trial import Result, Trial, judge, run_commands

_MOST_SECONDS = 900
"""Seconds by the clock until a trial is stopped, beside the limit of its CPU time: other programs may use the cores."""


@dataclass
class _Running:
    number: int
    trial: Trial
    folder: Path
    pid: int
    began: float
    timed_out: bool = False


def run_trials(
    numbers: Iterable[int], make: Callable[[int], Trial], jobs: int = 1
) -> Iterator[tuple[int, Trial, Result]]:
    """Make and run trials; yields the number of each, the trial and its result, in the order in which they end."""
    waiting, running = iter(numbers), dict[int, _Running]()
    poll = select.poll()
    while True:
        for number in islice(waiting, jobs - len(running)):
            one = _start(number, make(number))
            descriptor = os.pidfd_open(one.pid)
            running[descriptor] = one
            poll.register(descriptor, select.POLLIN)
        if not running:
            return
        ended = [descriptor for descriptor, _ in poll.poll(1000)]
        for one in running.values():
            if not one.timed_out and time.monotonic() - one.began > _MOST_SECONDS:
                one.timed_out = True
                os.kill(one.pid, signal.SIGKILL)
        for descriptor in ended:
            one = running.pop(descriptor)
            poll.unregister(descriptor)
            os.close(descriptor)
            yield one.number, one.trial, _finish(one)


def _start(number: int, trial: Trial) -> _Running:
    """Write the files of a trial and run it in a forked process."""
    folder = Path(tempfile.mkdtemp(prefix="headcount-attack-")) / "here"
    for name in ("here", "tmp"):
        (folder.parent / name).mkdir()
    for name, content in trial.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 70
        try:
            os.chdir(folder)
            tempfile.tempdir = str(folder.parent / "tmp")
            os.environ["TMPDIR"] = tempfile.tempdir
            run_commands(trial, folder)
            status = 0
        except BaseException:
            (folder.parent / "events").write_text(traceback.format_exc())
        finally:
            os._exit(status)
    return _Running(number, trial, folder, pid, time.monotonic())


def _finish(one: _Running) -> Result:
    _, status, usage = os.wait4(one.pid, 0)
    result = Result(seconds=usage.ru_utime + usage.ru_stime, peak_bytes=usage.ru_maxrss * 1024)
    judge(one.trial, one.folder, status, one.timed_out, result)
    shutil.rmtree(one.folder.parent, ignore_errors=True)
    return result
