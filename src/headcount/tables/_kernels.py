"""Compiled: count the rows of a text, if all have as many fields and quotes are at the edges of fields."""

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
