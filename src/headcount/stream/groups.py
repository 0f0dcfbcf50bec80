"""Groups of rows: by the values of a column, or by the month, quarter, .. of its dates."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal

from headcount._labels import label_text
from headcount.exceptions import DataError

__all__ = ["MISSING", "UNITS", "Grouping", "worded"]

MISSING = "(none)"
"""How the group of items without a value is named."""

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda d: d.isoformat()[:10],
    "week": lambda d: f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02d}",
    "month": lambda d: f"{d.year:04d}-{d.month:02d}",
    "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
}
_FORMS = (
    (re.compile(r"\d{4}"), ("year",)),
    (re.compile(r"\d{4}-\d{2}"), ("month", "quarter", "year")),
    (re.compile(r"\d{4}-?W\d{2}"), ("week",)),
)
"""Forms that are less than a whole date, and the units that they tell."""
_SHORT = re.compile(r"(\d{4})(?:-(\d{2}))?$")


@dataclass(frozen=True)
class Grouping:
    """A column, and the unit of time by which its dates are grouped; without a unit, its values are the groups.

    >>> Grouping.parse("sold:quarter", ["sold"])
    Grouping(column='sold', unit='quarter')
    >>> Grouping("sold", "quarter").name("2016-07-09")
    '2016-Q3'
    """

    column: str
    unit: str = ""

    @classmethod
    def parse(cls, by: str, columns: Sequence[str]) -> "Grouping":
        """Read ``column`` or ``column:unit``; a column that is itself so named is that column."""
        column, colon, unit = by.rpartition(":")
        if by in columns or not colon:
            return cls(by)
        if unit not in UNITS:
            raise DataError(
                f"--by {by}: there is no unit {unit!r}; group dates by {', '.join(UNITS)}, as in --by {column}:month."
            )
        return cls(column, unit)

    @property
    def kind(self) -> Literal["group", "time"]:
        """How its column is read."""
        return "time" if self.unit else "group"

    def names(self, values: Sequence[Any], place: Callable[[int], str]) -> list[Any]:
        """Return the group of each distinct value; ``place`` words where in the file one of them is."""
        found = []
        for position, value in enumerate(values):
            try:
                found.append(self.name(value))
            except ValueError as error:
                raise DataError(
                    f"{place(position)}: {str(value)[:40]!r} is no date. Write dates as 2016-07-09, or group by the column as it "
                    f"is: --by {self.column}."
                ) from error
        return found

    def name(self, value: Any) -> Any:
        """Return the group of one value, as it is written; what is missing has none."""
        if value is None or value != value or (isinstance(value, str) and value.strip() in ("", MISSING)):
            return None
        return _unit_of(self.unit, value) if self.unit else self._written(value)

    @staticmethod
    def _written(value: Any) -> str:
        """Return a value as text; a text stays as it is, be it that of a number."""
        return value if isinstance(value, str) else label_text(value)


def worded(by: str | None) -> str:
    """Return what is grouped by in words.

    >>> worded("sold:month"), worded("shop"), worded(None)
    ('month of sold', 'shop', '')
    """
    column, _, unit = (by or "").rpartition(":")
    return f"{unit} of {column}" if column and unit in UNITS else by or ""


@lru_cache(1 << 14, typed=True)
def _unit_of(unit: str, value: Any) -> str:
    told = next((units for form, units in _FORMS if form.fullmatch(str(value).strip())), None)
    if told is not None and unit not in told:
        raise ValueError(f"{value} is no {unit}")
    return UNITS[unit](_as_date(value))


def _as_date(value: Any) -> date:
    if isinstance(value, date):
        return value
    text = str(value).strip()
    short = _SHORT.match(text)
    if short:
        return date(int(short[1]), int(short[2] or 1), 1)
    return datetime.fromisoformat(text)
