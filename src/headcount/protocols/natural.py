"""The natural-prevalence protocol: random samples of the pool, drawn without regard to class."""

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray
from headcount.protocols.base import RandomProtocol, draw_items
from headcount.protocols.samples import Samples

__all__ = ["NaturalPrevalence"]


class NaturalPrevalence(RandomProtocol):
    """Draw random samples of the pool, whose class shares vary around those of the pool.

    A sample is drawn without replacement if the pool has enough items, with replacement otherwise.

    Parameters
    ----------
    n_samples : int, default=1000
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> samples, true = NaturalPrevalence(4, sample_size=50, random_state=0).draw([0] * 80 + [1] * 20)
    >>> bool(abs(true[:, 1].mean() - 0.2) < 0.1)
    True
    """

    def _draw(
        self, codes: IntArray, classes: AnyArray, generator: np.random.Generator, seed: np.random.SeedSequence
    ) -> tuple[Samples, FloatArray]:
        counts = self._class_counts(1, generator)
        samples = draw_items(counts, Samples.whole(len(codes)), seed)
        return samples, samples.count(codes, len(classes)) / self.sample_size

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:  # noqa: ARG002
        """Treat the pool as one class."""
        return np.full((self.n_samples, 1), self.sample_size)
