"""`Batch`: some rows of a table, as numbers, texts or groups."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError

__all__ = ["Batch"]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows of a table, and where they are in it.

    Attributes
    ----------
    file : str
        For messages.
    columns : Arrow's record batch
    locate : callable
        Words where a row of this batch, counted from 0, is in the file.
    """

    file: str
    columns: Any
    locate: Callable[[int, str | None], str]

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def place(self, row: int, column: str | None = None) -> str:
        """Name a row of this batch in a message: its file, line and column."""
        return self.locate(row, column)

    def parts(self, rows: int) -> Iterator["Batch"]:
        """Cut this batch into some of no more than so many rows."""
        for start in range(0, len(self), rows):
            yield Batch(self.file, self.columns.slice(start, rows), partial(self._moved, start))

    def _moved(self, start: int, row: int, column: str | None) -> str:
        return self.locate(start + row, column)

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, NaN where it is empty."""
        column = self.columns.column(name)
        values = column.to_numpy(zero_copy_only=False)
        return np.asarray(values, dtype=np.float64)

    def texts(self, name: str) -> AnyArray:
        """Return a column of texts, none of them empty."""
        values = self.columns.column(name).to_pylist()
        for row, value in enumerate(values):
            if not value or not value.strip():
                raise DataError(f"{self.place(row, name)} is empty: fill such rows, or leave them out.")
        return np.array(values, dtype=object)

    def groups(self, name: str, dates: bool = False) -> tuple[AnyArray, list[Any]]:
        """Return each row's position in the list of distinct values of a column, and that list; a missing value is None.

        Of times, only the dates are taken if these are asked for.
        """
        import pyarrow as pa

        column = self.columns.column(name)
        if pa.types.is_nested(column.type):
            raise DataError(f"{self.file}: column {name!r} holds lists or records, by which rows can't be grouped.")
        if dates:
            column = _dates(column)
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        values = column.dictionary.to_pylist()
        codes = column.indices
        if codes.null_count:
            codes = codes.fill_null(len(values))
            values.append(None)
        return codes.to_numpy(zero_copy_only=False).astype(np.int32, copy=False), values

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return columns of numbers side by side; a Parquet column that holds a list of numbers in each row is an embedding."""
        import pyarrow as pa

        if len(names) == 1 and (
            pa.types.is_list(self.columns.column(names[0]).type)
            or pa.types.is_fixed_size_list(self.columns.column(names[0]).type)
            or pa.types.is_large_list(self.columns.column(names[0]).type)
        ):
            return self._embedding(names[0])
        return np.column_stack([self.numbers(name) for name in names])

    def _embedding(self, name: str) -> FloatArray:
        column = self.columns.column(name)
        sizes = np.array([-1 if size is None else size for size in column.value_lengths().to_pylist()])
        odd = np.flatnonzero((sizes != sizes[0]) | (sizes < 1))
        if odd.size:
            raise DataError(
                f"{self.place(int(odd[0]), name)} holds {max(int(sizes[odd[0]]), 0)} numbers, the first row "
                f"{max(int(sizes[0]), 0)}: an embedding has as many in each row."
            )
        flat = column.flatten().to_numpy(zero_copy_only=False)
        return np.asarray(flat, dtype=np.float64).reshape(len(column), int(sizes[0]))


_TIME = r"^\d{4}-\d{2}-\d{2}[T ]([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$"


def _dates(column: Any) -> Any:
    """Return the dates of times, as their own clock shows them; a column of something else stays as it is."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_timestamp(kind):
        local = compute.local_timestamp(column) if kind.tz is not None else column
        return local.cast(pa.date32(), safe=False)
    values = column.dictionary if pa.types.is_dictionary(kind) else column
    if pa.types.is_string(values.type) and compute.all(compute.match_substring_regex(values, _TIME)).as_py():
        days = compute.utf8_slice_codeunits(values, 0, 10)
        if not pa.types.is_dictionary(kind):
            return days
        encoded = days.dictionary_encode()  # the days of many times are few
        return pa.DictionaryArray.from_arrays(encoded.indices.take(column.indices), encoded.dictionary)
    return column
