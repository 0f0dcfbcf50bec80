"""Training steps recorded once as a CUDA graph and replayed, so that the GPU does not wait for Python between small kernels."""

from collections.abc import Callable

import torch

from headcount.learners.neural.documents import Block

__all__ = ["RecordedStep"]

_WARM_UP_STEPS = 3
"""Steps made without recording, after which all memory is allocated and the kernels are chosen."""


class RecordedStep:  # pragma: no cover (needs a GPU: tests/learners/neural/test_cuda.py)
    """A training step for batches of one size; it draws from the generator, as a step without recording does.

    Parameters
    ----------
    step : callable
        Takes a list with one block.
    block : Block
        A block of the size that all later ones have.
    generator : torch.Generator
        The generator that the step draws from.
    """

    def __init__(self, step: Callable[[list[Block]], None], block: Block, generator: torch.Generator) -> None:
        self._step, self._generator = step, generator
        self._block = Block(block.rows.clone(), block.longest)
        self._graph: torch.cuda.CUDAGraph | None = None
        self._stream = torch.cuda.Stream()
        self._warm_ups = 0

    def __call__(self, rows: torch.Tensor) -> None:
        """Make a step for these rows."""
        self._block.rows.copy_(rows)
        if self._warm_ups < _WARM_UP_STEPS:
            # On a stream of its own, as torch requires before a capture.
            self._stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self._stream):
                self._step([self._block])
            torch.cuda.current_stream().wait_stream(self._stream)
            self._warm_ups += 1
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            self._graph.register_generator_state(self._generator)
            with torch.cuda.graph(self._graph):
                self._step([self._block])
        self._graph.replay()
