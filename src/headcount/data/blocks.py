"""Parsing text tables in blocks of whole rows, two at a time, in order; in one go from where quotes are not plain."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from headcount._typing import AnyArray

__all__ = ["OpenQuoteError", "parsed", "whole_rows"]

_AT_A_TIME, _AHEAD = 2, 8
_LINE_END, _BOM = b"\n", b"\xef\xbb\xbf"
_WINDOW = 1 << 12


class OpenQuoteError(EOFError):
    """A table that ends inside a quoted field."""


def parsed(stream: Any, names: Sequence[str], quotes: bool, size: int, parse: Any, convert: Any) -> Iterator[Any]:
    """Parse a table with a header, block by block, and yield its rows as Arrow's record batches.

    Between quotes a line may break. Where quotes stand at the ends of fields only, rows can be told from anywhere; from the first
    block on in which some do not, the rest is parsed in sequence.

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
    rest = stream.read(size).removeprefix(_BOM)
    first = rest.find(_LINE_END) + 1
    if not first or (quotes and rest.count(b'"', 0, first) % 2):
        yield from _in_sequence(rest, stream, None, size, parse, convert)
        return
    letters = np.frombuffer(rest, dtype=np.uint8)[first:]
    waiting: deque[Future[list[Any]]] = deque()
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        while True:
            end = whole_rows(letters, parse.delimiter.encode()) if quotes else _last_line(letters, len(letters)) + 1
            if end < 0:
                break
            if end:
                waiting.append(pool.submit(_block, letters[:end], names, parse, convert))
                letters = letters[end:]
            while len(waiting) >= _AHEAD:
                yield from waiting.popleft().result()
            # What is left of the block comes before what is read next; only that little is copied.
            block = np.empty(len(letters) + size, dtype=np.uint8)
            block[: len(letters)] = letters
            more = stream.readinto(block[len(letters) :])
            letters = block[: len(letters) + more]
            if not more:
                break
        while waiting:
            yield from waiting.popleft().result()
        rest = letters.tobytes()
        if end >= 0 and quotes and rest.count(b'"') % 2:
            raise OpenQuoteError("a quoted field is not closed")
        if rest.strip():
            yield from _in_sequence(rest, stream, names, size, parse, convert)
    finally:
        pool.shutdown(cancel_futures=True)


def whole_rows(letters: AnyArray, delimiter: bytes) -> int:
    r"""Return where the last whole row of a block ends, which begins with a row; -1 if quotes stand elsewhere than around fields.

    >>> whole_rows(np.frombuffer(b'1,"a\nb"\n2,"c', dtype=np.uint8), b",")
    8
    >>> whole_rows(np.frombuffer(b'1,24" wide\n', dtype=np.uint8), b",")
    -1
    """
    quotes = np.flatnonzero(letters == ord('"'))
    if not quotes.size:
        return _last_line(letters, len(letters)) + 1
    opening, closing = quotes[::2], quotes[1::2]
    ends = np.zeros(256, dtype=bool)
    ends[[delimiter[0], *b"\r\n"]] = True
    begun = ends[letters[np.maximum(opening - 1, 0)]] | (opening == 0)
    ended = ends[letters[np.minimum(closing + 1, len(letters) - 1)]] | (closing == len(letters) - 1)
    if not (begun.all() and ended.all()):
        return -1
    end = len(letters)
    while (end := _last_line(letters, end)) >= 0:
        before = int(np.searchsorted(quotes, end))
        if before % 2 == 0:
            return end + 1
        end = int(quotes[before - 1])  # inside quotes: go on before them
    return 0


def _last_line(letters: AnyArray, end: int) -> int:
    """Return the place of the last line end before ``end``, or -1."""
    while end > 0:
        start = max(end - _WINDOW, 0)
        found = np.flatnonzero(letters[start:end] == _LINE_END[0])
        if found.size:
            return start + int(found[-1])
        end = start
    return -1


def _block(letters: AnyArray, names: Sequence[str], parse: Any, convert: Any) -> list[Any]:
    """Parse whole lines."""
    import pyarrow as pa
    from pyarrow import csv

    if len(letters) < _WINDOW and not letters.tobytes().strip():
        return []
    # A block is parsed as one, so that nobody need look for line ends between quotes.
    parse = csv.ParseOptions(delimiter=parse.delimiter, quote_char=parse.quote_char, double_quote=parse.double_quote)
    options = csv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(letters) + 1)
    table = csv.read_csv(pa.BufferReader(pa.py_buffer(letters)), options, parse, convert)
    batches: list[Any] = table.combine_chunks().to_batches()
    return batches


def _in_sequence(
    first: bytes, stream: Any, names: Sequence[str] | None, size: int, parse: Any, convert: Any
) -> Iterator[Any]:
    """Parse what was read of a stream already, and then the rest of it."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ReadOptions(block_size=size, column_names=None if names is None else list(names))
    yield from csv.open_csv(pa.PythonFile(_Joined(first, stream), mode="r"), options, parse, convert)


class _Joined:
    """A file of some bytes and then a stream, to be read once from the beginning to the end."""

    def __init__(self, first: bytes, stream: Any) -> None:
        self.first, self.stream = first, stream
        self.closed = False

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes, no more than asked for."""
        if self.first:
            part, self.first = (self.first, b"") if size < 0 else (self.first[:size], self.first[size:])
            return part
        content: bytes = self.stream.read(size)
        return content

    def close(self) -> None:
        """Leave the stream to whoever opened it."""
        self.closed = True
