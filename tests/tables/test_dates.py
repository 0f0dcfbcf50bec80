"""Dates of a column: forms that are read, the order of day and month, and what is no date."""

from datetime import UTC, date, datetime

import numpy as np
import pytest

from headcount.tables.dates import UnclearDatesError, dates_of, is_date_text, is_month_text, months_come_first


@pytest.mark.parametrize(
    ("value", "month_first", "expected"),
    [
        ("2016-07-09", False, "2016-07-09T00:00:00"),
        ("2016/7/9 4:05", False, "2016-07-09T04:05:00"),
        ("2016-07-09T16:05:30.25Z", False, "2016-07-09T16:05:30"),
        ("2016-07-09 16:05:30+02:00", False, "2016-07-09T16:05:30"),
        ("9.7.2016", True, "2016-07-09T00:00:00"),
        ("07/09/2016 12:05 AM", True, "2016-07-09T00:05:00"),
        ("07/09/2016 12:05 PM", True, "2016-07-09T12:05:00"),
        ("07/09/2016", False, "2016-09-07T00:00:00"),
        (date(2016, 7, 9), False, "2016-07-09T00:00:00"),
        (datetime(2016, 7, 9, 16, tzinfo=UTC), False, "2016-07-09T16:00:00"),
    ],
)
def test_dates_are_read_by_the_clock_they_show(value, month_first, expected):
    assert dates_of([value], month_first)[0] == np.datetime64(expected)
    assert not isinstance(value, str) or is_date_text(value)


@pytest.mark.parametrize("value", [None, "", "soon", "2016-13-01", "30.2.2016", "2016", "1.2.3", "07/09/16"])
def test_other_values_are_no_dates(value):
    assert np.isnat(dates_of([value])[0])


def test_months_quarters_and_weeks_are_not_days():
    assert [is_month_text(text) for text in ("2016-07", "2016-Q3", "2016-W27", "2016-07-09", "07-2016")] == [
        True,
        True,
        True,
        False,
        False,
    ]


def test_a_number_above_12_tells_the_order():
    assert months_come_first(["01/02/2016", "01/23/2016", None])
    assert not months_come_first(["01/02/2016", "23/01/2016"])
    assert not months_come_first(["2016-01-02"])
    with pytest.raises(UnclearDatesError, match="not clear") as raised:
        months_come_first(["2016-01-02", "01/02/2016"])
    assert raised.value.position == 1
    with pytest.raises(UnclearDatesError, match="different orders"):
        months_come_first(["23/01/2016", "01/23/2016"])
