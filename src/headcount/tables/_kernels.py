"""Compiled: find the rows of a text whose quotes are at the edges of fields."""

import numpy as np

from headcount._compile import kernel
from headcount._typing import AnyArray

_NEW_LINE, _RETURN = ord("\n"), ord("\r")
_ONES, _TOPS = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
"""The lowest bit of each byte of a word, and the highest."""
_POSITIONS = np.uint64(0x0001020304050607)
_NONE, _ONE, _SEVEN, _TOP_BYTE = np.uint64(0), np.uint64(1), np.uint64(7), np.uint64(56)


@kernel()
def whole_rows(letters: AnyArray, edges: AnyArray, quote: int, empty_rows: bool) -> tuple[int, int]:
    """Return where the last whole row ends, and how many rows there are until there; -1 if a quote is not at the edge of a field.

    Eight letters are looked at together, and singly only where there are quotes or ends of lines among them.

    Parameters
    ----------
    letters : array of uint8
        They begin where a row begins.
    edges : array of bool, shape (256,)
        Which bytes may be next to a quote: quotes, separators, and ends of lines.
    quote : int
        256 if there are none.
    empty_rows : bool
        Whether an empty line is a row.
    """
    inside, end, rows, n = False, 0, 0, letters.size
    words = letters[: n - n % 8].view(np.uint64)
    quotes, new_lines, returns = (
        _ONES * np.uint64(quote & 255),
        _ONES * np.uint64(_NEW_LINE),
        _ONES * np.uint64(_RETURN),
    )
    for w in range(words.size + 1):
        found = _TOPS  # each of the letters that do not fill a word
        if w < words.size:
            # Less 1, a byte borrows its highest bit if it was 0, that is equal to the letter looked for.
            a, b, c = words[w] ^ quotes, words[w] ^ new_lines, words[w] ^ returns
            found = (((a - _ONES) & ~a) | ((b - _ONES) & ~b) | ((c - _ONES) & ~c)) & _TOPS
        while found != _NONE:
            lowest = found & (~found + _ONE)
            found ^= lowest
            i = 8 * w + int(((lowest >> _SEVEN) * _POSITIONS) >> _TOP_BYTE)
            if i >= n:
                break
            letter = letters[i]
            behind = letters[i + 1] if i + 1 < n else _NEW_LINE
            if letter == quote:
                before = letters[i - 1] if i > 0 else _NEW_LINE
                if not edges[behind if inside else before]:
                    return -1, rows
                inside = not inside  # a doubled quote closes and opens
            elif not inside and (letter == _NEW_LINE or (letter == _RETURN and behind != _NEW_LINE)):
                rows += int(empty_rows or i > end + int(letter == _NEW_LINE and i > 0 and letters[i - 1] == _RETURN))
                end = i + 1
    return end, rows
