"""Compiled: find the rows of a text whose quotes are at the edges of fields."""

from headcount._compile import kernel
from headcount._typing import AnyArray

_NEW_LINE, _RETURN = ord("\n"), ord("\r")


@kernel()
def whole_rows(letters: AnyArray, special: AnyArray, quote: int, empty_rows: bool) -> tuple[int, int]:
    """Return where the last whole row ends, and how many rows there are until there; -1 if a quote is not at the edge of a field.

    Parameters
    ----------
    letters : array of uint8
        They begin where a row begins.
    special : array of bool, shape (256,)
        Which bytes are quotes, separators, or ends of lines.
    quote : int
        256 if there are none.
    empty_rows : bool
        Whether an empty line is a row.
    """
    inside, end, rows = False, 0, 0
    for i in range(letters.size):
        letter = letters[i]
        if not special[letter]:
            continue
        behind = letters[i + 1] if i + 1 < letters.size else _NEW_LINE
        if letter == quote:
            before = letters[i - 1] if i > 0 else _NEW_LINE
            if not special[behind if inside else before]:
                return -1, rows
            inside = not inside  # a doubled quote closes and opens
        elif not inside and (letter == _NEW_LINE or (letter == _RETURN and behind != _NEW_LINE)):
            rows += int(empty_rows or i > end + int(letter == _NEW_LINE and i > 0 and letters[i - 1] == _RETURN))
            end = i + 1
    return end, rows
