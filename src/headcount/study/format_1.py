"""Results of format 1, which earlier versions of Headcount wrote: their descriptions, so that `restamp` can take them over.

There, parameters at their defaults were part of a description, and nothing said which code had computed a result.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from headcount.study.description import stored_path

__all__ = ["described", "description_of"]

_ADDED_PARAMETERS: dict[str, Any] = {"classes": None, "refit": False, "smoothing": 0.0}
"""Parameters of Headcount's estimators that stored descriptions do not have, with the default at which they are omitted."""


def description_of(description: dict[str, Any], members: Sequence[Any], protocol: Any) -> dict[str, Any]:
    """Return the description that a task had in format 1.

    Parameters
    ----------
    description : dict
        Its description now.
    members : sequence of Member
        Its members; empty for the true shares of a data set.
    protocol : Protocol
        The protocol that its samples are drawn by.
    """
    old = description | {"protocol": described(protocol)}
    if members:
        old["members"] = [
            {"method": m.method, "run": m.run, "params": m.params, "quantifier": described(m.quantifier)}
            for m in members
        ]
    return old


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
