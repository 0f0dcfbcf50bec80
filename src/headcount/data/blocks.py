"""Parsing text tables in blocks of whole lines, two at a time, in order; in one go from where the first quote comes."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

__all__ = ["parsed"]

_AT_A_TIME, _AHEAD = 2, 3
_QUOTE, _LINE_END, _BOM = b'"', b"\n", b"\xef\xbb\xbf"


def parsed(stream: Any, names: Sequence[str], quotes: bool, size: int, parse: Any, convert: Any) -> Iterator[Any]:
    """Parse a table with a header, block by block, and yield its rows as Arrow's record batches.

    Between quotes a line may break, so that lines can't be told from the middle of a file any more: from the first block with a
    quote on, the rest is parsed in sequence.

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
    if (quotes and _QUOTE in rest) or _LINE_END not in rest:
        yield from _in_sequence(rest, stream, None, size, parse, convert)
        return
    rest = rest[rest.index(_LINE_END) + 1 :]
    waiting: deque[Future[list[Any]]] = deque()
    pool = ThreadPoolExecutor(_AT_A_TIME)
    try:
        while True:
            end = rest.rfind(_LINE_END) + 1
            if end:
                waiting.append(pool.submit(_block, rest[:end], names, parse, convert))
                rest = rest[end:]
            while len(waiting) >= _AHEAD:
                yield from waiting.popleft().result()
            more = stream.read(size)
            rest += more
            if not more or (quotes and _QUOTE in more):
                break
        while waiting:
            yield from waiting.popleft().result()
        if rest.strip():
            yield from _in_sequence(rest, stream, names, size, parse, convert)
    finally:
        pool.shutdown(cancel_futures=True)


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
