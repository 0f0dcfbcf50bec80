"""Compiled: find the end of the last whole row of a block of text, encode short texts, parse dates into days."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray, IntArray

_QUOTE, _LINE_END = 34, 10
_QUOTES, _LOW = np.uint64(0x2222222222222222), np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE, _TOP_BIT, _BYTE, _TOP_BYTE = np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(56)
_PLACES = np.uint64(0x0001020304050607)
_T, _Z, _BLANK, _COLON, _DOT, _PLUS, _DASH = (ord(letter) for letter in "TZ :.+-")
_NO_NUMBER = -100_000


@kernel()
def after_last_row(letters: AnyArray, words: AnyArray, ends: AnyArray) -> int:
    """Return the place behind the last line end that is not between quotes, 0 without one, or -1.

    The latter where a quote opens elsewhere than at the beginning of a field, so that quotes and fields can't be told apart by
    counting quotes. A doubled quote closes and opens again at once. Eight letters are looked at together: a byte of
    ``word ^ quotes`` is zero where there is a quote, and the highest bits of such bytes are what is left of it in ``found``.

    Parameters
    ----------
    letters : array of uint8
        It begins outside of quotes.
    words : array of uint64
        The same memory, but for up to 7 letters at the end.
    ends : array of bool, shape (256,)
        The letters that a field may begin behind.
    """
    inside, last = False, -2
    for w in range(words.size):
        odd = words[w] ^ _QUOTES
        found = ~(((odd & _LOW) + _LOW) | odd | _LOW)
        while found != 0:
            lowest = found & (~found + _ONE)
            place = 8 * w + int(((lowest >> _TOP_BIT) * _PLACES) >> _TOP_BYTE)
            found = found & (found - _ONE)
            if not inside and not (place == 0 or ends[letters[place - 1]] or last == place - 1):
                return -1
            inside, last = not inside, place
    for place in range(8 * words.size, letters.size):
        if letters[place] == _QUOTE:
            if not inside and not (place == 0 or ends[letters[place - 1]] or last == place - 1):
                return -1
            inside, last = not inside, place
    for place in range(letters.size - 1, -1, -1):
        if letters[place] == _QUOTE:
            inside = not inside
        elif letters[place] == _LINE_END and not inside:
            return place + 1
    return 0


_BEGINS, _PLAIN, QUOTED, _CLOSED = range(4)
"""What a letter is in: the beginning of a field, a field without quotes, one with, or behind what may be its last quote."""


@kernel()
def state_after(letters: AnyArray, ends: AnyArray, state: int) -> int:
    """Return the state behind some letters, read one by one; a quote inside of a field without quotes is itself."""
    for letter in letters:
        quote = letter == _QUOTE
        if state == QUOTED:
            state = _CLOSED if quote else QUOTED
        elif quote and state != _PLAIN:
            state = QUOTED
        else:
            state = _BEGINS if ends[letter] else _PLAIN
    return state


_LONGEST, _SLOTS = 15, 1 << 10
_MIX, _UPPER = np.uint64(0x9E3779B97F4A7C15), np.uint64(54)


@kernel()
def places_of_short(letters: AnyArray, ends: IntArray, codes: IntArray, first: IntArray) -> int:
    """Write the place of each text among the distinct ones, and where each of these stands first; return how many there are.

    -1 where a text is longer than 15 letters, or more of them are distinct than ``first`` has room for. A text is two words: its
    letters, and at the end how many there are.
    """
    low_of, high_of = np.zeros(_SLOTS, dtype=np.uint64), np.zeros(_SLOTS, dtype=np.uint64)
    held = np.full(_SLOTS, -1, dtype=np.int32)
    mask = np.uint64(_SLOTS - 1)
    found = 0
    for i in range(codes.size):
        start, size = ends[i], ends[i + 1] - ends[i]
        if size > _LONGEST:
            return -1
        low, high = np.uint64(0), np.uint64(size)
        for place in range(min(size, 8)):
            low = (low << _BYTE) | np.uint64(letters[start + place])
        for place in range(8, size):
            high = (high << _BYTE) | np.uint64(letters[start + place])
        slot = (((low ^ (high * _PLACES)) * _MIX) >> _UPPER) & mask
        while held[slot] >= 0 and (low_of[slot] != low or high_of[slot] != high):
            slot = (slot + _ONE) & mask
        if held[slot] < 0:
            if found == first.size:
                return -1
            low_of[slot], high_of[slot], held[slot] = low, high, found
            first[found] = i
            found += 1
        codes[i] = held[slot]
    return found


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
    mark = letters[place] == _T or letters[place] == _BLANK
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
