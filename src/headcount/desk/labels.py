"""Labels of a table, checked and described, for every function that makes a model."""

import hashlib
from collections import Counter
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import check_class_counts, quoted
from headcount.data.table_items import label_array
from headcount.exceptions import DataError
from headcount.tables import TableFile

__all__ = ["check_labels", "describe_source"]

_SEPARATORS = ("|", ";", ",")
"""What separates several labels in a cell."""
_MANY_CELLS = 0.05
"""Share of cells with several labels from which they are not taken for classes."""


def check_labels(table: TableFile, values: list[Any], column: str, min_items: int) -> AnyArray:
    """Labels as an array, checked for at least two classes, not too many, and enough items of each."""
    labels = label_array(values)
    classes, first_rows, codes, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    check_class_counts(classes, codes, least=1, where=f"{table.name}, column {column!r}")
    _check_one_label_a_cell(table, [str(label) for label in classes], first_rows, counts, column)
    rarest = int(counts.argmin())
    if counts[rarest] < min_items:  # said here rather than by check_class_counts, to name the line
        which = "the only item" if counts[rarest] == 1 else f"one of only {counts[rarest]} items"
        raise DataError(
            f"{table.place(int(first_rows[rarest]), column)}: this is {which} of class {quoted([classes[rarest]])}; at least "
            f"{min_items} of each class are needed. Label more of them, merge classes, or omit them."
        )
    return labels


def _check_one_label_a_cell(
    table: TableFile, classes: list[str], first_rows: AnyArray, counts: AnyArray, column: str
) -> None:
    """Raise if many cells look like several labels: parts of two or more cells that other cells are made of too."""
    for mark in _SEPARATORS:
        parts = [[part.strip() for part in label.split(mark)] for label in classes]
        times = Counter(part for names in parts for part in set(names))
        several = [
            j for j, names in enumerate(parts) if len(names) > 1 and all(names) and all(times[n] > 1 for n in names)
        ]
        n_cells = int(counts[several].sum())
        if len(several) < 2 or n_cells < _MANY_CELLS * counts.sum():
            continue
        first = min(several, key=lambda j: int(first_rows[j]))
        raise DataError(
            f"{table.place(int(first_rows[first]), column)}: {quoted([classes[first]])} looks like several labels in one cell, as "
            f"in {n_cells:,} of {int(counts.sum()):,} rows. An item has one label: make a column of yes and no for each of "
            f"{quoted(sorted({name for j in several for name in parts[j]}))}, and name these columns; or, if it is a class of its "
            f"own, write it without {mark!r}."
        )


def describe_source(table: TableFile, labels: AnyArray) -> dict[str, Any]:
    """Describe the labelled file of a model: name, fingerprint, number of rows, shares of the classes."""
    fingerprint = ""  # of a table in memory
    if table.format != "arrow":
        with table.path.open("rb") as file:
            fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    classes, counts = np.unique(labels, return_counts=True)
    shares = {str(label): round(float(count) / len(labels), 6) for label, count in zip(classes, counts, strict=True)}
    name = table.name if table.name == "standard input" or table.format == "arrow" else table.path.name
    return {"name": name, "fingerprint": fingerprint, "rows": len(labels), "shares": shares}
