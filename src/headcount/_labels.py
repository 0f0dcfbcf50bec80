"""Labels and group names as text files and tables write them, converted in one way everywhere."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from headcount._typing import AnyArray
from headcount._validation import check_label_lengths, plain, quoted
from headcount.exceptions import DataError

__all__ = ["class_order", "class_positions", "label_text", "typed_labels"]

_INTEGRAL_FLOAT = re.compile(r"(-?\d{1,15})\.0+")


def label_text(value: Any) -> str:
    """Text of a label; an integral number is written without decimals, because pandas turns a column of 2 into 2.0 at a gap.

    >>> label_text("2.0"), label_text(np.float64(2.0)), label_text(True), label_text("2.5"), label_text("v2.0")
    ('2', '2', 'True', '2.5', 'v2.0')
    """
    text = str(plain(value))
    integral = _INTEGRAL_FLOAT.fullmatch(text)
    return integral[1] if integral else text


def class_positions(classes: Iterable[Any]) -> tuple[dict[str, int], Callable[[Any], str]]:
    """Map the text of each class to its position, and return the function that makes the text of a value.

    That function is `label_text`, or `str` where two classes would get the same text.

    >>> class_positions([1, 2])[0], class_positions(["2", "2.0"])[0]
    ({'1': 0, '2': 1}, {'2': 0, '2.0': 1})
    """
    labels = [plain(label) for label in classes]
    for text in (label_text, str):
        positions = {text(label): j for j, label in enumerate(labels)}
        if len(positions) == len(labels):
            break
    return positions, text


def typed_labels(labels: list[str]) -> AnyArray:
    """Labels as integers if all of them are written as integers (so that they can be written back), else as strings."""
    values = set(labels)
    check_label_lengths(values, "A label")
    if all(len(v) < 19 and v.removeprefix("-").isdecimal() and str(int(v)) == v for v in values):
        return np.array(labels, dtype=np.int64)
    return np.array(labels)


def class_order(classes: Iterable[Any], wanted: Iterable[Any]) -> list[int]:
    """Return the positions of the classes in the order that is wanted; raise unless that names each of them once.

    >>> class_order(["bad", "fair", "good"], ["good", "fair", "bad"])
    [2, 1, 0]
    """
    positions, text = class_positions(classes)
    given = [text(label) for label in wanted]
    if sorted(given) != sorted(positions):
        raise DataError(
            f"The order of the classes (--ordered) must name each class once; got {quoted(given, 10)}, and the classes are "
            f"{quoted(positions, 10)}."
        )
    return [positions[label] for label in given]
