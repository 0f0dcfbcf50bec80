"""Rows of columns of several kinds as one array of records, whose fields say by their type what they hold.

A text is an object, a category an array of one object, a number a float, an embedding an array of floats, a date a date of numpy's.
So rows can be chosen, hashed and put together as any array's, without a data frame library, which takes long to import.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._roles import ColumnRole, RoleKind
from headcount._typing import AnyArray, FloatArray
from headcount.exceptions import DataError
from headcount.tables.batch import Batch, is_list_type, number_of
from headcount.tables.dates import dates_of
from headcount.tables.role_inference import embedding_of
from headcount.tables.tablefile import Kind

__all__ = ["field_kind", "reading_kinds", "record_type", "records_of"]

_READ_AS: dict[str, Kind] = {
    "text": "text",
    "number": "number",
    "category": "group",
    "date": "group",
    "embedding": "any",
}


def reading_kinds(roles: Mapping[str, ColumnRole]) -> dict[str, Kind]:
    """Return how the table reader reads the columns of these roles."""
    return {name: _READ_AS[role.kind] for name, role in roles.items()}


def record_type(roles: Mapping[str, ColumnRole]) -> np.dtype[Any]:
    """Return the type of records with fields of these roles."""
    of_kind: dict[str, Callable[[ColumnRole], tuple[Any, ...]]] = {
        "text": lambda _: (object,),
        "category": lambda _: (object, (1,)),
        "number": lambda _: (np.float64,),
        "date": lambda _: ("datetime64[s]",),
        "embedding": lambda role: (np.float64, (role.size,)),
    }
    return np.dtype([(name, *of_kind[role.kind](role)) for name, role in roles.items()])


def field_kind(field: np.dtype[Any]) -> RoleKind:
    """Return what a field of records holds, by its type."""
    if field.subdtype is not None:
        return "category" if field.base.kind == "O" else "embedding"
    return "text" if field.kind == "O" else "date" if field.kind == "M" else "number"


def records_of(batch: Batch, roles: Mapping[str, ColumnRole]) -> AnyArray:
    """Return the rows of a batch as records with these fields.

    >>> import pyarrow as pa
    >>> table = pa.record_batch({"price": [1.5, None], "region": ["north", ""]})
    >>> roles = {"price": ColumnRole("number", complete=False), "region": ColumnRole("category")}
    >>> records = records_of(Batch("new.csv", table, lambda row, column: ""), roles)
    >>> records["price"].tolist(), records["region"].tolist()
    ([1.5, nan], [['north'], [None]])
    """
    read = {"text": _texts, "number": _numbers, "category": _categories, "date": _dates, "embedding": _embedding}
    columns = {name: read[role.kind](batch, name, role) for name, role in roles.items()}
    records = np.empty(len(batch), record_type(roles))
    for name, values in columns.items():
        records[name] = values
    return records


def _texts(batch: Batch, name: str, _role: ColumnRole) -> AnyArray:
    return batch.texts(name, may_be_empty=True)


def _as_texts(batch: Batch, name: str, missing: Any) -> AnyArray:
    codes, values = batch.groups(name)
    texts = [missing if value is None or value != value else label_text(value).strip() or missing for value in values]
    return np.array([*texts, missing], dtype=object)[codes]


def _categories(batch: Batch, name: str, _role: ColumnRole) -> AnyArray:
    return _as_texts(batch, name, None)[:, None]


def _numbers(batch: Batch, name: str, role: ColumnRole) -> FloatArray:
    from pyarrow import types

    kind = batch.columns.column(name).type
    is_text = types.is_string(kind) or types.is_dictionary(kind)  # if rows are also grouped by the column
    numbers = _parsed_numbers(batch, name) if is_text else batch.numbers(name)
    invalid = np.isinf(numbers) | (np.isnan(numbers) & role.complete)
    if invalid.any():
        row = int(invalid.argmax())
        reason = (
            "the number is infinite."
            if np.isinf(numbers[row])
            else "the number is missing, and none was in the labelled rows. Fill it in, or omit the row."
        )
        raise DataError(f"{batch.place(row, name)}: {reason}")
    return numbers


def _parsed_numbers(batch: Batch, name: str) -> FloatArray:
    codes, values = batch.groups(name)
    numbers = np.full(len(values), np.nan)
    for position, value in enumerate(values):
        try:
            number = None if value is None else number_of(value)
        except (TypeError, ValueError) as error:
            row = int((codes == position).argmax())
            raise DataError(f"{batch.place(row, name)}: {str(value)[:40]!r} is not a number.") from error
        numbers[position] = np.nan if number is None else number
    return numbers[codes]


def _dates(batch: Batch, name: str, role: ColumnRole) -> AnyArray:
    codes, values = batch.groups(name)
    dates = dates_of(values, role.month_first)
    for position in np.flatnonzero(np.isnat(dates)).tolist():
        value = values[position]
        if value is not None and value == value and str(value).strip():
            row = int((codes == position).argmax())
            raise DataError(
                f"{batch.place(row, name)}: {str(value)[:40]!r} is not a date"
                + (" with the month first, as in the labelled rows" if role.month_first else "")
                + ". Write dates as 2016-07-09."
            )
    return dates[codes]


def _embedding(batch: Batch, name: str, role: ColumnRole) -> FloatArray:
    column = batch.columns.column(name)
    if is_list_type(column.type):
        vectors = None
        sizes = [size or 0 for size in column.value_lengths().to_pylist()]
    else:
        vectors = [_written(batch, row, name, text) for row, text in enumerate(column.to_pylist())]
        sizes = [len(vector) for vector in vectors]
    odd = next((row for row, size in enumerate(sizes) if size != role.size), None)
    if odd is not None:
        raise DataError(
            f"{batch.place(odd, name)} holds {sizes[odd]} numbers, and embeddings of {role.size} were learnt from."
        )
    matrix = batch.embedding(name) if vectors is None else np.array(vectors, dtype=np.float64)
    invalid = ~np.isfinite(matrix).all(axis=1)
    if invalid.any():
        row = int(invalid.argmax())
        raise DataError(f"{batch.place(row, name)}: a number of the embedding is missing or infinite.")
    return matrix


def _written(batch: Batch, row: int, name: str, text: Any) -> list[float]:
    try:
        return embedding_of(str(text or "[]"))
    except ValueError as error:
        raise DataError(
            f"{batch.place(row, name)}: {str(text)[:40]!r} is not a list of numbers such as [0.1, 0.2]."
        ) from error
