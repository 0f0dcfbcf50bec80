"""Errors of a classifier's decisions, by which a classifier is selected for accuracy or for F1."""

from typing import Any

import numpy as np

from headcount._typing import AnyArray, IntArray, Labels
from headcount._validation import as_labels, class_codes, encode, plain, quoted
from headcount.exceptions import DataError

__all__ = ["accuracy_error", "f1_error", "minority_class"]


def _common_codes(true: Labels, decided: Labels) -> tuple[AnyArray, IntArray, IntArray]:
    """Return the classes, and the codes over them of the true and the decided labels."""
    a, b = as_labels(true, "true"), as_labels(decided, "decided")
    if a.shape != b.shape:
        raise DataError(f"true has {a.size} labels and decided {b.size}: they must be of the same items.")
    if a.dtype.kind == b.dtype.kind or {a.dtype.kind, b.dtype.kind} <= set("iufb"):
        classes, codes = class_codes(np.concatenate([a, b]), "true")
        return classes, codes[: a.size], codes[a.size :]
    classes, codes = class_codes(a, "true")  # numpy would turn numbers into strings if it joined them with strings
    return classes, codes, encode(b, classes, "decided")


def _rarest(codes: IntArray) -> int:
    values, counts = np.unique(codes, return_counts=True)
    return int(values[counts.argmin()])


def minority_class(labels: Labels) -> Any:
    """Return the rarest label; among equally rare ones the first in sorted order.

    >>> minority_class(["pos", "neg", "pos"])
    'neg'
    >>> minority_class([1, 0])
    0
    """
    classes, codes = class_codes(labels, "labels")
    return plain(classes[_rarest(codes)])


def accuracy_error(true: Labels, decided: Labels) -> float:
    """Share of wrong decisions: one minus accuracy.

    >>> accuracy_error([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    """
    _, a, b = _common_codes(true, decided)
    return float(np.mean(a != b))


def f1_error(true: Labels, decided: Labels, positive: Any = None) -> float:
    r"""One minus :math:`F_1 = 2 \mathrm{TP} / (2 \mathrm{TP} + \mathrm{FP} + \mathrm{FN})` of one class.

    Parameters
    ----------
    true, decided : labels of the same items
    positive : label, optional
        The class whose F1 is meant; by default the minority class of ``true`` (see :func:`minority_class`).

    Examples
    --------
    >>> f1_error([0, 0, 1, 1, 1], [0, 1, 1, 1, 0])
    0.5
    """
    classes, a, b = _common_codes(true, decided)
    code = np.array([_rarest(a)]) if positive is None else np.flatnonzero(classes == positive)
    if code.size == 0:
        raise DataError(
            f"The class {positive!r} is neither a true nor a decided label; the labels are {quoted(classes, 10)}."
        )
    true_positives = int(np.sum((a == code) & (b == code)))
    positives = int(np.sum(a == code) + np.sum(b == code))  # 2 TP + FP + FN
    return 1.0 - 2.0 * true_positives / positives
