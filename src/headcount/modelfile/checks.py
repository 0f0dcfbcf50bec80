"""What values of a model file must be: types, shapes and ranges, in words that say what is wrong."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headcount._typing import AnyArray

__all__ = [
    "UnsoundError",
    "as_array",
    "check_flags",
    "check_floats",
    "check_integers",
    "check_labels",
    "check_number",
    "check_strings",
    "check_width",
    "need",
]


class UnsoundError(ValueError):
    """What a model file holds can't be the model of any fit."""


def need(condition: Any, sentence: str) -> None:
    """Raise unless the condition holds."""
    if not condition:
        raise UnsoundError(sentence)


def check_floats(
    array: Any, name: str, shape: Sequence[int | None], finite: bool = True, largest: float | None = None
) -> None:
    """Raise unless a value is an array of floats of this shape (None: any length), finite where asked for."""
    need(_has_shape(array, "f", shape), f"{name} is not an array of floats of shape {_shape(shape)}")
    need(not finite or np.isfinite(array).all(), f"{name} holds values that are not finite")
    need(largest is None or not array.size or np.abs(array).max() <= largest, f"{name} holds numbers above {largest}")


def check_integers(array: Any, name: str, shape: Sequence[int | None], low: int, high: int) -> None:
    """Raise unless a value is an array of integers of this shape, of a type within int64, from ``low`` to below ``high``."""
    sound = _has_shape(array, "iu", shape) and np.can_cast(array.dtype, np.int64)
    need(sound, f"{name} is not an array of integers of shape {_shape(shape)}")
    need(not array.size or low <= int(array.min()) <= int(array.max()) < high, f"{name} holds numbers out of range")


def check_flags(array: Any, name: str, shape: Sequence[int | None]) -> None:
    """Raise unless a value is an array of truth values of this shape."""
    need(_has_shape(array, "b", shape), f"{name} is not an array of truth values of shape {_shape(shape)}")


def check_labels(array: Any, name: str = "classes_") -> int:
    """Raise unless a value is an array of different labels; return how many there are."""
    need(isinstance(array, np.ndarray) and array.ndim == 1 and len(array), f"{name} is not an array of labels")
    values = array.tolist()
    need(all(type(one) in (bool, int, float, str) and one == one for one in values), f"{name} holds no labels")
    need(len(set(values)) == len(values), f"{name} names a label twice")
    return len(values)


def check_number(value: Any, name: str, low: float, high: float) -> None:
    """Raise unless a value is one number within bounds."""
    need(
        isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high,
        f"{name} is not a number from {low:g} to {high:g}",
    )


def check_strings(value: Any, name: str) -> None:
    """Raise unless a value is a list of texts."""
    need(isinstance(value, list) and all(type(one) is str for one in value), f"{name} is not a list of texts")


def check_width(estimator: Any, width: int) -> None:
    """Raise unless an estimator reads as many features as its arrays are wide, and its names of features are as many."""
    need(getattr(estimator, "n_features_in_", width) == width, "an estimator reads other features than its arrays have")
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None:
        need(isinstance(names, np.ndarray) and names.shape == (width,), "there are more or fewer names than features")
        need(all(type(name) is str for name in names.tolist()), "names of features are not texts")


def _has_shape(array: Any, kinds: str, shape: Sequence[int | None]) -> bool:
    return (
        isinstance(array, np.ndarray)
        and array.dtype.kind in kinds
        and array.ndim == len(shape)
        and all(asked is None or asked == n for asked, n in zip(shape, array.shape, strict=True))
    )


def _shape(shape: Sequence[int | None]) -> str:
    return "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"


def as_array(value: Any) -> AnyArray:
    """Return a value that must be an array."""
    need(isinstance(value, np.ndarray), "an array is missing")
    array: AnyArray = value
    return array
