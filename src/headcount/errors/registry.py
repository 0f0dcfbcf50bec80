"""The registry of error measures: each knows its name, label, direction and what it needs, so that nobody else has to."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np

from headcount._typing import FloatArray
from headcount.errors import decisions, shares
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["ErrorMeasure", "get_error", "list_errors", "register_error"]


@dataclass(frozen=True)
class ErrorMeasure:
    """An error measure and what is known about it.

    Attributes
    ----------
    name : str
        What users write: ``scoring="rae"``.
    label : str
        What tables and axes show.
    title : str
        Its name in words.
    function : callable
        ``(true, estimated)``, or ``(true, estimated, sample_size)`` where it ``needs_sample_size``.
    of : {"shares", "decisions"}
        Whether it compares shares of samples or labels of items.
    needs_sample_size : bool
        Whether it smooths, and so needs the size of each sample.
    needs_minority : bool
        Whether it is about the minority class, which the caller may know better than from the labels at hand.
    ordinal : bool
        Whether the order of the classes matters to it.
    lower_is_better : bool
        Direction; all built-in measures are errors.
    upper : float or None
        Its largest possible value, if it has one.
    reference : str
        Where it is defined.
    """

    name: str
    label: str
    title: str
    function: Callable[..., Any]
    of: Literal["shares", "decisions"] = "shares"
    needs_sample_size: bool = False
    needs_minority: bool = False
    ordinal: bool = False
    lower_is_better: bool = True
    upper: float | None = None
    reference: str = ""

    def __call__(self, true: Any, estimated: Any, sample_size: Any = None, minority: Any = None) -> FloatArray:
        """Return the error of each sample (or, of decisions, the one error), whatever the measure needs."""
        if self.needs_minority:
            return np.asarray(self.function(true, estimated, minority))
        if not self.needs_sample_size:
            return np.asarray(self.function(true, estimated))
        if sample_size is None:
            raise DataError(f"{self.label} smooths the shares and needs the size of the samples: pass sample_size.")
        return np.asarray(self.function(true, estimated, sample_size))


_REGISTRY: dict[str, ErrorMeasure] = {}


def register_error(measure: ErrorMeasure) -> ErrorMeasure:
    """Add a measure of your own, for use by name wherever a measure is named; a taken name is refused."""
    if measure.name in _REGISTRY:
        raise DataError(f"There is already an error measure named {measure.name!r}: choose another name.")
    _REGISTRY[measure.name] = measure
    return measure


def get_error(name: str | ErrorMeasure) -> ErrorMeasure:
    """Look a measure up by name.

    >>> get_error("rae").needs_sample_size
    True
    >>> get_error("rea")
    Traceback (most recent call last):
    headcount.exceptions.UnknownNameError: There is no error measure 'rea'. Did you mean 'rae'? Known: ...
    """
    if isinstance(name, ErrorMeasure):
        return name
    if name in _REGISTRY:
        return _REGISTRY[name]
    close = get_close_matches(str(name), _REGISTRY, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise UnknownNameError(f"There is no error measure {name!r}.{hint} Known: {', '.join(_REGISTRY)}.")


def list_errors(of: Literal["shares", "decisions"] | None = None) -> list[ErrorMeasure]:
    """List the registered measures, all or those of shares or of decisions.

    >>> [measure.name for measure in list_errors("decisions")]
    ['accuracy', 'f1']
    """
    return [measure for measure in _REGISTRY.values() if of in (None, measure.of)]


_AXIOMS = "Sebastiani 2020"
for _measure in (
    ErrorMeasure("ae", "AE", "absolute error", shares.ae, upper=1.0, reference=_AXIOMS),
    ErrorMeasure("rae", "RAE", "relative absolute error", shares.rae, needs_sample_size=True, reference=_AXIOMS),
    ErrorMeasure("nae", "NAE", "normalised absolute error", shares.nae, upper=1.0, reference=_AXIOMS),
    ErrorMeasure("nrae", "NRAE", "normalised RAE", shares.nrae, needs_sample_size=True, upper=1.0, reference=_AXIOMS),
    ErrorMeasure("se", "SE", "squared error", shares.se, upper=1.0, reference=_AXIOMS),
    ErrorMeasure("kld", "KLD", "Kullback-Leibler divergence", shares.kld, needs_sample_size=True, reference=_AXIOMS),
    ErrorMeasure("nkld", "NKLD", "normalised KLD", shares.nkld, needs_sample_size=True, upper=1.0, reference=_AXIOMS),
    ErrorMeasure(
        "nmd", "NMD", "match distance, ordered classes", shares.nmd, ordinal=True, upper=1.0, reference="Sakai 2021"
    ),
    ErrorMeasure(
        "accuracy", "1 - accuracy", "share of wrong decisions", decisions.accuracy_error, of="decisions", upper=1.0
    ),
    ErrorMeasure(
        "f1",
        "1 - F1",
        "of the minority class",
        decisions.f1_error,
        of="decisions",
        upper=1.0,
        needs_minority=True,
        reference="van Rijsbergen 1979",
    ),
):
    register_error(_measure)
