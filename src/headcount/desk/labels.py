"""Labels of a table, checked and described, for every function that makes a model."""

import hashlib
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import check_class_counts, quoted
from headcount.data.table_items import label_array
from headcount.exceptions import DataError
from headcount.tables import TableFile

__all__ = ["check_labels", "describe_source"]


def check_labels(table: TableFile, values: list[Any], column: str, min_items: int) -> AnyArray:
    """Labels as an array, checked for at least two classes, not too many, and enough items of each."""
    labels = label_array(values)
    classes, first_rows, codes, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    check_class_counts(classes, codes, least=1, where=f"{table.name}, column {column!r}")
    rarest = int(counts.argmin())
    if counts[rarest] < min_items:  # said here rather than by check_class_counts, to name the line
        which = "the only item" if counts[rarest] == 1 else f"one of only {counts[rarest]} items"
        raise DataError(
            f"{table.place(int(first_rows[rarest]), column)}: this is {which} of class {quoted([classes[rarest]])}; at least "
            f"{min_items} of each class are needed. Label more of them, merge classes, or omit them."
        )
    return labels


def describe_source(table: TableFile, labels: AnyArray) -> dict[str, Any]:
    """Describe the labelled file of a model: name, fingerprint, number of rows, shares of the classes."""
    with table.path.open("rb") as file:
        fingerprint = hashlib.file_digest(file, "sha256").hexdigest()
    classes, counts = np.unique(labels, return_counts=True)
    shares = {str(label): round(float(count) / len(labels), 6) for label, count in zip(classes, counts, strict=True)}
    name = table.path.name if table.name != "standard input" else table.name
    return {"name": name, "fingerprint": fingerprint, "rows": len(labels), "shares": shares}
