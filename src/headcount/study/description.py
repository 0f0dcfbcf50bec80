"""Descriptions of estimators as plain data, by which a study finds its stored results.

The name of a result's file is a hash of the description. A description holds parameters by value and omits those at their
defaults, so a class can get a parameter with a default without losing its results: what a default means is the code's business,
which has a version of its own (`code_version`). Where a class has moved, it is described by the path it had.
"""

import functools
import inspect
import json
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from headcount._renamed import OLD_PATHS

__all__ = ["described", "modules_in", "stored_path"]


def stored_path(thing: Any) -> str:
    """Return the import path of a class or function under which results are stored."""
    path = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"
    return OLD_PATHS.get(path, path)


def described(value: Any) -> Any:
    """Return an estimator, or a value of a parameter, as plain data: its class by path, its parameters likewise.

    >>> from sklearn.linear_model import LogisticRegression
    >>> described(LogisticRegression(C=10.0, fit_intercept=True))["parameters"]
    {'C': 10.0}
    """
    if isinstance(value, dict):
        return {str(key): described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [described(entry) for entry in value]
    if isinstance(value, set | frozenset):
        return sorted((described(entry) for entry in value), key=json.dumps)
    if isinstance(value, np.ndarray | np.generic):
        return described(value.tolist())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, functools.partial):
        return {"partial": stored_path(value.func), "of": described([value.args, value.keywords])}
    parameters = _parameters(value)
    if parameters is not None:
        defaults = _defaults(type(value))  # type: ignore[arg-type]  # mypy does not know that classes can be hashed
        kept = {
            name: described(entry)
            for name, entry in sorted(parameters.items())
            if name not in defaults or not _equal(entry, defaults[name])
        }
        return {"class": stored_path(type(value)), "parameters": kept}
    return stored_path(value) if callable(value) else repr(value)


def modules_in(value: Any) -> Iterator[str]:
    """Yield the modules of all classes and functions in an estimator and its parameters."""
    if isinstance(value, dict):
        yield from modules_in(list(value.values()))
    elif isinstance(value, list | tuple | set | frozenset):
        for entry in value:
            yield from modules_in(entry)
    elif isinstance(value, functools.partial):
        yield from modules_in([value.func, value.args, value.keywords])
    elif not (value is None or isinstance(value, bool | int | float | str | np.ndarray | np.generic)):
        parameters = _parameters(value)
        yield str(getattr(value if parameters is None else type(value), "__module__", None) or "builtins")
        yield from modules_in(parameters or {})


def _parameters(value: Any) -> Mapping[str, Any] | None:
    """Return the parameters of an estimator, or the attributes of another object; None for a class, a function, a plain value."""
    if isinstance(value, type) or inspect.isroutine(value):
        return None
    if hasattr(value, "get_params"):
        parameters: Mapping[str, Any] = value.get_params(deep=False)
        return parameters
    return vars(value) if hasattr(value, "__dict__") else None


@functools.cache
def _defaults(cls: Hashable) -> Mapping[str, Any]:
    """Return the default of each parameter of a class that has one."""
    try:
        parameters = inspect.signature(cls).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a class written in C may have no signature
        return {}
    return {name: p.default for name, p in parameters.items() if p.default is not inspect.Parameter.empty}


def _equal(value: Any, default: Any) -> bool:
    """Whether a value is the default, of the same type: for a forest, max_features=1 is not max_features=1.0."""
    return value is default or json.dumps(described(value)) == json.dumps(described(default))
