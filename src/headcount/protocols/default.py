"""The protocol that is used where the user names none."""

from headcount._typing import RandomState
from headcount.protocols.artificial import ArtificialPrevalence
from headcount.protocols.base import Protocol
from headcount.protocols.uniform import UniformPrevalence

__all__ = ["default_protocol"]


def default_protocol(
    n_classes: int,
    *,
    n_prevalences: int = 21,
    repeats: int,
    sample_size: int,
    random_state: RandomState,
    n_samples: int | None = None,
) -> Protocol:
    """Return a grid of class shares for two classes, and random class shares for more, where a grid would be too large.

    Parameters
    ----------
    n_classes : int
    n_prevalences, repeats : int
        Points of the grid for two classes, and samples at each.
    sample_size : int
    random_state : int, RandomState, Generator or None
    n_samples : int, optional
        Samples for more than two classes; by default as many as for two.

    Examples
    --------
    >>> default_protocol(2, repeats=10, sample_size=500, random_state=0)
    ArtificialPrevalence(random_state=0)
    >>> default_protocol(3, repeats=10, sample_size=500, random_state=0)
    UniformPrevalence(n_samples=210, random_state=0)
    """
    if n_classes == 2:
        return ArtificialPrevalence(n_prevalences, repeats=repeats, sample_size=sample_size, random_state=random_state)
    n_samples = n_prevalences * repeats if n_samples is None else n_samples
    return UniformPrevalence(n_samples, sample_size=sample_size, random_state=random_state)
