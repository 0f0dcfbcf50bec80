"""Labels as files have them: numbers and names, written in one way."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import plain

__all__ = ["places_of", "typed_labels", "written"]

_WHOLE = re.compile(r"(-?\d{1,15})\.0+")


def written(value: Any) -> str:
    """Return a value as text; a whole number is written as such, whatever its type: many a program makes 2.0 of 2.

    >>> written("2.0"), written(np.float64(2.0)), written(True), written("2.5"), written("v2.0")
    ('2', '2', 'True', '2.5', 'v2.0')
    """
    text = str(plain(value))
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def places_of(classes: Iterable[Any]) -> tuple[dict[str, int], Callable[[Any], str]]:
    """Return the place of each class by its text, and what makes that text of a value: `written`, unless classes would collapse.

    >>> places_of([1, 2])[0], places_of(["2", "2.0"])[0]
    ({'1': 0, '2': 1}, {'2': 0, '2.0': 1})
    """
    known = [plain(label) for label in classes]
    for text in (written, str):
        place = {text(label): j for j, label in enumerate(known)}
        if len(place) == len(known):
            break
    return place, text


def typed_labels(labels: list[str]) -> AnyArray:
    """Return labels as integers if all are written as such (and so can be written back), else as strings."""
    values = set(labels)
    if all(len(v) < 19 and v.removeprefix("-").isdecimal() and str(int(v)) == v for v in values):
        return np.array(labels, dtype=np.int64)
    return np.array(labels)
