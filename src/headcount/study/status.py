"""How far a study is, from its store alone: nothing is loaded or fitted."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headcount.exceptions import StoreError
from headcount.study.plan import OWN, Plan
from headcount.study.store import Store, key_of, load
from headcount.study.tasks import select_tasks

__all__ = ["Status", "status"]


@dataclass(frozen=True)
class Status:
    """How far the tasks of one data set and learner are.

    Attributes
    ----------
    data_set, learner : str
    judged, to_judge : int
        Tasks that choose settings: in the store, and in all.
    tested : int
        Tasks that test the chosen settings, in the store.
    seconds : float
        Time that these took, added up.
    """

    data_set: str
    learner: str
    judged: int
    to_judge: int
    tested: int
    seconds: float


def status(plan: Plan, folder: str | Path) -> tuple[list[Status], list[str]]:
    """Return how far each data set and learner is, and sentences on files that can't be used."""
    store = Store(folder)
    if not store.folder.is_dir():
        raise StoreError(f"There is no store at {folder}: run 'headcount study run --store {folder}' first.")
    wanted: dict[tuple[str, str], set[str]] = {}
    for name in plan.data_sets:
        for _, learner in plan.rows():
            wanted.setdefault((name, learner.name if learner else OWN), set())
        for task in select_tasks(plan, name):
            wanted.setdefault((name, task.learner or OWN), set()).add(key_of(task.description))
    judged: Counter[Any] = Counter()
    tested: Counter[Any] = Counter()
    seconds: dict[Any, float] = defaultdict(float)
    notices = []
    others = 0
    for path in store.records():
        try:
            record = load(path)
        except StoreError as error:
            notices.append(f"{error} The next run computes it again.")
            continue
        place = record.task["data_set"], record.task["learner"] or OWN
        if record.task["stage"] == "truth":
            continue
        if place not in wanted or (record.task["stage"] == "select" and key_of(record.task) not in wanted[place]):
            others += 1
            continue
        seconds[place] += record.seconds
        (judged if record.task["stage"] == "select" else tested)[place] += 1
    if others:
        notices.append(
            f"{others:,} results belong to another plan, or to this one with other parameters; they are not used."
        )
    return [
        Status(*place, judged[place], len(keys), tested[place], seconds[place]) for place, keys in wanted.items()
    ], notices
