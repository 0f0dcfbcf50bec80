"""Items with named columns, data frames of any library or records: their columns, and what these are."""

from typing import Any

from headcount._roles import MONTH_FIRST
from headcount.exceptions import DataError
from headcount.tables import ColumnRole, TableFile
from headcount.tables.records import field_kind
from headcount.tables.role_inference import column_roles

__all__ = ["DROP", "column_kinds", "column_names", "is_mixed", "is_records"]

DROP = "drop"
"""The kind of a column that is not used."""


def is_records(X: Any) -> bool:
    """Whether items are records: an array with named fields."""
    return getattr(getattr(X, "dtype", None), "names", None) is not None


def is_mixed(X: Any) -> bool:
    """Whether items are records, or a data frame with a column that does not hold numbers."""
    if is_records(X) or not (hasattr(X, "columns") and hasattr(X, "__arrow_c_stream__")):
        return is_records(X)
    return not all(_is_numeric(dtype) for dtype in X.dtypes)


def _is_numeric(dtype: Any) -> bool:
    """Whether a type of pandas or polars is one of numbers."""
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric() or str(dtype) == "Boolean")
    return getattr(dtype, "kind", "O") in "biuf"


def column_kinds(X: Any) -> dict[str, str]:
    """Return the kinds of the columns of a data frame or of records, as `TableColumns` takes them.

    >>> import pandas as pd
    >>> column_kinds(pd.DataFrame({"id": [f"T{i}" for i in range(40)], "region": ["north", "south"] * 20, "price": 1.5}))
    {'id': 'drop', 'region': 'category', 'price': 'number'}
    """
    names = column_names(X)
    if is_records(X):
        return {name: str(field_kind(X.dtype[name])) for name in names}
    roles, _ = column_roles(TableFile(X), dict.fromkeys(names))
    return {name: _kind_asked(roles[name]) if name in roles else DROP for name in names}


def _kind_asked(role: ColumnRole) -> str:
    return MONTH_FIRST if role.month_first else role.kind


def column_names(X: Any) -> list[str]:
    """Return the names of the columns of a data frame or of records."""
    if is_records(X):
        return list(X.dtype.names)
    if hasattr(X, "columns") and hasattr(X, "__arrow_c_stream__"):
        return [str(name) for name in X.columns]
    raise DataError(f"Expected a data frame, whose columns have names; got {type(X).__name__}.")
