"""`DesignColumns`: the columns of a table that say how its rows were drawn, and the survey design that they make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.designs import SurveyDesign, population_of_strata
from headcount.exceptions import DataError
from headcount.tables import Batch, Kind, TableFile

__all__ = ["DesignColumns", "DesignParts"]


@dataclass(frozen=True)
class DesignColumns:
    """Names of the columns of weights, strata and clusters, and the size of the population; None where there is none.

    Attributes
    ----------
    weight, stratum, cluster : str or None
    population_size : float, mapping of stratum to float, or None
    """

    weight: str | None = None
    stratum: str | None = None
    cluster: str | None = None
    population_size: Any = None

    @property
    def given(self) -> bool:
        """Whether there is a design."""
        return any(name is not None for name in (self.weight, self.stratum, self.cluster, self.population_size))

    @property
    def names(self) -> list[str]:
        """The columns, each once."""
        named = (self.weight, self.stratum, self.cluster)
        return list(dict.fromkeys(name for name in named if name is not None))

    def kinds(self) -> dict[str, Kind]:
        """How the reader reads these columns."""
        kinds: dict[str, Kind] = {} if self.cluster is None else {self.cluster: "key"}
        if self.stratum is not None:
            kinds[self.stratum] = "group"
        if self.weight is not None:
            if self.weight in kinds:
                raise DataError(f"Column {self.weight!r} can't hold both weights and strata or clusters.")
            kinds[self.weight] = "number"
        return kinds

    def population_of(self, items: Mapping[str, int]) -> FloatArray | None:
        """Return the number of items of the population in each stratum; None where its size is not given.

        Parameters
        ----------
        items : mapping of str to int
            Number of items that were drawn from each stratum, by name.
        """
        given = self.population_size
        if isinstance(given, Mapping):
            if self.stratum is None:
                raise DataError("Sizes of strata need the column of strata: name it with --stratum.")
            given = {label_text(name): size for name, size in given.items()}
        drawn, names = np.array(list(items.values()), dtype=np.float64), np.array(list(items), dtype=object)
        return population_of_strata(given, drawn, None if self.stratum is None else names, "items")

    def read(self, table: TableFile) -> SurveyDesign | None:
        """Return the design of all rows of a table."""
        if not self.given:
            return None
        table.require(self.names, ", which says how rows were drawn")
        parts = DesignParts(self)
        if self.names:
            for batch in table.batches(self.kinds()):
                parts.add(batch)
        return parts.design(parts.n_rows or sum(len(batch) for batch in table.batches({table.columns[0]: "group"})))


class DesignParts:
    """Columns of a design, batch by batch.

    Parameters
    ----------
    columns : DesignColumns
    """

    def __init__(self, columns: DesignColumns) -> None:
        self.columns, self.n_rows = columns, 0
        self._weights: list[FloatArray] = []
        self._codes: dict[str, list[IntArray]] = {"stratum": [], "cluster": []}
        self._names: dict[str, dict[Any, int]] = {"stratum": {}, "cluster": {}}

    def add(self, batch: Batch) -> None:
        """Add the rows of a batch; raise, with the place in the file, at what is missing or not valid."""
        columns = self.columns
        self.n_rows += len(batch)
        if columns.weight is not None:
            weights = batch.numbers(columns.weight)
            bad = np.flatnonzero(~((weights > 0.0) & np.isfinite(weights)))
            if bad.size:
                value = weights[bad[0]]
                said = "there is no weight" if np.isnan(value) else f"the weight is {value:g}"
                raise DataError(
                    f"{batch.place(int(bad[0]), columns.weight)}: {said}; weights must be above 0. Correct it, or omit such rows."
                )
            self._weights.append(weights)
        for what, name in (("stratum", columns.stratum), ("cluster", columns.cluster)):
            if name is not None:
                self._codes[what].append(self._coded(batch, name, what))

    def _coded(self, batch: Batch, name: str, what: str) -> IntArray:
        in_batch, values = batch.groups(name)
        known = self._names[what]
        codes = np.empty(len(values), dtype=np.int64)
        for i, value in enumerate(values):
            missing = value is None or value != value or (isinstance(value, str) and not value.strip())
            codes[i] = -1 if missing else known.setdefault(label_text(value), len(known))
        coded: IntArray = codes[in_batch]
        if (coded < 0).any():
            row = int((coded < 0).argmax())
            raise DataError(f"{batch.place(row, name)}: the {what} is missing. Fill it in, or omit such rows.")
        return coded

    def design(self, n_items: int) -> SurveyDesign:
        """Return the design of all rows that were added."""
        arrays: dict[str, AnyArray] = {}
        if self._weights:
            arrays["weights"] = np.concatenate(self._weights)
        for what, key in (("stratum", "strata"), ("cluster", "clusters")):
            if self._codes[what]:
                arrays[key] = np.array(list(self._names[what]), dtype=object)[np.concatenate(self._codes[what])]
        size = self.columns.population_size
        if isinstance(size, Mapping) and "strata" not in arrays:
            raise DataError("Sizes of strata need the column of strata: name it with --stratum.")
        if not arrays:
            arrays["weights"] = np.ones(n_items)
        return SurveyDesign(**arrays, population_size=size)
