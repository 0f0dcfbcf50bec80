"""`scored_items`: posteriors, groups and row numbers of all items of tables, kept in memory, beside the tally of their groups."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.stream.filters import Condition
from headcount.stream.groups import parse_groupings
from headcount.stream.scan import Reading, decision_codes, group_codes, posterior_columns
from headcount.stream.tally import Tally
from headcount.tables import Batch, Kind, NoRowsError, TableFile, files_of

__all__ = ["ScoredItems", "scored_items"]

_ROWS = 1 << 13
"""Rows that are scored at a time."""
_KINDS: dict[str, Kind] = {"text": "text", "decisions": "group"}


@dataclass(frozen=True, eq=False)
class ScoredItems:
    """Items of tables that meet the conditions, in the order of their rows.

    Attributes
    ----------
    tally : Tally
        Of the groups.
    posteriors : array of shape (N, K)
    groups : array of int of shape (N,)
        Position of each item's group among ``names``.
    names : list
        The groups, in the order in which they first came.
    rows : array of int of shape (N,)
        Number of each item's row, from 0, over all files in their order, rows that meet no condition counted.
    ids : list of str or None
        What identifies each item, if a column of it was named.
    n_rows : int
        Of all files.
    """

    tally: Tally
    posteriors: FloatArray
    groups: IntArray
    names: list[Any]
    rows: IntArray
    ids: list[str] | None
    n_rows: int


def scored_items(
    sources: Sequence[Any],
    reading: Reading,
    id_column: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> ScoredItems:
    """Score all rows of files, and of all files of folders.

    Parameters
    ----------
    sources : sequence of paths or tables
    reading : Reading
    id_column : str, optional
        A column that identifies an item: its values must differ.
    progress : callable, optional
        Called with the number of rows of each batch after it was scored.
    """
    tally = reading.recipe.start()
    names: dict[Any, int] = {}
    P, codes, rows = [], [], []
    ids: dict[str, str] = {}
    n_rows = 0
    for source in sources:
        for file in files_of(source):
            table = TableFile(file, reading.format)
            conditions = [Condition.parse(text, table.columns) for text in reading.where]
            groupings = parse_groupings(reading.by, table.columns)
            kinds = _kinds_of(reading, table, id_column)
            try:
                for batch in table.batches(kinds, _ROWS):
                    numbers = n_rows + np.arange(len(batch))
                    n_rows += len(batch)
                    chosen = batch
                    for condition in conditions:
                        met = condition.met(chosen, kinds[condition.column] == "number")
                        chosen, numbers = chosen.chosen(np.flatnonzero(met)), numbers[met]
                    if not len(chosen):
                        continue
                    groups, values = group_codes(chosen, groupings)
                    P.append(_added(reading, tally, chosen, groups, values))
                    positions = np.array([names.setdefault(value, len(names)) for value in values])
                    codes.append(np.zeros(len(chosen), dtype=np.int64) if groups is None else positions[groups])
                    rows.append(numbers)
                    if id_column is not None:
                        _add_ids(ids, chosen, id_column)
                    if progress is not None:
                        progress(len(batch))
            except NoRowsError:
                if file is source and not reading.where:
                    raise
    if not P:
        where = f" meets the condition {' and '.join(reading.where)} (--where)" if reading.where else ""
        raise DataError(f"No row of {quoted(map(str, sources))}{where or ' can be read'}.")
    return ScoredItems(
        tally,
        np.concatenate(P),
        np.concatenate(codes),
        list(names),
        np.concatenate(rows),
        list(ids) if id_column is not None else None,
        n_rows,
    )


def _kinds_of(reading: Reading, table: TableFile, id_column: str | None) -> dict[str, Kind]:
    """Return which columns are read, and how."""
    from headcount.tables.records import reading_kinds

    kinds: dict[str, Kind] = dict.fromkeys(reading.names, _KINDS.get(reading.kind, "number"))
    what = "its features" if reading.kind == "mixed" else reading.kind
    groupings = parse_groupings(reading.by, table.columns)
    if reading.kind == "mixed":
        kinds = reading_kinds(dict(zip(reading.names, reading.roles, strict=True)))
        kinds |= {one.column: "group" for one in groupings if kinds.get(one.column) == "number"}
    table.require(reading.names, f", from which the model reads {what}")
    for grouping in groupings:
        if kinds.get(grouping.column, "group") != "group":
            raise DataError(f"Rows can't be grouped by column {grouping.column!r}: the model reads {what} from it.")
        kinds.setdefault(grouping.column, grouping.kind)
    for text in reading.where:
        kinds.setdefault(Condition.parse(text, table.columns).column, "group")
    if id_column is not None:
        table.require([id_column], ", by which items are identified (--id)")
        kinds.setdefault(id_column, "group")
    return kinds


def _added(reading: Reading, tally: Tally, batch: Batch, groups: IntArray | None, values: Sequence[Any]) -> FloatArray:
    """Add the items of a batch to the tally, and return their posteriors; of a classifier that only decides, 0 and 1."""
    classes = reading.recipe.quantifier.classes_
    if reading.kind == "scores":
        C = posterior_columns(batch, reading.names, len(classes))
        tally.add_columns(C, groups, values)
        return np.ascontiguousarray(C.T)
    if reading.kind == "decisions":
        from headcount.learners import Outputs

        decided = decision_codes(batch, reading.names[0], classes, "the labelled items")
        tally.add(Outputs(classes, len(decided), decided), groups, values)
        return np.asarray(np.eye(len(classes))[decided], dtype=np.float64)
    items = reading._items(batch)
    outputs = reading._score(batch, items)
    tally.add(outputs, groups, values)
    tally.keep(items, outputs, groups, values)
    if outputs.posteriors is not None:
        return np.asarray(outputs.posteriors, dtype=np.float64)
    return np.asarray(np.eye(len(classes))[outputs.need("decisions")], dtype=np.float64)


def _add_ids(ids: dict[str, str], batch: Batch, column: str) -> None:
    in_batch, values = batch.groups(column)
    texts: AnyArray = np.array(["" if value is None else label_text(value) for value in values], dtype=object)
    for row, text in enumerate(texts[in_batch]):
        if not text:
            raise DataError(f"{batch.place(row, column)} is empty: each item needs a value that identifies it.")
        if text in ids:
            raise DataError(
                f"{batch.place(row, column)}: {text!r} is also in {ids[text]}; a column that identifies items (--id) has no value "
                "twice. Name another one, or leave --id out: rows are then numbered."
            )
        ids[text] = batch.place(row)
