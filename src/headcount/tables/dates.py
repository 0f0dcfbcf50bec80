"""Dates and times of a column as numpy's, by the clock that the values themselves show."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from headcount._typing import AnyArray

__all__ = ["UnclearDatesError", "dates_of", "is_date_text", "is_month_text", "months_come_first"]

_CLOCK = r"(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*([AaPp][Mm])?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
_YEAR_FIRST = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})" + _CLOCK)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})" + _CLOCK)
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2]|Q[1-4]|W\d{2})")


class UnclearDatesError(ValueError):
    """Dates whose order of day and month can't be told, with the position of one of them."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(position, reason)
        self.position, self.reason = position, reason


def is_date_text(text: str) -> bool:
    """Whether a text has the form of a date, maybe with a time.

    >>> [is_date_text(text) for text in ("2016-07-09T16:05:00+02:00", "9.7.2016", "07/09/2016 4:05 PM", "2016", "v1.2.3")]
    [True, True, True, False, False]
    """
    stripped = text.strip()
    return bool(_YEAR_FIRST.fullmatch(stripped) or _YEAR_LAST.fullmatch(stripped))


def is_month_text(text: str) -> bool:
    """Whether a text names a month, a quarter or a week of a year, as 2016-07, 2016-Q3 or 2016-W27."""
    return bool(_MONTH.fullmatch(text.strip()))


def months_come_first(values: Sequence[Any]) -> bool:
    """Whether dates with the year last have the month before the day; raise unless some number above 12 tells it.

    Between dots the day comes first.

    >>> months_come_first(["07/09/2016", "07/23/2016"]), months_come_first(["23/07/2016"]), months_come_first(["9.7.2016"])
    (True, False, False)
    """
    matches = {i: _YEAR_LAST.fullmatch(value.strip()) for i, value in enumerate(values) if isinstance(value, str)}
    pairs = {i: (int(match[1]), int(match[3])) for i, match in matches.items() if match and match[2] != "."}
    if not pairs:
        return False
    first, second = (max(pair[place] for pair in pairs.values()) for place in (0, 1))
    if first > 12 and second > 12:
        position = next(i for i, pair in pairs.items() if pair[0 if first > second else 1] > 12)
        raise UnclearDatesError(position, "days and months are in different orders in this column")
    if first <= 12 and second <= 12:
        raise UnclearDatesError(next(iter(pairs)), "it is not clear which number is the day and which the month")
    return second > 12


def dates_of(values: Iterable[Any], month_first: bool = False) -> AnyArray:
    """Return dates and times, to the second; NaT where one is missing or not a date.

    >>> dates_of(["2016-07-09", "9.7.2016 16:05", None, "soon"]).tolist()
    [datetime.datetime(2016, 7, 9, 0, 0), datetime.datetime(2016, 7, 9, 16, 5), None, None]
    """
    return np.array([_date(value, month_first) for value in values], dtype="datetime64[s]")


def _date(value: Any, month_first: bool) -> datetime | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    text = str(value).strip()
    match = _YEAR_FIRST.fullmatch(text)
    if match:
        year, month, day = match[1], match[3], match[4]
    else:
        match = _YEAR_LAST.fullmatch(text)
        if match is None:
            return None
        swapped = month_first and match[2] != "."
        year, month, day = match[4], match[1 if swapped else 3], match[3 if swapped else 1]
    hour, minute, second, half = match[5], match[6], match[7], (match[8] or "").lower()
    hours = int(hour or 0) % 12 + 12 * (half == "pm") if half else int(hour or 0)
    try:
        return datetime(int(year), int(month), int(day), hours, int(minute or 0), int(second or 0))
    except ValueError:
        return None
