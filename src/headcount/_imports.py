"""Import objects that users name by path, as in a plan or on the command line."""

from importlib import import_module
from typing import Any

from headcount.exceptions import DataError

__all__ = ["import_object"]


def import_object(path: str, what: str) -> Any:
    """Return the object at an import path such as ``package.module:Name`` or ``package.module.Name``."""
    module, _, name = str(path).replace(":", ".").rpartition(".")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # a user's module may raise anything when it is imported
        raise DataError(
            f"The {what} can't be imported as {path!r}: {type(error).__name__}: {error}. Is its module on the path?"
        ) from error
