"""Execute tasks through joblib: in processes that end with the process that started them, or on a Dask cluster."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import get_active_backend

from headcount._dask import connect
from headcount.errors import ErrorMeasure
from headcount.exceptions import DataError
from headcount.selection.progress import Progress, results_of
from headcount.study.compute import judged, tested, unconverged_fits
from headcount.study.data import StudyData
from headcount.study.tasks import Task, device_of

__all__ = ["Execute", "executor", "task_outcomes"]

Execute = Callable[[Sequence[Any], str], Iterator[Any]]
"""Runs jobs under a title and yields their results."""
_SECONDS_BETWEEN_LINES = 20.0
"""Least time between two lines of progress, where there is no terminal."""
_SECONDS_BETWEEN_LOOKS = 0.5
"""Time between two looks of a worker at its parent."""


@contextmanager
def executor(
    n_jobs: int | None, dask: str | None, progress: Progress, notify: Callable[[str], None]
) -> Iterator[Execute]:
    """Give a function that runs jobs, in processes here or on the cluster at an address."""
    with _backend(dask):
        yield partial(_execute, n_jobs=n_jobs, progress=progress, notify=notify)


@contextmanager
def _backend(address: str | None) -> Iterator[None]:
    """Compute on a Dask cluster if an address is given; else in joblib's processes, unless the caller has chosen otherwise."""
    if address is not None:
        with (
            connect(address) as client,
            joblib.parallel_config(backend="dask", client=client, wait_for_workers_timeout=30),
        ):
            yield
    elif hasattr(os, "getppid") and type(get_active_backend(prefer="processes")[0]).__name__ == "LokyBackend":
        with joblib.parallel_config(backend="loky", initializer=_end_with_parent, initargs=(os.getpid(),)):
            yield
    else:
        yield


def _end_with_parent(parent: int) -> None:
    """End this worker as soon as its parent has ended, however that was killed; joblib's workers would go on with their tasks.

    A thread looks, because Linux's signal for it (PR_SET_PDEATHSIG) comes when the *thread* that started the worker ends, which
    may be one of joblib's.
    """

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os._exit(1)  # nothing is left to tell or to tidy up: only the parent writes results

    threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def _execute(
    jobs: Sequence[Any], title: str, n_jobs: int | None, progress: Progress, notify: Callable[[str], None]
) -> Iterator[Any]:
    """Yield the results of the jobs; without a terminal for a progress bar, notify of the progress from time to time."""
    start = last = time.perf_counter()
    try:
        for done, result in enumerate(results_of(jobs, n_jobs, title, progress), 1):
            yield result
            now = time.perf_counter()
            if now - last > _SECONDS_BETWEEN_LINES and not sys.stderr.isatty():
                left = (now - start) / done * (len(jobs) - done)
                notify(f"{title}: {done:,} of {len(jobs):,}, about {left:.0f} s left")
                last = now
    except BrokenProcessPool as error:
        raise DataError(
            "A worker process died, perhaps because memory ran out. "
            "What has been computed is kept: run again, with fewer --jobs."
        ) from error


def task_outcomes(
    works: Sequence[tuple[StudyData, Task]], execute: Execute, title: str
) -> Iterator[tuple[int, dict[str, Any], float]]:
    """Compute tasks, each on its data set; yield position, outcome and seconds of each as soon as it is computed."""
    wanted = {(data.name, task.stage, task.representation): data for data, task in works}
    folds = {(name, stage, form): data.fold(stage, form) for (name, stage, form), data in wanted.items()}
    # The longest tasks first, so that no worker is idle at the end.
    order = sorted(range(len(works)), key=lambda i: max(member.cost for member in works[i][1].members), reverse=True)
    jobs = []
    for i in order:
        data, task = works[i]
        fold, measures = folds[data.name, task.stage, task.representation], task.error_measures()
        # The measures travel with the task: a worker has not registered those of the user's own. So does the code's version.
        jobs.append(joblib.delayed(_run_task)(i, task, fold, measures, task.code))
    yield from execute(jobs, title)


def _run_task(
    i: int, task: Task, fold: Any, measures: Sequence[ErrorMeasure], code: str
) -> tuple[int, dict[str, Any], float]:
    if task.code_here(measures) != code:
        raise DataError(
            "A worker has other code of Headcount than the run that started it: the code has changed meanwhile, or another version "
            "is installed there. What has been computed is kept: run again."
        )
    start = time.perf_counter()
    members = judged(task.members, fold, measures) if task.stage == "select" else tested(task.members, fold)
    outcome: dict[str, Any] = {"members": members}
    seconds = time.perf_counter() - start
    device = device_of(task)
    if device:
        outcome["device"] = device
    unconverged = unconverged_fits(task.members, members)
    if unconverged:
        outcome["not_converged"] = unconverged
    return i, outcome, seconds
