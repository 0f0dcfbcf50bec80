"""Documents as padded term ids: brought to the device once, and cut into batches of rows there."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from headcount._typing import IntArray

__all__ = ["Block", "Documents"]

_BLOCK = {"cpu": 25}
"""Documents that are computed together; in smaller blocks, each as wide as its longest document, less padding is computed."""


class Block(NamedTuple):
    """Some documents of a batch, by their row numbers on the device, and the length of the longest."""

    rows: torch.Tensor
    longest: int


class Documents:
    """Term ids on a device, with the length of each document; no batch is padded, collated or copied to the device."""

    def __init__(self, ids: IntArray, widest: int, device: torch.device) -> None:
        filled = ids != 0
        self.lengths = np.where(filled.any(axis=1), ids.shape[1] - filled[:, ::-1].argmax(axis=1), 0)
        self._longest = longest = int(self.lengths.max(initial=0))
        wide = np.zeros((len(ids), longest + widest), dtype=np.int32)
        wide[:, :longest] = ids[:, :longest]
        self._ids = torch.from_numpy(wide).to(device)
        self._widest = widest

    def batches(self, rows: IntArray, batch_size: int) -> Iterator[list[Block]]:
        """Yield batches of these rows, each in blocks of documents of similar length; all row numbers go to the device at once."""
        device = self._ids.device
        order = rows[np.lexsort((self.lengths[rows], np.arange(len(rows)) // batch_size))]
        there = torch.from_numpy(order.astype(np.int64)).to(device)
        size = _BLOCK.get(device.type, batch_size)
        # Elsewhere all batches have one shape, so that a step can be recorded and replayed.
        lengths = self.lengths[order].tolist() if device.type in _BLOCK else [self._longest] * len(order)
        for start in range(0, len(rows), batch_size):
            stop = min(start + batch_size, len(rows))
            ends = [(a, min(a + size, stop)) for a in range(start, stop, size)]
            yield [Block(there[a:b], lengths[b - 1]) for a, b in ends]

    def ids(self, block: Block) -> torch.Tensor:
        """Return the ids of a block, with the padding behind the longest document that windows need."""
        return self._ids[:, : block.longest + self._widest].index_select(0, block.rows)
