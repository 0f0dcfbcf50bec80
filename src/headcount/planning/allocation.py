"""Which items to label next: inclusion probabilities by Neyman's allocation, and a sample drawn with exactly these."""

from typing import Any

import numpy as np

from headcount._typing import FloatArray, IntArray, RandomState
from headcount._validation import seed_sequence
from headcount.exceptions import DataError

__all__ = ["UNIFORM_PART", "allocation_sizes", "draw_items", "inclusion_probabilities"]

UNIFORM_PART = 0.3
"""Part of the labels that is spread evenly: no weight exceeds that of uniform sampling more than 1 / 0.3 times."""


def allocation_sizes(variances: Any, uniform_part: float = UNIFORM_PART) -> FloatArray:
    r"""Return sizes with mean 1 that inclusion probabilities should be proportional to.

    Neyman's (1934) allocation labels items in proportion to the root of their variance. It is mixed with uniform sampling, so that
    an item that was wrongly thought certain has a bounded weight (defensive mixture, Hesterberg 1995):

    .. math:: z_i = \lambda + (1 - \lambda) \frac{\sqrt{v_i}}{\frac1N \sum_j \sqrt{v_j}}

    Parameters
    ----------
    variances : array of shape (N,)
        Predicted squares of what the predictions leave of each item.
    uniform_part : float, default=0.3
        :math:`\lambda`; 1 is uniform sampling.

    Examples
    --------
    >>> allocation_sizes([0.0, 0.04, 0.16, 0.36]).round(2).tolist()
    [0.3, 0.77, 1.23, 1.7]
    """
    roots = np.sqrt(np.maximum(np.asarray(variances, dtype=np.float64), 0.0))
    mean = float(roots.mean()) if len(roots) else 0.0
    scaled = roots / mean if mean > 0.0 else np.ones_like(roots)
    return np.asarray(uniform_part + (1.0 - uniform_part) * scaled, dtype=np.float64)


def inclusion_probabilities(sizes: Any, n: int, most: float = 1.0) -> FloatArray:
    """Return probabilities proportional to sizes, with sum n; those that would exceed the most are cut, and the rest raised for it.

    Parameters
    ----------
    sizes : array of shape (N,)
        Not negative.
    n : int
        Number of items to draw, at most N times ``most``.
    most : float, default=1
        Largest probability.

    Examples
    --------
    >>> inclusion_probabilities([1.0, 1.0, 2.0, 8.0], 2).tolist()
    [0.25, 0.25, 0.5, 1.0]
    """
    given = np.asarray(sizes, dtype=np.float64)
    if not 0 <= n <= len(given):
        raise DataError(f"{n:,} of {len(given):,} items can't be drawn: name a number from 0 to {len(given):,}.")
    if not (np.isfinite(given).all() and (given >= 0.0).all()):
        raise DataError("sizes must be finite numbers that are not negative.")
    certain = np.zeros(len(given), dtype=bool)
    while True:
        left, total = n - most * int(certain.sum()), float(given[~certain].sum())
        if left > 1e-9 and total <= 0.0:  # nothing but sizes of 0 is left: these items are alike
            given = np.where(certain, given, 1.0)
            total = float((~certain).sum())
        probabilities = np.where(certain, most, given * (left / total if left > 1e-9 else 0.0))
        above = (probabilities >= most) & ~certain
        if not above.any():
            return np.asarray(probabilities, dtype=np.float64)
        certain |= above


def draw_items(probabilities: Any, random_state: RandomState = None) -> IntArray:
    r"""Draw items, each with exactly its inclusion probability, and as many as the probabilities sum to; in ascending order.

    Systematic sampling on a random order (Goodman and Kish, 1950; Hartley and Rao, 1962): items lie side by side on a line, each as
    long as its probability, and those that hold a point of a grid of step 1 with a random start are drawn. The variance of means is
    then close to that of the sampling of largest entropy, which Hajek's approximation is for.

    Parameters
    ----------
    probabilities : array of shape (N,)
        From 0 to 1, with an integer as their sum.
    random_state : int, generator or seed sequence, optional

    Examples
    --------
    >>> draw_items([0.5, 0.5, 1.0, 0.25, 0.75], 0).tolist()
    [1, 2, 4]
    """
    chances = np.asarray(probabilities, dtype=np.float64)
    if not ((chances >= 0.0) & (chances <= 1.0)).all():
        raise DataError("Inclusion probabilities must be from 0 to 1.")
    n = round(float(chances.sum()))
    if abs(float(chances.sum()) - n) > 1e-6:
        raise DataError(
            f"The inclusion probabilities sum to {chances.sum():g}, not to a whole number of items: use "
            "inclusion_probabilities(sizes, n)."
        )
    generator = np.random.default_rng(seed_sequence(random_state))
    certain, rest = np.flatnonzero(chances == 1.0), np.flatnonzero(chances < 1.0)
    order = generator.permutation(rest)
    ends = np.cumsum(chances[order])
    if n > len(certain):
        ends *= (n - len(certain)) / ends[-1]  # rounding must not lose the last item
    passed = np.floor(ends + generator.random())
    drawn = order[np.diff(passed, prepend=0.0) > 0.5]
    return np.asarray(np.sort(np.concatenate([certain, drawn])), dtype=np.int64)
