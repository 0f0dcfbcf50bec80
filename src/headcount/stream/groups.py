"""Groups of rows: by the values of a column, or by the day, week, month, quarter or year of its dates."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal

from headcount._labels import label_text
from headcount.exceptions import DataError

__all__ = [
    "MISSING",
    "TOTAL",
    "UNITS",
    "Grouping",
    "group_label",
    "grouping_title",
    "parse_groupings",
    "period_numbers",
    "period_unit",
]

MISSING = "(none)"
"""Name of the group of items without a value."""
TOTAL = "(all)"
"""Name of the row of all groups together."""

UNITS: dict[str, Callable[[date], str]] = {
    "day": lambda d: d.isoformat()[:10],
    "week": lambda d: f"{d.isocalendar()[0]}-W{d.isocalendar()[1]:02d}",
    "month": lambda d: f"{d.year:04d}-{d.month:02d}",
    "quarter": lambda d: f"{d.year:04d}-Q{(d.month + 2) // 3}",
    "year": lambda d: f"{d.year:04d}",
}
_PARTIAL_DATES = (
    (re.compile(r"\d{4}"), ("year",)),
    (re.compile(r"\d{4}-\d{2}"), ("month", "quarter", "year")),
    (re.compile(r"\d{4}-?W\d{2}"), ("week",)),
)
"""Forms of incomplete dates, and the units that each of them determines."""
_PERIOD_NUMBERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], float]], ...] = (
    (re.compile(r"(\d{4})-(\d{2})"), lambda m: 12 * int(m[1]) + int(m[2]) - 1),
    (re.compile(r"(\d{4})-Q([1-4])"), lambda m: 4 * int(m[1]) + int(m[2]) - 1),
    (re.compile(r"(\d{4})-W(\d{2})"), lambda m: date.fromisocalendar(int(m[1]), int(m[2]), 1).toordinal() // 7),
    (re.compile(r"\d{4}-\d{2}-\d{2}"), lambda m: date.fromisoformat(m[0]).toordinal()),
    (re.compile(r"-?\d+(\.\d+)?"), lambda m: float(m[0])),
)
"""Names of periods, and what counts them: months, quarters, weeks, days, years or any numbers."""
_DAY_FIRST = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?:[T ].*)?")
"""A date as 9.7.2016 or 09/07/2016, maybe with a time."""
_YEAR_MONTH = re.compile(r"(\d{4})(?:-(\d{2}))?$")


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
        """Parse ``column`` or ``column:unit``; a column whose name contains a colon takes precedence."""
        column, colon, unit = by.rpartition(":")
        if by in columns or not colon:
            return cls(by)
        if unit not in UNITS:
            raise DataError(
                f"{by!r} can't be grouped by: there is no unit {unit!r}; group dates by {', '.join(UNITS)}, as in {column}:month."
            )
        return cls(column, unit)

    @property
    def kind(self) -> Literal["group", "time"]:
        """How the table reader reads the column."""
        return "time" if self.unit else "group"

    def names(self, values: Sequence[Any], locate: Callable[[int], str]) -> list[Any]:
        """Name the group of each distinct value; ``locate`` says for messages where in the file a value is."""
        names = []
        dates = self._with_iso_dates(values, locate) if self.unit else values
        for position, (value, date_or_value) in enumerate(zip(values, dates, strict=True)):
            try:
                names.append(self.name(date_or_value))
            except ValueError as error:
                raise DataError(
                    f"{locate(position)}: {str(value)[:40]!r} is not a date. Write dates as 2016-07-09, or group by the values of "
                    f"the column: {self.column} without :{self.unit}."
                ) from error
        return names

    def _with_iso_dates(self, values: Sequence[Any], locate: Callable[[int], str]) -> Sequence[Any]:
        """Write dates such as 9.7.2016 and 23/07/2016 as 2016-07-09; with slashes, some day after the 12th must tell the order."""
        found = {i: _DAY_FIRST.fullmatch(value.strip()) for i, value in enumerate(values) if isinstance(value, str)}
        dates = {i: match for i, match in found.items() if match}
        slashed = [match for match in dates.values() if match[2] == "/"]
        days = (
            max((int(match[1]) for match in slashed), default=0),
            max((int(match[3]) for match in slashed), default=0),
        )
        if slashed and min(days) > 12:
            raise DataError(
                f"{self.column}: days and months are in different orders in this column. Write dates as 2016-07-09."
            )
        if slashed and max(days) <= 12:
            position = next(i for i, match in dates.items() if match[2] == "/")
            raise DataError(
                f"{locate(position)}: it is not clear which number of {values[position]!r} is the day and which the month, as no "
                "date near it has a number above 12. Write dates as 2016-07-09, or as 9.7.2016 with the day first."
            )
        iso = list(values)
        for i, match in dates.items():
            day, month = (match[3], match[1]) if match[2] == "/" and days[1] > 12 else (match[1], match[3])
            iso[i] = f"{match[4]}-{int(month):02d}-{int(day):02d}"
        return iso

    def name(self, value: Any) -> Any:
        """Name of the group of one value; None if the value is missing."""
        if value is None or value != value or (isinstance(value, str) and value.strip() in ("", MISSING)):
            return None
        if self.unit:
            return _period(self.unit, value)
        return value if isinstance(value, str) else label_text(value)


def parse_groupings(by: str | None, columns: Sequence[str]) -> list[Grouping]:
    """Parse columns to group by, separated by commas; a column whose name contains a comma takes precedence.

    >>> [grouping.column for grouping in parse_groupings("shop,sold:month", ["shop", "sold"])]
    ['shop', 'sold']
    """
    if by is None:
        return []
    column, _, unit = by.rpartition(":")
    is_one = by in columns or (column in columns and "," not in unit)
    parts = [by] if is_one else [part.strip() for part in by.split(",")]
    groupings = [Grouping.parse(part, columns) for part in parts]
    if len({grouping.column for grouping in groupings}) < len(groupings):
        raise DataError(f"{by!r} groups by a column twice: name each column once.")
    return groupings


def period_numbers(names: Sequence[str]) -> list[float] | None:
    """Return when each period is, so that a month without items leaves a gap; None if they are not of one kind.

    >>> period_numbers(["2016-11", "2016-12", "2017-03"]), period_numbers(["2016-Q4", "2017-Q1"]), period_numbers(["a", "b"])
    ([24202.0, 24203.0, 24206.0], [8067.0, 8068.0], None)
    """
    for form, number in _PERIOD_NUMBERS:
        matches = [form.fullmatch(name) for name in names]
        if all(matches):
            try:
                return [float(number(match)) for match in matches if match]
            except ValueError:
                return None
    return None


def period_unit(names: Sequence[str], by: str) -> str:
    """Return what one period is, by how the periods are written; of numbers, the title of their column.

    >>> period_unit(["2016-11", "2016-12"], "sold:month"), period_unit(["1", "2"], "wave"), period_unit(["2016"], "sold:year")
    ('month', 'wave', 'year')
    """
    unit = by.rpartition(":")[2]
    if unit in UNITS:
        return unit
    first = names[0]
    if "Q" in first or "W" in first:
        return "quarter" if "Q" in first else "week"
    return {1: "month", 2: "day"}.get(first.lstrip("-").count("-"), by)


def group_label(name: Any) -> str:
    """Return the name of a group for people to read."""
    if isinstance(name, tuple):
        return " / ".join(map(group_label, name))
    return MISSING if name is None else str(name)


def grouping_title(by: str | None) -> str:
    """Title of a grouping, for tables and plots.

    >>> grouping_title("sold:month"), grouping_title("shop"), grouping_title(None)
    ('month of sold', 'shop', '')
    >>> grouping_title("shop,sold:month")
    'shop, month of sold'
    """
    titles = []
    for part in (by or "").split(","):
        column, _, unit = part.strip().rpartition(":")
        titles.append(f"{unit} of {column}" if column and unit in UNITS else part.strip())
    return ", ".join(titles)


@lru_cache(1 << 14, typed=True)
def _period(unit: str, value: Any) -> str:
    """Name of the day, week, .. that a date lies in."""
    units = next((units for form, units in _PARTIAL_DATES if form.fullmatch(str(value).strip())), None)
    if units is not None and unit not in units:
        raise ValueError(f"{value} is not a {unit}")
    return UNITS[unit](_as_date(value))


def _as_date(value: Any) -> date:
    if isinstance(value, date):
        return value
    text = str(value).strip()
    year_month = _YEAR_MONTH.match(text)
    if year_month:
        return date(int(year_month[1]), int(year_month[2] or 1), 1)
    return datetime.fromisoformat(text)
