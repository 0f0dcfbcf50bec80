"""Protocols for ordered classes: shares moved along the order or spread out over it, and smooth shares."""

from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from headcount._typing import AnyArray, FloatArray, IntArray, RandomState
from headcount._validation import Interval, StrOptions, integers_from
from headcount.protocols.base import Protocol
from headcount.protocols.samples import Samples
from headcount.simplex import apportion, uniform

__all__ = ["OrdinalShift", "SmoothPrevalence", "jaggedness", "shifted", "spread_out"]


@dataclass(eq=False, repr=False)
class OrdinalShift(Protocol):
    r"""Draw samples whose shares are those of the pool, moved along the order of the classes or spread out over it.

    Each class's share goes to another place on the line 0, .., k - 1 of the classes, and is divided between the two classes next to
    it; what would leave the line stays in the last class. A shift of *location* by s takes class j to j + s; one of *spread* by f
    takes it to :math:`m + f (j - m)`, where m is the mean place. Each sample draws its own: s uniformly from -amount to amount, and
    :math:`\log f` from -log(1 + amount) to log(1 + amount). The pool's classes must be in order: pass ``classes`` to ``draw`` for
    texts. Items of a class are drawn without replacement if the pool has enough of them, with replacement otherwise.

    Parameters
    ----------
    by : {"location", "spread"}, default="location"
    amount : float, default=1.0
        Largest shift in classes; of spread, how much more is the largest factor than 1.
    n_samples : int, default=1000
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> stars = [1] * 20 + [2] * 20 + [3] * 60
    >>> samples, true = OrdinalShift("location", n_samples=100, sample_size=50, random_state=0).draw(stars)
    >>> mean = true @ [1, 2, 3]
    >>> bool(mean.min() < 1.7), bool(mean.max() > 2.7)                                   # that of the pool is 2.4
    (True, True)
    """

    by: Literal["location", "spread"] = "location"
    amount: float = 1.0
    _: KW_ONLY
    n_samples: int = 1000
    sample_size: int = 500
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "by": [StrOptions({"location", "spread"})],
        "amount": [Interval(Real, 0.0, None, closed="neither")],
        "n_samples": integers_from(1),
    }

    def _draw(
        self, codes: IntArray, classes: AnyArray, generator: np.random.Generator, seed: np.random.SeedSequence
    ) -> tuple[Samples, FloatArray]:
        counts = np.bincount(codes, minlength=len(classes))
        moves = generator.uniform(-1.0, 1.0, self.n_samples)
        shares = counts / counts.sum()
        if self.by == "location":
            moved = shifted(shares, self.amount * moves)
        else:
            moved = spread_out(shares, np.exp(np.log1p(self.amount) * moves))
        # A class that the pool lacks may be between two others: what would be drawn of it is drawn of its neighbours' items.
        return self._drawn(apportion(_of_present(moved, counts > 0), self.sample_size), codes, classes, seed)

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        raise NotImplementedError("The shares depend on those of the pool.")


@dataclass(eq=False, repr=False)
class SmoothPrevalence(Protocol):
    r"""Draw samples at random class shares that are smooth over ordered classes.

    Shares are drawn uniformly from the simplex, as by `UniformPrevalence`, and only the smoothest part of them is kept: those with
    the least `jaggedness`. Of ordered classes, neighbours mostly have similar shares. Shares are rounded to whole numbers of items
    by largest remainders.

    Parameters
    ----------
    smoothest : float, default=0.2
        Part of the shares that is kept; 1 keeps all.
    n_samples : int, default=1000
        Samples after that choice.
    sample_size : int, default=500
    random_state : int, RandomState, Generator or None, default=None

    References
    ----------
    Bunse, Moreo, Sebastiani and Senz (2024). Regularization-based methods for ordinal quantification. Data Mining and Knowledge
    Discovery 38: protocol APP-OQ, with 20 % and 50 %.

    Examples
    --------
    >>> from headcount.protocols import jaggedness
    >>> stars = [1, 2, 3, 4, 5] * 100
    >>> smooth, any_shares = (
    ...     SmoothPrevalence(part, n_samples=100, sample_size=50, random_state=0).draw(stars)[1] for part in (0.2, 1.0)
    ... )
    >>> bool(jaggedness(smooth).mean() < jaggedness(any_shares).mean() / 3)
    True
    """

    smoothest: float = 0.2
    _: KW_ONLY
    n_samples: int = 1000
    sample_size: int = 500
    random_state: RandomState = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Protocol._parameter_constraints,
        "smoothest": [Interval(Real, 0.0, 1.0, closed="right")],
        "n_samples": integers_from(1),
    }

    def _class_counts(self, n_classes: int, generator: np.random.Generator) -> IntArray:
        n_drawn = int(np.ceil(self.n_samples / self.smoothest - 1e-9))
        shares = uniform(n_drawn, n_classes, generator)
        kept = np.sort(np.argsort(jaggedness(shares), kind="stable")[: self.n_samples])
        return apportion(shares[kept], self.sample_size)


def jaggedness(shares: Any) -> FloatArray:
    r"""Return how far shares are from a straight line, :math:`\frac{1}{\min(6, k)} \sum_j (-p_{j-1} + 2 p_j - p_{j+1})^2`.

    Bunse et al. (2024); 0 for shares on a line over the classes, and for two classes.

    Parameters
    ----------
    shares : array of shape (n_classes,) or (n_samples, n_classes)
        In the order of the classes.

    Examples
    --------
    >>> jaggedness([[0.1, 0.2, 0.3, 0.4], [0.0, 0.5, 0.0, 0.5]]).round(6).tolist()
    [0.0, 0.5]
    """
    p = np.asarray(shares, dtype=np.float64)
    bends: FloatArray = np.square(np.diff(p, n=2, axis=-1)).sum(axis=-1) / min(6, p.shape[-1])
    return bends


def shifted(shares: FloatArray, by: FloatArray) -> FloatArray:
    """Return shares moved by so many classes along their order, a row for each shift.

    >>> shifted(np.array([0.5, 0.5, 0.0]), np.array([1.0, 0.5, -2.0])).tolist()
    [[0.0, 0.5, 0.5], [0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]
    """
    return _at_places(shares, np.arange(len(shares)) + np.asarray(by)[:, None])


def spread_out(shares: FloatArray, factors: FloatArray) -> FloatArray:
    """Return shares whose distances from their mean place are multiplied by factors, a row for each factor.

    >>> spread_out(np.array([0.0, 0.5, 0.0, 0.5, 0.0]), np.array([2.0, 0.0, 1.0])).tolist()
    [[0.5, 0.0, 0.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5, 0.0]]
    """
    places = np.arange(len(shares))
    mean = float(shares @ places)
    return _at_places(shares, mean + np.asarray(factors)[:, None] * (places - mean))


def _at_places(shares: FloatArray, places: FloatArray) -> FloatArray:
    """Return the shares of classes after each class's share has gone to a place between two of them; shape (n_rows, n_classes)."""
    k = len(shares)
    inside = np.clip(places, 0.0, k - 1.0)
    nearness = np.maximum(1.0 - np.abs(inside[:, :, None] - np.arange(k)), 0.0)  # to each class, which sum to 1
    moved = np.einsum("j,rji->ri", shares, nearness)
    of_classes: FloatArray = moved / moved.sum(axis=1, keepdims=True)
    return of_classes


def _of_present(shares: FloatArray, present: AnyArray) -> FloatArray:
    """Return shares with those of classes that the pool lacks given to the nearest class that it has, the lower of two."""
    here = np.flatnonzero(present)
    nearest = here[np.abs(np.arange(len(present))[:, None] - here).argmin(axis=1)]
    moved = np.zeros_like(shares)
    np.add.at(moved.T, nearest, shares.T)
    return moved
