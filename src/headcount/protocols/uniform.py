"""The uniform-prevalence protocol: samples at random class shares, uniformly distributed over the simplex."""

import numpy as np

from headcount._typing import IntArray
from headcount.protocols.base import RandomProtocol
from headcount.simplex import apportion, uniform

__all__ = ["UniformPrevalence"]


class UniformPrevalence(RandomProtocol):
    """Draw samples whose class shares are uniformly distributed over the simplex.

    It replaces `ArtificialPrevalence` for many classes, where a grid would be too large. Shares are rounded to whole numbers of
    items by largest remainders. Items of a class are drawn without replacement if the pool has enough of them, with replacement
    otherwise.

    Parameters
    ----------
    n_samples : int, default=1000
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    References
    ----------
    Kraemer (1999). Sampling uniformly from the n-simplex (cited by Esuli, Moreo and Sebastiani 2022, LeQua).

    Examples
    --------
    >>> samples, true = UniformPrevalence(5, sample_size=20, random_state=0).draw(["a", "b", "c"] * 30)
    >>> true.shape, samples
    ((5, 3), Samples(5 samples of 20 items))
    """

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        return apportion(uniform(self.n_samples, n_classes, generator), self.sample_size)
