"""How far a study has got, from its store alone: nothing is fitted. Only results that a run would use are counted as done."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headcount.exceptions import StoreError
from headcount.study.choice import choose, distinct
from headcount.study.plan import OWN, Plan
from headcount.study.store import FORMAT_1, Store, existing_store, load
from headcount.study.tasks import Task, chosen_tasks, select_tasks, truth_task

__all__ = ["Status", "status"]


@dataclass
class Status:
    """How many tasks of one data set and learner are done.

    Attributes
    ----------
    data_set, learner : str
    judged, to_judge : int
        Tasks that choose settings: in the store, and in the plan.
    tested, to_test : int
        Tasks that test the chosen settings: in the store, and among the settings that the results in the store choose.
    other_code : int
        Results of such tasks that other code of Headcount has computed; the next run computes them again.
    other_versions : int
        Results of such tasks that were computed with other versions of libraries, likewise.
    other_data : int
        Results of such tasks that were computed from other data, likewise.
    seconds : float
        Total time that the tasks took which are done.
    """

    data_set: str
    learner: str
    judged: int = 0
    to_judge: int = 0
    tested: int = 0
    to_test: int = 0
    other_code: int = 0
    other_versions: int = 0
    other_data: int = 0
    seconds: float = 0.0
    _files: set[Path] = field(default_factory=set, repr=False)


def status(plan: Plan, folder: str | Path) -> tuple[list[Status], list[str]]:
    """Return the status of each data set and learner, and sentences on files that can't be used."""
    store = existing_store(folder)
    notices = store.format_1_notice()
    rows: dict[tuple[str, str], Status] = {}
    planned = [] if plan.league else select_tasks(plan, plan.data_sets[0])
    for name in plan.data_sets:
        truth = store.read(truth_task(plan, name), any_versions=True, then="left out")
        data = None if truth is None else truth.data
        here = plan if truth is None else plan.suited_to(truth.outcome)
        for row in here.rows():
            key = name, row.learner_name or OWN
            rows.setdefault(key, Status(*key))
        judged = []
        for task in select_tasks(here, name) if plan.league else (task.on(name) for task in planned):
            own = rows[name, task.learner or OWN]
            own.to_judge += 1
            outcome, is_used = _counted(store, task, data, own, notices)
            own.judged += is_used
            if outcome is not None:
                judged.append((task, outcome))
        for task in chosen_tasks(here, name, distinct(choose(here, judged, partly=True))):
            own = rows[name, task.learner or OWN]
            own.to_test += 1
            own.tested += _counted(store, task, data, own, notices)[1]
    used = {path for row in rows.values() for path in row._files}
    return list(rows.values()), [*notices, *_unused(store, used)]


def _counted(
    store: Store, task: Task, data: str | None, row: Status, notices: list[str]
) -> tuple[dict[str, Any] | None, bool]:
    """Return the outcome of a task and whether a run would use it; count what speaks against it otherwise."""
    path = store.path_of(task.description)
    if not path.is_file():
        return None, False
    row._files.add(path)
    try:
        record = load(path)
    except StoreError as error:
        notices.append(f"{error} The next run computes it again.")
        return None, False
    if data is not None and record.data != data:
        row.other_data += 1
        return None, False
    if record.changed_versions():
        row.other_versions += 1
        return record.outcome, False
    if record.code != task.code:
        row.other_code += 1
        return record.outcome, False
    row.seconds += record.seconds
    return record.outcome, True


def _unused(store: Store, used: set[Path]) -> list[str]:
    """Say how many files of the store belong to no task of the plan, and name those that can't be read."""
    unused: Counter[str] = Counter()
    notices = []
    for path in store.records():
        if path in used:
            continue
        try:
            unused[load(path).task["stage"]] += 1
        except StoreError as error:
            if FORMAT_1 not in str(error):
                notices.append(f"{error} The next run computes it again.")
    n = unused["select"] + unused["test"]
    if n:
        notices.append(
            f"{n:,} results belong to another plan, or to this one with other parameters or settings; they are not used."
        )
    return notices
