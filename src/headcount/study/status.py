"""How far a study has got, from its store alone: nothing is loaded or fitted."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.exceptions import StoreError
from headcount.study.plan import OWN, Plan
from headcount.study.store import existing_store, key_of, load
from headcount.study.tasks import select_tasks

__all__ = ["Status", "status"]


@dataclass(frozen=True)
class Status:
    """How many tasks of one data set and learner are done.

    Attributes
    ----------
    data_set, learner : str
    judged, to_judge : int
        Tasks that choose settings: in the store, and in the plan.
    tested : int
        Tasks that test the chosen settings, in the store.
    seconds : float
        Total time that the tasks in the store took.
    """

    data_set: str
    learner: str
    judged: int
    to_judge: int
    tested: int
    seconds: float


def status(plan: Plan, folder: str | Path) -> tuple[list[Status], list[str]]:
    """Return the status of each data set and learner, and sentences on files that can't be used."""
    store = existing_store(folder)
    planned: dict[tuple[str, str], set[str]] = {}
    for name in plan.data_sets:
        for row in plan.rows():
            planned.setdefault((name, row.learner_name or OWN), set())
        for task in select_tasks(plan, name):
            planned[name, task.learner or OWN].add(key_of(task.description))
    judged: Counter[Any] = Counter()
    tested: Counter[Any] = Counter()
    seconds: dict[Any, float] = defaultdict(float)
    notices = []
    unused = 0
    for path in store.records():
        try:
            record = load(path)
        except StoreError as error:
            notices.append(f"{error} The next run computes it again.")
            continue
        stage = record.task["stage"]
        key = record.task["data_set"], record.task["learner"] or OWN
        if stage == "truth":
            continue
        if key not in planned or (stage == "select" and key_of(record.task) not in planned[key]):
            unused += 1
            continue
        seconds[key] += record.seconds
        (judged if stage == "select" else tested)[key] += 1
    if unused:
        notices.append(
            f"{unused:,} results belong to another plan, or to this one with other parameters; they are not used."
        )
    return [Status(*key, judged[key], len(tasks), tested[key], seconds[key]) for key, tasks in planned.items()], notices
