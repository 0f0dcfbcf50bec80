"""Conditions on rows: which rows of a table are read, by the values of a column."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import label_text
from headcount._typing import AnyArray
from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.tables import Batch

__all__ = ["Condition"]

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_SIGN = re.compile("<=|>=|!=|=|<|>")
_EXAMPLES = "country=DE, country=DE,AT, price>=10, sold<2024-07-01 or country!="


@dataclass(frozen=True)
class Condition:
    """What the value of a column must be.

    Equality is that of any of several values. Numbers are compared as numbers, everything else as text, so that dates as
    2024-07-01 are in order. A missing value meets no condition but ``column=``; ``column!=`` is met by all others.

    >>> condition = Condition.parse("price>=10", ["price", "shop"])
    >>> [condition.is_met(value) for value in ("9.5", "10", 11, None)]
    [False, True, True, False]
    >>> Condition.parse("shop=north,south", ["price", "shop"]).is_met("south")
    True
    """

    column: str
    sign: str
    values: tuple[str, ...]
    text: str

    @classmethod
    def parse(cls, text: str, columns: Sequence[str] | None = None) -> "Condition":
        """Parse a condition such as ``price>=10``; of column names that fit, the longest is meant.

        Without the names of columns, as for a database, what stands before the sign is one.
        """
        columns = [_SIGN.split(text.strip(), maxsplit=1)[0].strip()] if columns is None else columns
        fitting = [name for name in columns if name and text.strip().startswith(name)]
        for column in sorted(fitting, key=len, reverse=True):
            rest = text.strip().removeprefix(column).strip()
            sign = next((sign for sign in _OPERATORS if rest.startswith(sign)), None)
            if sign is not None:
                given = rest.removeprefix(sign).strip()
                parts = [part.strip() for part in (given.split(",") if sign == "=" else [given])]
                values = tuple(part.strip("'\"") for part in parts)
                if not given and sign not in ("=", "!="):
                    raise DataError(f"--where {text!r} names no value: write it as {_EXAMPLES}.")
                return cls(column, sign, values, text)
        if not any(sign in text for sign in _OPERATORS):
            raise DataError(f"--where {text!r} is no condition: write it as {_EXAMPLES}.")
        raise DataError(f"--where {text!r} begins with none of the columns, which are {quoted(columns, 20)}.")

    def met(self, batch: Batch, is_number: bool) -> AnyArray:
        """Return for each row of a batch whether it meets the condition."""
        if is_number and all(_number(value) is not None for value in self.values):
            numbers = batch.numbers(self.column)
            with np.errstate(invalid="ignore"):
                met = np.array([_OPERATORS[self.sign](numbers, float(value)) for value in self.values]).any(axis=0)
            return met & ~np.isnan(numbers)
        codes, values = batch.groups(self.column)
        chosen: AnyArray = np.array([self.is_met(value) for value in values], dtype=bool)[codes]
        return chosen

    def is_met(self, value: Any) -> bool:
        """Whether one value meets the condition."""
        missing = value is None or value != value or (isinstance(value, str) and not value.strip())
        if missing or self.values == ("",):
            return (self.values == ("",)) and (missing == (self.sign == "="))
        return any(self._compared(value, given) for given in self.values)

    def sql(self, column: str, dialect: str) -> str:
        """Return the condition on a column in SQL, as `headcount.warehouse.dialects.rendered` takes it."""
        blank = f"({column} IS NULL OR UPPER(TRIM(CAST({column} AS TEXT))) IN ('', 'NAN'))"
        if self.values == ("",):
            return blank if self.sign == "=" else f"NOT {blank}"
        met = [self._sql_of(column, given, dialect) for given in self.values]
        return f"(NOT {blank} AND ({' OR '.join(met)}))"

    def _sql_of(self, column: str, given: str, dialect: str) -> str:
        sign, number = self.sign.replace("!=", "<>"), _number(given)
        as_text = f"CAST({column} AS TEXT) {sign} " + "'" + given.replace("'", "''") + "'"
        if number is None or not np.isfinite(number) or f"'{given}'" in self.text or f'"{given}"' in self.text:
            return as_text
        as_number = f"CAST({column} AS DOUBLE) {sign} {number!r}"
        if dialect == "sqlite":  # which takes a text for the number 0
            return f"CASE WHEN TYPEOF({column}) = 'text' THEN {as_text} ELSE {as_number} END"
        return as_number

    def _compared(self, value: Any, given: str) -> bool:
        compare = _OPERATORS[self.sign]
        a, b = _number(value), _number(given)
        if a is not None and b is not None:
            return compare(a, b)
        return compare(value if isinstance(value, str) else label_text(value), given)


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
