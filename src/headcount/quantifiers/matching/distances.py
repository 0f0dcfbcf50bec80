"""Distances between a sample's frequencies and those of a mixture, and the mixture that is nearest.

All are convex in the shares, so that what is found is the least distance there is.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import FloatArray
from headcount.simplex import mixture_least_absolute, mixture_least_squares

__all__ = ["DISTANCES", "distance", "nearest_shares"]

DISTANCES = ("hellinger", "topsoe", "probsymm", "l2", "l1")
"""Names of distances."""

_SAMPLES_PER_CHUNK = 128
_MAX_ITER = 200
_START = 0.1
"""Part of equal shares in the shares at which Newton steps start; the rest is the least squares answer."""


def distance(name: str, q: FloatArray, m: FloatArray) -> Any:
    r"""Return the distance between frequencies q and m, over the last axis.

    "hellinger" is :math:`\sum_b (\sqrt{m_b} - \sqrt{q_b})^2`, "topsoe" :math:`\sum_b m_b \log \frac{2 m_b}{m_b + q_b} + q_b
    \log \frac{2 q_b}{m_b + q_b}`, "probsymm" :math:`2 \sum_b (m_b - q_b)^2 / (m_b + q_b)`, "l2" :math:`\sum_b (m_b - q_b)^2`
    and "l1" :math:`\sum_b |m_b - q_b|`.

    >>> distance("l1", np.array([0.5, 0.5]), np.array([0.25, 0.75])).item()
    0.5
    """
    both = m + q
    known = np.where(both > 0.0, both, 1.0)
    terms: dict[str, Callable[[], FloatArray]] = {
        "hellinger": lambda: (np.sqrt(m) - np.sqrt(q)) ** 2,
        "topsoe": lambda: _times_log(m, 2.0 * m / known) + _times_log(q, 2.0 * q / known),
        "probsymm": lambda: 2.0 * (m - q) ** 2 / known,
        "l2": lambda: (m - q) ** 2,
        "l1": lambda: np.abs(m - q),
    }
    return terms[name]().sum(axis=-1)


def _times_log(a: FloatArray, ratio: FloatArray) -> FloatArray:
    product: FloatArray = a * np.log(np.where(a > 0.0, ratio, 1.0))
    return product


def nearest_shares(name: str, q: FloatArray, M: FloatArray) -> FloatArray:
    """Return the shares p for which the mixture M p is nearest to each row of q: shape (n_samples, n_classes)."""
    if name == "l2":
        return mixture_least_squares(M, q)
    q, M = np.ascontiguousarray(q), np.ascontiguousarray(M)
    if name == "l1" and M.shape[1] > 2:
        return mixture_least_absolute(M, q)
    if name == "l1":
        from headcount.quantifiers.matching import _median_kernels

        positive = np.empty(len(q))
        in_chunks(lambda a, b: _median_kernels.least_absolute(M, q[a:b], positive[a:b]), len(q), _SAMPLES_PER_CHUNK)
        return np.column_stack([1.0 - positive, positive])
    from headcount.quantifiers.matching import _kernels

    code = {
        "hellinger": _kernels.HELLINGER,
        "topsoe": _kernels.TOPSOE,
        "probsymm": _kernels.PROBABILISTIC_SYMMETRIC,
    }[name]
    profiles = np.ascontiguousarray(M.T)
    if len(profiles) == 2:
        if np.array_equal(*profiles):  # nothing tells
            return np.full((len(q), 2), 0.5)
        positive = mixture_least_squares(M, q)[:, 1].copy()
        in_chunks(
            lambda a, b: _kernels.nearest_two(profiles, q[a:b], code, _MAX_ITER, positive[a:b]),
            len(q),
            _SAMPLES_PER_CHUNK,
        )
        return np.column_stack([1.0 - positive, positive])
    k = len(profiles)
    # Start where all cells that a mixture can reach are reached.
    shares = (1.0 - _START) * mixture_least_squares(M, q) + _START / k
    in_chunks(lambda a, b: _kernels.nearest(profiles, q[a:b], code, _MAX_ITER, shares[a:b]), len(q), _SAMPLES_PER_CHUNK)
    return shares
