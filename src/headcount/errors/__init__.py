"""Measures of error: of estimated shares against true ones, and of a classifier's decisions.

A function of shares takes ``(true, estimated)`` or ``(true, estimated, sample_size)``, each a vector of shares or a
matrix with one row a sample, and returns one value a sample. Averages are taken last, by whoever asks for them.
"""

from headcount.errors.decisions import accuracy_error, f1_error, minority_class
from headcount.errors.registry import ErrorMeasure, get_error, list_errors, register_error
from headcount.errors.shares import ae, kld, nae, nkld, nmd, nrae, rae, se, smooth

__all__ = [
    "ErrorMeasure",
    "accuracy_error",
    "ae",
    "f1_error",
    "get_error",
    "kld",
    "list_errors",
    "minority_class",
    "nae",
    "nkld",
    "nmd",
    "nrae",
    "rae",
    "register_error",
    "se",
    "smooth",
]
