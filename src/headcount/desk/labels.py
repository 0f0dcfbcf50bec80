"""Labels of a table: read, checked and described, for every function that makes a model."""

import hashlib
from typing import Any

import numpy as np

from headcount._labels import label_text, typed_labels
from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.tables import Batch, TableFile

__all__ = ["batch_labels", "check_labels", "describe_source", "label_column"]

_MAX_CLASSES = 100


def label_column(table: TableFile, column: str) -> list[Any]:
    """All labels of a column, none of them missing."""
    return [value for batch in table.batches({column: "group"}) for value in batch_labels(batch, column)]


def batch_labels(batch: Batch, column: str) -> list[Any]:
    """Labels of the rows of a batch, none of them missing."""
    codes, values = batch.groups(column)
    missing = [i for i, value in enumerate(values) if value is None or value != value or not str(value).strip()]
    for i in missing:
        rows = np.flatnonzero(codes == i)
        if rows.size:
            raise DataError(f"{batch.place(int(rows[0]), column)} has no label: drop such rows or label them.")
    return [values[code] for code in codes.tolist()]


def check_labels(table: TableFile, values: list[Any], column: str, min_items: int) -> AnyArray:
    """Labels as an array, checked for at least two classes, not too many, and enough items of each."""
    labels = _label_array(values)
    classes, first_rows, counts = np.unique(labels, return_index=True, return_counts=True)
    if len(classes) > _MAX_CLASSES:
        raise DataError(
            f"{table.name}, column {column!r} holds {len(classes):,} different labels ({quoted(classes)}): that looks like a "
            f"number, an id or a text rather than a class. At most {_MAX_CLASSES} classes are supported; merge some, or "
            "name another column."
        )
    if len(classes) < 2:
        raise DataError(
            f"{table.name}, column {column!r} holds only one label, {quoted(classes)}: at least two are needed."
        )
    rarest = int(counts.argmin())
    if counts[rarest] < min_items:
        which = "the only item" if counts[rarest] == 1 else f"one of only {counts[rarest]} items"
        raise DataError(
            f"{table.place(int(first_rows[rarest]), column)}: this is {which} of class {quoted([classes[rarest]])}; at least "
            f"{min_items} of each class are needed. Label more of them, merge classes, or omit them."
        )
    return labels


def _label_array(values: list[Any]) -> AnyArray:
    """Labels as booleans or integers if all of them are, whatever type the file gives them; else as strings."""
    if {type(value) for value in values} == {bool}:
        return np.array(values)
    texts = {value: label_text(value) for value in {*values}}
    numbers = typed_labels([texts[value] for value in values])
    return numbers if numbers.dtype.kind == "i" else np.array([str(value) for value in values])


def describe_source(table: TableFile, labels: AnyArray) -> dict[str, Any]:
    """Describe the labelled file of a model: name, fingerprint, number of rows, shares of the classes."""
    with table.path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    classes, counts = np.unique(labels, return_counts=True)
    shares = {str(label): round(float(count) / len(labels), 6) for label, count in zip(classes, counts, strict=True)}
    name = table.path.name if table.name != "standard input" else table.name
    return {"name": name, "fingerprint": fingerprint, "rows": len(labels), "shares": shares}
