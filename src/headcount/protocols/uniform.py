"""The uniform-prevalence protocol: samples at random class shares, uniformly distributed over the simplex."""

from typing import Any

import numpy as np

from headcount._typing import IntArray, RandomState
from headcount._validation import integers_from
from headcount.protocols.base import Protocol
from headcount.simplex import apportion, uniform

__all__ = ["UniformPrevalence"]


class UniformPrevalence(Protocol):
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

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012
        **Protocol._parameter_constraints,
        "n_samples": integers_from(1),
    }

    def __init__(self, n_samples: int = 1000, *, sample_size: int = 500, random_state: RandomState = None) -> None:
        self.n_samples = n_samples
        self.sample_size = sample_size
        self.random_state = random_state

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        return apportion(uniform(self.n_samples, n_classes, generator), self.sample_size)
