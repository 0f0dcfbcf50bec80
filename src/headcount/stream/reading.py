"""From the rows of tables to a tally: scored by a model or by a black box, in batches, here or on a cluster."""

import queue
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np

from headcount._labels import class_positions
from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.stream.groups import Grouping
from headcount.stream.tally import Recipe, Tally, WrongRowError
from headcount.tables import Batch, Kind, NoRowsError, Piece, TableFile, files_of

__all__ = ["Reading", "decided", "grouped", "no_posteriors", "scores_of", "tally_files"]

_ROWS_TO_SCORE = 1 << 13
_LANES, _AHEAD = 2, 2
"""Threads that make batches and add them up, each into a tally of its own, and the pieces of a file that wait for each."""


@dataclass(frozen=True)
class Reading:
    """What is read of each file, and what is made of it.

    Attributes
    ----------
    recipe : Recipe
    kind : {"text", "numbers", "scores", "decisions"}
        Texts or numbers are scored by the quantifier's classifier; scores and decisions are a black box's.
    names : tuple of str
        The column of texts or decisions, the columns of features, or those of scores in the order of the classes (for two classes
        the second's alone is enough).
    by : str, optional
        A column to group by, or ``column:unit``.
    format : {"csv", "tsv", "parquet"}, optional
        By default by the ending of a file's name.
    """

    recipe: Recipe
    kind: str
    names: tuple[str, ...]
    by: str | None = None
    format: str | None = None

    def tally(self, source: str | Path, tell: Callable[[int], None] | None = None) -> Tally:
        """Read one file, and add up its rows."""
        table = TableFile(source, self.format)
        grouping = None if self.by is None else Grouping.parse(self.by, table.columns)
        own: Kind = {"text": "text", "decisions": "group"}.get(self.kind, "number")  # type: ignore[assignment]
        kinds: dict[str, Kind] = dict.fromkeys(self.names, own)
        missing = [name for name in self.names if name not in table.columns]
        if missing:
            raise DataError(
                f"{table.name} has no column {quoted(missing)}, which is asked for here ({self.kind}); its columns are "
                f"{quoted(table.columns, 12)}."
            )
        if grouping is not None:
            if grouping.column in kinds and own != "group":
                raise DataError(f"--by {self.by}: column {grouping.column!r} is read as {own} already.")
            kinds.setdefault(grouping.column, grouping.kind)
        tallies = [self.recipe.start() for _ in range(_LANES)]

        def lane(tally: Tally, piece: Piece) -> None:
            for batch in piece():
                self._add(tally, batch, grouping)
                if tell is not None:
                    tell(len(batch))

        scored = self.kind in ("text", "numbers")
        pieces = table.pieces(kinds, _ROWS_TO_SCORE if scored else None)
        _in_lanes(pieces, [partial(lane, tally) for tally in tallies])
        whole = _all(tallies)
        if whole.n_items == 0:
            raise table.no_rows()
        return whole

    def _add(self, tally: Tally, batch: Batch, grouping: Grouping | None) -> None:
        groups, values = grouped(batch, grouping)
        if self.kind == "text":
            tally.add(self._scored(batch, batch.texts(self.names[0])), groups, values)
        elif self.kind == "numbers":
            tally.add(self._scored(batch, self._numbers(batch)), groups, values)
        elif self.kind == "decisions":
            classes = self.recipe.quantifier.classes_
            tally.add_columns(None, decided(batch, self.names[0], classes, "the labelled items"), groups, values)
        else:
            try:
                tally.add_columns(scores_of(batch, self.names, self.recipe.k), None, groups, values)
            except WrongRowError as error:
                raise no_posteriors(batch, error.row, error.values, self.names) from error

    def _numbers(self, batch: Batch) -> FloatArray:
        X = batch.matrix(self.names)
        expected = getattr(self.recipe.quantifier, "n_features_in_", X.shape[1])
        if X.shape[1] != expected:
            raise DataError(
                f"{batch.file} has {X.shape[1]} features in {quoted(self.names)}; the model was fitted on {expected}."
            )
        wrong = ~np.isfinite(X) if not self._fills() else np.isinf(X)
        if wrong.any():
            row, column = (int(place) for place in np.argwhere(wrong)[0])
            name = self.names[column] if len(self.names) > 1 else self.names[0]
            raise DataError(
                f"{batch.place(row, name)}: the number is missing or infinite, and the model was fitted on items without such. "
                "Fill it, or leave the row out."
            )
        return X

    def _fills(self) -> bool:
        classifier = getattr(self.recipe.quantifier, "classifier_", None)
        steps = [step for _, step in getattr(classifier, "steps", [])]
        inner = [step for one in steps for _, step in getattr(one, "steps", [])]
        return any(type(step).__name__ == "SimpleImputer" for step in [*steps, *inner])

    def _scored(self, batch: Batch, X: Any) -> Any:
        try:
            return self.recipe.quantifier.outputs(X, self.recipe.needs)
        except DataError:
            raise
        except ValueError as error:
            raise DataError(f"{batch.file}: the model can't be used on these rows: {error}") from error


def grouped(batch: Batch, grouping: Grouping | None) -> tuple[IntArray | None, Sequence[Any]]:
    """Return each row's position among the groups of a batch, and the groups' names."""
    if grouping is None:
        return None, ("all",)
    codes, values = batch.days(grouping.column) if grouping.unit else batch.groups(grouping.column)

    def place(position: int) -> str:
        return batch.place(int(np.flatnonzero(codes == position)[0]), grouping.column)

    used = np.bincount(codes, minlength=len(values)) > 0
    if not used.all():  # the values are those of more rows than these
        values = [value for value, here in zip(values, used, strict=True) if here]
        codes = (np.cumsum(used, dtype=np.int32) - 1)[codes]
    names = grouping.names(values, place)
    distinct = {name: i for i, name in enumerate(dict.fromkeys(names))}
    if len(distinct) < len(names):  # many dates of one month: what is added up has a row for each month
        codes = np.array([distinct[name] for name in names], dtype=np.int32)[codes]
    return codes, list(distinct)


def no_posteriors(batch: Batch, row: int, values: Sequence[float], names: Sequence[str]) -> DataError:
    """Word that the scores of a row are no posteriors."""
    shown = ", ".join(f"{value:.6g}" for value in values)
    return DataError(
        f"{batch.place(row)}, columns {quoted(names)}: the scores {shown} are no probabilities of the classes, which are not "
        "negative and sum to 1. Divide scores by their sum, or leave such rows out."
    )


def scores_of(batch: Batch, names: Sequence[str], k: int) -> FloatArray:
    """Return the posteriors of a batch, a row each class; the column of the second of two classes is enough."""
    C = np.empty((k, len(batch)))
    if len(names) == k:
        for j, name in enumerate(names):
            C[j] = batch.numbers(name)
    else:
        C[1] = batch.numbers(names[0])
        np.subtract(1.0, C[1], out=C[0])
    return C


def decided(batch: Batch, name: str, classes: Iterable[Any], of: str) -> IntArray:
    """Return the position of each row's class, in a column of decisions, among the classes of something."""
    codes, values = batch.groups(name)
    place, text = class_positions(classes)
    for i, value in enumerate(values):
        rows = np.flatnonzero(codes == i) if text(value) not in place else codes[:0]
        if rows.size:
            raise DataError(
                f"{batch.place(int(rows[0]), name)}: {value!r} is not among the classes of {of} ({quoted(place, 10)})."
            )
    table = np.array([place.get(text(value), 0) for value in values], dtype=np.int32)
    return table[codes]


def _in_lanes(pieces: Iterable[Piece], lanes: Sequence[Callable[[Piece], None]]) -> None:
    """Hand pieces of a file to lanes in turn, each of which works in a thread of its own while the next pieces are read.

    Which lane a piece goes to does not depend on the threads, and so neither does what comes out. Of several errors the one of the
    earliest piece is raised.
    """
    waiting: list[queue.Queue[Any]] = [queue.Queue(_AHEAD) for _ in lanes]
    wrong: dict[int, BaseException] = {}

    def work(lane: int) -> None:
        while (thing := waiting[lane].get()) is not None:
            number, piece = thing
            if number < min(list(wrong), default=number + 1):
                try:
                    lanes[lane](piece)
                except BaseException as error:
                    wrong[number] = error

    threads = [threading.Thread(target=work, args=(lane,), daemon=True) for lane in range(len(lanes))]
    for thread in threads:
        thread.start()
    number = -1
    try:
        for number, piece in enumerate(pieces):
            waiting[number % len(lanes)].put((number, piece))
            if wrong:
                break
    except BaseException as error:
        wrong[number + 1] = error
    finally:
        for lane in waiting:
            lane.put(None)
        for thread in threads:
            thread.join()
    if wrong:
        raise wrong[min(wrong)]


def tally_files(
    sources: Sequence[str | Path],
    reading: Reading,
    tell: Callable[[int], None] | None = None,
    cluster: str | None = None,
) -> Tally:
    r"""Add up the rows of files, and of all Parquet files of folders.

    Parameters
    ----------
    sources : sequence of paths
    reading : Reading
    tell : callable, optional
        Called with the number of rows of each batch that was added up.
    cluster : str, optional
        The address of a Dask scheduler whose workers see the files under the same paths: a task for each file.

    Examples
    --------
    >>> import tempfile
    >>> from headcount import PACC
    >>> from headcount.stream import shares_of
    >>> X = np.random.default_rng(0).normal(np.repeat([0.0, 3.0], 100), 1.0)[:, None]
    >>> quantifier = PACC(random_state=0).fit(X, np.repeat(["no", "yes"], 100))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "new.csv"
    ...     _ = file.write_text("shop,x\n" + "".join(f"{'ab'[i % 2]},{x:.3f}\n" for i, x in enumerate(X[:, 0])))
    ...     tally = tally_files([file], Reading(Recipe(quantifier), "numbers", ("x",), by="shop"))
    >>> shares_of(tally)
    GroupShares(2 groups, 2 classes, 200 items)
    """
    if not sources:
        raise DataError("There are no files to read.")
    files = [file for source in sources for file in files_of(source)]
    in_folders = {str(file) for source in sources for file in files_of(source) if str(file) != str(source)}
    if cluster is None:
        parts: Iterable[Tally] = (_tally(reading, file, str(file) in in_folders, tell) for file in files)
    elif "-" in map(str, files):
        raise DataError("Standard input can't be read on a cluster: name files that its workers see.")
    else:
        parts = _on_cluster(cluster, files, in_folders, reading, tell)
    whole = _all(parts)
    if whole.n_items == 0:
        raise DataError(f"There are no rows in {quoted(map(str, sources))}.")
    return whole


def _all(parts: Iterable[Tally]) -> Tally:
    """Merge tallies into the first of them."""
    return reduce(Tally.merge, parts)


def _on_cluster(
    cluster: str,
    files: Sequence[str | Path],
    in_folders: Container[str],
    reading: Reading,
    tell: Callable[[int], None] | None,
) -> Iterator[Tally]:
    try:
        from dask.distributed import Client as Connected
    except ImportError as error:
        raise DataError("A cluster needs Dask: pip install 'headcount[dask]'.") from error
    try:
        connect: Any = Connected
        client = connect(cluster, timeout="10s")
    except (OSError, ValueError) as error:
        raise DataError(f"There is no Dask scheduler at {cluster!r}: {error}") from error
    with client:
        shared = client.scatter(reading, broadcast=True)
        futures = [
            client.submit(_tally, shared, str(Path(file).resolve()), str(file) in in_folders, pure=False)
            for file in files
        ]
        for future in futures:
            part: Tally = future.result()
            if tell is not None:
                tell(part.n_items)
            yield part
            future.release()


def _tally(reading: Reading, path: str | Path, may_be_empty: bool, tell: Callable[[int], None] | None = None) -> Tally:
    try:
        return reading.tally(path, tell)
    except NoRowsError:
        if may_be_empty:
            return reading.recipe.start()
        raise
