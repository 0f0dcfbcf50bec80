"""From a model, a state and tables of new batches to what is known of the stream now."""

import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from headcount._validation import plain, quoted
from headcount._writing import output_target
from headcount.desk.estimate import listed_paths, loaded_model, tally_of
from headcount.desk.label_file import LabelSource
from headcount.desk.watch_labels import WatchLabels
from headcount.exceptions import DataError, HeadcountWarning
from headcount.modelfile import Model
from headcount.monitor import Alarm, Batch, Monitor, WatchResult
from headcount.monitor.questions import as_bands, as_reference
from headcount.stream import Tally
from headcount.stream.groups import group_label, parse_groupings
from headcount.tables.tablefile import files_of

__all__ = ["Watched", "watch_tables"]

_SECONDS_TO_WAIT = 600.0
"""For another run over the same state."""


@dataclass(frozen=True, eq=False)
class Watched:
    """What a run found.

    Attributes
    ----------
    monitor : Monitor
    results : list of WatchResult
        Of each batch of the run, in order; those that were counted before have ``counted=False``.
    alarms : tuple of Alarm
        Raised by batches that are counted for the first time, or by the last batch of the run, or by labels of the run, so that a
        run that is repeated says what it said before.
    n_labels : int
        Labels that are counted for the first time.
    """

    monitor: Monitor
    results: list[WatchResult]
    alarms: tuple[Alarm, ...]
    n_labels: int = 0

    @property
    def last(self) -> WatchResult:
        """The result of the last batch."""
        return self.results[-1]


def watch_tables(
    model: Model | str | Path,
    files: str | Path | Sequence[str | Path],
    state: str | Path,
    *,
    by: str | None = None,
    where: Sequence[str] = (),
    batch_id: str | None = None,
    level: float | None = None,
    reference: Any = None,
    band: Mapping[Any, Sequence[Any]] | None = None,
    move: float | None = None,
    counts: bool = False,
    statistics: bool = False,
    labels: str | None = None,
    labels_from: Any = None,
    item: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Watched:
    r"""Add tables as batches to a state file, and say what is known of the stream now (`headcount.monitor.Monitor`).

    Parameters
    ----------
    model, files, where, counts, statistics, progress
        As in `headcount.desk.estimate_tables`.
    state : path
        The state of the stream, made by the first run; later runs read it and replace it as a whole.
    by : str, optional
        A column whose groups are batches, in order, such as ``date:week``. By default all rows are one batch.
    batch_id : str, optional
        The name of the batch; by default the digest of the files. A batch is counted once.
    level, reference, band, move
        As in `Monitor`, when the state is new; later they may be omitted, and must be the same.
    labels, labels_from, item : optional
        Labels of some items of the batches, drawn at random (`Monitor.add_labels`): a column of the tables, empty where an item has
        none, or a file as in `headcount.desk.estimate_tables`; and the column that identifies an item. The batches are read again,
        and neither they nor a label are counted twice. Where items have ids, of batches that were seen before the labelled items
        alone will do.

    Examples
    --------
    >>> from headcount.desk import confusion_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     matrix, months = Path(folder, "confusion.csv"), Path(folder, "counts.csv")
    ...     _ = matrix.write_text("true,neg,pos\nneg,800,200\npos,100,900\n")
    ...     _ = months.write_text("month,class,count\n1,neg,650\n1,pos,350\n2,neg,640\n2,pos,360\n3,neg,400\n3,pos,600\n")
    ...     found = watch_tables(
    ...         confusion_model(matrix), months, Path(folder, "state.json"), by="month", counts=True, reference={"pos": 0.2}
    ...     )
    >>> [result.status for result in found.results], found.alarms[0].since
    (['quiet', 'quiet', 'alarm'], '3')
    """
    model, path = loaded_model(model), Path(state)
    target = output_target(path)
    if not target.parent.is_dir():
        raise DataError(f"{path} can't be written: there is no folder {target.parent}.")
    if by is not None and batch_id is not None:
        raise DataError(
            "--batch names one batch, and with --by each group is a batch with its own name: use one of them."
        )
    source = LabelSource(labels, labels_from, item)
    _check_labels(source, by, batch_id, counts, statistics)
    sources = listed_paths(files)
    lock = FileLock(
        Path(tempfile.gettempdir(), f"headcount-watch-{sha256(str(target).encode()).hexdigest()[:24]}.lock")
    )
    try:
        with lock.acquire(timeout=_SECONDS_TO_WAIT):
            late = WatchLabels(source, model.quantifier.classes_) if source.given else None
            kept = None if late is None else late.kept
            tally = tally_of(model, sources, by, counts, None, progress, where, statistics, kept)
            name = batch_id if by is not None or batch_id is not None else _digest_of(sources)
            asked = {"level": level, "reference": reference, "band": band, "move": move}
            monitor = _monitor_of(model, path, target, tally, asked)
            batches = _batches(tally, by, name)
            results = _add(monitor, tally, batches, late, by is None and not model.only_decides)
            before, labelled = _n_labels(monitor), [] if late is None else late.add_to(monitor, batches)
            if labelled:
                results[-1] = monitor.with_labels(results[-1])
            n_labels = _n_labels(monitor) - before
            if any(result.counted for result in results) or n_labels or not target.exists():
                monitor.save(path)
    except Timeout as error:
        raise DataError(f"{path} is in use by another run: try again later.") from error
    names = {result.batch for result in results if result.counted} | {results[-1].batch}
    alarms = tuple(alarm for alarm in monitor.alarms if alarm.batch in (labelled if alarm.kind == "labels" else names))
    return Watched(monitor, results, alarms, n_labels)


def _check_labels(source: LabelSource, by: str | None, batch_id: str | None, counts: bool, statistics: bool) -> None:
    if source.column is not None and source.file is not None:
        raise DataError(
            "Labels are in a column of the tables (--labels) or in a file of their own (--labels-from): name one."
        )
    if source.item is not None and not source.given:
        raise DataError(
            "--id names the items that labels are of: name these too, with --labels COLUMN or --labels-from FILE. A batch is named "
            "with --batch."
        )
    if source.given and (counts or statistics):
        raise DataError(
            "Labels are of single items, and the tables hold counts or statistics: pass the rows themselves."
        )
    if source.column is not None and by is None and batch_id is None:
        raise DataError(
            "A file in which labels are filled in is another file, by whose content its batch can't be known: name the batch with "
            "--batch, or a column with --by."
        )


def _n_labels(monitor: Monitor) -> int:
    return 0 if monitor.labelled is None else monitor.labelled.n_labels


def _monitor_of(model: Model, path: Path, target: Path, tally: Tally, asked: dict[str, Any]) -> Monitor:
    cells, quantifier = tally.recipe.cells, model.quantifier
    if not target.exists():
        given = {key: value for key, value in asked.items() if value is not None}
        return Monitor(quantifier, cells=cells, check=cells is not None, **given)
    monitor = Monitor.load(path, quantifier, cells=cells, check=cells is not None)
    _require_same(monitor, path, asked)
    return monitor


def _require_same(monitor: Monitor, path: Path, asked: dict[str, Any]) -> None:
    """Raise if something else is asked for than what the state was made with."""
    reference = as_reference(asked["reference"], monitor.classes, monitor.scores.labelled_shares)
    settings, different = monitor.settings, []
    for name, value in (("level", asked["level"]), ("move", asked["move"])):
        if value is not None and value != settings[name]:
            different.append(name)
    if reference is not None:
        shares = None if reference.shares is None else reference.shares.tolist()
        if (shares, reference.first) != (settings["reference"], settings["first"]):
            different.append("reference")
    if asked["band"] is not None and as_bands(asked["band"], monitor.classes) != monitor.bands:
        different.append("band")
    if different:
        raise DataError(
            f"{path} was made with another {' and another '.join(different)}, which can't be changed on the way: omit "
            f"{', '.join('--' + name for name in different)}, or name another file with --state to start afresh."
        )


def _batches(tally: Tally, by: str | None, batch_id: str | None) -> dict[Any, str]:
    """Return the name of the batch of each group, in order."""
    rows = tally.in_order()
    missing = [row for row in rows if by is not None and tally.names[row] is None]
    if missing:
        columns = quoted(grouping.column for grouping in parse_groupings(by, ()))
        warnings.warn(
            f"{int(tally.n[missing].sum()):,} items without a value in {columns} belong to no batch and are left out.",
            HeadcountWarning,
            stacklevel=3,
        )
    rows = [row for row in rows if row not in missing]
    if not rows or tally.n_items == 0:
        raise DataError("There are no items in these files, so there is no batch to add.")
    return {tally.names[row]: str(batch_id) if by is None else group_label(plain(tally.names[row])) for row in rows}


def _add(
    monitor: Monitor, tally: Tally, batches: dict[Any, str], late: WatchLabels | None, has_scores: bool
) -> list[WatchResult]:
    """Add each group to its batch; ``has_scores``: a batch of a file, whose content tells it from any other."""
    recipe, results = tally.recipe, []
    for row in tally.in_order():
        name = batches.get(tally.names[row])
        if name is None:
            continue
        one = np.array([row])
        cells = None if recipe.cells is None else tally.sums["cells"][one].sums[0]
        sums = None if recipe.cells is None else tally.sums[recipe.check_sums][one].sums[0]
        batch = Batch.of_sums(monitor.scores, int(tally.n[row]), tally.statistics(one), cells, sums)
        if has_scores and name not in monitor.seen:
            _require_new(monitor, batch)
        if (
            late is not None
            and monitor.seen.get(name, batch.content) != batch.content
            and late.are_of_all(tally.names[row])
        ):
            results.append(monitor.recall(name))
        else:
            results.append(monitor.update(batch, batch_id=name))
    return results


def _require_new(monitor: Monitor, batch: Batch) -> None:
    """Raise if a batch was counted under another name, such as before it was given one."""
    before = next((name for name, content in monitor.seen.items() if content == batch.content), None)
    if before is not None:
        raise DataError(
            f"These items were counted before as the batch {before!r}, and would be counted twice under another name: pass "
            f"--batch {before}."
        )


def _digest_of(sources: Sequence[Any]) -> str:
    """Return the digest of files, by which their batch is known."""
    digest = sha256()
    for source in sources:
        paths = (
            [Path(file) for file in files_of(source)] if isinstance(source, str | Path) and str(source) != "-" else []
        )
        if not paths or not all(path.is_file() for path in paths):
            raise DataError(
                "A batch that is not made of files needs a name: give one with --batch, or name a column with --by."
            )
        for path in paths:
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()[:16]
