"""Errors of a classifier's decisions, on which the paper's "optimised for accuracy" and "for F1" rest."""

from typing import Any

import numpy as np

from headcount._typing import AnyArray, Labels
from headcount._validation import as_labels, class_codes, encode, plain, quoted
from headcount.exceptions import DataError

__all__ = ["accuracy_error", "f1_error", "minority_class"]


def _codes(true: Labels, decided: Labels) -> tuple[Any, Any, Any]:
    a, b = as_labels(true, "true"), as_labels(decided, "decided")
    if a.shape != b.shape:
        raise DataError(f"true has {a.size} labels and decided {b.size}: they must be of the same items.")
    classes, _ = class_codes(np.concatenate([a, b]) if _comparable(a, b) else a, "true")
    return classes, encode(a, classes, "true"), encode(b, classes, "decided")


def _comparable(a: AnyArray, b: AnyArray) -> bool:
    return a.dtype.kind == b.dtype.kind or {a.dtype.kind, b.dtype.kind} <= set("iufb")


def minority_class(labels: Labels) -> Any:
    """Return the rarest label; of equally rare ones the first in sorted order.

    >>> minority_class(["pos", "neg", "pos"])
    'neg'
    >>> minority_class([1, 0])
    0
    """
    classes, codes = class_codes(labels, "labels")
    return plain(classes[np.argmin(np.bincount(codes))])


def accuracy_error(true: Labels, decided: Labels) -> float:
    """Share of wrong decisions: one minus accuracy.

    >>> accuracy_error([0, 0, 1, 1], [0, 1, 1, 1])
    0.25
    """
    _, a, b = _codes(true, decided)
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
    classes, a, b = _codes(true, decided)
    positive = minority_class(true) if positive is None else positive
    target = np.flatnonzero(classes == positive)
    if target.size == 0:
        raise DataError(
            f"The class {positive!r} neither occurs nor is decided for; the labels are {quoted(classes, 10)}."
        )
    hits = int(np.sum((a == target) & (b == target)))
    asked = int(np.sum(a == target) + np.sum(b == target))
    return 1.0 - 2.0 * hits / asked
