"""Representations of documents that a plan can name."""

from typing import Any

from headcount._imports import import_object
from headcount.exceptions import DataError

__all__ = ["make_transformer", "module_of"]

_SHIPPED = {"tfidf": "headcount.features.tfidf.LogTfidf", "ids": "headcount.features.term_ids.TermIds"}


def make_transformer(representation: str) -> Any:
    """Return the transformer of a representation: a shipped one by name, or one by import path."""
    path = _SHIPPED.get(representation, representation)
    if "." not in path.replace(":", "."):
        raise DataError(
            f"There is no representation {representation!r}: use 'tfidf', 'ids', or the import path of a transformer."
        )
    transformer = import_object(path, "representation")()
    if not hasattr(transformer, "fit_transform"):
        raise DataError(
            f"{representation} is not a transformer: a representation must have fit_transform and transform."
        )
    return transformer


def module_of(representation: str) -> str:
    """Return the module of a representation's transformer, without importing it."""
    return _SHIPPED.get(representation, representation).replace(":", ".").rpartition(".")[0]
