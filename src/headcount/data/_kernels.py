"""Compiled: where the last whole row of a block of text ends."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray

_QUOTE, _LINE_END = 34, 10
_QUOTES, _LOW = np.uint64(0x2222222222222222), np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE, _TOP_BIT, _TOP_BYTE = np.uint64(1), np.uint64(7), np.uint64(56)
_PLACES = np.uint64(0x0001020304050607)


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
