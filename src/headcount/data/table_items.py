"""Items and labels of a labelled table: which columns to read, and their values, for corpora and for models."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from headcount._labels import label_text, typed_labels
from headcount._typing import AnyArray
from headcount._validation import MAX_LABEL, check_label_lengths
from headcount.exceptions import DataError
from headcount.tables import Batch, Kind, TableFile

__all__ = ["batch_labels", "item_columns", "label_array", "read_items", "read_labels"]


def item_columns(
    table: TableFile, label: str | None, text: str | None, features: Sequence[str] | None
) -> tuple[Literal["text", "numbers"], list[str]]:
    """Columns to learn from, by name, pattern or convention, and what they hold.

    The convention is the column ``text``, or else all columns but the label.
    """
    if text is not None and features is not None:
        raise DataError("Name either a text column (text) or columns of numbers (features), not both.")
    if text is None and features is None and "text" in table.columns and label != "text":
        text = "text"
    if text is not None:
        if text == label:
            raise DataError(f"{table.name}: column {text!r} can't be both the text and the label.")
        return "text", [text]
    names: list[str] = []
    for pattern in ["*"] if features is None else features:
        matches = [name for name in table.columns if name == pattern or fnmatchcase(name, pattern)]
        if not matches:
            table.require([pattern])  # raises, with the names of the columns
        names += [name for name in matches if name != label and name not in names]
    names = [name for name in names if not name.startswith("__index_level_")]  # how pandas writes an unnamed index
    if not names:
        raise DataError(f"{table.name} has no columns besides the label {label!r}: there is nothing to learn from.")
    return "numbers", names


def read_items(table: TableFile, kind: str, names: Sequence[str], label: str | None) -> tuple[AnyArray, list[Any]]:
    """Read the texts or rows of numbers of a table, and the labels if there is a column of them."""
    kinds: dict[str, Kind] = dict.fromkeys(names, "text" if kind == "text" else "number")
    parts: list[AnyArray] = []
    labels: list[Any] = []
    for batch in table.batches(kinds if label is None else {**kinds, label: "group"}):
        if label is not None:
            labels += batch_labels(batch, label)
        parts.append(batch.texts(names[0]) if kind == "text" else batch.matrix(names))
        if parts[-1].shape[1:] != parts[0].shape[1:]:
            row = sum(len(part) for part in parts[:-1])
            raise DataError(
                f"{table.place(row, names[0])} holds {parts[-1].shape[1]} numbers, the first row {parts[0].shape[1]}: an "
                "embedding must have the same length in each row."
            )
    return np.concatenate(parts), labels


def read_labels(table: TableFile, column: str) -> list[Any]:
    """All labels of a column, none of them missing."""
    return [value for batch in table.batches({column: "group"}) for value in batch_labels(batch, column)]


def batch_labels(batch: Batch, column: str) -> list[Any]:
    """Labels of a batch of rows, none of them missing."""
    codes, values = batch.groups(column)
    missing = [i for i, value in enumerate(values) if value is None or value != value or not str(value).strip()]
    rows = np.flatnonzero(np.isin(codes, missing))
    if rows.size:
        raise DataError(f"{batch.place(int(rows[0]), column)} has no label: drop such rows or label them.")
    for position, value in enumerate(values):
        if isinstance(value, str) and len(value) > MAX_LABEL:
            check_label_lengths([value], f"{batch.place(int((codes == position).argmax()), column)}: the label")
    return [values[code] for code in codes.tolist()]


def label_array(values: list[Any]) -> AnyArray:
    """Labels as booleans or integers if all of them are, whatever type the file gives them; else as strings."""
    if {type(value) for value in values} == {bool}:
        return np.array(values)
    texts = {value: label_text(value) for value in {*values}}
    numbers = typed_labels([texts[value] for value in values])
    return numbers if numbers.dtype.kind == "i" else np.array([str(value) for value in values])
