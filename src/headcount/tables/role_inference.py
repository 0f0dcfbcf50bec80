"""What the columns of a table are to a model, told from what they hold."""

import re
from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._roles import MONTH_FIRST, ColumnRole
from headcount._typing import AnyArray
from headcount.exceptions import DataError
from headcount.tables.batch import MISSING_NUMBERS, is_list_type, number_of, python_values
from headcount.tables.dates import UnclearDatesError, dates_of, is_date_text, is_month_text, months_come_first
from headcount.tables.string_roles import LEAST_FOR_ID, MOST, StringValues, string_role
from headcount.tables.tablefile import TableFile

__all__ = ["column_roles", "embedding_of", "is_row_number", "role_of"]

_HALF = 0.5
"""Share of the values that are numbers for many different others to be mistakes."""
_FEW_VALUES = 20
"""Values that a column of categories among which are numbers has at most."""
_CODE = re.compile(r"0\d")
"""The beginning of a code of digits, such as the zip code 02139."""
_ID_NAME = re.compile(r"(?i:(?:.*[ _.-])?(?:id|uuid|guid|key|nr|no|number|index|row|rownum))|.*[a-z]I[dD]")


def column_roles(
    table: TableFile, asked: Mapping[str, str | None], named: Container[str] = ()
) -> tuple[dict[str, ColumnRole], dict[str, str]]:
    """Return the roles of columns of a table, and why others have none.

    Parameters
    ----------
    table : TableFile
    asked : dict of column name to kind of role
        None: what the column holds decides.
    named : container of str
        Columns whose numbers are no ids, as the user has named them.
    """
    import pyarrow as pa

    parts = [batch.columns for batch in table.batches(dict.fromkeys(asked, "any"))]
    decimal_comma = table.text is not None and table.text.delimiter == ";"
    roles, without = {}, {}
    for name, kind in asked.items():
        arrays = [part.column(name) for part in parts]
        types = {array.type for array in arrays} - {pa.null()}
        if len(types) > 1:  # a file of any values: what a batch holds decides
            what = f"{table.place(0, column=name)}, or below: a value"
            lists = [python_values(array, what) for array in arrays]
            texts = [[None if value is None else label_text(value) for value in values] for values in lists]
            arrays = [pa.array(part, pa.string()) for part in texts]
        known = [array for array in arrays if not pa.types.is_null(array.type)] or arrays
        column = pa.concat_arrays(
            [array if array.type == known[0].type else array.cast(known[0].type) for array in arrays]
        )
        role = role_of(name, column, partial(table.place, column=name), kind, decimal_comma, name in named)
        if isinstance(role, str):
            without[name] = role
        else:
            roles[name] = role
    return roles, without


def role_of(
    name: str,
    column: Any,
    place: Callable[[int], str],
    asked: str | None = None,
    decimal_comma: bool = False,
    named: bool = False,
) -> ColumnRole | str:
    """Return the role of a column, or, in words, why there is nothing to learn from it.

    Parameters
    ----------
    name : str
    column : Arrow array
    place : callable
        Says for messages where a row is.
    asked : str, optional
        The kind of role that the user wants.
    decimal_comma : bool, default=False
        Whether 1,5 is a number.
    named : bool, default=False
        Whether the user has named the column, whose numbers are no ids then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> role_of("region", pa.array(["north", "south", None] * 10), str)
    ColumnRole(kind='category', complete=False, n_values=2, month_first=False, size=0)
    >>> role_of("ticket", pa.array([f"T{i}" for i in range(30)]), str)
    'a different value in nearly every row, and no words: an id'
    """
    from pyarrow import types

    if types.is_null(column.type) or column.null_count == len(column):
        return "it is empty"
    if is_list_type(column.type):
        return _embedding_role(column, place)
    if types.is_nested(column.type):
        return "it holds lists or records"
    if asked in ("text", "category"):
        return _as_strings(column, asked, place)
    if types.is_dictionary(column.type) and asked is None:  # as pandas has its categories
        return _as_strings(column.dictionary_decode(), "category", place)
    if types.is_boolean(column.type) or types.is_decimal(column.type) or _is_number(column.type):
        if asked not in (None, "number"):
            raise DataError(f"{place(0)}: the column holds {column.type}, and can't be read as {asked}.")
        typed = np.array([np.nan if value is None else float(value) for value in column.to_pylist()])
        return _role_of_numbers(name, typed, named or asked is not None)
    if types.is_date(column.type) or types.is_timestamp(column.type):
        return ColumnRole("date", column.null_count == 0)
    if not (types.is_string(column.type) or types.is_large_string(column.type) or types.is_dictionary(column.type)):
        return f"it holds {column.type}"
    numbers = _plain_numbers(column) if asked in (None, "number") else None
    if numbers is not None:
        return _role_of_numbers(name, numbers, named or asked is not None)
    values = StringValues(column)
    if values.n == 0:
        return "it is empty"
    role = _formed_role(values, place, asked, decimal_comma)
    return string_role(values) if role is None else role


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind))


def _plain_numbers(column: Any) -> AnyArray | None:
    """Return a column of texts that are all numbers, or missing, as numbers; None if Arrow does not take them for numbers."""
    import pyarrow as pa
    from pyarrow import compute

    texts = column.cast(pa.string())
    if compute.any(compute.match_substring_regex(texts, r"^0\d")).as_py():
        return None  # a code with zeros in front
    try:
        missing = compute.is_in(texts, pa.array(MISSING_NUMBERS))
        numbers = compute.if_else(missing, None, texts).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return (
        None
        if numbers.null_count == len(numbers)
        else np.asarray(numbers.fill_null(np.nan).to_numpy(zero_copy_only=False))
    )


def _role_of_numbers(name: str, numbers: AnyArray, named: bool) -> ColumnRole | str:
    if not named and is_row_number(name, numbers):
        return "a different number in every row: an id"
    return ColumnRole("number", not np.isnan(numbers).any())


def is_row_number(name: str, numbers: AnyArray) -> bool:
    """Whether integers are ids: all different, and either without a gap, or in a column with the name of an id.

    >>> rows = np.arange(30.0)
    >>> [is_row_number(name, rows**2) for name in ("customer_id", "ticketId", "x", "amount_paid")], is_row_number("x", rows)
    ([True, True, False, False], True)
    """
    n = len(numbers)
    if n < LEAST_FOR_ID or not np.isfinite(numbers).all() or (numbers % 1 != 0).any():
        return False
    if np.unique(numbers).size < n:
        return False
    return bool(numbers.max() - numbers.min() == n - 1 or _ID_NAME.fullmatch(name))


def _as_strings(column: Any, asked: Any, place: Callable[[int], str]) -> ColumnRole:
    known = python_values(column.unique(), f"{place(0)}, or below: a value")
    present = [value for value in known if value is not None and value == value]
    values = {label_text(value).strip() for value in present}
    complete = column.null_count == 0 and "" not in values
    return ColumnRole(asked, complete, len(values - {""}) if asked == "category" else 0)


def _formed_role(
    values: StringValues, place: Callable[[int], str], asked: str | None, decimal_comma: bool
) -> ColumnRole | str | None:
    """Role of a column of texts that are numbers, dates or embeddings; None if they are none of these."""
    if asked in (None, "number"):
        role = _written_numbers(values, place, asked, decimal_comma)
        if role is not None:
            return role
    if asked in (None, "date", MONTH_FIRST):
        is_date = np.array([is_date_text(text) for text in values.texts])
        if asked or values.share(is_date) >= MOST:
            return _date_role(values, place, asked == MONTH_FIRST)
        if values.share(np.array([is_month_text(text) for text in values.texts])) >= MOST:
            return "it names months, quarters or weeks, of which a model knows no later ones"
    is_list = np.array([text[0] == "[" and text[-1] == "]" for text in values.texts])
    if asked == "embedding" or values.share(is_list) >= MOST:
        return _written_embeddings(values, place)
    return None


def _written_numbers(
    values: StringValues, place: Callable[[int], str], asked: str | None, decimal_comma: bool
) -> ColumnRole | None:
    missing = np.array([text in MISSING_NUMBERS for text in values.texts])
    is_number = np.array([_reads_as_number(text, decimal_comma) for text in values.texts])
    complete = values.complete and not missing.any()
    if asked is None and any(_CODE.match(text) for text in values.texts):
        return None
    known = ~missing
    if not (known & is_number).any() and asked is None:
        return None
    if is_number[known].all():
        return ColumnRole("number", complete)
    share = float(values.counts[known & is_number].sum()) / max(float(values.counts[known].sum()), 1.0)
    few = len(values.texts) <= min(_FEW_VALUES, values.n / 5)
    if asked is None and (share < _HALF or (share < MOST and few)):
        return None
    row = values.first_row(known & ~is_number)
    others = f", unlike {min(int(100 * share), 99)} % of the column" if asked is None else ""
    raise DataError(
        f"{place(row)}: {values.texts[values.codes[row]][:40]!r} is not a number{others}. Mend it, or empty it if the number is "
        "missing; for a column of categories, write its name with :category (--features)."
    )


def _reads_as_number(text: str, decimal_comma: bool) -> bool:
    try:
        number_of(text.replace(",", ".", 1) if decimal_comma and "." not in text else text)
    except ValueError:
        return False
    return True


def _date_role(values: StringValues, place: Callable[[int], str], month_first: bool) -> ColumnRole:
    advice = "Write dates as 2016-07-09, or leave the column out (--drop)."
    try:
        month_first = month_first or months_come_first(values.texts)
    except UnclearDatesError as error:
        row = values.first_row(np.arange(len(values.texts)) == error.position)
        raise DataError(f"{place(row)}: {error.reason}, as in {values.texts[error.position]!r}. {advice}") from error
    wrong = np.isnat(dates_of(values.texts, month_first))
    if wrong.any():
        row = values.first_row(wrong)
        raise DataError(f"{place(row)}: {values.texts[values.codes[row]][:40]!r} is not a date. {advice}")
    return ColumnRole("date", values.complete, month_first=month_first)


def _written_embeddings(values: StringValues, place: Callable[[int], str]) -> ColumnRole:
    sizes = []
    for position, text in enumerate(values.texts):
        try:
            sizes.append(len(embedding_of(text)))
        except ValueError as error:
            row = values.first_row(np.arange(len(values.texts)) == position)
            raise DataError(
                f"{place(row)}: {text[:40]!r} is not a list of numbers ({error}). Write embeddings as [0.1, 0.2], with all their "
                "numbers."
            ) from error
    if not values.complete:
        raise DataError(
            f"{place(int((values.codes < 0).argmax()))} is empty: an embedding has as many numbers in each row."
        )
    row_sizes = np.array(sizes)[values.codes]
    return ColumnRole("embedding", size=_one_size(row_sizes, place))


def _embedding_role(column: Any, place: Callable[[int], str]) -> ColumnRole | str:
    if not _is_number(column.type.value_type):
        return f"it holds {column.type}"
    sizes = np.array([0 if size is None else size for size in column.value_lengths().to_pylist()])
    return ColumnRole("embedding", size=_one_size(sizes, place))


def _one_size(sizes: AnyArray, place: Callable[[int], str]) -> int:
    odd = np.flatnonzero((sizes != sizes[0]) | (sizes < 1))
    if odd.size:
        raise DataError(
            f"{place(int(odd[0]))} holds {sizes[odd[0]]} numbers, the first row {sizes[0]}: an embedding has as many in each row."
        )
    return int(sizes[0])


def embedding_of(text: str) -> list[float]:
    """Return the numbers of an embedding that is written as [0.1, 0.2] or, as numpy does, [0.1 0.2].

    >>> embedding_of("[0.5, -1]"), embedding_of("[1.   2.5]")
    ([0.5, -1.0], [1.0, 2.5])
    """
    stripped = text.strip()
    if stripped[:1] != "[" or stripped[-1:] != "]":
        raise ValueError("no brackets around it")
    return [float(number) for number in stripped[1:-1].replace(",", " ").split()]
