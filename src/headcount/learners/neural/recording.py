"""A step of training, recorded once on a GPU and replayed: the GPU need not wait for Python between its many small kernels."""

from collections.abc import Callable

import torch

from headcount.learners.neural.documents import Block

__all__ = ["Recorded"]

_BEFORE = 3
"""Steps that are made before one is recorded, so that all memory and plans of kernels are there."""


class Recorded:  # pragma: no cover (needs a GPU: tests/learners/neural/test_cuda.py)
    """A step over a batch of a given size; what it draws comes from the generator, as without recording.

    Parameters
    ----------
    step : callable
        Takes a list with one block.
    block : Block
        One like all that will come.
    generator : torch.Generator
    """

    def __init__(self, step: Callable[[list[Block]], None], block: Block, generator: torch.Generator) -> None:
        self._step, self._generator = step, generator
        self._block = Block(block.rows.clone(), block.longest)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stream = torch.cuda.Stream()
        self._made = 0

    def __call__(self, rows: torch.Tensor) -> None:
        """Make a step over these rows."""
        self._block.rows.copy_(rows)
        if self._made < _BEFORE:
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                self._step([self._block])
            torch.cuda.current_stream().wait_stream(self._stream)
            self._made += 1
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            self._graph.register_generator_state(self._generator)
            with torch.cuda.graph(self._graph):
                self._step([self._block])
        self._graph.replay()
