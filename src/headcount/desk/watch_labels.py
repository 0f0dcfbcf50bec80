"""Labels of items of a watched stream that arrive later: from a column of the batches' table, or from a file of their own."""

import warnings
from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount._validation import quoted
from headcount.desk.label_file import LabelSource, labels_of_items, read_label_file
from headcount.exceptions import DataError, HeadcountWarning
from headcount.intervals.target_labels.labels import UNLABELLED
from headcount.monitor import Monitor
from headcount.stream.kept_items import KeptItems

__all__ = ["WatchLabels"]


class WatchLabels:
    """Labels of items of batches, read with these.

    Parameters
    ----------
    source : LabelSource
        A column of the table, or a file; ``item`` may be a column of either.
    classes : array
    """

    def __init__(self, source: LabelSource, classes: Any) -> None:
        self.source = source
        self.file = None if source.file is None else read_label_file(source)
        self.kept = KeptItems(source.table_columns(), classes)
        self._codes: IntArray | None = None

    @property
    def codes(self) -> IntArray:
        """The label of each item of the tables; -1 where there is none yet."""
        if self._codes is None:
            self._codes = self._read()
        return self._codes

    def _read(self) -> IntArray:
        if self.file is None:
            codes = self.kept.part("code")
            return np.empty(0, dtype=np.int64) if codes is None else codes
        labels, notes = labels_of_items(self.source, self.kept, self.file)
        for note in notes:
            warnings.warn(note, HeadcountWarning, stacklevel=5)
        if labels.probabilities is not None:
            _require_equal(labels.probabilities[labels.labelled])
        return labels.codes

    def are_of_all(self, group: Any) -> bool:
        """Whether all items of a group are labelled, and have a name: they may be some items of a batch that was seen before."""
        rows = self._rows(group)
        return self.source.item is not None and bool(len(rows)) and bool((self.codes[rows] != UNLABELLED).all())

    def add_to(self, monitor: Monitor, batches: dict[Any, str]) -> list[str]:
        """Add the labels of each group to its batch; return the batches that have some.

        Parameters
        ----------
        monitor : Monitor
        batches : dict
            The name of the batch of each group.
        """
        outputs, labelled = self.kept.outputs(), []
        for group, name in batches.items():
            rows = self._rows(group)
            at = np.flatnonzero(self.codes[rows] != UNLABELLED)
            if len(at):
                names, key = self._names(rows, at, name), f"column {self.source.item}" if self.source.item else "row"
                monitor.add_labels(name, outputs.take(rows[at]), monitor.classes[self.codes[rows[at]]], names, key)
                labelled.append(name)
        return labelled

    def _rows(self, group: Any) -> IntArray:
        return np.flatnonzero(self.kept.group_codes([group]) == 0)

    def _names(self, rows: IntArray, at: IntArray, batch: str) -> list[str]:
        """Return what identifies labelled items in their batch: a column, or their places in it."""
        ids = self.kept.part("item")
        if ids is None:
            return [f"row {position + 1:,}" for position in at.tolist()]
        names = ids[rows[at]].tolist()
        if "" in names:
            raise DataError(
                f"Labelled items of the batch {batch!r} have no {self.source.item}, which says which items they are."
            )
        repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if repeated:
            raise DataError(
                f"{self.source.item} {quoted(repeated, 3)} is that of several labelled items of the batch {batch!r}: ids must "
                "differ."
            )
        return [str(name) for name in names]


def _require_equal(probabilities: FloatArray) -> None:
    if len(probabilities) and probabilities.max() > 1.001 * probabilities.min():
        raise DataError(
            f"The labelled items were drawn with chances between {probabilities.min():g} and {probabilities.max():g}. A stream is "
            "watched with labels of equal chances in a batch; for others there is headcount estimate --labels-from."
        )
