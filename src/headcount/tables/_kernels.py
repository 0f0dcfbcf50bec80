"""Compiled: count the rows of a text, if all have as many fields and quotes are at the edges of fields; parse dates into days."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, IntArray

OTHER, QUOTE, DELIMITER, BLANK, NEW_LINE, RETURN = range(6)
"""What a byte is."""
_BOTH = 6
"""How lines end, if not by `NEW_LINE` or `RETURN` alone."""
_BEGINS, _LEADING, _PLAIN, QUOTED, _CLOSED = range(5)
"""What a byte is in: the beginning of a field, blanks there, a field without quotes, one with, or behind its last quote."""


@kernel()
def is_regular(letters: AnyArray, meaning: AnyArray, columns: int, so_far: IntArray) -> bool:
    """Whether some more letters are regular.

    Parameters
    ----------
    letters : array of uint8
    meaning : array of int, shape (256,)
        What each byte is.
    columns : int
    so_far : array of int, shape (7,)
        What the next letter is in, the fields of the row, the rows, the last letter, how lines end, where among these letters the
        last row begins, and the rows before it: changed.
    """
    inside, fields, rows, last, style, end, whole = so_far
    end = 0
    i, size, one = np.uint64(0), np.uint64(letters.size), np.uint64(1)  # an index that can't be negative is faster
    while i < size:
        kind = meaning[letters[i]]
        i += one
        if inside == QUOTED:
            if kind == QUOTE:
                inside = _CLOSED
            else:
                while i < size and meaning[letters[i]] != QUOTE:
                    i += one
            last = OTHER
            continue
        if last >= NEW_LINE and not (kind == NEW_LINE and last == RETURN):
            end, whole = np.int64(i) - 1, rows
        if last == RETURN or kind == NEW_LINE:
            found = kind if last != RETURN else _BOTH if kind == NEW_LINE else RETURN
            if style not in (OTHER, found):
                return False
            style = found
        if kind == OTHER:
            if inside == _CLOSED:
                return False
            inside = _PLAIN
            while i < size and meaning[letters[i]] == OTHER:
                i += one
        elif kind == QUOTE:
            if inside == _LEADING:
                return False
            if inside != _PLAIN:
                inside = QUOTED  # also a doubled quote
        elif kind == DELIMITER:
            inside = _BEGINS
            fields += 1
        elif kind == BLANK:
            if inside == _CLOSED:
                return False
            if inside == _BEGINS:
                inside = _LEADING
        elif not (kind == NEW_LINE and last == RETURN):
            if columns == 1 or fields > 0 or inside != _BEGINS:  # else the line is empty
                if fields + 1 != columns:
                    return False
                rows += 1
            inside, fields = _BEGINS, 0
        last = kind
    so_far[:] = inside, fields, rows, last, style, end, whole
    return True


_T, _Z, _SPACE, _COLON, _DOT, _PLUS, _DASH = (ord(letter) for letter in "TZ :.+-")
_NO_NUMBER = -100_000
NO_DAY, NOTHING = -1, 1 << 30


@kernel()
def days_of(letters: AnyArray, ends: IntArray) -> IntArray:
    """Return the number of the day that each text begins with, (year * 12 + month) * 31 + day; `NO_DAY`, or `NOTHING` if empty.

    Texts are dates, such as 2016-07-09, or times, such as 2016-07-09T16:20, 2016-07-09 16:20:01.5 or 2016-07-09T16:20:01+02:00.
    Months and days count from 0 here. A day of a month that has fewer is left to whoever makes a date of it.

    Parameters
    ----------
    letters : array of uint8
        Of all texts.
    ends : array of int, shape (n + 1,)
        Where each text begins, and where the last one ends.
    """
    days = np.full(ends.size - 1, NO_DAY, dtype=np.int32)
    for i in range(ends.size - 1):
        start, end = ends[i], ends[i + 1]
        size = end - start
        if size == 0:
            days[i] = NOTHING
        if size != 10 and size < 16:
            continue
        year = 100 * _two(letters, start) + _two(letters, start + 2)
        month, day = _two(letters, start + 5), _two(letters, start + 8)
        dashes = letters[start + 4] == _DASH and letters[start + 7] == _DASH
        if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= 31 and dashes):
            continue
        if size == 10 or _is_time(letters, start + 10, end):
            days[i] = (year * 12 + month - 1) * 31 + day - 1
    return days


@kernel()
def _two(letters: AnyArray, start: int) -> int:
    """Return the number that two digits make, or one below -1000 if they are none."""
    tens, ones = int(letters[start]) - 48, int(letters[start + 1]) - 48
    return 10 * tens + ones if 0 <= tens <= 9 and 0 <= ones <= 9 else _NO_NUMBER


@kernel()
def _is_time(letters: AnyArray, place: int, end: int) -> bool:
    """Whether there is a time of the day: T or a blank, hours and minutes, maybe seconds and parts of them, maybe a zone."""
    mark = letters[place] == _T or letters[place] == _SPACE
    minutes = letters[place + 3] == _COLON and 0 <= _two(letters, place + 4) <= 59
    if not (mark and 0 <= _two(letters, place + 1) <= 23 and minutes):
        return False
    place += 6
    if end - place >= 3 and letters[place] == _COLON:
        if not 0 <= _two(letters, place + 1) <= 59:
            return False
        place += 3
        if end - place >= 2 and letters[place] == _DOT:
            place += 1
            while place < end and 48 <= letters[place] <= 57:
                place += 1
    if place == end:
        return True
    if letters[place] == _Z:
        return bool(end == place + 1)
    if letters[place] != _PLUS and letters[place] != _DASH:
        return False
    colon = int(end - place == 6 and letters[place + 3] == _COLON)
    whole = end - place == 5 + colon and 0 <= _two(letters, place + 1) <= 23
    return bool(whole and 0 <= _two(letters, place + 3 + colon) <= 59)
