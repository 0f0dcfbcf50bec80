"""Split text tables into blocks of whole rows that can be parsed in parallel threads."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from headcount._typing import AnyArray

__all__ = ["OpenQuoteError", "Parsing", "Quotes", "blocks_of", "whole_rows"]

Parsing: TypeAlias = Callable[[], list[Any]]
"""Parses a block, in any thread, and returns its rows as Arrow's record batches."""

_LINE_END, _ENDS, _QUOTE, _BOM = b"\n", b"\r\n", b'"', b"\xef\xbb\xbf"
_WINDOW = 1 << 12
_MOST_CARRIED = 16
"""Blocks that a row may be long: what is longer is a quote that nobody closed."""
_SEQUENCE = 10
"""Blocks that are parsed as one in sequence, where a row must not be longer."""


class OpenQuoteError(EOFError):
    """A table that ends inside a quoted field."""


def blocks_of(
    stream: Any, names: Sequence[str], quotes: bool, size: int, parse: Any, convert: Any
) -> Iterator[Parsing]:
    """Read a table with a header in blocks of whole rows, and yield what parses each, in their order.

    Between quotes a line may break. Where quotes open at the beginning of fields only, the ends of rows are found by counting
    quotes; from the first block on in which some do not, the rest is parsed here, in sequence.

    Parameters
    ----------
    stream : Arrow's input stream
    names : sequence of str
        The columns, all of them.
    quotes : bool
        Whether a quote means something.
    size : int
        Bytes of a block.
    parse, convert : Arrow's options
    """
    seen = stream.read(size)
    rest = seen.removeprefix(_BOM)
    first = rest.find(_LINE_END) + 1
    if not first and b"\r" not in rest and len(seen) < size:
        return  # a header, and nothing below it
    other_ends = b"\r" in rest[:first].removesuffix(b"\r\n")
    if not first or other_ends or (quotes and rest.count(_QUOTE, 0, first) % 2):
        yield from _in_sequence(rest, stream, None, size, parse, convert)
        return
    letters, more = np.frombuffer(rest, dtype=np.uint8, offset=first).copy(), 1
    block, parsed = letters, list[AnyArray]()
    while more:
        end = whole_rows(letters, parse.delimiter.encode()) if quotes else _last_line(letters) + 1
        if end < 0:
            break
        if not end and len(letters) > _MOST_CARRIED * size:
            raise OpenQuoteError("a quoted field is not closed")
        if end:
            yield partial(_parsed, block, end, parsed, names, parse, convert)
            letters = letters[end:]
        # What is left of the block comes before what is read next; only that little is copied. Memory is used again.
        block = parsed.pop() if parsed else np.empty(0, dtype=np.uint8)
        if len(block) < len(letters) + size:
            block = np.empty(len(letters) + size + _WINDOW, dtype=np.uint8)
        block[: len(letters)] = letters
        more = stream.readinto(block[len(letters) : len(letters) + size])
        letters = block[: len(letters) + more]
    rest = letters.tobytes()
    if not more and quotes and rest.count(_QUOTE) % 2:
        raise OpenQuoteError("a quoted field is not closed")
    if rest.strip(_ENDS):
        yield from _in_sequence(rest, stream, names, size, parse, convert)


def whole_rows(letters: AnyArray, delimiter: bytes) -> int:
    r"""Return how many letters are whole rows, or -1 where quotes open inside of fields.

    >>> whole_rows(np.frombuffer(b'1,"a\nb"\n2,"c', dtype=np.uint8), b",")
    8
    >>> whole_rows(np.frombuffer(b'1,24" wide\n', dtype=np.uint8), b",")
    -1
    """
    from headcount.tables._kernels import after_last_row

    ends = _field_ends(delimiter)
    with np.errstate(over="ignore"):  # reckoned modulo 2^64, as plain Python too
        return int(after_last_row(letters, letters[: len(letters) // 8 * 8].view(np.uint64), ends))


class Quotes:
    r"""Whether a quote is open, while a table is read part by part.

    >>> Quotes(b",").read(b'1,"a'), Quotes(b",").read(b'1,24" wide\n')
    (True, False)
    """

    def __init__(self, delimiter: bytes) -> None:
        self._ends, self._state, self.inside = _field_ends(delimiter), 0, False

    def read(self, content: bytes) -> bool:
        """Whether a quote is open after some more content."""
        from headcount.tables._kernels import QUOTED, state_after

        self._state = int(state_after(np.frombuffer(content, dtype=np.uint8), self._ends, self._state))
        self.inside = self._state == QUOTED
        return self.inside


def _field_ends(delimiter: bytes) -> AnyArray:
    """Return of each letter whether a field may begin behind it."""
    ends = np.zeros(256, dtype=bool)
    ends[[*delimiter, *b"\r\n"]] = True
    return ends


def _last_line(letters: AnyArray) -> int:
    """Return the place of the last line end, or -1."""
    start = max(len(letters) - _WINDOW, 0)  # only these few are copied, unless a line is longer
    last = letters[start:].tobytes().rfind(_LINE_END)
    return start + last if last >= 0 else letters.tobytes().rfind(_LINE_END)


def _parsed(
    block: AnyArray, end: int, parsed: list[AnyArray], names: Sequence[str], parse: Any, convert: Any
) -> list[Any]:
    """Parse the whole rows of a block, and put it to those that are not needed any more."""
    import pyarrow as pa
    from pyarrow import csv

    letters = block[:end]
    if parse.ignore_empty_lines and end < _WINDOW and not letters.tobytes().strip(_ENDS):
        return []
    # A block is parsed as one, so that nobody need look for line ends between quotes.
    parse = csv.ParseOptions(
        delimiter=parse.delimiter, quote_char=parse.quote_char, ignore_empty_lines=parse.ignore_empty_lines
    )
    options = csv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(letters) + 1)
    table = csv.read_csv(pa.BufferReader(pa.py_buffer(letters)), options, parse, convert)
    batches: list[Any] = table.combine_chunks().to_batches()
    parsed.append(block)
    return batches


def _in_sequence(
    first: bytes, stream: Any, names: Sequence[str] | None, size: int, parse: Any, convert: Any
) -> Iterator[Parsing]:
    """Parse what was read of a stream already, and then the rest of it."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ReadOptions(block_size=_SEQUENCE * size, column_names=None if names is None else list(names))
    quotes = Quotes(parse.delimiter.encode())
    source = _Joined(first, stream, quotes)
    for batch in csv.open_csv(pa.PythonFile(source, mode="r"), options, parse, convert):
        yield partial(list, [batch])
    if parse.quote_char and quotes.inside:
        raise OpenQuoteError("a quoted field is not closed")


class _Joined:
    """A file of some bytes and then a stream, to be read once from the beginning to the end."""

    def __init__(self, first: bytes, stream: Any, quotes: Quotes) -> None:
        self.first, self.stream, self.quotes = first, stream, quotes
        self.closed = False

    def read(self, size: int) -> bytes:
        """Return the next bytes, as many as asked for while there are some."""
        part, self.first = self.first[:size], self.first[size:]
        part = part if len(part) == size else part + bytes(self.stream.read(size - len(part)))
        self.quotes.read(part)
        return part

    def close(self) -> None:
        """Leave the stream to whoever opened it."""
        self.closed = True
