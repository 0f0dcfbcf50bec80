"""Labels of new items: from a column of the new table, or from a file of items to label that was filled in."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import class_positions, label_text
from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.intervals.target_labels.labels import UNLABELLED, TargetLabels
from headcount.stream.kept_items import KeptItems, LabelColumns
from headcount.tables import Kind, TableFile

__all__ = ["LabelFile", "LabelSource", "labels_of_items", "read_label_file"]

ITEM, PROBABILITY, STRATUM, LABEL = "headcount_item", "headcount_probability", "headcount_stratum", "label"
"""Columns of a file of items to label."""


@dataclass(frozen=True)
class LabelSource:
    """Where labels of new items are.

    Attributes
    ----------
    column : str, optional
        A column of the new table, empty where an item has no label.
    file : path or table, optional
        A file of labels instead, such as ``headcount plan`` writes.
    item : str, optional
        With a file: the column, of both tables, that identifies an item; by default the file numbers items by their rows.
    probability, stratum : str, optional
        The columns of inclusion probabilities and strata, in the table that holds the labels.
    """

    column: str | None = None
    file: Any = None
    item: str | None = None
    probability: str | None = None
    stratum: str | None = None

    def check(self) -> None:
        """Raise unless labels are in one place and further columns belong to it."""
        if self.column is not None and self.file is not None:
            raise DataError(
                "Labels are in a column of the new table (--labels) or in a file of their own (--labels-from): name one."
            )
        if self.column is None and self.file is None:
            given = [name for name in ("item", "probability", "stratum") if getattr(self, name) is not None]
            options = {"item": "--id", "probability": "--probability", "stratum": "--stratum"}
            if given:
                raise DataError(
                    f"{options[given[0]]} is about labels of new items: name these too, with --labels COLUMN or --labels-from FILE."
                )
        if self.item is not None and self.file is None:
            raise DataError("--id names the items of a file of labels: it goes with --labels-from FILE.")

    @property
    def given(self) -> bool:
        """Whether there are labels."""
        return self.column is not None or self.file is not None

    def table_columns(self) -> LabelColumns:
        """Columns that are read of the new table."""
        if self.column is not None:
            return LabelColumns(self.column, self.probability, self.stratum, self.item)
        return LabelColumns(item=self.item)


@dataclass(frozen=True, eq=False)
class LabelFile:
    """A file of labels: an entry for each row with a label.

    Attributes
    ----------
    items : list of str
        Row numbers or ids of the items.
    labels : list
    probabilities : array or None
    places : list of str
        Where each row is in the file, for messages.
    n_empty : int
        Rows without a label.
    """

    items: list[str]
    labels: list[Any]
    probabilities: FloatArray | None
    places: list[str]
    n_empty: int


def read_label_file(source: LabelSource) -> LabelFile:
    """Read a file of items of which some or all are labelled.

    Columns: ``headcount_item`` (the row of an item in the new tables, from 1, header not counted) or the column that identifies
    items; ``label``, empty where an item is not labelled; and, if items were not drawn with equal chances,
    ``headcount_probability``.
    """
    table = TableFile(source.file)
    key = ITEM if source.item is None else source.item
    if key not in table.columns:
        more = "" if source.item is not None else "; or name a column that identifies items, with --id COLUMN"
        raise DataError(
            f"{table.name} has no column {key!r}, by which its rows are found in the new table{more}. Its columns are "
            f"{quoted(table.columns, 12)}."
        )
    probability = source.probability or (PROBABILITY if PROBABILITY in table.columns else None)
    stratum = source.stratum or (STRATUM if STRATUM in table.columns else None)
    named = [LABEL, *(name for name in (source.probability, source.stratum) if name is not None)]
    table.require(named, ", which a file of labels needs")
    if stratum is not None and probability is None:
        raise DataError(
            f"{table.name} has strata but no inclusion probabilities ({PROBABILITY}): how many items a stratum has can't be told "
            "from its labelled ones. Add that column."
        )
    kinds: dict[str, Kind] = {key: "group", LABEL: "group"}
    if probability is not None:
        kinds[probability] = "number"
    items, labels, chances, places, n_empty = [], [], [], [], 0
    seen: dict[str, str] = {}
    for batch in table.batches(kinds):
        codes, values = batch.groups(LABEL)
        key_codes, keys = batch.groups(key)
        numbers = None if probability is None else batch.numbers(probability)
        for row in range(len(batch)):
            value = values[codes[row]]
            if value is None or value != value or (isinstance(value, str) and not value.strip()):
                n_empty += 1
                continue
            place = batch.place(row)
            item = "" if keys[key_codes[row]] is None else label_text(keys[key_codes[row]])
            if not item:
                raise DataError(f"{batch.place(row, key)} is empty: it says which item the label is of.")
            if item in seen:
                raise DataError(
                    f"{place}: the item {item!r} is labelled twice, here and in {seen[item]}: keep one label of each item."
                )
            seen[item] = place
            if numbers is not None and not 0.0 < numbers[row] <= 1.0:
                found = "missing" if numbers[row] != numbers[row] else f"{numbers[row]:g}"
                raise DataError(
                    f"{batch.place(row, probability)}: the inclusion probability is {found}; it must be above 0 and at most 1, the "
                    "chance with which the item was drawn to be labelled."
                )
            items.append(item)
            labels.append(value)
            places.append(place)
            if numbers is not None:
                chances.append(float(numbers[row]))
    if not items:
        raise DataError(f"{table.name} holds no labels: fill in its column {LABEL!r}.")
    return LabelFile(items, labels, np.array(chances) if probability is not None else None, places, n_empty)


def labels_of_items(source: LabelSource, kept: KeptItems, file: LabelFile | None) -> tuple[TargetLabels, list[str]]:
    """Return the labels of the items that were kept, and sentences about them.

    Parameters
    ----------
    source : LabelSource
    kept : KeptItems
        Of the tables that were read.
    file : LabelFile or None
        What was read of the file of labels, if they are in one.
    """
    if file is None:
        codes = kept.part("code")
        if codes is None or not (codes != UNLABELLED).any():
            raise DataError(
                f"Column {source.column!r} holds no labels of these rows: fill some in, of at least 10 items drawn at random."
            )
        probabilities = None if kept.probabilities is None else _checked(kept.probabilities, codes, source, kept)
        strata = kept.part("stratum")
        return TargetLabels(codes, probabilities, strata), []
    return _from_file(file, source, kept)


def _checked(probabilities: FloatArray, codes: IntArray, source: LabelSource, kept: KeptItems) -> FloatArray:
    labelled = codes != UNLABELLED
    bad = np.flatnonzero(labelled & ~((probabilities > 0.0) & (probabilities <= 1.0)))
    if bad.size:
        value, rows = probabilities[bad[0]], kept.part("row")
        found = "missing" if value != value else f"{value:g}"
        row = int(bad[0] if rows is None else rows[bad[0]]) + 1
        raise DataError(
            f"Column {source.probability!r}, item {row:,}: the inclusion probability of a labelled item is {found}; it must be "
            "above 0 and at most 1, the chance with which the item was drawn to be labelled."
        )
    return np.where(labelled, probabilities, np.nan)


def _from_file(file: LabelFile, source: LabelSource, kept: KeptItems) -> tuple[TargetLabels, list[str]]:
    rows = kept.part("row")
    n = 0 if rows is None else len(rows)
    positions = _positions(file, source, kept)
    known, text = class_positions(kept.classes)
    codes = np.full(n, UNLABELLED, dtype=np.int64)
    probabilities = None if file.probabilities is None else np.full(n, np.nan)
    n_outside = 0
    for i, (position, label) in enumerate(zip(positions, file.labels, strict=True)):
        code = known.get(text(label))
        if code is None:
            raise DataError(
                f"{file.places[i]}: the label {quoted([label])} is not among the classes of the model ({quoted(known, 10)}). "
                "Correct it or leave it empty; items of a further class need a model that was fitted with it."
            )
        if position < 0:
            n_outside += 1
            continue
        codes[position] = code
        if probabilities is not None and file.probabilities is not None:
            probabilities[position] = file.probabilities[i]
    notes = []
    if file.n_empty:
        notes.append(
            f"{file.n_empty:,} of {file.n_empty + len(file.items):,} rows of the file of labels have no label: the answer takes "
            "them for missing by chance. If they are the hard ones, it is off; label them too."
        )
    if n_outside:
        notes.append(f"{n_outside:,} labels are of rows that the conditions (--where) leave out, and are not used.")
    return TargetLabels(codes, probabilities), notes


def _positions(file: LabelFile, source: LabelSource, kept: KeptItems) -> list[int]:
    """Return the position of each labelled item among those that were kept; -1 for rows that conditions leave out."""
    rows, ids = kept.part("row"), kept.part("item")
    if source.item is not None and ids is not None:
        known: dict[str, int] = {}
        repeated = set()
        for position, item in enumerate(ids.tolist()):
            if item in known:
                repeated.add(item)
            known[item] = position
        for i, item in enumerate(file.items):
            if item in repeated:
                raise DataError(
                    f"{file.places[i]}: {source.item} {item!r} is that of several rows of the new table: ids must differ."
                )
            if item not in known and kept.n_rows == len(ids):
                raise DataError(f"{file.places[i]}: there is no row with {source.item} {item!r} in the new table.")
        return [known.get(item, -1) for item in file.items]
    by_row = {int(row): position for position, row in enumerate((np.empty(0) if rows is None else rows).tolist())}
    positions = []
    for i, item in enumerate(file.items):
        number = int(item) if item.isdecimal() else 0
        if not 1 <= number <= kept.n_rows:
            raise DataError(
                f"{file.places[i]}: there is no item {item!r} in the new table, whose rows are numbered 1 to {kept.n_rows:,} (the "
                "header is not counted)."
            )
        positions.append(by_row.get(number - 1, -1))
    return positions
