"""Labels as files have them: numbers and names, written in one way."""

import re
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import plain

__all__ = ["typed_labels", "written"]

_WHOLE = re.compile(r"(-?\d{1,15})\.0+")


def written(value: Any) -> str:
    """Return a value as text; a whole number is written as such, whatever its type: many a program makes 2.0 of 2.

    >>> written("2.0"), written(np.float64(2.0)), written(True), written("2.5"), written("v2.0")
    ('2', '2', 'True', '2.5', 'v2.0')
    """
    text = str(plain(value))
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def typed_labels(labels: list[str]) -> AnyArray:
    """Return labels as integers if all are written as such (and so can be written back), else as strings."""
    values = set(labels)
    if all(len(v) < 19 and v.removeprefix("-").isdecimal() and str(int(v)) == v for v in values):
        return np.array(labels, dtype=np.int64)
    return np.array(labels)
