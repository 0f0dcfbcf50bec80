"""Documents of padded term ids: copied to the device once, and cut into batches of rows there."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch

from headcount._typing import IntArray

__all__ = ["Block", "Documents"]

_BLOCK_SIZE = {"cpu": 25}
"""Documents that are computed together, by device; by default a whole batch.

On the CPU blocks are smaller than a batch: each is as wide as its longest document, so that less padding is computed.
"""


class Block(NamedTuple):
    """Documents of a batch: their row numbers, on the device, and the length of the longest."""

    rows: torch.Tensor
    longest: int


class Documents:
    """Term ids on a device, with the length of each document; a batch is cut from them without a copy from the host."""

    def __init__(self, ids: IntArray, widest: int, device: torch.device) -> None:
        filled = ids != 0
        self.lengths = np.where(filled.any(axis=1), ids.shape[1] - filled[:, ::-1].argmax(axis=1), 0)
        self._longest = longest = int(self.lengths.max(initial=0))
        padded = np.zeros((len(ids), longest + widest), dtype=np.int32)
        padded[:, :longest] = ids[:, :longest]
        self._ids = torch.from_numpy(padded).to(device)
        self._widest = widest

    def batches(self, rows: IntArray, batch_size: int) -> Iterator[list[Block]]:
        """Yield batches of these rows, each in blocks of documents of similar length; all row numbers go to the device at once."""
        device = self._ids.device
        order = rows[np.lexsort((self.lengths[rows], np.arange(len(rows)) // batch_size))]
        device_rows = torch.from_numpy(order.astype(np.int64)).to(device)
        size = _BLOCK_SIZE.get(device.type, batch_size)
        # Without smaller blocks all batches have one shape, which recording and replaying a step requires.
        lengths = self.lengths[order].tolist() if device.type in _BLOCK_SIZE else [self._longest] * len(order)
        for start in range(0, len(rows), batch_size):
            stop = min(start + batch_size, len(rows))
            bounds = [(a, min(a + size, stop)) for a in range(start, stop, size)]
            yield [Block(device_rows[a:b], lengths[b - 1]) for a, b in bounds]

    def ids(self, block: Block) -> torch.Tensor:
        """Return the ids of a block, with the padding behind the longest document that windows need."""
        return self._ids[:, : block.longest + self._widest].index_select(0, block.rows)
