"""Run a study: compute what its store lacks, through joblib, and write each result as soon as it is computed."""

import builtins
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from headcount import exceptions
from headcount._validation import encode
from headcount.exceptions import DataError, DeviceError, MissingPackageError, StoreError
from headcount.selection.progress import Progress
from headcount.study.choice import choose, distinct
from headcount.study.data import StudyData, study_data
from headcount.study.execution import Execute, executor, task_outcomes
from headcount.study.plan import Plan
from headcount.study.store import Record, Store, to_plain, versions
from headcount.study.tasks import Task, chosen_tasks, select_tasks, truth_code, truth_task

__all__ = ["Summary", "comparable", "run_study", "truth_of"]

_SETS_IN_A_BATCH = 8
_TEMPORARY = (MemoryError, OSError, ImportError, DeviceError, MissingPackageError)
"""Errors that depend on the machine rather than on the method: such a result is not stored, and the next run tries again."""


@dataclass
class Summary:
    """Counts and messages of a run.

    Attributes
    ----------
    computed, kept : int
        Tasks that were computed, and tasks that the store had already.
    seconds : float
    failures : list of str
        Methods that could not be fitted or judged, and why.
    notices : list of str
        Files of the store that could not be used and were computed again, and changes of the plan since the last run.
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
    notify: Callable[[str], None] = lambda _: None,
) -> Summary:
    """Compute what the store lacks of a plan.

    A run that is killed at any moment goes on where it was when run again, and ends with the same figures, to the bit. The figures
    do not depend on the number of jobs.

    Parameters
    ----------
    plan : Plan
    store : str or Path
        The folder of the results.
    n_jobs : int, optional
        Processes at a time.
    dask : str, optional
        Address of a Dask scheduler to compute on instead.
    data_dir : str or Path, optional
        The folder of the data sets.
    progress : bool or "auto"
        Whether to show a progress bar; "auto" does so on a terminal.
    notify : callable
        Called with a sentence on each step.

    Returns
    -------
    Summary
    """
    start, summary = time.perf_counter(), Summary()
    with Store(store).opened() as result_store, executor(n_jobs, dask, progress, notify) as execute:
        summary.notices += [f"The plan has changed: {line}." for line in result_store.write_plan(comparable(plan))]
        of_format_1 = result_store.format_1_notice()
        summary.notices += of_format_1
        for sentence in of_format_1:
            notify(sentence)
        for batch in _batches(plan, data_dir, summary, notify):
            _run_batch(result_store, batch, execute, summary, notify)
        summary.notices += result_store.notices
        if result_store.plan() is None:
            raise StoreError(f"{store} was removed while the study was running, with the results in it. Run it again.")
    summary.failures = list(dict.fromkeys(summary.failures))
    summary.seconds = time.perf_counter() - start
    return summary


def comparable(plan: Plan) -> dict[str, Any]:
    """Return the part of a plan that its figures depend on, and that is the same whichever learners and data sets are run."""
    methods = [
        {"name": m.name, "parameters": m.parameters, "grid": m.grid} | ({"method": m.method} if m.method else {})
        for m in plan.methods
    ]
    whole = asdict(plan)
    whole["protocol"] = {name: value for name, value in whole["protocol"].items() if name != "parts" or value}
    names = ["name", "learners", "protocol", "seed", "measures", *(["own_measures"] if plan.own_measures else [])]
    names += ["ordered"] if plan.ordered else []
    learners = [
        {name: value for name, value in learner.items() if name not in ("choose_once", "on", "settings") or value}
        for learner in whole["learners"]
    ]
    return {key: whole[key] for key in names} | {"methods": methods, "learners": learners}


def _batches(
    plan: Plan, data_dir: str | Path | None, summary: Summary, notify: Callable[[str], None]
) -> Iterator[list[StudyData]]:
    """Yield the data sets that are computed together: one by one, those of a league in batches of tables, which are small.

    A data set of a league that can't be used is a failure and does not stop the others.
    """
    batch: list[StudyData] = []
    for name in plan.data_sets:
        try:
            data = study_data(plan, name, data_dir)
            shares = data.true
        except DataError as error:
            if not plan.league:
                raise
            summary.failures.append(f"{name} is left out: {error}")
            continue
        what = "documents" if data.kind == "texts" else "items"
        notify(f"{name}: {len(data.train):,} labelled {what}, {len(data.test):,} to test on, {len(shares):,} samples")
        batch.append(data)
        if len(batch) == (_SETS_IN_A_BATCH if plan.league and data.kind == "tables" else 1):
            yield batch
            batch = []
    if batch:
        yield batch


def _run_batch(
    store: Store, batch: Sequence[StudyData], execute: Execute, summary: Summary, notify: Callable[[str], None]
) -> None:
    title = batch[0].name if len(batch) == 1 else f"{batch[0].name} to {batch[-1].name}"
    for data in batch:
        _write_truth(store, data)
    selecting = [(data, task) for data in batch for task in select_tasks(data.plan, data.name)]
    records = dict(_compute(store, selecting, execute, f"{title}: choosing", summary, notify))
    testing = []
    for data in batch:
        judged = [(task, records[i].outcome) for i, (of, task) in enumerate(selecting) if of is data]
        uses = choose(data.plan, judged)
        summary.failures += [f"{data.name}: {use.failure}" for use in uses if use.failure]
        testing += [(data, task) for task in chosen_tasks(data.plan, data.name, distinct(uses))]
    for _ in _compute(store, testing, execute, f"{title}: testing", summary, notify):
        pass


def _write_truth(store: Store, data: StudyData) -> None:
    """Write the shares of the test samples and the labels that they are drawn by, so that the store alone is enough for tests."""
    task = truth_task(data.plan, data.name)
    fingerprint = data.fingerprint
    # Stores of earlier versions have no labels.
    record = store.read(task, fingerprint, truth_code(data.plan))
    if record is None or "labels" not in record.outcome:
        store.write(Record(task, fingerprint, truth_of(data), 0.0, versions(), truth_code(data.plan)))


def truth_of(data: StudyData) -> dict[str, Any]:
    """Return what is stored of a data set itself."""
    labels: Any = data.test.labels
    of_league: dict[str, Any] = {}
    if data.plan.league:
        of_league = {"kind": data.kind, "settings": data.settings, "parts": _parts_of(data)}
        of_league |= {"items": data.items_fingerprint, "same_items_as": data.same_items_as}
    return of_league | {
        "classes": [str(c) for c in data.classes],
        "true": to_plain(data.true),
        "labels": to_plain(encode(labels, data.classes)),
        "ordered": data.ordered,
        "training": data.training.tolist(),
        "n_train": len(data.train),
        "n_test": len(data.test),
        "source": data.train.source if data.train.source.startswith("synthetic") else Path(data.train.source).name,
    }


def _parts_of(data: StudyData) -> list[dict[str, Any]]:
    """Return name, size of samples and number of samples of each part of the test samples, in their order."""
    return [
        {"name": part.name, "sample_size": part.sample_size, "n": names.count(part.name)}
        for names in [data.samples.names or ()]
        for part in data.plan.protocol.parts
    ]


def _compute(
    store: Store,
    works: Sequence[tuple[StudyData, Task]],
    execute: Execute,
    title: str,
    summary: Summary,
    notify: Callable[[str], None],
) -> Iterator[tuple[int, Record]]:
    """Yield the position and record of each task: first from the store, then as they are computed."""
    missing = []
    before = store.other_code
    for i, (data, task) in enumerate(works):
        record = store.read(task.description, data.fingerprint, task.code)
        if record is None:
            missing.append(i)
        else:
            summary.kept += 1
            summary.failures += _failures(data.name, task, record.outcome)
            yield i, record
    if not missing:
        return
    changed = store.other_code - before
    if changed:
        notify(
            f"{title}: {changed:,} results of the store were computed by other code of Headcount, and are computed again. If that "
            f"changes no figure, 'headcount study restamp' keeps them."
        )
    for position, outcome, seconds in task_outcomes([works[i] for i in missing], execute, title):
        i = missing[position]
        data, task = works[i]
        record = Record(task.description, data.fingerprint, outcome, seconds, versions(), task.code)
        summary.failures += _failures(data.name, task, outcome)
        if not any(_is_temporary(entry["error"]) for entry in outcome["members"]):
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


def _is_temporary(error: str) -> bool:
    """Whether an error, given as "type: message", may not occur another time."""
    name = error.partition(":")[0]
    kind = getattr(builtins, name, None) or getattr(exceptions, name, None)
    return isinstance(kind, type) and issubclass(kind, _TEMPORARY)
