"""The registry of error measures: each declares its name, label, direction and needs, so that no other module lists measures."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Literal

import numpy as np

from headcount._typing import AnyArray, FloatArray
from headcount._validation import check_ordered
from headcount.errors import shares
from headcount.errors.decisions import accuracy_error, f1_error
from headcount.exceptions import DataError, UnknownNameError

__all__ = ["ErrorMeasure", "check_comparable", "check_order", "get_error", "list_errors", "register_error"]


@dataclass(frozen=True)
class ErrorMeasure:
    """An error measure with its name, label, direction and needs.

    Attributes
    ----------
    name : str
        Name in calls: ``scoring="rae"``.
    label : str
        Name in tables and on axes.
    title : str
        Full name.
    function : callable
        ``(true, estimated)``, or ``(true, estimated, sample_size)`` where it ``needs_sample_size``.
    of : {"shares", "decisions"}
        Whether it compares shares of samples or labels of items.
    needs_sample_size : bool
        Whether it smooths, and so needs the size of each sample.
    needs_minority : bool
        Whether it is about the minority class. The caller passes the class, because it may be another one in training than in
        the part that is scored.
    needs_training : bool
        Whether it is relative to the class shares in training, which the caller passes.
    ordered : bool
        Whether it depends on the order of the classes (see :func:`check_order`).
    lower_is_better : bool
        Direction; True for all built-in measures.
    signed : bool
        Whether it tells overestimated shares from underestimated ones: 0 is best, and a mean of 0 may hide large errors.
    upper : float or None
        Largest possible value, if there is one.
    reference : str
        Publication that defines it.
    """

    name: str
    label: str
    title: str
    function: Callable[..., Any]
    of: Literal["shares", "decisions"] = "shares"
    needs_sample_size: bool = False
    needs_minority: bool = False
    needs_training: bool = False
    ordered: bool = False
    lower_is_better: bool = True
    signed: bool = False
    upper: float | None = None
    reference: str = ""

    def __call__(
        self, true: Any, estimated: Any, sample_size: Any = None, minority: Any = None, training: Any = None
    ) -> FloatArray:
        """Return the error of each sample (for a measure of decisions, one error); arguments that it does not need are ignored."""
        if self.needs_training:
            if training is None:
                raise DataError(
                    f"{self.label} is relative to the class shares in training: pass training=[...], in the order of the classes."
                )
            return np.asarray(self.function(true, estimated, training))
        if self.needs_minority:
            return np.asarray(self.function(true, estimated, minority))
        if not self.needs_sample_size:
            return np.asarray(self.function(true, estimated))
        if sample_size is None:
            raise DataError(f"{self.label} smooths the shares and needs the size of the samples: pass sample_size.")
        return np.asarray(self.function(true, estimated, sample_size))


_of_shares = partial(ErrorMeasure, reference="Sebastiani 2020")
_of_decisions = partial(ErrorMeasure, of="decisions", upper=1.0)
_BUILT_IN = (
    _of_shares("ae", "AE", "absolute error", shares.ae, upper=1.0),
    _of_shares("rae", "RAE", "relative absolute error", shares.rae, needs_sample_size=True),
    _of_shares("nae", "NAE", "normalised absolute error", shares.nae, upper=1.0),
    _of_shares("nrae", "NRAE", "normalised RAE", shares.nrae, needs_sample_size=True, upper=1.0),
    _of_shares("se", "SE", "squared error", shares.se, upper=1.0),
    _of_shares("kld", "KLD", "Kullback-Leibler divergence", shares.kld, needs_sample_size=True),
    _of_shares("nkld", "NKLD", "normalised KLD", shares.nkld, needs_sample_size=True, upper=1.0),
    _of_shares("bias", "bias", "signed error of the second of two classes", shares.bias, signed=True, upper=1.0),
    _of_shares("aqe", "AQE", "Aitchison distance", shares.aqe, needs_sample_size=True, reference="Aitchison 1986"),
    _of_shares(
        "sre", "SRE", "squared ratio error, of weights", shares.sre, needs_training=True, reference="Lipton et al. 2018"
    ),
    _of_shares("md", "MD", "match distance, ordered classes", shares.md, ordered=True, reference="Werman et al. 1985"),
    _of_shares(
        "nmd", "NMD", "match distance, ordered classes", shares.nmd, ordered=True, upper=1.0, reference="Sakai 2021"
    ),
    _of_shares(
        "nemd",
        "NEMD",
        "match distance over its largest, ordered classes",
        shares.nemd,
        ordered=True,
        upper=1.0,
        reference="Castaño et al. 2022",
    ),
    _of_shares(
        "rnod", "RNOD", "order-aware divergence, ordered classes", shares.rnod, ordered=True, reference="Sakai 2021"
    ),
    _of_decisions("accuracy", "1 - accuracy", "share of wrong decisions", accuracy_error),
    _of_decisions(
        "f1", "1 - F1", "of the minority class", f1_error, needs_minority=True, reference="van Rijsbergen 1979"
    ),
)
_REGISTRY = {measure.name: measure for measure in _BUILT_IN}


def register_error(measure: ErrorMeasure) -> ErrorMeasure:
    """Add a measure, for use by name in evaluation and search.

    Registering a name again replaces the measure, so that a notebook cell can be run twice; built-in measures can't be replaced.
    """
    if _REGISTRY.get(measure.name) in _BUILT_IN:
        raise DataError(f"{measure.name!r} is a built-in error measure: choose another name.")
    _REGISTRY[measure.name] = measure
    return measure


def get_error(name: str | ErrorMeasure) -> ErrorMeasure:
    """Look up a measure by name.

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
    close = get_close_matches(str(name), _REGISTRY)
    closest = min(close, key=lambda one: sorted(one) != sorted(str(name)), default=None)  # swapped letters first
    hint = f" Did you mean {closest!r}?" if closest else ""
    raise UnknownNameError(f"There is no error measure {name!r}.{hint} Known: {', '.join(_REGISTRY)}.")


def list_errors(of: Literal["shares", "decisions"] | None = None) -> list[ErrorMeasure]:
    """List the registered measures: all, or only those of shares or of decisions.

    >>> [measure.name for measure in list_errors("decisions")]
    ['accuracy', 'f1']
    """
    return [measure for measure in _REGISTRY.values() if of in (None, measure.of)]


def check_order(measure: ErrorMeasure, classes: AnyArray, ordered: bool) -> None:
    """Raise if the measure depends on the order of the classes and these are only in alphabetical order.

    Parameters
    ----------
    measure : ErrorMeasure
    classes : array of labels
    ordered : bool
        Whether the user gave the order of the classes. Numbers and dates are in order without that.
    """
    if measure.ordered:
        check_ordered(classes, ordered, measure.label)


def check_comparable(measure: ErrorMeasure) -> None:
    """Raise if means of the measure over samples do not rank methods: it is signed, or needs the class shares in training."""
    if measure.signed:
        raise DataError(
            f"{measure.label} is a signed error, whose mean may be 0 though every sample is far off: choose by another measure, "
            "such as 'ae', and look at the bias afterwards."
        )
    if measure.needs_training:
        raise DataError(
            f"{measure.label} needs the class shares in training, which differ from fit to fit: choose by another measure, such as "
            "'se', or pass a function of true and estimated shares that holds them."
        )
