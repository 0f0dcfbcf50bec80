"""The artificial-prevalence protocol: samples at every point of a grid of class shares."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from headcount._typing import IntArray, RandomState
from headcount._validation import integers_from
from headcount.exceptions import DataError
from headcount.protocols.base import Protocol
from headcount.simplex import apportion, grid, grid_size

__all__ = ["ArtificialPrevalence"]


@dataclass(eq=False, repr=False)
class ArtificialPrevalence(Protocol):
    r"""Draw ``repeats`` samples at each point of a regular grid of class shares.

    With two classes the grid has ``n_prevalences`` points: the share of the second class is 0, 1/(n-1), .., 1. With k classes it
    has all :math:`\binom{n - 1 + k - 1}{k - 1}` vectors of such shares that sum to 1. Items of a class are drawn without
    replacement if the pool has enough of them, with replacement otherwise.

    Parameters
    ----------
    n_prevalences : int, default=21
        Number of shares of each class on the grid, 0 and 1 included.
    repeats : int, default=10
        Samples at each point of the grid.
    sample_size : int, default=500
        Items of each sample.
    limit : int or None, default=1_000_000
        Largest number of samples to draw, since the grid grows fast with the number of classes; None lifts the limit.
    random_state : int, RandomState, Generator or None, default=None

    References
    ----------
    Forman (2008). Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17.
    Moreo and Sebastiani (2021). Re-assessing the "classify and count" quantification method. ECIR.

    Examples
    --------
    >>> y = ["neg"] * 60 + ["pos"] * 40
    >>> samples, true = ArtificialPrevalence(3, repeats=2, sample_size=10, random_state=0).draw(y)
    >>> true[:, 1].tolist()
    [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]
    >>> samples
    Samples(6 samples of 10 items)
    """

    n_prevalences: int = 21
    _: KW_ONLY
    repeats: int = 10
    sample_size: int = 500
    limit: int | None = 1_000_000
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "n_prevalences": integers_from(2),
        "repeats": integers_from(1),
        "limit": [*integers_from(1), None],
    }

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:  # noqa: ARG002
        steps = self.n_prevalences - 1
        n_samples = grid_size(n_classes, steps) * self.repeats
        if self.limit is not None and n_samples > self.limit:
            raise DataError(
                f"A grid of {self.n_prevalences} shares for each of {n_classes} classes, {self.repeats} samples at each "
                f"point, makes {n_samples:,} samples; the limit is {self.limit:,}. Lower n_prevalences or repeats, raise the limit "
                "(limit=None lifts it), or use UniformPrevalence, which draws as many points of the simplex as you ask for."
            )
        return np.repeat(apportion(grid(n_classes, steps), self.sample_size, unit=steps), self.repeats, axis=0)
