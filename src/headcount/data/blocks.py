"""Parsing text tables in blocks of whole rows, two at a time, in order; in one go from where quotes are not plain."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

__all__ = ["parsed", "whole_rows"]

_AT_A_TIME, _AHEAD = 2, 3
_LINE_END, _BOM = b"\n", b"\xef\xbb\xbf"


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
    rest = rest[first:]
    waiting: deque[Future[list[Any]]] = deque()
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        while True:
            end = whole_rows(rest, parse.delimiter.encode()) if quotes else rest.rfind(_LINE_END) + 1
            if end < 0:
                break
            if end:
                waiting.append(pool.submit(_block, rest[:end], names, parse, convert))
                rest = rest[end:]
            while len(waiting) >= _AHEAD:
                yield from waiting.popleft().result()
            more = stream.read(size)
            if not more:
                break
            rest += more
        while waiting:
            yield from waiting.popleft().result()
        if rest.strip():
            yield from _in_sequence(rest, stream, names, size, parse, convert)
    finally:
        pool.shutdown(cancel_futures=True)


def whole_rows(content: bytes, delimiter: bytes) -> int:
    r"""Return where the last whole row of a block ends, which begins with a row; -1 if quotes stand elsewhere than around fields.

    >>> whole_rows(b'1,"a\nb"\n2,"c', b",")
    8
    >>> whole_rows(b'1,24" wide\n', b",")
    -1
    """
    letters = np.frombuffer(content, dtype=np.uint8)
    quotes = np.flatnonzero(letters == ord('"'))
    if not quotes.size:
        return content.rfind(_LINE_END) + 1
    opening, closing = quotes[::2], quotes[1::2]
    ends = {delimiter[0], *b"\r\n"}
    before = letters[np.maximum(opening - 1, 0)]
    after = letters[np.minimum(closing + 1, len(letters) - 1)]
    begun = np.isin(before, list(ends)) | (opening == 0)
    if not (begun.all() and (np.isin(after, list(ends)) | (closing == len(letters) - 1)).all()):
        return -1
    end = len(content)
    while (end := content.rfind(_LINE_END, 0, end)) >= 0:
        if np.searchsorted(quotes, end) % 2 == 0:
            return end + 1
        end = int(quotes[np.searchsorted(quotes, end) - 1])  # inside quotes: go on before them
    return 0


def _block(content: bytes, names: Sequence[str], parse: Any, convert: Any) -> list[Any]:
    """Parse whole lines."""
    import pyarrow as pa
    from pyarrow import csv

    if not content.strip():
        return []
    options = csv.ReadOptions(column_names=list(names), use_threads=False, block_size=len(content) + 1)
    table = csv.read_csv(pa.BufferReader(content), options, parse, convert)
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
