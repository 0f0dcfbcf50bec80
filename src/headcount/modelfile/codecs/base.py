"""What the codecs have in common: parameters that differ from the defaults, learnt attributes by name, and a check of both."""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any

import numpy as np

from headcount.exceptions import HeadcountWarning
from headcount.learners.rebuilt import Later
from headcount.modelfile.checks import UnsoundError, need

__all__ = ["EstimatorCodec", "Learnt", "changed_parameters", "checked_parameters", "class_at", "has", "of_input"]

of_input = ("n_features_in_", "feature_names_in_")
"""What scikit-learn keeps of the items."""


@cache
def class_at(path: str) -> type[Any]:
    """Return the class at a path ``module:Class`` of a codec; paths never come from a file."""
    module, _, name = path.partition(":")
    kind: type[Any] = getattr(import_module(module), name)
    return kind


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from its defaults: those of another version may be others."""
    defaults = {name: one.default for name, one in inspect.signature(type(estimator).__init__).parameters.items()}
    given = estimator.get_params(deep=False)
    return {
        name: value
        for name, value in given.items()
        if not _is_default(value, defaults.get(name, inspect.Parameter.empty))
    }


def _is_default(value: Any, default: Any) -> bool:
    if value is default:
        return True
    if type(value) is not type(default) or type(value) not in (bool, int, float, str, tuple):
        return False
    return bool(value == default) or (value != value and default != default)


def checked_parameters(kind: type[Any], parameters: Any) -> dict[str, Any]:
    """Return the parameters that a class has; a warning names those that only another version of it had."""
    need(isinstance(parameters, dict) and all(type(name) is str for name in parameters), "parameters have no names")
    known = set(inspect.signature(kind.__init__).parameters) - {"self"}
    unknown = sorted(set(parameters) - known)
    if unknown:
        warnings.warn(
            f"{kind.__name__} was saved by another version of its library with parameters that the one here lacks "
            f"({', '.join(map(repr, unknown[:5]))}): it predicts as it did, but a new fit would not use them.",
            HeadcountWarning,
            stacklevel=2,
        )
    return {name: value for name, value in parameters.items() if name in known}


def _unfitted(path: str, parameters: dict[str, Any]) -> Any:
    kind = class_at(path)
    return kind(**checked_parameters(kind, parameters))


def has(estimator: Any, *names: str) -> bool:
    """Whether an estimator has all of these attributes of its own."""
    return all(name in vars(estimator) for name in names)


@dataclass(frozen=True)
class Learnt:
    """Names of learnt attributes: those without which an estimator is not fitted, and others.

    Attributes
    ----------
    required, optional : tuple of str
    """

    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return (*self.required, *self.optional, *of_input)


@dataclass(frozen=True)
class EstimatorCodec:
    """An estimator that is made by its constructor, and whose learnt attributes are then set.

    Attributes
    ----------
    tag : str
        What the type is called in files.
    path : str
        Where the class is in this version of its library, as ``module:Class``.
    learnt : Learnt
    check : callable, optional
        Raises `UnsoundError` unless the fitted estimator is one that a fit could give.
    prepare : callable, optional
        Gets the estimator with its parameters and the learnt attributes, and fits it to what needs no items; for classes with
        private attributes.
    """

    tag: str
    path: str
    learnt: Learnt = Learnt()
    check: Callable[[Any], None] | None = None
    prepare: Callable[[Any, dict[str, Any]], None] | None = None

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, and what was learnt."""
        learnt = {name: vars(instance)[name] for name in self.learnt.names if name in vars(instance)}
        missing = [name for name in self.learnt.required if name not in learnt]
        if len(missing) == len(self.learnt.required):
            learnt = {}
        elif missing:
            raise UnsoundError(f"a {type(instance).__name__} lacks {missing[0]}")
        return {"parameters": changed_parameters(instance), "learnt": learnt}

    def make(self, fields: Any) -> Any:
        """Make the estimator."""
        kind = class_at(self.path)
        need(set(fields) == {"parameters", "learnt"}, f"a {self.tag} lacks its parameters")
        learnt = fields["learnt"]
        need(isinstance(learnt, dict) and set(learnt) <= set(self.learnt.names), f"a {self.tag} has unknown attributes")
        made = kind(**checked_parameters(kind, fields["parameters"]))
        self.check_parameters(made)
        if not learnt:
            return made
        need(set(self.learnt.required) <= set(learnt), f"a {self.tag} lacks what it has learnt")
        if self.prepare is not None:
            self.prepare(made, learnt)
        vars(made).update(learnt)
        self.check_fitted(made)
        return made

    def later(self, fields: Any) -> Later:
        """Return the unfitted estimator, to be made when it is asked for."""
        parameters = fields.get("parameters")
        need(isinstance(parameters, dict) and all(type(name) is str for name in parameters), "parameters have no names")
        return Later(self.path.partition(":")[2], partial(_unfitted, self.path, parameters))

    def check_parameters(self, made: Any) -> None:
        """Raise unless the parameters are ones that a fit accepts."""
        if not hasattr(made, "_parameter_constraints") or self.path.startswith("sklearn."):
            return
        try:
            made._validate_params()
        except (TypeError, ValueError) as error:
            raise UnsoundError(str(error)) from error

    def check_fitted(self, made: Any) -> None:
        """Raise unless what was learnt fits together."""
        if self.check is not None and has(made, *self.learnt.required):
            width = getattr(made, "n_features_in_", 0)
            need(type(width) in (int, np.int64) and 0 <= width < 2**40, "the number of features is not one")
            self.check(made)
