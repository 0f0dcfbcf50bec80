"""What is asked of a monitor, checked: a reference and bands, as Python values or as the text of an option."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headcount._labels import class_positions
from headcount._typing import AnyArray, FloatArray
from headcount._validation import quoted
from headcount.exceptions import DataError

__all__ = ["Reference", "as_bands", "as_reference", "bands_from_text"]

_FIRST = re.compile(r"first[ :]?\s*([0-9_,]+)(?:\s*items)?", re.IGNORECASE)
_LEAST_FIRST = 100
"""Items that a reference is made of at least."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Shares that later ones are compared with: given ones, or those of the first items of the stream."""

    shares: FloatArray | None
    first: int = 0
    title: str = ""


def as_reference(given: Any, classes: AnyArray, labelled: FloatArray) -> Reference | None:
    """Return the reference that is asked for.

    Parameters
    ----------
    given : None, "labelled", "first N items", shares in the order of the classes, a mapping of class to share, or text of one
    classes : array
    labelled : array of shape (n_classes,)
        Shares among the labelled items.
    """
    if given is None:
        return None
    if isinstance(given, str):
        text = given.strip()
        if text == "labelled":
            return Reference(labelled, title="the labelled items")
        found = _FIRST.fullmatch(text)
        if found:
            n = int(re.sub("[_,]", "", found[1]) or 0)
            if n < _LEAST_FIRST:
                raise DataError(
                    f"A reference of the first {n} items is too uncertain: at least {_LEAST_FIRST} are needed."
                )
            return Reference(None, n, f"the first {n:,} items")
        given = _pairs(text, "--reference")
    k = len(classes)
    if isinstance(given, Mapping):
        positions, text_of = class_positions(classes)
        named = {text_of(name): value for name, value in given.items()}
        _check_names(named, positions, "The reference")
        shares = np.full(k, np.nan)
        for name, value in named.items():
            shares[positions[name]] = _number(value, f"The reference of {name}")
        if np.isnan(shares).sum() == 1:
            shares[np.isnan(shares)] = 1.0 - np.nansum(shares)
    else:
        if not isinstance(given, Sequence | np.ndarray):
            raise DataError(f"reference must be shares, 'labelled' or 'first N items'; got {given!r}.")
        shares = np.asarray(given, dtype=np.float64)
    if shares.shape != (k,) or np.isnan(shares).any():
        raise DataError(f"The reference must give the share of each of the {k} classes: {quoted(classes)}.")
    if (shares < 0.0).any() or abs(shares.sum() - 1.0) > 1e-6:
        raise DataError(
            f"The shares of a reference must be at least 0 and sum to 1; these are {', '.join(f'{p:g}' for p in shares)}, with the "
            f"sum {shares.sum():g}."
        )
    return Reference(shares / shares.sum(), title="the reference")


def as_bands(given: Mapping[Any, Any] | None, classes: AnyArray) -> dict[int, tuple[float, float]]:
    """Return the band of each class that has one, by its position."""
    if not given:
        return {}
    positions, text_of = class_positions(classes)
    named = {text_of(name): ends for name, ends in given.items()}
    _check_names(named, positions, "The band")
    bands = {}
    for name, ends in named.items():
        if isinstance(ends, str) or len(ends) != 2:
            raise DataError(f"The band of {name} must be two shares, low and high; got {ends!r}.")
        low, high = (_number(end, f"The band of {name}") for end in ends)
        if not 0.0 <= low < high <= 1.0:
            raise DataError(
                f"The band of {name} must go from a lower to a higher share within 0 and 1; got {low:g} to {high:g}."
            )
        bands[positions[name]] = (low, high)
    return bands


def bands_from_text(texts: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the bands of options such as ``positive=0.2:0.4``, separated by commas or given several times.

    >>> bands_from_text(["positive=0.2:0.4,other=0:0.1"])
    {'positive': ('0.2', '0.4'), 'other': ('0', '0.1')}
    """
    bands: dict[str, tuple[str, str]] = {}
    for text in texts:
        for name, ends in _pairs(text, "--band").items():
            low, colon, high = ends.partition(":")
            if not colon or name in bands:
                raise DataError(f"--band {text}: write the band of each class once, as in positive=0.2:0.4.")
            bands[name] = (low, high)
    return bands


def _pairs(text: str, option: str) -> dict[str, str]:
    pairs = {}
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        if not equals or name.strip() in pairs:
            example = "positive=0.2:0.4" if option == "--band" else "positive=0.3, labelled, or first:2000"
            raise DataError(f"{option} {text}: {part.strip()!r} can't be read; write {example}.")
        pairs[name.strip()] = value.strip()
    return pairs


def _check_names(named: Mapping[str, Any], positions: Mapping[str, int], what: str) -> None:
    unknown = [name for name in named if name not in positions]
    if unknown:
        raise DataError(f"{what} names {quoted(unknown)}, which is not a class; the classes are {quoted(positions)}.")


def _number(value: Any, what: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if number != number:
        raise DataError(f"{what} must be a share between 0 and 1; got {value!r}.")
    return number
