"""Keep results after the code has changed: one task of each kind is computed again, and if it comes out the same, all are kept."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from headcount.exceptions import DataError, StoreError
from headcount.selection.progress import Progress
from headcount.study.choice import choose, distinct
from headcount.study.compute import unconverged_fits
from headcount.study.data import StudyData, study_data
from headcount.study.execution import Execute, executor, task_outcomes
from headcount.study.plan import OWN, Plan
from headcount.study.run import comparable, truth_of
from headcount.study.store import FORMAT_1, Record, Store, existing_store, from_plain, load
from headcount.study.tasks import (
    Task,
    chosen_tasks,
    select_tasks,
    truth_code,
    truth_task,
    truth_task_in_format_1,
)

__all__ = ["KindChecked", "Restamped", "restamp"]


class _Stale(NamedTuple):
    """A result that other code has computed, its task, and its file."""

    task: Task
    record: Record
    path: Path

    @property
    def kind(self) -> tuple[str, str, str, str]:
        """What a task is like: all of a kind were computed by one version of the code, and would be by another one now."""
        return self.task.stage, self.task.learner or OWN, self.record.code, self.task.code


@dataclass(frozen=True)
class KindChecked:
    """One kind of task: stage, learner and methods, and what its check has found.

    Attributes
    ----------
    stage, learner : str
    methods : list of str
    results : int
        Results of this kind in the store.
    checked : int
        Tasks that were computed again.
    differences : list of str
        What differs; empty if the results were stamped.
    """

    stage: str
    learner: str
    methods: list[str]
    results: int
    checked: int
    differences: list[str]


@dataclass
class Restamped:
    """What `restamp` has found.

    Attributes
    ----------
    kinds : list of KindChecked
    kept : int
        Results that had the present version of the code already.
    stamped, refused : int
        Results that now have it, and those of kinds that came out otherwise.
    other : int
        Results of other data or of other versions of libraries, which are left as they are.
    """

    kinds: list[KindChecked] = field(default_factory=list)
    kept: int = 0
    stamped: int = 0
    refused: int = 0
    other: int = 0


def restamp(
    plan: Plan,
    store: str | Path,
    *,
    per_kind: int = 1,
    n_jobs: int | None = None,
    data_dir: str | Path | None = None,
    progress: Progress = "auto",
    notify: Callable[[str], None] = lambda _: None,
) -> Restamped:
    """Compute one task of each kind again and, where it comes out the same to the bit, stamp all results of the kind.

    A kind is made of the tasks of one stage and learner whose results one version of the code has computed. Times do not count, and
    of warnings only their kinds. Results of format 1 are taken over likewise.

    Parameters
    ----------
    plan : Plan
    store : str or Path
        The folder of the results.
    per_kind : int
        Number of tasks of each kind to compute.
    n_jobs, data_dir, progress, notify
        As in `run_study`.

    Returns
    -------
    Restamped
    """
    if per_kind < 1:
        raise DataError(f"At least one task of each kind must be computed; got {per_kind}.")
    found = Restamped()
    existing_store(store)
    with Store(store).opened() as opened, executor(n_jobs, None, progress, notify) as execute:
        by_kind: dict[tuple[str, ...], list[_Stale]] = {}
        data_of: dict[str, StudyData] = {}
        for name in plan.data_sets:
            data_of[name] = study_data(plan, name, data_dir)
            _restamp_truth(opened, data_of[name])
            for stale in _stale(opened, data_of[name], found):
                by_kind.setdefault(stale.kind, []).append(stale)
        samples = {kind: _sample(results, per_kind) for kind, results in by_kind.items()}
        outcomes = _computed([s for sample in samples.values() for s in sample], data_of, execute)
        for kind, results in by_kind.items():
            differences = [line for s in samples[kind] for line in _differences(s, outcomes[s.path])]
            methods = list(dict.fromkeys(method for stale in results for method in stale.task.methods))
            found.kinds.append(KindChecked(kind[0], kind[1], methods, len(results), len(samples[kind]), differences))
            if differences:
                found.refused += len(results)
                continue
            for stale in results:
                _stamp(opened, stale)
            found.stamped += len(results)
        if by_kind:
            opened.write_plan(comparable(plan))
    return found


def _restamp_truth(store: Store, data: StudyData) -> None:
    """Stamp the shares of the test samples if they are drawn the same."""
    description = truth_task(data.plan, data.name)
    stored = _read(store, description, truth_task_in_format_1(data.plan, data.name), data.fingerprint)
    if stored is None or stored[0].code == truth_code(data.plan):
        return
    record, path = stored
    now = truth_of(data)
    same = all(_same(record.outcome.get(name), now[name]) for name in ("true", "labels", "classes"))
    if same and not record.changed_versions():
        _write(store, record, path, description, truth_code(data.plan))


def _stale(store: Store, data: StudyData, found: Restamped) -> Iterator[_Stale]:
    """Yield the results of a data set that other code has computed."""
    judged = []
    for task in select_tasks(data.plan, data.name):
        stored = _read(store, task.description, task.in_format_1(), data.fingerprint)
        if stored is not None:
            judged.append((task, stored[0].outcome))
            yield from _sorted_out(task, *stored, found)
    uses = choose(data.plan, judged, partly=True)
    for task in chosen_tasks(data.plan, data.name, distinct(uses)):
        stored = _read(store, task.description, task.in_format_1(), data.fingerprint)
        if stored is not None:
            yield from _sorted_out(task, *stored, found)


def _sorted_out(task: Task, record: Record, path: Path, found: Restamped) -> Iterator[_Stale]:
    """Yield the result if it is to be checked; count it otherwise."""
    if record.changed_versions():
        found.other += 1
    elif record.code == task.code:
        found.kept += 1
    else:
        yield _Stale(task, record, path)


def _read(store: Store, task: dict[str, Any], old: dict[str, Any], data: str) -> tuple[Record, Path] | None:
    """Return the record of a task, in this format or in format 1, and its file; None if there is none from these data."""
    for description, form in ((task, None), (old, FORMAT_1)):
        path = store.path_of(description)
        try:
            record = load(path) if form is None else load(path, form)
        except StoreError:
            continue
        if record.data == data and store.path_of(record.task) == path:
            return record, path
    return None


def _sample(results: Sequence[_Stale], n: int) -> list[_Stale]:
    """Return results to check: those in the middle by time, so that none is trivial and none takes hours."""
    ordered = sorted(results, key=lambda stale: (stale.record.seconds, stale.path))
    start = max(0, (len(ordered) - n) // 2)
    return ordered[start : start + n]


def _computed(sample: Sequence[_Stale], data_of: dict[str, StudyData], execute: Execute) -> dict[Path, dict[str, Any]]:
    """Return the outcomes of tasks that are computed again, by the file of the stored result."""
    outcomes = {}
    for name, data in data_of.items():
        of_set = [stale for stale in sample if stale.task.data_set == name]
        if of_set:
            for i, outcome, _ in task_outcomes([(data, s.task) for s in of_set], execute, f"{name}: checking"):
                outcomes[of_set[i].path] = outcome
    return outcomes


def _differences(stale: _Stale, now: dict[str, Any]) -> list[str]:
    """Say how a stored result differs from the one that was just computed."""
    lines = []
    for member, was, entry in zip(stale.task.members, stale.record.outcome["members"], now["members"], strict=True):
        name = " ".join(filter(None, (member.method, member.learner)))
        who = f"{stale.task.data_set}, {name} ({member.setting_text}), run {member.run}"
        lines += [f"{who}: {line}" for line in _entry_differences(was, entry)]
    return lines


def _entry_differences(was: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    if was["error"] != now["error"]:
        yield f"error was {was['error'] or 'none'!r}, is {now['error'] or 'none'!r}"
    for name in ("scores", "estimated"):
        if not _same(was.get(name), now.get(name)):
            yield f"{name} {_distance(was.get(name), now.get(name))}"
    kinds = [sorted({text.partition(":")[0] for text in entry["warnings"]}) for entry in (was, now)]
    if kinds[0] != kinds[1]:
        yield f"warnings were of {kinds[0]}, are of {kinds[1]}"


def _is_array(value: Any) -> bool:
    return isinstance(value, dict) and "float64" in value


def _same(was: Any, now: Any) -> bool:
    """Whether two stored values are the same to the bit."""
    if _is_array(was) and _is_array(now):
        return was["shape"] == now["shape"] and from_plain(was).tobytes() == from_plain(now).tobytes()
    return bool(was == now)


def _distance(was: Any, now: Any) -> str:
    """Say how far two stored values that are not the same are apart."""
    if _is_array(was) and _is_array(now) and was["shape"] == now["shape"]:
        return f"differ by up to {np.abs(from_plain(was) - from_plain(now)).max():.3g}"
    if isinstance(was, dict) and isinstance(now, dict) and was.keys() == now.keys() and not _is_array(was):
        changed = (f"{name} was {was[name]:.6g}, is {now[name]:.6g}" for name in was if was[name] != now[name])
        return ", ".join(changed)
    return "are of another form"


def _stamp(store: Store, stale: _Stale) -> None:
    """Write a result with the present version of the code, and with the record of convergence that format 1 lacks."""
    outcome = {key: value for key, value in stale.record.outcome.items() if key != "not_converged"}
    unconverged = unconverged_fits(stale.task.members, outcome["members"])
    if unconverged:
        outcome["not_converged"] = unconverged
    record = replace(stale.record, outcome=outcome)
    _write(store, record, stale.path, stale.task.description, stale.task.code)


def _write(store: Store, record: Record, path: Path, description: dict[str, Any], code: str) -> None:
    """Write a record with the present version of the code; a file of format 1 is replaced by the new one."""
    earlier = [*record.earlier_code, record.code or "format 1"]
    new = store.write(replace(record, task=description, code=code, earlier_code=earlier))
    if new != path:
        path.unlink()
