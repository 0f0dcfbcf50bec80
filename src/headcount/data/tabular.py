"""Whole CSV, TSV and Parquet files as a `Corpus`: texts and labels exactly as written, features as numbers.

Tables that are larger than memory are read by `headcount.tables`.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from headcount._labels import typed_labels
from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.data.corpus import Corpus
from headcount.data.files import PARQUET_MARK, text_of
from headcount.exceptions import DataError, FileFormatError

__all__ = ["read_csv", "read_parquet", "read_tsv"]


def read_csv(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    """Read a table separated by commas."""
    return _from_columns(_columns(content, path, ",", quotes=True), path, text, label, features)


def read_tsv(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    """Read a table separated by tabs, with or without quotes around its fields.

    Quotes are literal if every line then has as many fields as the header, so that a single quote in a text does no harm. A field
    that is quoted as a whole is unquoted in either case.
    """
    try:
        columns = _columns(content, path, "\t", quotes=False)
    except FileFormatError:
        columns = _columns(content, path, "\t", quotes=True)
    else:
        columns = {name: [_unquoted(field) for field in fields] for name, fields in columns.items()}
    return _from_columns(columns, path, text, label, features)


def _unquoted(field: str) -> str:
    inside = field[1:-1].replace('""', "")
    if len(field) >= 2 and field[0] == field[-1] == '"' and '"' not in inside:
        return field[1:-1].replace('""', '"')
    return field


def _columns(content: bytes, path: Path, delimiter: str, quotes: bool) -> dict[str, list[str]]:
    """Read a table with a header as columns of strings, exactly as written."""
    import pyarrow as pa
    from pyarrow import csv

    text_of(content, path)
    parse = csv.ParseOptions(
        delimiter=delimiter, quote_char='"' if quotes else False, double_quote=quotes, newlines_in_values=quotes
    )
    header = content.lstrip(b"\xef\xbb\xbf").splitlines()[0].decode()
    convert = csv.ConvertOptions(strings_can_be_null=False, column_types=_all_strings(header, delimiter))
    try:
        table = csv.read_csv(BytesIO(content), parse_options=parse, convert_options=convert)
    except pa.ArrowInvalid as error:
        raise FileFormatError(f"{path} can't be read as a table separated by {delimiter!r}: {error}") from error
    _check_names(table.column_names, path)
    if table.num_rows == 0:
        raise FileFormatError(f"{path} holds no items.")
    return {name: table[name].cast(pa.string()).to_pylist() for name in table.column_names}


def _all_strings(header: str, delimiter: str) -> dict[str, Any]:
    import csv as plain_csv

    import pyarrow as pa

    names = next(plain_csv.reader([header], delimiter=delimiter), [])
    return dict.fromkeys(names, pa.string())


def _check_names(names: Sequence[str], path: Path) -> None:
    duplicates = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
    if duplicates:
        raise FileFormatError(f"{path} has more than one column named {quoted(duplicates)}: rename one of them.")


def _from_columns(columns: dict[str, list[str]], path: Path, text: Any, label: Any, features: Any) -> Corpus:
    """Make a corpus from columns of strings."""
    text, label, names = _choose_columns(list(columns), path, text, label, features)
    labels = None if label is None else _labels(columns[label], path, label)
    if text is not None:
        _check_filled(columns[text], path, text)
        return Corpus(np.array(columns[text], dtype=object), labels, str(path))
    matrix = np.empty((len(next(iter(columns.values()))), len(names)))
    for j, name in enumerate(names):
        try:
            matrix[:, j] = [float(field) if field.strip() else np.nan for field in columns[name]]
        except ValueError as error:
            raise _not_numeric(path, name, list(columns)) from error
    return Corpus(matrix, labels, str(path), tuple(names))


def _not_numeric(path: Path, name: str, columns: list[str]) -> DataError:
    hint = (
        " The file seems to be separated by semicolons: use commas or tabs."
        if len(columns) == 1 and ";" in name
        else ""
    )
    return DataError(
        f"{path}: column {name!r} is not numeric.{hint} Name the text column with text=..., or the numeric columns with "
        f"features=[...]; the columns are {quoted(columns, 12)}."
    )


def _labels(fields: list[str], path: Path, label: str) -> AnyArray:
    empty = [row for row, field in enumerate(fields, start=1) if not field.strip()]
    if empty:
        raise DataError(
            f"{path}: column {label!r} has no label in row {empty[0]} ({len(empty):,} rows in total): drop such rows or label them."
        )
    return typed_labels(fields)


def _check_filled(fields: list[str], path: Path, text: str) -> None:
    for row, field in enumerate(fields, start=1):
        if not field:
            raise DataError(f"{path}: column {text!r} is empty in row {row}: drop such rows or fill them.")


def _choose_columns(
    columns: list[str], path: Path, text: str | None, label: str | None, features: Sequence[str] | None
) -> tuple[str | None, str | None, list[str]]:
    """Choose the columns of the text, the label and the features, by name or by convention."""
    if text is None and features is None and "text" in columns:
        text = "text"
    if label is None and "label" in columns and "label" not in (text, *(features or ())):
        label = "label"
    for name in (text, label, *(features or ())):
        if name is not None and name not in columns:
            raise DataError(f"{path} has no column {name!r}; its columns are {quoted(columns, 12)}.")
    if text is not None and features is not None:
        raise DataError("Name either a text column or feature columns, not both.")
    names = list(features) if features is not None else [c for c in columns if c != label]
    if text is None and not names:
        raise DataError(f"{path} has no columns besides the label {label!r}: there is nothing to learn from.")
    return text, label, names


def read_parquet(content: bytes, path: Path, text: Any, label: Any, features: Any) -> Corpus:
    """Read a Parquet file; a named pandas index is a column like the others."""
    import pyarrow as pa
    from pyarrow import parquet

    if not content.startswith(PARQUET_MARK):
        raise FileFormatError(f"{path} is named like a Parquet file but is not one (it does not start with PAR1).")
    try:
        file = parquet.ParquetFile(BytesIO(content))
        _check_names(file.schema_arrow.names, path)
        table = file.read()
    except (OSError, pa.ArrowException) as error:
        raise FileFormatError(f"{path} is a damaged Parquet file ({error}): copy or export it again.") from error
    if table.num_rows == 0:
        raise FileFormatError(f"{path} holds no items.")
    table = table.select([name for name in table.column_names if not name.startswith("__index_level_")])
    text, label, names = _choose_columns(table.column_names, path, text, label, features)
    labels = None
    if label is not None:
        values = _as_text(table[label], path, label)
        missing = [row for row, value in enumerate(values, start=1) if value is None]
        if missing:
            raise DataError(f"{path}: column {label!r} has no label in row {missing[0]}: drop such rows or label them.")
        labels = np.array(values)
    if text is not None:
        texts = _as_text(table[text], path, text)
        _check_filled(texts, path, text)
        return Corpus(np.array([str(t) for t in texts], dtype=object), labels, str(path))
    for name in names:
        kind = table[name].type
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise _not_numeric(path, name, table.column_names)
    matrix = np.column_stack([table[name].to_numpy(zero_copy_only=False).astype(np.float64) for name in names])
    return Corpus(matrix, labels, str(path), tuple(names))


def _as_text(column: Any, path: Path, name: str) -> list[Any]:
    """Values of a column, bytes decoded as UTF-8 text."""
    try:
        return [value.decode() if isinstance(value, bytes) else value for value in column.to_pylist()]
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: column {name!r} holds bytes that are not UTF-8 text.") from error
