"""`ItemSample`: some items of each group, kept while files are read, for the check of the items themselves.

The items with the smallest hashes of their content are kept (bottom-k sampling, Cohen and Kaplan 2007): which these are does not
depend on the order of the items or on how they come in batches, and two samples merge.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray

__all__ = ["ItemSample"]

_MOST_OF_A_GROUP, _MOST_OF_ALL, _LEAST_OF_A_GROUP = 1_000, 20_000, 50
"""Items that are kept of a group: the first, or fewer where there are so many groups that all would have more than the second."""
_MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)


@dataclass
class ItemSample:
    """Items of each group, by the group's row: hashes, contents, vectors, and hashes of clusters (0 where there are none).

    >>> sample = ItemSample()
    >>> sample.add(np.array(["a", "b", "c"], dtype=object), np.eye(3), np.array([0, 0, 1]))
    >>> sorted(sample.items(0, 2)[0].tolist())
    ['a', 'b']
    """

    groups: dict[int, tuple[AnyArray, AnyArray, FloatArray, AnyArray]] = field(default_factory=dict)

    def add(
        self,
        items: Any,
        vectors: FloatArray,
        rows: IntArray,
        clusters: AnyArray | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        """Add items of a batch: texts or rows of numbers, with their vectors and the rows of their groups.

        Items may have hashes of clusters, and weights: the sample is then one of items of equal weight, because those with the
        smallest hash over weight are kept (sequential Poisson sampling, Ohlsson 1998).
        """
        hashes = _hashes(items)
        if weights is not None:
            hashes = (hashes.astype(np.float64) + 1.0) / weights
        clusters = np.zeros(len(hashes), dtype=np.uint64) if clusters is None else clusters
        contents = np.asarray(items)
        for row in np.unique(rows).tolist():
            here = np.flatnonzero(rows == row)
            kept = self.groups.get(row)
            if kept is not None and len(kept[0]) >= _MOST_OF_A_GROUP:
                here = here[hashes[here] < kept[0][-1]]
            if here.size:
                self._keep(row, (hashes[here], contents[here], vectors[here], clusters[here]))

    def merge(self, other: "ItemSample", rows: IntArray) -> None:
        """Add another sample, whose groups have these rows here."""
        for row, kept in other.groups.items():
            self._keep(int(rows[row]), kept)

    def _keep(self, row: int, new: tuple[AnyArray, AnyArray, FloatArray, AnyArray]) -> None:
        old = self.groups.get(row)
        both = new if old is None else tuple(np.concatenate(pair) for pair in zip(old, new, strict=True))
        order = np.argsort(both[0], kind="stable")[: _most(len(self.groups))]
        self.groups[row] = both[0][order], both[1][order], both[2][order], both[3][order]

    def items(self, row: int, n_groups: int) -> tuple[AnyArray, FloatArray]:
        """Return the items kept of a group, of so many groups, and their vectors."""
        _, contents, vectors, _ = self.groups[row]
        most = _most(n_groups)
        return contents[:most], vectors[:most]

    def clusters(self, row: int, n_groups: int) -> IntArray | None:
        """Return the clusters of the items kept of a group, as numbers; None where there are none."""
        hashes = self.groups[row][3][: _most(n_groups)]
        return np.unique(hashes, return_inverse=True)[1] if hashes.any() else None


def _most(n_groups: int) -> int:
    return min(_MOST_OF_A_GROUP, max(_LEAST_OF_A_GROUP, _MOST_OF_ALL // max(n_groups, 1)))


def _hashes(items: Sequence[Any] | AnyArray) -> AnyArray:
    """Return a 64-bit hash of the content of each item."""
    array = np.asarray(items)
    if array.dtype.names is not None:
        return _mixed([column for name in array.dtype.names for column in _words_of_field(array[name])], len(array))
    if array.ndim == 1:
        return _text_hashes(array)
    return _mixed(np.ascontiguousarray(array, dtype=np.float64).view(np.uint64).T, len(array))


def _text_hashes(texts: AnyArray) -> AnyArray:
    digests = b"".join(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts)
    return np.frombuffer(digests, dtype="<u8")


def _words_of_field(values: AnyArray) -> list[AnyArray]:
    """Return the columns of a field of records as 64-bit words; a missing category is another than an empty one."""
    columns = [values] if values.ndim == 1 else list(values.T)
    if values.dtype.kind == "O":
        return [_text_hashes(np.array(["\0" if v is None else v for v in column], dtype=object)) for column in columns]
    return [np.ascontiguousarray(column).view(np.uint64) for column in columns]


def _mixed(columns: Iterable[AnyArray], n: int) -> AnyArray:
    """Return one 64-bit hash for each row of columns of 64-bit words."""
    hashes = np.full(n, _MIX[0])
    with np.errstate(over="ignore"):  # reckoned modulo 2^64
        for column in columns:
            hashes = (hashes ^ column) * _MIX[1]
            hashes ^= hashes >> np.uint64(29)
            hashes *= _MIX[0]
            hashes ^= hashes >> np.uint64(32)
    return hashes
