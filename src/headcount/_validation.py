"""Validation of user input, with all its messages: labels, classes, items, shares, seeds, parameters.

Parameter constraints are scikit-learn's: declared on a class as ``_parameter_constraints`` and checked by ``_validate_params``.
"""

import numbers
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from headcount._typing import AnyArray, FloatArray, IntArray, Items, Labels, RandomState
from headcount.exceptions import DataError

__all__ = [
    "MAX_LABEL",
    "MIN_ITEMS_OF_A_CLASS",
    "HasMethods",
    "Interval",
    "StrOptions",
    "as_classes",
    "as_items",
    "as_labels",
    "as_shares",
    "check_class_counts",
    "check_label_lengths",
    "check_ordered",
    "class_codes",
    "encode",
    "has_natural_order",
    "integers_from",
    "labelled_items",
    "learn_classes",
    "plain",
    "quoted",
    "seed_of",
    "seed_sequence",
]

_QUOTED = 200
"""Characters of a text that a message quotes."""
_TABLE_LIMIT = 2**62
"""Integer labels from here on, positive or negative, are sorted and not encoded through a table, which computes in int64."""


MAX_LABEL = 1_000
"""Characters of a label: numpy stores each label of an array in as many as the longest takes, four bytes each."""


def plain(value: Any) -> Any:
    """Return a numpy scalar as a Python object; a date stays a numpy scalar, since Python's has no nanoseconds."""
    return value.item() if isinstance(value, np.generic) and value.dtype.kind not in "mM" else value


def quoted(values: Iterable[Any], most: int = 5) -> str:
    """Format values for a message: the first few, then the number of further ones."""
    values = list(values)
    shown = ", ".join(repr(str(v) if isinstance(v, np.datetime64) else _shortened(plain(v))) for v in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def _shortened(value: Any) -> Any:
    """Return a value, or the beginning of a text that is too long for a message."""
    return f"{value[:_QUOTED]}…" if isinstance(value, str) and len(value) > _QUOTED else value


def check_label_lengths(labels: Iterable[Any], what: str) -> None:
    """Raise if a label is too long, before an array is made of them."""
    long = next((label for label in labels if isinstance(label, str) and len(label) > MAX_LABEL), None)
    if long is not None:
        raise DataError(
            f"{what} has {len(long):,} characters and begins with {long[:40]!r}: a label has at most {MAX_LABEL:,}. Is this a "
            "column of texts?"
        )


def _beginning(value: Any) -> Any:
    """Return a value, or the first letters of a long text."""
    return f"{str(value)[:40]}…" if len(str(value)) > 40 else plain(value)


def integers_from(low: int) -> list[Any]:
    """Return the constraint of a parameter that takes integers of at least ``low``."""
    return [Interval(numbers.Integral, low, None, closed="left")]


# --------------------------------------------------------------------------------------------------- labels


def _is_missing(value: Any) -> bool:
    is_nan = isinstance(value, float) and value != value
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def as_labels(labels: Any, what: str = "y") -> AnyArray:
    """Return labels as a one-dimensional array of strings, numbers, booleans or dates, without missing values."""
    if np.ma.is_masked(labels):
        raise DataError(f"{what} has masked labels: drop those items or label them.")
    if not hasattr(labels, "dtype") and hasattr(labels, "__iter__") and not isinstance(labels, str | bytes):
        items = list(labels)
        if items and all(hasattr(item, "__len__") and not isinstance(item, str | bytes) for item in items):
            array = np.asarray(items)
        else:
            array = np.empty(len(items), dtype=object)  # np.array would turn NaN and numbers among strings into strings
            array[:] = items
    else:
        array = np.asarray(labels)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise DataError(
            f"{what} must be one-dimensional, with one label per item; it has shape {array.shape}. "
            "Headcount quantifies single-label classes: pass one column of labels."
        )
    if array.size == 0:
        raise DataError(f"{what} is empty: at least one labelled item is needed.")
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind == "O":
        array = _narrow_objects(array, what)
    if array.dtype.kind in "fmM" and not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(f"{what} has a NaN or infinite label at position {row}: drop those items or label them.")
    return array


def _narrow_objects(array: AnyArray, what: str) -> AnyArray:
    """Return an array of objects as one of strings or numbers where all are such; objects of different types are an error."""
    values = array.tolist()
    missing = next((i for i, value in enumerate(values) if _is_missing(value)), None)
    if missing is not None:
        raise DataError(f"{what} has a missing label at position {missing}: drop those items or label them.")
    types = {type(value) for value in values}
    numeric = all(issubclass(t, bool | int | float | np.number | np.bool_) for t in types)
    if numeric or all(issubclass(t, str) for t in types):
        check_label_lengths(values, f"A label of {what}")
        return np.array(values)
    if len(types) > 1:
        kinds = ", ".join(sorted(t.__name__ for t in types))
        raise DataError(f"{what} mixes labels of different types that can't be ordered ({kinds}): use one type.")
    return array


def class_codes(labels: Any, what: str = "y") -> tuple[AnyArray, IntArray]:
    """Return the sorted distinct labels and the position of each item's label among them."""
    array = as_labels(labels, what)
    if array.dtype.kind in "iub":
        low, high = int(array.min()), int(array.max())
        if high - low <= 4 * array.size and low > -_TABLE_LIMIT and high < _TABLE_LIMIT:
            # A table over the range of the labels: about thirty times faster than sorting them.
            offsets = array.astype(np.int64) - low
            present = np.bincount(offsets) > 0
            code_table = np.cumsum(present, dtype=np.int32) - 1
            return (np.flatnonzero(present) + low).astype(array.dtype), code_table[offsets]
    if array.dtype.kind == "U":
        values = array.tolist()  # a dictionary of the distinct strings: np.unique would sort all of them
        code_of = {value: code for code, value in enumerate(sorted(set(values)))}
        return np.array(list(code_of)), np.fromiter(map(code_of.__getitem__, values), np.int32, len(values))
    try:
        classes, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        kinds = ", ".join(sorted({type(v).__name__ for v in array}))
        raise DataError(f"{what} holds labels that can't be ordered ({kinds}): use strings or integers.") from error
    return classes, codes.astype(np.int32, copy=False)


def learn_classes(labels: Labels, what: str = "y", classes: Any = None) -> tuple[AnyArray, IntArray]:
    """Return the classes and the codes of training labels: at least two classes, and no fractional numbers.

    Parameters
    ----------
    labels : labels of the training items
    what : str
        Name of the labels in messages.
    classes : sequence of labels, optional
        All classes in their order, which the codes follow; each needs a labelled item. By default the sorted distinct labels.
    """
    present, codes = class_codes(labels, what)
    if present.dtype.kind == "f" and not np.equal(np.mod(present, 1), 0).all():
        raise DataError(
            f"{what} holds fractional numbers ({quoted(present)}), which is an unknown label type for classes: "
            "use integers, strings or booleans as labels."
        )
    if classes is None:
        if len(present) < 2:
            raise DataError(
                f"{what} holds only one class, {quoted(present)}: a quantifier needs labelled items of at least two classes."
            )
        return present, codes
    given = as_classes(classes)
    codes = _positions(present, given, what)[codes]
    lacking = np.bincount(codes, minlength=len(given)) == 0
    if lacking.any():
        raise DataError(
            f"{what} holds no item of class {quoted(given[lacking])}, which classes names: a quantifier needs at least one "
            "labelled item of each class."
        )
    return given, codes


MIN_ITEMS_OF_A_CLASS = 5
"""Labelled items of a class that are needed to train on some, to validate on others and to judge on the rest."""


def check_class_counts(
    classes: AnyArray, codes: IntArray, least: int = MIN_ITEMS_OF_A_CLASS, most: int = 100, where: str = ""
) -> None:
    """Raise unless there are from two to ``most`` classes with at least ``least`` items each.

    Parameters
    ----------
    classes : array of labels
    codes : array of int
        Position in ``classes`` of each item's label.
    least, most : int
        Fewest items of a class, and most classes.
    where : str
        Subject of the message, such as "train.csv, column 'label',"; by default "y".
    """
    what, n_classes = where or "y", len(classes)
    if n_classes > most:
        raise DataError(
            f"{what} holds {n_classes:,} different labels, such as {quoted(map(_beginning, classes[:5]))}: that looks like a "
            f"number, an id or a text rather than a class. At most {most} classes are possible: merge classes or choose another "
            "column."
        )
    if n_classes < 2:
        raise DataError(f"{what} holds only one class, {quoted(classes)}: at least two are needed.")
    counts = np.bincount(codes, minlength=n_classes)
    rarest = int(counts.argmin())
    if counts[rarest] < least:
        raise DataError(
            f"{what} holds {counts[rarest]} item{'s' if counts[rarest] != 1 else ''} of class {quoted(classes[[rarest]])} "
            f"({(counts < least).sum()} of {n_classes} classes have fewer than {least}): at least {least} of each class are "
            "needed. Label more of them, merge classes, or drop those items."
        )


def as_classes(classes: Any) -> AnyArray:
    """Return classes as an array in the order given: at least two, each once."""
    given = [] if classes is None or isinstance(classes, str | bytes | set) else list(classes)  # a set has no order
    if len(given) < 2:
        raise DataError(f"classes must be a list that names at least two classes, each once; got {classes!r}.")
    names = as_labels(classes if hasattr(classes, "dtype") else given, "classes")
    if len(set(names.tolist())) < len(names):
        raise DataError(f"classes must name at least two classes, each once; got {quoted(names, 10)}.")
    return names


def has_natural_order(classes: AnyArray) -> bool:
    """Whether sorting puts the classes in a meaningful order: numbers, booleans and dates, but not texts."""
    return classes.dtype.kind in "biufmM"


def check_ordered(classes: AnyArray, ordered: bool, what: str) -> None:
    """Raise where something goes by the order of the classes and these are only in alphabetical order.

    Parameters
    ----------
    classes : array of labels
    ordered : bool
        Whether their order was given. Numbers and dates are in order without that.
    what : str
        What depends on the order.
    """
    if not (ordered or has_natural_order(classes)):
        raise DataError(
            f"{what} depends on the order of the classes, but {quoted(classes)} are only in alphabetical order: give the "
            "quantifier the classes from lowest to highest, classes=[...] (--ordered LOWEST,...,HIGHEST)."
        )


def encode(labels: Labels, classes: AnyArray, what: str = "y") -> IntArray:
    """Return each label's position in ``classes``, which may be in any order; a label not among them is an error."""
    present, codes = class_codes(labels, what)
    return _positions(present, classes, what)[codes]


def _positions(labels: AnyArray, classes: AnyArray, what: str) -> IntArray:
    """Return the position in ``classes`` of each of a few distinct labels."""
    position = {label: i for i, label in enumerate(classes.tolist())}  # 1 equals True and 1.0, but not '1'
    outside = [label for label in labels.tolist() if label not in position]
    if outside:
        raise DataError(
            f"{what} holds {quoted(outside)}, not among the classes ({quoted(classes, 10)}). "
            "Labels must be of the same type as the classes; drop or relabel items of other classes."
        )
    return np.array([position[label] for label in labels.tolist()], dtype=np.int32)


# ---------------------------------------------------------------------------------------------------- items


def as_items(X: Items, what: str = "X") -> tuple[Items, int]:
    """Return items in a form whose rows can be selected (sparse matrices as CSR, iterables as lists), and their number."""
    from scipy.sparse import issparse
    from sklearn.utils.validation import _num_samples

    if isinstance(X, str | bytes):
        raise DataError(f"{what} is one string: pass a list with one text per item.")
    if issparse(X):
        X = cast("Any", X).tocsr()
    elif not hasattr(X, "shape") and not isinstance(X, list):
        X = list(X) if hasattr(X, "__iter__") else X
    n_items = int(_num_samples(X))
    if n_items == 0:
        raise DataError(f"Found array with 0 sample(s): {what} is empty, and at least one item is needed.")
    return X, n_items


def labelled_items(X: Items, y: Labels) -> tuple[Items, AnyArray]:
    """Return checked items and labels of the same number."""
    from sklearn.utils.validation import check_consistent_length

    if y is None:
        raise DataError("requires y to be passed, but the target y is None: a quantifier learns from labelled items.")
    X, _ = as_items(X)
    labels = as_labels(y)
    check_consistent_length(X, labels)
    return X, labels


# --------------------------------------------------------------------------------------------------- shares


def as_shares(shares: Any, what: str) -> FloatArray:
    """Return a vector or matrix of class shares as floats: finite, non-negative, each row summing to 1."""
    try:
        array = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"{what} must hold numbers, the shares of the classes, in a vector or matrix: {error}"
        ) from error
    if array.ndim not in (1, 2) or array.shape[-1] < 2 or array.shape[0] == 0:
        raise DataError(
            f"{what} must hold shares of at least two classes, shape (n_classes,) or (n_samples, n_classes); "
            f"its shape is {array.shape}."
        )
    rows = np.atleast_2d(array)
    with np.errstate(invalid="ignore"):
        bad = ~(np.isfinite(rows).all(axis=1) & (rows >= -1e-9).all(axis=1) & (abs(rows.sum(axis=1) - 1) < 1e-6))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{what} must hold shares that are not negative and sum to 1; row {row} is {rows[row].tolist()}, "
            f"with sum {rows[row].sum():.6g}."
        )
    return np.maximum(array, 0.0)  # a solver's rounding may leave shares slightly below zero


# ---------------------------------------------------------------------------------------------------- seeds


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Turn ``random_state`` into a seed sequence, without using numpy's global generator."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    if random_state is None:
        return np.random.SeedSequence()
    if not isinstance(random_state, int | np.integer) or isinstance(random_state, bool) or random_state < 0:
        raise DataError(
            f"random_state must be None, a non-negative integer, a RandomState or a Generator; got {random_state!r}."
        )
    return np.random.SeedSequence(int(random_state))


def seed_of(random_state: RandomState) -> int | np.random.RandomState:
    """Turn ``random_state`` into one that scikit-learn accepts.

    An integer that scikit-learn accepts is kept, so that its own functions repeat the same split.
    """
    if isinstance(random_state, np.random.RandomState):
        return random_state
    sequence = seed_sequence(random_state)
    if isinstance(random_state, int | np.integer) and random_state < 2**32:
        return int(random_state)
    return int(sequence.generate_state(1)[0])
