"""What a search is scored by: error measures by name, as objects, or as functions of true and estimated shares."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from headcount._validation import quoted
from headcount.errors import ErrorMeasure, check_comparable, get_error, list_errors
from headcount.exceptions import DataError

__all__ = ["Scoring", "measures_of"]

Scoring: TypeAlias = str | ErrorMeasure | Callable[..., Any]


def measures_of(scoring: Scoring | Sequence[Scoring]) -> list[ErrorMeasure]:
    """Return the measures that a scoring, or each of a list of scorings, stands for.

    Examples
    --------
    >>> from headcount.errors import rae
    >>> def largest_error(true, estimated):
    ...     return abs(true - estimated).max(axis=1)
    >>> [measure.name for measure in measures_of(["ae", rae, largest_error])]
    ['ae', 'rae', 'largest_error']
    """
    entries = list(scoring) if isinstance(scoring, list | tuple) else [scoring]
    measures: dict[str, ErrorMeasure] = {}
    for measure in map(_measure, entries):
        check_comparable(measure)
        if measures.setdefault(measure.name, measure) != measure:
            raise DataError(f"Two scorings are named {measure.name!r}: rename one of the functions.")
    if not measures:
        raise DataError(f"scoring must name at least one error measure, such as 'ae'; got {scoring!r}.")
    return list(measures.values())


def _measure(entry: Any) -> ErrorMeasure:
    if isinstance(entry, str | ErrorMeasure):
        return get_error(entry)
    registered = next((measure for measure in list_errors() if measure.function is entry), None)
    if registered is not None:
        return registered
    name = getattr(entry, "__name__", None)
    if not callable(entry) or name is None:
        raise DataError(
            f"scoring must name at least one error measure, such as 'ae', or be a function (true, estimated) -> errors that has a "
            f"__name__; got {quoted([entry])}."
        )
    return ErrorMeasure(name, label=name, title=name, function=entry)
