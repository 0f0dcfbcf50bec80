"""Validation items as points of their classes: mean kernels and distances between other items and the points of each class.

An item of 1,500 points and three classes takes about two microseconds. Memory: the points, and one number for each item and class.
"""

from numbers import Real
from typing import Any

import numpy as np

from headcount._threads import in_chunks
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import Interval, plain
from headcount.exceptions import DataError

__all__ = [
    "BANDWIDTH",
    "EUCLIDEAN",
    "GAUSSIAN",
    "MANHATTAN",
    "RELATIVE_GAUSSIAN",
    "check_points",
    "means_to_classes",
    "positions",
    "require_two_each",
    "sorted_points",
    "sorted_weights",
]

RELATIVE_GAUSSIAN, GAUSSIAN, MANHATTAN, EUCLIDEAN = 0, 1, 2, 3
"""Kernels and distances between an item and a point: exp(-scale d^2), relative to that of the nearest point or not; distances."""

BANDWIDTH: list[Any] = [Interval(Real, 1e-3, 10, closed="both")]
"""Range of a bandwidth: posteriors are at most sqrt(2) apart, and below the range densities are no more than spikes."""

_PAIRS_PER_CHUNK = 1 << 19


def sorted_points(P: FloatArray, codes: IntArray, n_classes: int) -> tuple[FloatArray, IntArray]:
    """Return points, a column each, those of a class side by side, and where the points of each class begin and end."""
    order = np.argsort(codes, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=n_classes))])
    return np.ascontiguousarray(P[order].T), ends


def check_points(points: FloatArray, ends: IntArray, codes: IntArray) -> None:
    """Raise unless points, and where those of a class begin and end, are those of items with these class codes."""
    expected = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=len(points)))])
    if ends.dtype != np.int64 or not np.array_equal(ends, expected) or points.shape[1] != expected[-1]:
        raise DataError("the points are not those of the validation items of each class")


def positions(codes: IntArray) -> IntArray:
    """Return where `sorted_points` puts each item; -1 for the only item of a class, without which the class has no points."""
    order = np.argsort(codes, kind="stable")
    places = np.empty(len(codes), dtype=np.int64)
    places[order] = np.arange(len(codes))
    places[np.bincount(codes)[codes] == 1] = -1
    return places


def means_to_classes(
    P: FloatArray,
    points: FloatArray,
    ends: IntArray,
    kind: int,
    scale: float = 1.0,
    own: IntArray | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Return the mean kernel or distance between each item and the points of each class: shape (n_items, n_classes).

    Parameters
    ----------
    P : array of shape (n_items, n_dimensions)
    points, ends
        As `sorted_points` returns them.
    kind : int
        ``GAUSSIAN``, ``RELATIVE_GAUSSIAN``, ``MANHATTAN`` or ``EUCLIDEAN``.
    scale : float
        Of the Gaussian kernels.
    own : array of shape (n_items,), optional
        The point that each item is itself, which is left out; -1 for none.
    weights : array of shape (n_points,), optional
        Of the points (`sorted_weights`).
    """
    from headcount.quantifiers.kernel_methods import _kernels

    P = np.ascontiguousarray(P, dtype=np.float64)
    F = np.empty((len(P), len(ends) - 1))
    own = np.empty(0, dtype=np.int64) if own is None else own
    each = np.empty(0) if weights is None else weights
    totals = np.diff(ends).astype(np.float64) if weights is None else np.add.reduceat(weights, ends[:-1])

    def compute(a: int, b: int) -> None:
        _kernels.class_means(P[a:b], own[a:b], points, ends, kind, scale, each, totals, F[a:b])

    in_chunks(compute, len(P), max(1, _PAIRS_PER_CHUNK // points.shape[1]))
    return F


def sorted_weights(quantifier: Any) -> FloatArray | None:
    """Return the weights of the validation items of a quantifier in the order of its points, 1 on average; None without weights."""
    weights = quantifier._validation_weights()
    if weights is None:
        return None
    in_order: FloatArray = weights[np.argsort(quantifier.validation_codes_, kind="stable")] / weights.mean()
    return in_order


def require_two_each(codes: IntArray, classes: AnyArray, name: str) -> None:
    """Raise if a class has one validation item only."""
    single = np.flatnonzero(np.bincount(codes, minlength=len(classes)) == 1)
    if single.size:
        raise DataError(
            f"{name} compares the validation items of a class with each other, and there is only one of class "
            f"{plain(classes[single[0]])!r}. Label more items of this class, or use PACC."
        )
