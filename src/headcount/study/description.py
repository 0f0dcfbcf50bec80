"""Descriptions of estimators as plain data, by which a study finds its stored results.

The name of a result's file is a hash of the description, so a description must never change for an estimator that gives the same
figures: where a class has moved or got a new parameter, the two tables here keep it as it was.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from headcount._renamed import OLD_PATHS

__all__ = ["described", "stored_path"]

_ADDED_PARAMETERS: dict[str, Any] = {"classes": None, "refit": False}
"""Parameters of Headcount's estimators that stored descriptions do not have yet, with the default at which they are omitted."""


def stored_path(thing: Any) -> str:
    """Return the import path of a class or function under which results are stored."""
    path = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"
    return OLD_PATHS.get(path, path)


def described(value: Any) -> Any:
    """Return an estimator, or a value of a parameter, as plain data: its class by path, its parameters likewise."""
    if isinstance(value, BaseEstimator) or (hasattr(value, "get_params") and not isinstance(value, type)):
        parameters = {name: described(entry) for name, entry in value.get_params(deep=False).items()}
        if type(value).__module__.partition(".")[0] == "headcount":
            for name, default in _ADDED_PARAMETERS.items():
                if name in parameters and parameters[name] == default:
                    del parameters[name]
        return {"class": stored_path(type(value)), "parameters": parameters}
    if isinstance(value, dict):
        return {str(key): described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [described(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return described(value.tolist())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if callable(value):
        return stored_path(value)
    if hasattr(value, "__dict__"):
        parameters = {name: described(entry) for name, entry in sorted(vars(value).items())}
        return {"class": stored_path(type(value)), "parameters": parameters}
    return repr(value)
