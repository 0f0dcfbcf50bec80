"""Error measures: of estimated shares against true ones, and of a classifier's decisions.

A measure of shares takes ``(true, estimated)`` or ``(true, estimated, sample_size)``, each a vector of shares or a matrix with
one row per sample, and returns one value per sample. Averages are left to the caller, so that paired tests stay possible.
"""

from headcount.errors.decisions import accuracy_error, f1_error, minority_class
from headcount.errors.registry import (
    ErrorMeasure,
    check_comparable,
    check_order,
    get_error,
    list_errors,
    register_error,
)
from headcount.errors.shares import ae, aqe, bias, kld, md, nae, nemd, nkld, nmd, nrae, rae, rnod, se, smooth, sre

__all__ = [
    "ErrorMeasure",
    "accuracy_error",
    "ae",
    "aqe",
    "bias",
    "check_comparable",
    "check_order",
    "f1_error",
    "get_error",
    "kld",
    "list_errors",
    "md",
    "minority_class",
    "nae",
    "nemd",
    "nkld",
    "nmd",
    "nrae",
    "rae",
    "register_error",
    "rnod",
    "se",
    "smooth",
    "sre",
]
