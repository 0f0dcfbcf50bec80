"""`TargetLabels`: labels of some items of a pool, with the chances by which they were drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import class_positions
from headcount._typing import AnyArray, FloatArray, IntArray
from headcount._validation import quoted
from headcount.exceptions import DataError

__all__ = ["UNLABELLED", "TargetLabels", "target_labels"]

UNLABELLED = -1
"""Code of an item without a label."""


@dataclass(frozen=True, eq=False)
class TargetLabels:
    """Labels of some items of a pool.

    Attributes
    ----------
    codes : array of int, shape (n_items,)
        Class of each item as a position among the classes; -1 where it is not labelled.
    probabilities : array of shape (n_items,) or None
        Inclusion probability of each labelled item.
    strata : array of int, shape (n_items,), or None
        Stratum of each item, out of which labelled ones were drawn.
    """

    codes: IntArray
    probabilities: FloatArray | None = None
    strata: IntArray | None = None

    @property
    def labelled(self) -> AnyArray:
        """Mask of the labelled items."""
        return np.asarray(self.codes != UNLABELLED)


def target_labels(
    labels: Any, classes: AnyArray, n_items: int, probabilities: Any = None, strata: Any = None
) -> TargetLabels:
    """Check labels of some items, and encode them.

    Parameters
    ----------
    labels : array of n_items labels, mapping, or pair of arrays
        An array holds a label for each item, and None, NaN, NA, a masked value or an empty text where there is none. A mapping
        ``{position: label}`` or a pair ``(positions, labels)`` names the labelled items, whose positions start at 0.
    classes : array of shape (n_classes,)
    n_items : int
    probabilities : array of shape (n_items,), or as long as the pair or mapping, optional
        Inclusion probabilities of the labelled items; others are not read.
    strata : array of shape (n_items,), optional

    Examples
    --------
    >>> target_labels(["pos", None, "neg"], np.array(["neg", "pos"]), 3).codes.tolist()
    [1, -1, 0]
    >>> target_labels(([2, 0], ["neg", "pos"]), np.array(["neg", "pos"]), 3).codes.tolist()
    [1, -1, 0]
    """
    positions, values = _positions_and_labels(labels, n_items)
    codes = np.full(n_items, UNLABELLED, dtype=np.int64)
    codes[positions] = _encoded(values, classes, positions)
    chances = None if probabilities is None else _probabilities(probabilities, positions, codes)
    return TargetLabels(codes, chances, None if strata is None else _strata(strata, n_items))


def _positions_and_labels(labels: Any, n_items: int) -> tuple[IntArray, list[Any]]:
    """Return which items labels are given of, and these labels, some of which may be missing."""
    if isinstance(labels, Mapping):
        labels = (list(labels.keys()), list(labels.values()))
    if not (isinstance(labels, tuple) and len(labels) == 2 and all(map(_is_sequence, labels))):
        if not _is_sequence(labels):
            raise DataError(
                f"labels must be an array with one entry for each of the {n_items:,} items (None where an item is not labelled), a "
                f"mapping of positions to labels, or a pair (positions, labels); got {type(labels).__name__}."
            )
        values = _as_list(labels)
        if len(values) != n_items:
            raise DataError(
                f"There are {len(values):,} labels for {n_items:,} items: give one entry for each item, None where it is not "
                "labelled, or a pair (positions, labels)."
            )
        return np.arange(n_items), values
    given, values = np.asarray(labels[0]), _as_list(labels[1])
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu") or len(given) != len(values):
        raise DataError(
            f"A pair of labels is an array of positions of items, whole numbers from 0, and an array of as many labels; got "
            f"{len(given) if given.ndim else 0} positions and {len(values)} labels."
        )
    positions = given.astype(np.int64)
    outside = (positions < 0) | (positions >= n_items)
    if outside.any():
        raise DataError(
            f"Labels are given of items that are not there: positions {quoted(positions[outside])}, and the {n_items:,} items have "
            f"the positions 0 to {n_items - 1:,}."
        )
    repeated = np.flatnonzero(np.bincount(positions, minlength=n_items) > 1)
    if repeated.size:
        raise DataError(f"The items {quoted(repeated)} are labelled twice: keep one label of each item.")
    return positions, values


def _is_sequence(values: Any) -> bool:
    return hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)


def _as_list(values: Any) -> list[Any]:
    """Return values as a list in which masked ones are None."""
    if isinstance(values, np.ma.MaskedArray):
        missing = np.ma.getmaskarray(values)
        return [None if lost else value for value, lost in zip(values.data.tolist(), missing.tolist(), strict=True)]
    return list(values.tolist() if hasattr(values, "tolist") else values)


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float) and value != value
    is_blank = isinstance(value, str) and not value.strip()
    return value is None or is_nan or is_blank or type(value).__name__ in ("NAType", "NaTType")


def _encoded(values: list[Any], classes: AnyArray, positions: IntArray) -> IntArray:
    known, text = class_positions(classes)
    codes = np.full(len(values), UNLABELLED, dtype=np.int64)
    for i, value in enumerate(values):
        if _is_missing(value):
            continue
        code = known.get(text(value))
        if code is None:
            raise DataError(
                f"The label {quoted([value])} of item {int(positions[i]):,} is not among the classes of the quantifier "
                f"({quoted(known, 10)}). Correct it or leave it empty; items of a further class need a model fitted with it."
            )
        codes[i] = code
    return codes


def _probabilities(probabilities: Any, positions: IntArray, codes: IntArray) -> FloatArray:
    given = np.asarray([np.nan if _is_missing(p) else p for p in _as_list(probabilities)], dtype=np.float64)
    if len(given) not in (len(codes), len(positions)):
        raise DataError(
            f"There are {len(given):,} inclusion probabilities for {len(codes):,} items: give one for each item, or each label."
        )
    chances = np.full(len(codes), np.nan)
    chances[positions] = given[positions] if len(given) == len(codes) else given
    labelled = codes != UNLABELLED
    bad = np.flatnonzero(labelled & ~((chances > 0.0) & (chances <= 1.0)))
    if bad.size:
        value = chances[bad[0]]
        found = "missing" if value != value else f"{value:g}"
        raise DataError(
            f"The inclusion probability of the labelled item {int(bad[0]):,} is {found}: it must be above 0 and at most 1, the "
            "chance with which the item was drawn to be labelled."
        )
    chances[~labelled] = np.nan
    return chances


def _strata(strata: Any, n_items: int) -> IntArray:
    values = _as_list(strata)
    if len(values) != n_items:
        raise DataError(f"strata must name the stratum of each of the {n_items:,} items; got {len(values):,}.")
    names = {name: i for i, name in enumerate(dict.fromkeys(str(value) for value in values))}
    return np.array([names[str(value)] for value in values], dtype=np.int64)
