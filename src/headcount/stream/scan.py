"""Scan tables into a tally: score rows with a model, or take scores and decisions from columns, here or on a Dask cluster."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial, reduce
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from headcount._dask import connect
from headcount._labels import class_positions
from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.learners.fold_classifiers import first_classifier
from headcount.stream.drawn_rows import DrawnRows, cluster_hashes
from headcount.stream.filters import Condition
from headcount.stream.groups import Grouping, parse_groupings
from headcount.stream.kept_items import KeptItems
from headcount.stream.tally import InvalidScoresError, Recipe, Tally
from headcount.tables import Batch, ColumnRole, Kind, NoRowsError, Piece, TableFile, files_of
from headcount.tables.records import reading_kinds, records_of

__all__ = [
    "Reading",
    "count_column",
    "decision_codes",
    "further_answers",
    "group_codes",
    "invalid_scores_error",
    "posterior_columns",
    "tally_files",
]

_SCORED_HERE = ("text", "numbers", "mixed")
"""Kinds of columns whose items the classifier scores."""
_ROWS_TO_SCORE = 1 << 13
"""Rows that a classifier scores at a time."""
_LANES, _QUEUED_PIECES = 2, 2
"""Threads that parse batches and add them up, each into its own tally; pieces of a file queued for each thread."""
_MAX_COUNT = 2.0**53
"""Largest count of items: above it, floats can't represent every integer."""


@dataclass(frozen=True)
class Reading:
    """Which columns of each file are read, and how their rows are scored and grouped.

    Attributes
    ----------
    recipe : Recipe
    kind : {"text", "numbers", "mixed", "scores", "decisions", "counts"}
        Texts, numbers and mixed columns are scored by the quantifier's classifier; scores and decisions are taken as they are.
        Counts are a column of decisions, and the column ``count``: how many items each row stands for.
    names : tuple of str
        The column of texts or decisions (also of counted ones), the columns of features, or those of scores in the order of the
        classes (for two classes the column of the second class is enough).
    by : str, optional
        A column to group by, or ``column:unit``; several, separated by commas.
    where : tuple of str
        Conditions that rows must meet, such as ``price>=10``: see `Condition`.
    format : {"csv", "tsv", "parquet"}, optional
        Default: from the ending of the file name.
    roles : tuple of ColumnRole
        Of mixed columns: what each of them is.
    kept : KeptItems or None
        Keeps outputs and labels of all items while rows are read; then one thread reads, in the order of the rows.
    """

    recipe: Recipe
    kind: str
    names: tuple[str, ...]
    by: str | None = None
    format: str | None = None
    where: tuple[str, ...] = ()
    roles: tuple[ColumnRole, ...] = ()
    kept: KeptItems | None = None

    def tally(self, source: str | Path, progress: Callable[[int], None] | None = None) -> Tally:
        """Read one file and add up its rows."""
        table = TableFile(source, self.format)
        groupings = parse_groupings(self.by, table.columns)
        conditions = [Condition.parse(text, table.columns) for text in self.where]
        column_kinds: dict[str, Kind] = {"text": "text", "decisions": "group", "counts": "group"}
        kinds = dict.fromkeys(self.names, column_kinds.get(self.kind, "number"))
        if self.kind == "mixed":
            kinds = reading_kinds(self._roles())
            # A number that rows are also grouped by is read as what it is written as.
            kinds |= {one.column: "group" for one in groupings if kinds.get(one.column) == "number"}
        if self.kind == "counts":
            kinds["count"] = "number"
        what = "its features" if self.kind == "mixed" else self.kind
        table.require(self.names, f", from which the model reads {what}")
        for grouping in groupings:
            if kinds.get(grouping.column, "group") != "group":
                raise DataError(f"Rows can't be grouped by column {grouping.column!r}: the model reads {what} from it.")
            kinds.setdefault(grouping.column, grouping.kind)
        for condition in conditions:
            kinds.setdefault(condition.column, "group")
        if self.kept is not None:
            self._add_columns(table, kinds, self.kept.kinds(), what)
        if self.recipe.design is not None:
            self._add_columns(table, kinds, self.recipe.design.kinds(), what)
        tallies = [self.recipe.start() for _ in range(_LANES if self.kept is None else 1)]

        def add_piece(tally: Tally, piece: Piece) -> None:
            for batch in piece():
                chosen, rows = batch, np.arange(len(batch))
                for condition in conditions:
                    met = condition.met(chosen, kinds[condition.column] == "number")
                    chosen, rows = (chosen, rows) if met.all() else (chosen.chosen(np.flatnonzero(met)), rows[met])
                if len(chosen) or not conditions:
                    self._add(tally, chosen, groupings, rows)
                if self.kept is not None:
                    self.kept.n_rows += len(batch)
                if progress is not None:
                    progress(len(batch))

        scored_here = self.kind in _SCORED_HERE
        pieces = table.pieces(kinds, _ROWS_TO_SCORE if scored_here else None)
        _run_lanes(pieces, [partial(add_piece, tally) for tally in tallies])
        total = reduce(Tally.merge, tallies)
        if not total.names:
            raise table.no_rows()
        return total

    def _add_columns(self, table: TableFile, kinds: dict[str, Kind], added: dict[str, Kind], what: str) -> None:
        """Add the columns about labels, or about how rows were drawn, to those that are read."""
        table.require(list(added), ", which was named for labels or for how rows were drawn")
        for name, kind in added.items():
            if kind == "key" and kinds.get(name) == "group":
                continue
            if kinds.get(name, kind) != kind:
                raise DataError(
                    f"Column {name!r} can't be about labels, or about how rows were drawn: the model reads {what} from it, or rows "
                    "are grouped by its dates."
                )
            kinds[name] = kind

    def _add(self, tally: Tally, batch: Batch, groupings: Sequence[Grouping], positions: IntArray) -> None:
        groups, values = group_codes(batch, groupings)
        design = self.recipe.design
        drawn = None if design is None else DrawnRows.read(batch, design)

        def keep(outputs: Outputs) -> None:
            if self.kept is not None:
                self.kept.add(batch, self.kept.n_rows + positions, outputs, groups, values)

        if self.kind in _SCORED_HERE:
            items = self._items(batch)
            outputs = self._score(batch, items)
            tally.add(outputs, groups, values, drawn=drawn)
            tally.keep(items, outputs, groups, values, drawn)
            keep(outputs)
        elif self.kind in ("decisions", "counts"):
            classes = self.recipe.quantifier.classes_
            answers = further_answers(self.recipe.quantifier)
            codes = decision_codes(batch, self.names[0], [*classes, *answers], "the labelled items")
            counts = count_column(batch, "count") if self.kind == "counts" else None
            rows = np.concatenate([np.eye(len(classes)), *([row] for row in answers.values())]) if answers else None
            outputs = (
                Outputs(classes, len(codes), codes)
                if rows is None
                else Outputs(classes, len(codes), posteriors=rows[codes])
            )
            tally.add(outputs, groups, values, counts, drawn)
            keep(outputs)
        else:
            C = posterior_columns(batch, self.names, self.recipe.k)
            try:
                tally.add_columns(C, groups, values, drawn)
            except InvalidScoresError as error:
                raise invalid_scores_error(batch, error.row, error.values, self.names) from error
            if self.kept is not None:
                P = np.ascontiguousarray(C.T)
                keep(Outputs(self.recipe.quantifier.classes_, len(P), P.argmax(axis=1), P))

    def _roles(self) -> dict[str, ColumnRole]:
        return dict(zip(self.names, self.roles, strict=True))

    def _items(self, batch: Batch) -> Any:
        if self.kind == "mixed":
            return records_of(batch, self._roles())
        return batch.texts(self.names[0]) if self.kind == "text" else self._features(batch)

    def _features(self, batch: Batch) -> FloatArray:
        X = batch.matrix(self.names)
        expected = getattr(self.recipe.quantifier, "n_features_in_", X.shape[1])
        if X.shape[1] != expected:
            raise DataError(
                f"{batch.file} has {X.shape[1]} features in {quoted(self.names)}; the model was fitted on {expected}."
            )
        invalid = np.isinf(X) if self._imputes() else ~np.isfinite(X)
        if invalid.any():
            row, column = np.argwhere(invalid)[0].tolist()
            name = self.names[column] if len(self.names) > 1 else self.names[0]
            raise DataError(
                f"{batch.place(row, name)}: the number is missing or infinite, and the model was fitted on complete rows. "
                "Fill it in, or omit the row."
            )
        return X

    def _imputes(self) -> bool:
        """Whether the model fills in missing numbers, at any level of its pipeline."""
        classifier = first_classifier(getattr(self.recipe.quantifier, "classifier_", None))
        steps = [step for _, step in getattr(classifier, "steps", [])]
        inner = [step for outer in steps for _, step in getattr(outer, "steps", [])]
        return any(type(step).__name__ == "SimpleImputer" for step in [*steps, *inner])

    def _score(self, batch: Batch, X: Any) -> Any:
        try:
            with np.errstate(
                over="ignore", divide="ignore", invalid="ignore"
            ):  # posteriors that are not finite are refused
                return self.recipe.quantifier.outputs(X, self.recipe.needs)
        except DataError:
            raise
        except ValueError as error:
            raise DataError(f"{batch.file}: the model can't be used on these rows: {error}") from error


def group_codes(
    batch: Batch, groupings: Sequence[Grouping], columns: Sequence[str] | None = None
) -> tuple[IntArray | None, Sequence[Any]]:
    """Encode the group of each row as a position in the list of group names, and return that list.

    The name of a group by several columns is a tuple. ``columns``: those that hold the values, if not those of the groupings.
    """
    if not groupings:
        return None, ("all",)
    if columns is None:
        parts = [_codes_of_column(batch, one, one.column, one.unit != "") for one in groupings]
    else:  # values that a database has made dates of already
        parts = [_codes_of_column(batch, one, name, False) for one, name in zip(groupings, columns, strict=True)]
    if len(parts) == 1:
        return parts[0]
    shape = [len(names) for _, names in parts]
    cells, codes = np.unique(np.ravel_multi_index([codes for codes, _ in parts], shape), return_inverse=True)
    positions = np.unravel_index(cells, shape)
    named = [[names[i] for i in place] for place, (_, names) in zip(positions, parts, strict=True)]
    return codes.astype(np.int32), list(zip(*named, strict=True))


def _codes_of_column(batch: Batch, grouping: Grouping, column: str, as_days: bool) -> tuple[IntArray, list[Any]]:
    codes, values = batch.days(column) if as_days else batch.groups(column)

    def locate(position: int) -> str:
        return batch.place(int(np.flatnonzero(codes == position)[0]), column)

    used = np.bincount(codes, minlength=len(values)) > 0
    if not used.all():  # the dictionary of a Parquet column may hold values of other batches
        values = [value for value, is_used in zip(values, used, strict=True) if is_used]
        codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
    names = grouping.names(values, locate)
    distinct = {name: i for i, name in enumerate(dict.fromkeys(names))}
    if len(distinct) < len(names):  # e.g. many dates of one month: the tally has one row for the month
        codes = np.array([distinct[name] for name in names], dtype=np.int32)[codes]
    return codes, list(distinct)


def invalid_scores_error(batch: Batch, row: int, values: Sequence[float], names: Sequence[str]) -> DataError:
    """Error for a row whose scores are not posteriors, with what they look like and how to make probabilities of them."""
    given = values[-len(names) :]  # of two classes the column of the second may be enough
    one_column = batch.numbers(names[0]) if len(names) == 1 else None
    scores = ", ".join(f"{value:.6g}" for value in given)
    if any(value != value for value in given):
        advice = "A score is missing: fill it in, or omit such rows."
    elif _are_percentages(given, one_column):
        advice = "They look like percentages: divide them by 100."
    elif all(0.0 <= value <= 1.0 for value in given):
        advice = "Divide the scores of each row by their sum, or omit such rows."
    elif len(given) == 1:
        advice = "They look like logits (raw scores): use the sigmoid, 1 / (1 + exp(-score)), or the classifier's probabilities."
    else:
        advice = (
            "They look like logits (raw scores): use the softmax, exp(score) divided by the sum of exp(score) over the classes, or "
            "the classifier's probabilities."
        )
    rule = "must be at least 0 and sum to 1 over the classes" if len(given) > 1 else "must be between 0 and 1"
    return DataError(
        f"{batch.place(row)}, columns {quoted(names)}: the scores {scores} are not probabilities, which {rule}. {advice}"
    )


def _are_percentages(given: Sequence[float], one_column: FloatArray | None) -> bool:
    """Whether scores of a row sum to 100; those of one column go beyond what logits do, and are never negative."""
    if one_column is None:
        return min(given) >= 0.0 and abs(sum(given) - 100.0) < 1.0
    least, most = float(np.nanmin(one_column)), float(np.nanmax(one_column))
    return least >= 0.0 and _LEAST_PERCENTAGE <= most <= 100.0


_LEAST_PERCENTAGE = 20.0
"""The largest score of a column of percentages is at least this much, and hardly any logit is."""


def further_answers(quantifier: Any) -> dict[str, Sequence[float]]:
    """Return the answers of a black box that are no class, and the posteriors that stand for each of them."""
    return dict(getattr(first_classifier(getattr(quantifier, "classifier_", None)), "answers", ()))


def posterior_columns(batch: Batch, names: Sequence[str], k: int) -> FloatArray:
    """Posteriors of a batch, one row for each class; for two classes the column of the second is enough."""
    C = np.empty((k, len(batch)))
    if len(names) == k:
        for j, name in enumerate(names):
            C[j] = batch.numbers(name)
    else:
        C[1] = batch.numbers(names[0])
        np.subtract(1.0, C[1], out=C[0])
    return C


def decision_codes(batch: Batch, column: str, classes: Iterable[Any], origin: str) -> IntArray:
    """Encode a column of decisions as positions in ``classes``; ``origin`` says in messages where the classes come from."""
    codes, values = batch.groups(column)
    positions, text = class_positions(classes)
    class_of_value = np.array([positions.get(text(value), -1) for value in values], dtype=np.int32)
    decisions = class_of_value[codes]
    if (decisions < 0).any():
        row = int((decisions < 0).argmax())
        raise DataError(
            f"{batch.place(row, column)}: {quoted([values[codes[row]]])} is not among the classes of {origin} "
            f"({quoted(positions, 10)})."
        )
    return decisions


def count_column(batch: Batch, column: str) -> FloatArray:
    """Column of counts of items: integers from 0 to `_MAX_COUNT`."""
    counts = batch.numbers(column)
    with np.errstate(invalid="ignore"):
        valid = (counts >= 0) & (counts <= _MAX_COUNT) & (np.mod(counts, 1) == 0)
    if not valid.all():
        row = int(valid.argmin())
        raise DataError(f"{batch.place(row, column)}: {counts[row]:g} is not a valid count.")
    return counts


def _run_lanes(pieces: Iterable[Piece], lanes: Sequence[Callable[[Piece], None]]) -> None:
    """Hand the pieces of a file to lanes in turn; each lane runs in its own thread while the next pieces are read.

    The lane of a piece does not depend on the speed of the threads, so the result does not either. Of several errors the one of
    the earliest piece is raised: results are waited for in the order of the pieces, also after reading the next piece failed.
    """
    running: deque[Future[None]] = deque()
    with ExitStack() as stack:
        threads = [stack.enter_context(ThreadPoolExecutor(max_workers=1)) for _ in lanes]
        try:
            for thread, lane, piece in zip(cycle(threads), cycle(lanes), pieces, strict=False):
                running.append(thread.submit(lane, piece))
                if len(running) > len(lanes) * (1 + _QUEUED_PIECES):
                    running[0].result()
                    running.popleft()
        finally:
            for future in running:
                future.result()


def tally_files(
    sources: Sequence[str | Path],
    reading: Reading,
    progress: Callable[[int], None] | None = None,
    cluster: str | None = None,
) -> Tally:
    r"""Add up the rows of files, and of all Parquet files of folders.

    Parameters
    ----------
    sources : sequence of paths
    reading : Reading
    progress : callable, optional
        Called with the number of rows of each batch after it was added up.
    cluster : str, optional
        The address of a Dask scheduler whose workers see the files under the same paths: one task for each file.

    Examples
    --------
    >>> import tempfile
    >>> from headcount import PACC
    >>> from headcount.stream import estimate_groups
    >>> X = np.random.default_rng(0).normal(np.repeat([0.0, 3.0], 100), 1.0)[:, None]
    >>> quantifier = PACC(random_state=0).fit(X, np.repeat(["no", "yes"], 100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "new.csv"
    ...     _ = file.write_text("shop,x\n" + "".join(f"{'ab'[i % 2]},{x:.3f}\n" for i, x in enumerate(X[:, 0])))
    ...     tally = tally_files([file], Reading(Recipe(quantifier), "numbers", ("x",), by="shop"))
    >>> estimate_groups(tally)
    GroupShares(2 groups, 2 classes, 200 items)
    """
    if not sources:
        raise DataError("There are no files to read.")
    # Each file, and whether it is one of a folder: such a file may be empty.
    files = [(file, file is not source) for source in sources for file in files_of(source)]
    if cluster is None:
        tallies: Iterable[Tally] = (_tally_file(reading, file, in_folder, progress) for file, in_folder in files)
    elif not all(isinstance(source, str | Path) and str(source) != "-" for source in sources):
        raise DataError(
            "Standard input and tables in memory can't be read on a cluster: name files that its workers see."
        )
    else:
        tallies = _tally_on_cluster(cluster, files, reading, progress)
    total = reduce(Tally.merge, tallies)
    if not total.names and reading.where:
        raise DataError(
            f"No row of {quoted(map(str, sources))} meets the condition {' and '.join(reading.where)} (--where)."
        )
    if not total.names:
        raise DataError(f"There are no rows in {quoted(map(str, sources))}.")
    _check_strata_of_clusters(total, reading, [file for file, _ in files])
    return total


def _check_strata_of_clusters(total: Tally, reading: Reading, files: Sequence[str | Path]) -> None:
    """Raise if a cluster lies in several strata; files are read once more for its name."""
    conflict = None if total.design is None else total.design.cluster_in_several_strata()
    if conflict is None or reading.recipe.design is None:
        return
    wanted, strata = conflict
    column, which, place = reading.recipe.design.cluster or "", "A cluster", ""
    for file in files:
        if str(file) == "-":  # can't be read again
            continue
        for batch in TableFile(file, reading.format).batches({column: "key"}):
            rows = np.flatnonzero(cluster_hashes(batch, column) == np.uint64(wanted))
            if rows.size:
                place, row = f"{batch.place(int(rows[0]), column)}: ", int(rows[0])
                which = f"{'the' if place else 'The'} cluster {quoted([batch.columns.column(column)[row].as_py()])}"
                break
        if place:
            break
    raise DataError(
        f"{place}{which} lies in several strata, {quoted(strata)}: a cluster must lie in one. If clusters of different strata have "
        "the same names, put the stratum into the name."
    )


def _tally_on_cluster(
    cluster: str, files: Sequence[tuple[str | Path, bool]], reading: Reading, progress: Callable[[int], None] | None
) -> Iterator[Tally]:
    with connect(cluster) as client:
        shared = client.scatter(reading, broadcast=True)
        futures = [
            client.submit(_tally_file, shared, str(Path(file).resolve()), in_folder, pure=False)
            for file, in_folder in files
        ]
        for future in futures:
            tally: Tally = future.result()
            if progress is not None:
                progress(tally.n_items)
            yield tally
            future.release()


def _tally_file(
    reading: Reading, path: str | Path, may_be_empty: bool, progress: Callable[[int], None] | None = None
) -> Tally:
    try:
        return reading.tally(path, progress)
    except NoRowsError:
        if may_be_empty or reading.where:
            return reading.recipe.start()
        raise
