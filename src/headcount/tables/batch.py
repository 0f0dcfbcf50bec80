"""`Batch`: consecutive rows of a table, as numbers, texts or groups."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from headcount._escaping import from_spreadsheet
from headcount._labels import label_text
from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError

__all__ = ["MISSING_NUMBERS", "ROWS_OF_PYTHON", "Batch", "batches_of_rows", "is_list_type", "number_of"]

MISSING_NUMBERS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "na", "n/a")
"""Fields that stand for a missing number."""
ROWS_OF_PYTHON = 1 << 13
"""Rows at a time, where Python reads them one by one; more are slower, as the garbage collector looks at all."""

_TIME = (
    r"^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
    r"(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?$"
)
"""A day, the time, and the zone: the day is that of its own clock."""


@dataclass(frozen=True, eq=False)
class Batch:
    """Consecutive rows of a table, and where they are in it.

    Attributes
    ----------
    file : str
        For messages.
    columns : Arrow's record batch
    locate : callable
        Words where a row is in the file, given its number and maybe a column.
    first : int
        What `locate` counts before the first row of this batch.
    of_text : bool
        Whether values are from a text file, in which a name that looks like a formula is written with an apostrophe before it.
    """

    file: str
    columns: Any
    locate: Callable[[int, str | None], str]
    first: int = 0
    of_text: bool = False

    def __len__(self) -> int:
        return int(self.columns.num_rows)

    def place(self, row: int, column: str | None = None) -> str:
        """Name a row of this batch in a message: its file, line and column."""
        return self.locate(self.first + row, column)

    def chosen(self, rows: AnyArray) -> "Batch":
        """Return some of the rows, by their numbers."""
        import pyarrow as pa

        def locate(row: int, column: str | None) -> str:
            return self.place(int(rows[row]), column)

        return Batch(self.file, self.columns.take(pa.array(rows)), locate, of_text=self.of_text)

    def numbers(self, name: str) -> FloatArray:
        """Return a column of numbers, NaN where it is empty."""
        import pyarrow as pa

        column = self.columns.column(name)
        if pa.types.is_nested(column.type):
            raise DataError(
                f"{self.file}: column {name!r} holds {column.type}, not one number a row. Embeddings are read alone: --features "
                f"{name}."
            )
        return np.asarray(_as_array(column), dtype=np.float64)

    def texts(self, name: str, may_be_empty: bool = False) -> AnyArray:
        """Return a column of texts, none of them empty unless they may be; a missing one is then empty."""
        values = python_values(self.columns.column(name), f"{self.file}: a value of column {name!r}")
        if may_be_empty:
            return np.array([value or "" for value in values], dtype=object)
        for row, value in enumerate(values):
            if not value or not value.strip():
                raise DataError(f"{self.place(row, name)} is empty: fill such rows, or leave them out.")
        return np.array(values, dtype=object)

    def groups(self, name: str) -> tuple[AnyArray, list[Any]]:
        """Return each row's position in the list of distinct values of a column, and that list; a missing value is None."""
        codes, values = _encoded(self.flat(name))
        return codes, list(map(from_spreadsheet, values)) if self.of_text else values

    def days(self, name: str) -> tuple[AnyArray, list[Any]]:
        """Encode dates and times by local calendar day; other values stay as they are."""
        import pyarrow as pa
        from pyarrow import compute

        column = self.flat(name)
        if pa.types.is_timestamp(column.type):
            local = compute.local_timestamp(column) if column.type.tz is not None else column
            column = local.cast(pa.date32(), safe=False)
        elif pa.types.is_string(column.type):
            column = _days_of(column)
        elif pa.types.is_dictionary(column.type) and pa.types.is_string(column.type.value_type):
            days = _days_of(column.dictionary).cast(pa.string())
            column = pa.DictionaryArray.from_arrays(column.indices, days)
        return _encoded(column)

    def flat(self, name: str) -> Any:
        """Return a column of single values, as Arrow has it."""
        import pyarrow as pa

        column = self.columns.column(name)
        if pa.types.is_nested(column.type):
            raise DataError(f"{self.file}: column {name!r} holds lists or records, by which rows can't be grouped.")
        return column

    def matrix(self, names: Sequence[str]) -> FloatArray:
        """Return columns of numbers side by side; a Parquet column that holds a list of numbers in each row is an embedding."""
        if len(names) == 1 and is_list_type(self.columns.column(names[0]).type):
            return self.embedding(names[0])
        return np.column_stack([self.numbers(name) for name in names])

    def embedding(self, name: str) -> FloatArray:
        """Return a column that holds a list of numbers in each row, all of one length, as a matrix."""
        column = self.columns.column(name)
        sizes = np.array([-1 if size is None else size for size in column.value_lengths().to_pylist()])
        odd = np.flatnonzero((sizes != sizes[0]) | (sizes < 1))
        if odd.size:
            raise DataError(
                f"{self.place(int(odd[0]), name)} holds {max(int(sizes[odd[0]]), 0)} numbers, the first row "
                f"{max(int(sizes[0]), 0)}: an embedding has as many in each row."
            )
        flat = _as_array(column.flatten())
        return np.asarray(flat, dtype=np.float64).reshape(len(column), int(sizes[0]))


def is_list_type(kind: Any) -> bool:
    """Whether an Arrow type is a list of values, of a fixed length or not."""
    from pyarrow import types

    return bool(types.is_list(kind) or types.is_fixed_size_list(kind) or types.is_large_list(kind))


def _as_array(column: Any) -> AnyArray:
    """Return a column of numbers as an array, NaN where it is empty.

    So does Arrow's ``to_numpy``, which imports pandas, a third of a second.
    """
    import pyarrow as pa
    from pyarrow import types

    if types.is_float64(column.type) and column.null_count:
        values = np.frombuffer(column.buffers()[1], np.float64, len(column), 8 * column.offset)
        return np.where(np.from_dlpack(column.is_null().cast(pa.uint8())) == 1, np.nan, values)
    if column.null_count or not (types.is_integer(column.type) or types.is_floating(column.type)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    return np.from_dlpack(column)


def python_values(column: Any, what: str) -> list[Any]:
    """Return the values of a column as Python's; raise where one is no day or time of Python's calendar."""
    try:
        return list(column.to_pylist())
    except (ValueError, OverflowError) as error:
        raise DataError(f"{what} can't be read: {error}.") from error


def _encoded(column: Any) -> tuple[AnyArray, list[Any]]:
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = python_values(column.dictionary, "A value of a column to group by")
    codes = column.indices.cast(pa.int32())
    if codes.null_count:
        codes = codes.fill_null(len(values))
        values.append(None)
    return _as_array(codes), values


def _days_of(texts: Any) -> Any:
    """Replace times, as ISO 8601 has them, by their days; other texts stay as they are."""
    import pyarrow as pa
    from pyarrow import compute

    try:  # times without a zone, which is faster
        days = texts.cast(pa.timestamp("us")).cast(pa.date32(), safe=False).dictionary_encode()
    except pa.ArrowInvalid:
        return compute.replace_substring_regex(texts, _TIME, r"\1")
    return pa.DictionaryArray.from_arrays(days.indices, days.dictionary.cast(pa.string()))


def batches_of_rows(
    rows: Iterator[Sequence[Any]], kinds: Mapping[str, str], size: int, place: Callable[..., str], first: int = 0
) -> Iterator[Any]:
    """Make Arrow's record batches of rows of Python's values, of any type; ``place`` says for messages where a value is."""
    import pyarrow as pa

    names = list(kinds) or ["row"]
    while part := list(islice(rows, size)):
        columns = zip(*part, strict=True) if kinds else [[True] * len(part)]
        arrays = [
            _array_of(values, kinds.get(name, "group"), partial(place, column=name), first)
            for name, values in zip(names, columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(arrays, names)
        first += len(part)


def _array_of(values: Sequence[Any], kind: str, place: Callable[[int], str], first: int) -> Any:
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    try:
        if kind == "number" and types <= {int, float}:
            return pa.array(values, pa.float64())
        if kind in ("group", "key") and len(types) == 1 and types.isdisjoint((bytes, list, dict)):
            return pa.array(values)
        if kind == "any" and (types == {list} or dict in types):
            return _nested_array(values)
        if kind == "any" and len(types) == 1 and types.isdisjoint((bytes, list)):
            return pa.array(values)
    except (
        OverflowError,
        UnicodeEncodeError,
        pa.ArrowException,
    ):  # an integer that is too large, half a surrogate pair
        pass
    converted = []
    for row, value in enumerate(values, start=first):
        try:
            converted.append(None if value is None else number_of(value) if kind == "number" else _text(value))
        except (TypeError, ValueError) as error:
            what = "a number. Name a column of numbers," if kind == "number" else "a text. Name columns of texts,"
            raise DataError(f"{place(row)}: {str(value)[:40]!a} is not {what} or mend the value.") from error
    return pa.array(converted, pa.string() if kind != "number" else None if list in types else pa.float64())


def _nested_array(values: Sequence[Any]) -> Any:
    """Make an array of lists of numbers; of other lists and of records, one that says only what they are."""
    import pyarrow as pa

    try:
        return pa.array(values, pa.list_(pa.float64()))
    except (TypeError, ValueError, pa.ArrowException):
        marks = ["list" if isinstance(value, list) else "record" for value in values]
        kinds = pa.struct([("list", pa.bool_()), ("record", pa.bool_())])
        return pa.array([None if v is None else {mark: True} for v, mark in zip(values, marks, strict=True)], kinds)


def number_of(value: Any) -> Any:
    """Return a value as a number, or a list of numbers; None if it stands for a missing one."""
    if isinstance(value, list):
        return [float(number) for number in value]
    if value in MISSING_NUMBERS:
        return None
    if isinstance(value, str) and "_" in value:
        raise ValueError("Python takes 1_000 for a number, others do not")
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, list | dict):
        raise TypeError("a list or record")
    text = value.decode() if isinstance(value, bytes) else value if isinstance(value, str) else label_text(value)
    text.encode()  # JSON can write halves of letters, which are not text
    return text
