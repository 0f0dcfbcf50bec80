"""`KeptItems`: outputs, groups and labels of all items of tables, kept in memory while these are read."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from headcount._labels import class_positions, label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.intervals.target_labels.labels import UNLABELLED
from headcount.learners import Outputs
from headcount.stream.design_columns import DesignParts
from headcount.tables import Batch, Kind

__all__ = ["KeptItems", "LabelColumns"]

_NO_STRATUM = ""
"""Stratum of items in an empty cell."""


@dataclass(frozen=True)
class LabelColumns:
    """Columns of the new table about the labels of its items; None where there is none.

    Attributes
    ----------
    label, probability, stratum : str or None
    item : str or None
        A column that identifies an item, for labels in a file of their own.
    """

    label: str | None = None
    probability: str | None = None
    stratum: str | None = None
    item: str | None = None

    def kinds(self) -> dict[str, Kind]:
        """How the reader reads these columns."""
        names = {name: "group" for name in (self.label, self.stratum, self.item) if name is not None}
        probability: dict[str, Any] = {} if self.probability is None else {self.probability: "number"}
        return {**names, **probability}


@dataclass
class KeptItems:
    """Items of tables in the order of their rows: N x K posteriors (of each fold classifier) and some numbers each.

    Attributes
    ----------
    columns : LabelColumns
    classes : array of shape (n_classes,)
    design : DesignParts or None
        Columns that say how the items were drawn.
    n_rows : int
        Rows read so far, those that meet no condition included.
    """

    columns: LabelColumns
    classes: AnyArray
    design: DesignParts | None = None
    n_rows: int = 0
    _outputs: list[Outputs] = field(default_factory=list)
    _parts: dict[str, list[AnyArray]] = field(
        default_factory=lambda: {name: [] for name in ("row", "group", "code", "probability", "stratum", "item")}
    )
    _groups: dict[Any, int] = field(default_factory=dict)
    _strata: dict[Any, int] = field(default_factory=dict)

    def add(
        self, batch: Batch, rows: IntArray, outputs: Outputs, groups: IntArray | None, values: Sequence[Any]
    ) -> None:
        """Add the items of a batch.

        Parameters
        ----------
        batch : Batch
            Rows that meet the conditions.
        rows : array of int
            Positions of these among all rows of the tables.
        outputs : Outputs
        groups, values
            As for a tally.
        """
        names = [self._groups.setdefault(value, len(self._groups)) for value in values]
        codes = np.zeros(len(batch), dtype=np.int64) if groups is None else np.asarray(groups, dtype=np.int64)
        self._outputs.append(outputs)
        if self.design is not None:
            self.design.add(batch)
        added: dict[str, AnyArray] = {"row": rows, "group": np.array(names, dtype=np.int64)[codes]}
        if self.columns.label is not None:
            added["code"] = self._label_codes(batch, self.columns.label)
        if self.columns.probability is not None:
            added["probability"] = batch.numbers(self.columns.probability)
        if self.columns.stratum is not None:
            in_batch, strata = batch.groups(self.columns.stratum)
            known = [self._strata.setdefault(value or _NO_STRATUM, len(self._strata)) for value in strata]
            added["stratum"] = np.array(known, dtype=np.int64)[in_batch]
        if self.columns.item is not None:
            in_batch, ids = batch.groups(self.columns.item)
            texts = np.array(["" if value is None else label_text(value) for value in ids], dtype=object)
            added["item"] = texts[in_batch]
        for name, values_of_batch in added.items():
            self._parts[name].append(values_of_batch)

    def kinds(self) -> dict[str, Kind]:
        """How the reader reads the columns about labels and about how items were drawn."""
        return self.columns.kinds() | ({} if self.design is None else self.design.columns.kinds())

    def _label_codes(self, batch: Batch, column: str) -> IntArray:
        in_batch, values = batch.groups(column)
        known, text = class_positions(self.classes)
        codes = np.empty(len(values), dtype=np.int64)
        for i, value in enumerate(values):
            if value is None or value != value or (isinstance(value, str) and not value.strip()):
                codes[i] = UNLABELLED
                continue
            code = known.get(text(value))
            if code is None:
                row = np.flatnonzero(in_batch == i)
                if not row.size:  # the dictionary of a Parquet column may hold values of other batches
                    codes[i] = UNLABELLED
                    continue
                raise DataError(
                    f"{batch.place(int(row[0]), column)}: the label {quoted([value])} is not among the classes of the model "
                    f"({quoted(known, 10)}). Correct it or leave it empty; items of a further class need a model that was fitted "
                    "with it."
                )
            codes[i] = code
        return codes[in_batch]

    def outputs(self) -> Outputs:
        """Return the outputs of all items."""
        return Outputs.concatenated(self._outputs)

    def part(self, name: str) -> AnyArray | None:
        """Return a column over all items: row, group, code, probability, stratum or item; None if it was not kept."""
        return np.concatenate(self._parts[name]) if self._parts[name] else None

    def group_codes(self, names: Sequence[Any]) -> IntArray:
        """Return the position of each item's group among these names; -1 for others."""
        positions = {name: i for i, name in enumerate(names)}
        order = np.array([positions.get(name, -1) for name in self._groups], dtype=np.int64)
        groups = self.part("group")
        return order[np.empty(0, dtype=np.int64) if groups is None else groups]

    @property
    def probabilities(self) -> FloatArray | None:
        """Inclusion probabilities of all items, if there is a column of them."""
        return self.part("probability")
