"""Results of a study, from its store alone: the setting that each use chose, and its estimates on the test samples."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.errors import get_error
from headcount.exceptions import DataError, StoreError
from headcount.protocols import Samples
from headcount.selection import Run
from headcount.study.choice import choose, distinct
from headcount.study.compute import not_converged
from headcount.study.plan import OWN, Plan
from headcount.study.store import Record, existing_store, from_plain, load
from headcount.study.tasks import Task, chosen_tasks, protocol_of, select_tasks, truth_task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Cell", "NotConverged", "Results", "stored_runs", "stored_sets"]


class NotConverged(NamedTuple):
    """A fit that did not reach its stated gap: whose it is, and what its learner said."""

    run: int
    method: str
    learner: str
    data_set: str
    text: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Cell(Run):
    """One run on one data set: its chosen setting and its estimates, or why there are none.

    Attributes
    ----------
    method, learner : str
    params : dict
        The chosen setting.
    run : int
    data_set, target : str
    estimated, true : arrays of shape (n_samples, n_classes), or None
    file : Path or None
        The file of the store that holds the estimates.
    seconds : float
        Time that the fit took.
    missing : str
        Why there are no estimates.
    sizes : int or array of int
        Items of each test sample.
    """

    data_set: str
    target: str
    estimated: FloatArray | None = None
    true: FloatArray | None = None
    file: Path | None = None
    seconds: float = 0.0
    missing: str = ""
    sizes: Any = 0

    def errors(self, measure: str, sample_size: int | None = None) -> FloatArray:
        """Return the error of each test sample; the size of samples matters to some measures, by default their own."""
        sizes = np.full(len(self.true), self.sizes if sample_size is None else sample_size)  # type: ignore[arg-type]
        error = get_error(measure)
        if (getattr(error.function, "__module__", None) or "").partition(".")[0] == "headcount":
            return error(self.true, self.estimated, sizes)
        try:
            errors = np.asarray(error(self.true, self.estimated, sizes), dtype=np.float64)
        except Exception as reason:  # of a function that a plan names
            raise DataError(
                f"The measure {measure!r} can't be computed: {type(reason).__name__}: {reason}."
            ) from reason
        if errors.shape != sizes.shape:
            raise DataError(
                f"The measure {measure!r} returns numbers of shape {errors.shape} for {len(sizes)} samples: it must return one for "
                "each sample."
            )
        return errors


class Results:
    """All cells of a plan, with the estimates that a store has of them.

    Parameters
    ----------
    plan : Plan
    folder : str or Path
        The store. It is only read, never written.
    """

    def __init__(self, plan: Plan, folder: str | Path) -> None:
        self.plan, self.store = plan, existing_store(folder)
        self.notices = self.store.notices
        self.notices += self.store.format_1_notice()
        self._truths: dict[str, Record | None] = {}
        self._seconds: dict[tuple[str, str], list[float]] = {}
        self._versions: Counter[tuple[tuple[str, str], ...]] = Counter()
        self._not_converged: dict[NotConverged, None] = {}
        self._of_other_code = 0

    @cached_property
    def cells(self) -> list[Cell]:
        """The cells, in the order of the plan."""
        return [cell for name in self.plan.data_sets for cell in self._cells_of(name)]

    @property
    def seconds(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Seconds that choosing settings and testing took, by data set and learner, for the results that the cells come from."""
        _ = self.cells
        return {key: (choosing, testing) for key, (choosing, testing) in self._seconds.items()}

    @property
    def versions(self) -> list[tuple[dict[str, str], int]]:
        """Versions of libraries that the results were computed with, and the number of results with each."""
        _ = self.cells
        return [(dict(versions), n) for versions, n in self._versions.items()]

    @property
    def of_other_code(self) -> int:
        """Number of results that other code than the present one computed, and that a run would compute again."""
        _ = self.cells
        return self._of_other_code

    def not_converged(self) -> list[NotConverged]:
        """List the fits that did not converge, of the results that the cells come from: run, method, learner, data set, text."""
        _ = self.cells
        return list(self._not_converged)

    def fingerprint(self, data_set: str) -> str | None:
        """Return the fingerprint of the data that the results were computed from."""
        record = self._truth(data_set)
        return None if record is None else record.data

    def truth(self, data_set: str) -> dict[str, Any] | None:
        """Return classes, true shares of the test samples, training shares and sizes of a data set."""
        record = self._truth(data_set)
        return None if record is None else record.outcome

    def _truth(self, data_set: str) -> Record | None:
        if data_set not in self._truths:
            self._truths[data_set] = self._record(truth_task(self.plan, data_set))
        return self._truths[data_set]

    def parts(self, data_set: str) -> dict[str, slice]:
        """Return the test samples of each part, by its name; a single part named "" in a plan without parts."""
        truth = self.truth(data_set)
        parts, first = {}, 0
        if truth is None or not truth.get("parts"):
            return {"": slice(None)}
        for part in truth["parts"]:
            parts[part["name"]] = slice(first, first + part["n"])
            first += part["n"]
        return parts

    def drawn(self, data_set: str) -> tuple[Samples, IntArray, FloatArray] | None:
        """Return the test samples of a data set, the class of each test item and the true shares, drawn again by labels and seed.

        It is None where the store has no labels, as those of earlier versions, or where the draw has other shares than the store.
        """
        truth = self.truth(data_set)
        if truth is None or "labels" not in truth:
            return None
        codes = from_plain(truth["labels"]).astype(np.int64)
        classes = np.arange(len(truth["classes"]))
        samples, true = protocol_of(self.plan, "test", len(classes)).draw(codes, classes)
        return (samples, codes, true) if np.array_equal(true, from_plain(truth["true"])) else None

    @cached_property
    def _select_tasks(self) -> list[Task]:
        return select_tasks(self.plan, self.plan.data_sets[0])

    def _cells_of(self, data_set: str) -> Iterator[Cell]:
        truth = self._truth(data_set)
        true = None if truth is None else from_plain(truth.outcome["true"])
        data = None if truth is None else truth.data
        plan = self.plan if truth is None else self.plan.suited_to(truth.outcome)
        sizes = (
            np.repeat(*_sizes(truth.outcome)) if self.plan.league and truth is not None else plan.protocol.sample_size
        )
        judging = select_tasks(plan, data_set) if plan.league else [task.on(data_set) for task in self._select_tasks]
        judged = [(task, record.outcome) for task, record in self._computed(judging, data)]
        uses = choose(plan, judged, partly=True)
        tested: dict[Hashable, tuple[Any, Path | None]] = {}
        for task, record in self._computed(chosen_tasks(plan, data_set, distinct(uses)), data):
            path = self.store.path_of(task.description)
            for member, entry in zip(task.members, record.outcome["members"], strict=True):
                tested[member.key] = entry, path
        no_entry: dict[str, Any] = {}
        for use in uses:
            # A use that failed has no setting: its key would be that of the learner's defaults.
            entry, path = (no_entry, None) if use.failure else tested.get(use.key, (no_entry, None))
            cell: dict[str, Any] = {"data_set": data_set, "target": use.target, "file": path, "sizes": sizes}
            if entry.get("estimated") is not None and true is not None:
                cell |= {"estimated": from_plain(entry["estimated"]), "true": true, "seconds": entry["fit_seconds"]}
            else:
                cell["missing"] = use.failure or entry.get("error") or "not computed yet"
            yield Cell(use.method, use.learner, use.params, use.run, **cell)

    def _computed(self, tasks: Sequence[Task], data: str | None) -> Iterator[tuple[Task, Record]]:
        """Yield the tasks that the store has results of, with these; add their seconds and versions to the totals."""
        for task in tasks:
            record = self._record(task.description, data)
            if record is not None:
                seconds = self._seconds.setdefault((task.data_set, task.learner or OWN), [0.0, 0.0])
                seconds[task.stage == "test"] += record.seconds
                device = {"device": record.outcome["device"]} if "device" in record.outcome else {}
                self._versions[tuple((record.versions | device).items())] += 1
                self._of_other_code += record.code != task.code
                stage = "choosing" if task.stage == "select" else "testing"
                for member, entry in zip(task.members, record.outcome["members"], strict=True):
                    for text in not_converged(entry):
                        told = f"{stage}, {member.setting_text}: {text}"
                        row = NotConverged(member.run, member.method, member.learner or OWN, task.data_set, told)
                        self._not_converged[row] = None
                yield task, record

    def _record(self, description: dict[str, Any], data: str | None = None) -> Record | None:
        return self.store.read(description, data, any_versions=True, then="left out")

    def to_frame(self) -> "pd.DataFrame":
        """Return a row for each use: the mean error over its runs and test samples by each measure, and its number of runs."""
        import pandas as pd

        names = ("data_set", "method", "learner", "target")
        groups: dict[tuple[str, ...], list[Cell]] = {}
        for cell in self.cells:
            groups.setdefault(tuple(getattr(cell, name) for name in names), []).append(cell)
        rows = []
        for key, cells in groups.items():
            done = [cell for cell in cells if cell.estimated is not None]
            row: dict[str, Any] = dict(zip(names, key, strict=True))
            row |= {"runs": len(done), "of": len(cells), "missing": next((c.missing for c in cells if c.missing), "")}
            for measure in self.plan.measures:
                errors: list[AnyArray] = [cell.errors(measure) for cell in done]
                row[measure] = float(np.mean(errors)) if errors else np.nan
            rows.append(row)
        return pd.DataFrame(rows)


def _sizes(truth: dict[str, Any]) -> tuple[list[int], list[int]]:
    """Return the size of the samples of each part, and their number."""
    return [part["sample_size"] for part in truth["parts"]], [part["n"] for part in truth["parts"]]


def stored_sets(plan: Plan, folder: str | Path, places: Sequence[str] = ()) -> list[str]:
    """Return the data sets that a store has samples of, drawn as a plan says: all, or those of these names and folders."""
    store = existing_store(folder)
    names = []
    for path in sorted((store.folder / "truth").glob("*/*/*.result")):
        try:
            name = str(load(path).task.get("data_set"))
        except StoreError:
            continue  # a run computes it again and says so
        if path == store.path_of(truth_task(plan, name)):
            names.append(name)
    chosen = [name for name in names if not places or any(_is_of(name, place) for place in places)]
    if not chosen:
        where = f" in {quoted(places)}" if places else ""
        raise StoreError(
            f"The store {folder} has no data set of the plan {plan.name}{where}: run 'headcount study run {plan.name} --store "
            f"{folder}' first."
        )
    return chosen


def stored_runs(plan: Plan, folder: str | Path) -> int:
    """Return how many runs of a league's methods a store has: the most on the first of its data sets that has some."""
    for tests in sorted((existing_store(folder).folder / "test").glob("*")):
        runs = 0
        for path in sorted(tests.glob("*/*.result")):
            with suppress(StoreError):  # a run computes it again and says so
                runs = max([runs, *(int(member["run"]) + 1 for member in load(path).task["members"])])
        if runs:
            return runs
    return max(method.runs for method in plan.methods)


def _is_of(name: str, place: str) -> bool:
    """Whether a data set is this one, or one of this folder."""
    return place in ("*", name, name.partition("/")[0]) or name.startswith(f"{Path(place).name}/")
