"""Running a study: what the store lacks is computed, through joblib, and kept as soon as it is there."""

import builtins
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import BrokenProcessPool

import headcount.exceptions as known
from headcount.data import load_set
from headcount.exceptions import DataError, DeviceError, MissingPackageError, StoreError
from headcount.selection.progress import Progress, results_of
from headcount.study.choice import choose, distinct
from headcount.study.data import StudyData
from headcount.study.plan import Plan
from headcount.study.store import Record, Store, to_plain, versions
from headcount.study.tasks import Task, chosen_tasks, device_of, judged, select_tasks, tested, truth_task

__all__ = ["Summary", "run_study"]


_SECONDS_BETWEEN_LINES = 20.0
_PASSING = (MemoryError, OSError, ImportError, DeviceError, MissingPackageError)
"""Errors that say more about the moment than about the method."""


@dataclass
class Summary:
    """What a run did.

    Attributes
    ----------
    computed, kept : int
        Tasks that were computed, and that the store had already.
    seconds : float
    failures : list of str
        Methods that could not be fitted or judged, and why.
    notices : list of str
        What was found wrong in the store and computed again, and what differs from the plan before.
    """

    computed: int = 0
    kept: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def run_study(
    plan: Plan,
    store: str | Path,
    *,
    n_jobs: int | None = None,
    dask: str | None = None,
    data_dir: str | Path | None = None,
    progress: Progress = "auto",
    told: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Compute what the store lacks of a plan.

    Killed at any moment and run again, it goes on where it was and ends with the same figures, to the bit; nor do they depend on
    the number of jobs.

    Parameters
    ----------
    plan : Plan
    store : str or Path
        The folder that results are kept in.
    n_jobs : int, optional
        Processes at a time.
    dask : str, optional
        Address of a Dask scheduler to compute on instead.
    data_dir : str or Path, optional
        The folder that data sets are kept in.
    progress : bool or "auto"
    told : callable
        Hears sentences on the way.

    Returns
    -------
    Summary
    """
    start, summary, own = time.perf_counter(), Summary(), Store(store)
    with own.opened(), _backend(dask):
        summary.notices += [f"The plan has changed: {line}." for line in own.write_plan(_kept_of(plan))]
        for name in plan.data_sets:
            data = StudyData(plan, name, *load_set(name, data_dir))
            told(f"{name}: {len(data.train):,} labelled documents, {len(data.test):,} to test on")
            _keep_truth(own, data)
            selecting = select_tasks(plan, name)
            how = _How(n_jobs, progress, told)
            records = dict(_computed(own, data, selecting, how, f"{name}: choosing", summary))
            uses = choose(plan, [(task, records[i].outcome) for i, task in enumerate(selecting)])
            summary.failures += [f"{name}: {use.failure}" for use in uses if use.failure]
            testing = chosen_tasks(plan, name, distinct(uses))
            for _ in _computed(own, data, testing, how, f"{name}: testing", summary):
                pass
        summary.notices += own.notices
        if own.plan() is None:
            raise StoreError(
                f"{store} was removed while the study was running: what had been kept there is lost. Run it again."
            )
    summary.failures = list(dict.fromkeys(summary.failures))
    summary.seconds = time.perf_counter() - start
    return summary


def _kept_of(plan: Plan) -> dict[str, Any]:
    """Return what of a plan decides its figures, whichever part of it is run."""
    methods = [{"name": m.name, "parameters": m.parameters, "grid": m.grid} for m in plan.methods]
    whole = plan.to_dict()
    return {key: whole[key] for key in ("name", "learners", "protocol", "seed", "measures")} | {"methods": methods}


def _keep_truth(store: Store, data: StudyData) -> None:
    """Keep the shares of the test samples, so that errors can be had from the store alone."""
    task = truth_task(data.plan, data.name)
    fingerprint = data.fingerprint
    if store.read(task, fingerprint) is None:
        outcome = {
            "classes": [str(c) for c in data.classes],
            "true": to_plain(data.true),
            "training": data.train.prevalence.tolist(),
            "n_train": len(data.train),
            "n_test": len(data.test),
            "source": data.train.source if data.train.source.startswith("synthetic") else Path(data.train.source).name,
        }
        store.write(Record(task, fingerprint, outcome, 0.0, versions()))


@dataclass(frozen=True)
class _How:
    """How work is done and told of."""

    n_jobs: int | None
    progress: Progress
    told: Callable[[str], None]

    def results(self, jobs: Sequence[Any], title: str) -> Iterator[Any]:
        """Yield the results of the jobs; where there is no terminal for a bar, a line now and then says how far they are."""
        start = last = time.perf_counter()
        results = enumerate(results_of(jobs, self.n_jobs, title, self.progress), 1)
        while True:
            try:
                done, result = next(results)
            except StopIteration:
                return
            except BrokenProcessPool as error:
                raise DataError(
                    "A worker process died, perhaps for want of memory. "
                    "What has been computed is kept: run again, with fewer --jobs."
                ) from error
            yield result
            now = time.perf_counter()
            if now - last > _SECONDS_BETWEEN_LINES and not sys.stderr.isatty():
                left = (now - start) / done * (len(jobs) - done)
                self.told(f"{title}: {done:,} of {len(jobs):,}, about {left:.0f} s left")
                last = now


def _computed(
    store: Store, data: StudyData, tasks: Sequence[Task], how: _How, title: str, summary: Summary
) -> Iterator[tuple[int, Record]]:
    """Yield the record of each task, those first that the store has."""
    missing = []
    for i, task in enumerate(tasks):
        record = store.read(task.description, data.fingerprint)
        if record is None:
            missing.append(i)
        else:
            summary.kept += 1
            summary.failures += _failures(data.name, task, record.outcome)
            yield i, record
    if not missing:
        return
    needed = dict.fromkeys(tasks[i].representation for i in missing)
    folds = {representation: data.fold(tasks[0].stage, representation) for representation in needed}
    # Begun first, what takes longest leaves no worker waiting at the end.
    missing.sort(key=lambda i: max(member.place for member in tasks[i].members), reverse=True)
    jobs = [joblib.delayed(_done)(i, tasks[i], folds[tasks[i].representation]) for i in missing]
    for i, outcome, seconds in how.results(jobs, title):
        record = Record(tasks[i].description, data.fingerprint, outcome, seconds, versions())
        summary.failures += _failures(data.name, tasks[i], outcome)
        if not any(_passes(entry["error"]) for entry in outcome["members"]):  # what may go well next time is not kept
            store.write(record)
        summary.computed += 1
        yield i, record


def _failures(data_set: str, task: Task, outcome: dict[str, Any]) -> list[str]:
    """Return a sentence for each member of a task that failed."""
    pairs = zip(task.members, outcome["members"], strict=True)
    return [
        f"{data_set}: {member.method} {member.learner} {member.params}: {entry['error']}"
        for member, entry in pairs
        if entry["error"]
    ]


def _passes(error: str) -> bool:
    """Whether an error, told as its type and message, may be gone another time."""
    name = error.partition(":")[0]
    kind = getattr(builtins, name, None) or getattr(known, name, None)
    return isinstance(kind, type) and issubclass(kind, _PASSING)


def _done(i: int, task: Task, fold: Any) -> tuple[int, dict[str, Any], float]:
    outcome, seconds = judged(task, fold) if task.stage == "select" else tested(task, fold)
    device = device_of(task)
    return i, outcome | {"device": device} if device else outcome, seconds


@contextmanager
def _backend(address: str | None) -> Iterator[None]:
    """Compute on a Dask cluster, if one is named."""
    if address is None:
        yield
        return
    try:
        from distributed import Client  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise DataError("--dask needs the packages dask and distributed: pip install 'headcount[dask]'.") from error
    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise DataError(f"There is no Dask scheduler at {address}: {error}.") from error
    with client, joblib.parallel_config(backend="dask", client=client, wait_for_workers_timeout=30):
        yield
