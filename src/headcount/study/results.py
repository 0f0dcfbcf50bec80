"""What a study found, from its store alone: the setting each use chose, and its estimates on the test samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.errors import get_error
from headcount.exceptions import StoreError
from headcount.study.choice import Use, choose, distinct, fitted_key
from headcount.study.plan import OWN, Plan
from headcount.study.store import Record, Store, from_plain, key_of, load
from headcount.study.tasks import Task, chosen_tasks, select_tasks, truth_task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cell", "Results"]


@dataclass(frozen=True, eq=False)
class Cell:
    """One use on one data set: what it chose, and what it estimated, or why it did not.

    Attributes
    ----------
    data_set, method, learner, target : str
    run : int
    params : dict
    estimated, true : arrays of shape (n_samples, n_classes), or None
    file : Path or None
        Of the store, that the estimates are in.
    missing : str
        Why there are none.
    """

    data_set: str
    method: str
    learner: str
    target: str
    run: int
    params: dict[str, Any]
    estimated: FloatArray | None
    true: FloatArray | None
    file: Path | None
    seconds: float = 0.0
    missing: str = ""

    def errors(self, measure: str, sample_size: int) -> FloatArray:
        """Return the error of each test sample."""
        return get_error(measure)(self.true, self.estimated, np.full(len(self.true), sample_size))  # type: ignore[arg-type]


class Results:
    """All cells of a plan that a store has.

    Parameters
    ----------
    plan : Plan
    folder : str or Path
        The store. It is read, never written.
    """

    def __init__(self, plan: Plan, folder: str | Path) -> None:
        self.plan, self.store = plan, Store(folder)
        self.notices: list[str] = []
        self._truths: dict[str, Record | None] = {}
        self._spent: dict[tuple[str, str], list[float]] = {}
        self._versions: dict[tuple[tuple[str, str], ...], int] = {}
        if not self.store.folder.is_dir():
            raise StoreError(f"There is no store at {folder}: run 'headcount study run --store {folder}' first.")

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells, in the order of the plan."""
        return [cell for name in self.plan.data_sets for cell in self._of(name)]

    @property
    def seconds(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Seconds that choosing settings and testing took, by data set and learner, of the results that the cells rest on."""
        _ = self.cells
        return {place: (choosing, testing) for place, (choosing, testing) in self._spent.items()}

    @property
    def versions(self) -> list[tuple[dict[str, str], int]]:
        """Versions of libraries that the results were computed with, and how many results each."""
        _ = self.cells
        return [(dict(versions), n) for versions, n in self._versions.items()]

    def fingerprint(self, data_set: str) -> str | None:
        """Return the fingerprint of the data that the results were computed from."""
        record = self._truth(data_set)
        return None if record is None else record.data

    def truth(self, data_set: str) -> dict[str, Any] | None:
        """Return what is known of a data set: classes, true shares of the test samples, sizes."""
        record = self._truth(data_set)
        return None if record is None else record.outcome

    def _truth(self, data_set: str) -> Record | None:
        if data_set not in self._truths:
            self._truths[data_set] = self._record(truth_task(self.plan, data_set))
        return self._truths[data_set]

    @cached_property
    def _select_tasks(self) -> list[Task]:
        return select_tasks(self.plan, self.plan.data_sets[0])

    def _of(self, data_set: str) -> Iterator[Cell]:
        truth = self._truth(data_set)
        true = None if truth is None else from_plain(truth.outcome["true"])
        data = None if truth is None else truth.data
        judged = []
        for task in (task.on(data_set) for task in self._select_tasks):
            record = self._record(task.description, data)
            if record is not None:
                self._count(record, 0)
                judged.append((task, record.outcome))
        uses = choose(self.plan, judged, partly=True)
        found = self._tested(data_set, uses, data)
        for use in uses:
            entry, path = found.get(use.key, (None, None))
            known = entry is not None and entry["estimated"] is not None and true is not None
            why = use.failure or (entry["error"] if entry else "") or ("" if known else "not computed yet")
            yield Cell(
                data_set, use.method.name, use.learner.name if use.learner else "", use.target, use.run, use.params,
                from_plain(entry["estimated"]) if entry and known else None, true if known else None, path,
                entry["fit_seconds"] if entry and known else 0.0, why,
            )  # fmt: skip

    def _tested(self, data_set: str, uses: Sequence[Use], data: str | None) -> dict[Any, tuple[Any, Path]]:
        """Return the outcome of each distinct setting, with its file."""
        found: dict[Any, tuple[Any, Path]] = {}
        for task in chosen_tasks(self.plan, data_set, distinct(uses)):
            record = self._record(task.description, data)
            if record is not None:
                self._count(record, 1)
                path = self.store.path_of(task.description)
                for member, entry in zip(task.members, record.outcome["members"], strict=True):
                    found[fitted_key(member.method, member.learner, member.run, member.params)] = entry, path
        return found

    def _count(self, record: Record, stage: int) -> None:
        spent = self._spent.setdefault((record.task["data_set"], record.task["learner"] or OWN), [0.0, 0.0])
        spent[stage] += record.seconds
        versions = tuple((record.versions | _device(record)).items())
        self._versions[versions] = self._versions.get(versions, 0) + 1

    def _record(self, description: dict[str, Any], data: str | None = None) -> Record | None:
        """Return the record of a task if it is sound and of the same data as the true shares; else a notice says what is wrong."""
        path = self.store.path_of(description)
        if not path.is_file():
            return None
        try:
            record = load(path)
        except StoreError as error:
            self.notices.append(f"{error} It is left out.")
            return None
        if key_of(record.task) != key_of(description):
            self.notices.append(f"{path} holds another task than its name says. It is left out.")
            return None
        if data is not None and record.data != data:
            self.notices.append(
                f"{path} was computed from other data than the rest. It is left out; run the study again."
            )
            return None
        return record

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each use: the mean error over its runs and test samples by each measure, and its number of runs."""
        import pandas as pd

        groups: dict[Any, list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault((cell.data_set, cell.method, cell.learner, cell.target), []).append(cell)
        rows = []
        for key, cells in groups.items():
            done = [cell for cell in cells if cell.estimated is not None]
            row = dict(zip(("data_set", "method", "learner", "target"), key, strict=True))
            row |= {"runs": len(done), "of": len(cells), "missing": next((c.missing for c in cells if c.missing), "")}
            for measure in self.plan.measures:
                errors: list[AnyArray] = [cell.errors(measure, self.plan.protocol.sample_size) for cell in done]
                row[measure] = float(np.mean(errors)) if errors else np.nan
            rows.append(row)
        return pd.DataFrame(rows)


def _device(record: Record) -> dict[str, str]:
    return {"device": record.outcome["device"]} if "device" in record.outcome else {}
