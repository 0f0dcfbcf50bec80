"""Codec of quantifiers: parameters, and whatever else an instance holds, by the types of the values.

A method needs no codec. Arrays that compiled code reads should be declared by the class attribute ``learnt_shapes``, such as
``{"M_": ("vectors", "classes")}``: names of sizes that must agree, numbers, or None for any size. What is declared by no-one is
tried out: a quantifier that could estimate shares when it was saved must be able to when it is read.
"""

import inspect
import sys
import warnings
from collections.abc import Collection
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from functools import cache
from typing import Any

import numpy as np

from headcount.designs.design import SurveyDesign
from headcount.exceptions import DataError
from headcount.learners.outputs import Outputs
from headcount.learners.temperature import LogLinearCalibration
from headcount.modelfile.checks import (
    UnsoundError,
    check_floats,
    check_integers,
    check_labels,
    check_number,
    check_width,
    need,
)
from headcount.modelfile.codecs.base import changed_parameters
from headcount.modelfile.codecs.combined import check_classifier
from headcount.modelfile.codecs.networks import check_quanet
from headcount.modelfile.codecs.widths import width_in
from headcount.modelfile.nodes import UnknownTypeError
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.densities import DensitiesQuantifier
from headcount.quantifiers.meta.members import MembersQuantifier
from headcount.quantifiers.representations import Cells
from headcount.quantifiers.sums import SumsQuantifier

__all__ = ["PartCodec", "QuantifierCodec", "check_quantifier", "check_validated", "is_part"]

_HOME = "headcount.quantifiers."
_LARGEST_MEAN = 1e12
"""Largest mean of a coordinate: beyond, equations can't be solved in double precision."""
_ROUNDING = 1e-6
"""Rounding error that the sum of shares may have."""
_CHECKED = {
    "classes_",
    "classifier_",
    "n_features_in_",
    "feature_names_in_",
    "M_",
    "prior_",
    "prevalence_",
    "calibration_",
}
_OF_VALIDATION = frozenset(f"validation_{name}_" for name in ("outputs", "codes", "folds", "items", "repeats"))
_CHECKED |= _OF_VALIDATION
_CHECKED |= {"validation_design_"}
_NEEDED = {"SLD": ("prior_", "calibration_"), "MLPE": ("prevalence_",)}
"""What fits of methods learn that is not the family's."""
_FAMILIES = (Quantifier, SumsQuantifier, DensitiesQuantifier)
"""Classes whose annotations name what only some fits learn."""
_MOST_STEPS, _MOST_CANDIDATES = 1_000_000, 100_000
"""Largest numbers of steps, and of shares that are tried: more would take hours or all memory."""


class QuantifierCodec:
    """A quantifier of this library, or of a package that names it under the entry point ``headcount.quantifiers``."""

    tag = "quantifier"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the name of the class, the parameters, and all other attributes."""
        kind = type(instance)
        names = set(instance.get_params(deep=False))
        learnt = {name: value for name, value in vars(instance).items() if name not in names}
        return {
            "class": _name_of(kind),
            "parameters": changed_parameters(instance),
            "learnt": {name: value for name, value in learnt.items() if _may_be_set(kind, name)},
            "estimates": _needs_trial(instance) and _can_estimate(instance),
        }

    def make(self, fields: Any) -> Any:
        """Make the quantifier, and check what it has learnt."""
        need(set(fields) == {"class", "parameters", "learnt", "estimates"}, "a quantifier lacks its parts")
        kind, parameters, learnt = _class_named(fields["class"]), fields["parameters"], fields["learnt"]
        need(isinstance(parameters, dict) and isinstance(learnt, dict), "a quantifier lacks its parts")
        known = set(inspect.signature(kind.__init__).parameters) - {"self"}
        need(set(parameters) <= known, f"{kind.__name__} has no parameter {sorted(map(str, set(parameters) - known))}")
        made = kind(**parameters)
        try:
            made._validate_params()
        except (TypeError, ValueError) as error:
            raise UnsoundError(str(error)) from error
        for name in learnt:
            need(
                type(name) is str and name not in known and _may_be_set(kind, name),
                "a quantifier has a strange attribute",
            )
        vars(made).update(learnt)
        if "validation_codes_" in learnt:
            _check_has(made, _OF_VALIDATION)
        check_quantifier(made)
        if _needs_trial(made) and (fields["estimates"] is True or _is_tried(made)):
            need(_can_estimate(made), f"this {kind.__name__} can't estimate shares")
        return made


def check_quantifier(quantifier: Any) -> None:
    """Raise unless what all methods learn, and what the method declares, fits the classes."""
    learnt = vars(quantifier)
    _check_numbers(quantifier)
    if not hasattr(quantifier, "classes_"):
        need(not any(name in learnt for name in _CHECKED - {"classes_"}), "a quantifier has no classes")
        return
    k = check_labels(quantifier.classes_)
    _check_presence(quantifier)
    if "classifier_" in learnt:
        check_classifier(quantifier.classifier_, quantifier.classes_)
    if "n_features_in_" in learnt:
        need(isinstance(quantifier.n_features_in_, int | np.integer), "n_features_in_ is not a number of features")
        check_width(quantifier, quantifier.n_features_in_)
        width = width_in(learnt.get("classifier_"))
        need(width in (None, quantifier.n_features_in_), "the classifier reads other features than the quantifier")
    if "validation_codes_" in learnt:
        _check_validation(quantifier, k)
    if "M_" in learnt:
        check_floats(quantifier.M_, "M_", (None, k), largest=_LARGEST_MEAN)
        representation: Any = getattr(quantifier, "representation", None)
        if hasattr(representation, "width"):
            need(
                len(quantifier.M_) == representation.width(k),
                "M_ has other rows than the representation has coordinates",
            )
        if isinstance(representation, Cells):
            need(bool(((quantifier.M_ >= 0.0) & (quantifier.M_ <= 1.0 + _ROUNDING)).all()), "M_ does not hold shares")
            sums = quantifier.M_.sum(axis=0)
            most = 1.0 if representation.is_partition else np.inf
            need(bool(((sums > 1.0 - _ROUNDING) & (sums < most + _ROUNDING)).all()), "shares in M_ do not sum to 1")
    for name in ("prior_", "prevalence_"):
        if name in learnt:
            check_floats(learnt[name], name, (k,))
            need(
                bool((learnt[name] >= 0.0).all()) and abs(learnt[name].sum() - 1.0) < _ROUNDING,
                f"{name} does not hold shares",
            )
            need(name != "prior_" or bool((learnt[name] > 0.0).all()), f"{name} holds a share of 0")
    calibration = learnt.get("calibration_")
    if calibration is not None or "calibration_" in learnt_names(type(quantifier)):
        sound = (
            isinstance(calibration, LogLinearCalibration) and calibration.theta.shape == calibration.no_change(k).shape
        )
        need(sound, "calibration_ is of other classes")
    _check_declared(quantifier, k)
    try:
        quantifier.check_learnt()
    except DataError as error:
        raise UnsoundError(str(error)) from error
    if type(quantifier).__name__ == "QuaNet" and "parameters_" in learnt:
        check_quanet(quantifier)


def check_validated(quantifier: Any) -> None:
    """Raise unless a method whose family learns on validation items has kept these."""
    families = SumsQuantifier, DensitiesQuantifier
    own = any(isinstance(quantifier, one) and quantifier._is_inherited(one, "_learn", "fit") for one in families)
    ours = isinstance(quantifier, families) and type(quantifier) in _own_classes().values()
    if quantifier.uses_validation and (own or ours):
        _check_has(quantifier, {"validation_codes_", "validation_outputs_", "validation_folds_"})


def _check_numbers(quantifier: Any) -> None:
    for name, value in quantifier.get_params(deep=False).items():
        if type(value) is int and not name.endswith("random_state"):
            most = _MOST_CANDIDATES if name == "n_candidates" else _MOST_STEPS
            need(value <= most, f"{name}={value} is more than the {most:,} that a model file may ask for")


def _check_presence(quantifier: Any) -> None:
    """Raise unless a method of this library has what each of its fits learns."""
    needed = learnt_names(type(quantifier))
    needed |= {name for base in type(quantifier).__mro__ for name in _NEEDED.get(base.__name__, ())}
    _check_has(quantifier, needed)
    if isinstance(quantifier, SumsQuantifier) and quantifier.solver.uses_profiles:
        _check_has(quantifier, {"M_"})


def _check_has(quantifier: Any, needed: Collection[str]) -> None:
    missing = sorted(set(needed) - set(vars(quantifier)))
    need(not missing, f"a {type(quantifier).__name__} lacks {', '.join(missing)}, which each fit learns")


def learnt_names(kind: type[Any]) -> frozenset[str]:
    """Return what each fit of a method of this library learns: what its classes annotate besides the bases of the families."""
    own = [base for base in kind.__mro__ if base not in _FAMILIES and f"{base.__module__}.".startswith(_HOME)]
    names = {name for base in own for name in inspect.get_annotations(base)}
    return frozenset(name for name in names if name.endswith("_") and not name.startswith("_"))


def _check_validation(quantifier: Any, k: int) -> None:
    codes, outputs = quantifier.validation_codes_, vars(quantifier).get("validation_outputs_")
    check_integers(codes, "validation_codes_", (None,), 0, k)
    need(len(np.unique(codes)) == k, "validation_codes_ lacks a class")
    if "validation_folds_" in vars(quantifier):
        check_integers(quantifier.validation_folds_, "validation_folds_", codes.shape, 0, len(codes) + 1)
    repeats = getattr(quantifier, "validation_repeats_", 1)
    check_number(repeats, "validation_repeats_", 1, len(codes))
    design = quantifier.validation_design_
    if design is not None:
        need(isinstance(design, SurveyDesign) and design.n_items == len(codes), "validation_design_ is of other items")
    if "validation_outputs_" in vars(quantifier):
        need(isinstance(outputs, Outputs) and outputs.n_items == len(codes), "validation_outputs_ are of other items")
        need(outputs.classes.tolist() == quantifier.classes_.tolist(), "validation_outputs_ are of other classes")
        kinds = [kind for kind in quantifier.needs if kind != "embeddings"]
        need(
            all(getattr(outputs, kind) is not None for kind in kinds), "validation_outputs_ lack what the method needs"
        )


def _check_declared(quantifier: Any, k: int) -> None:
    """Raise unless the arrays that a method declares have the sizes that it declares."""
    sizes = {"classes": k}
    for name, axes in getattr(type(quantifier), "learnt_shapes", {}).items():
        if name not in vars(quantifier):
            continue
        array = vars(quantifier)[name]
        need(
            isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.ndim == len(axes),
            f"{name} has no such axes",
        )
        need(array.dtype.kind != "f" or np.isfinite(array).all(), f"{name} holds values that are not finite")
        for axis, n in zip(axes, array.shape, strict=True):
            expected = sizes.setdefault(axis, n) if isinstance(axis, str) else axis
            need(expected is None or expected == n, f"{name} has {n} {axis}, not {expected}")


def _needs_trial(quantifier: Any) -> bool:
    """Whether a quantifier holds something that no check is for."""
    declared = set(getattr(type(quantifier), "learnt_shapes", ()))
    return not set(vars(quantifier)) <= _CHECKED | declared | set(quantifier.get_params(deep=False))


def _is_tried(quantifier: Any) -> bool:
    """Whether a quantifier is one of this library that needs no more than a few items' outputs to estimate shares."""
    return _own_classes().get(type(quantifier).__name__) is type(quantifier) and "embeddings" not in quantifier.needs


def _few_outputs(quantifier: Any, n: int | None = None) -> Outputs:
    """Return ready-made outputs of a few items; of a method without a classifier, those of its first labelled items."""
    classes = quantifier.classes_
    k = len(classes)
    n = 2 * k if n is None else n
    if isinstance(quantifier, MembersQuantifier):
        return Outputs(classes, n, members=tuple(_few_outputs(one, n) for one in quantifier._scorers()))
    if "features" in quantifier.needs:
        known: Outputs = quantifier.validation_outputs_
        return known.take(np.arange(n) % known.n_items)
    codes = np.arange(n) % k
    return Outputs(classes, len(codes), codes.astype(np.int32), 0.5 * np.eye(k)[codes] + 0.5 / k)


def _can_estimate(quantifier: Any) -> bool:
    """Whether a quantifier gives shares of a few items with ready-made outputs."""
    try:
        k = len(quantifier.classes_)
        if "embeddings" in quantifier.needs:
            return False
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shares = quantifier.aggregate(_few_outputs(quantifier))
        return bool(np.shape(shares) == (1, k) and np.isfinite(shares).all())
    except Exception:  # whatever it is, this quantifier gives no shares
        return False


class PartCodec:
    """A representation, a solver or a data class of a method, with its attributes."""

    tag = "part"

    def fields(self, instance: Any) -> dict[str, Any]:
        """Return the name of the class, and all attributes."""
        kind = type(instance)
        names = [field.name for field in fields_of(kind)] if is_dataclass(kind) else list(vars(instance))
        state = {name: getattr(instance, name) for name in names}
        return {"class": f"{kind.__module__}:{kind.__qualname__}", "state": state}

    def make(self, fields: Any) -> Any:
        """Make the part without calling its constructor."""
        kind, state = _part_named(fields.get("class")), fields.get("state")
        need(isinstance(state, dict), "a part has no attributes")
        made = object.__new__(kind)
        for name, value in state.items():
            need(type(name) is str and _may_be_set(kind, name), "a part has a strange attribute")
            object.__setattr__(made, name, value)
        return made


def is_part(kind: type[Any]) -> bool:
    """Whether instances of a class are parts of methods: of this library, or of a package with a registered method."""
    from headcount.quantifiers import Quantifier, Solver
    from headcount.quantifiers.representations import Representation

    if not (is_dataclass(kind) or issubclass(kind, Representation | Solver)) or issubclass(kind, Quantifier):
        return False
    if hasattr(kind, "get_params"):
        return False
    return f"{kind.__module__}.".startswith(_HOME) or kind.__module__.partition(".")[0] in _foreign_packages()


def _part_named(path: Any) -> type[Any]:
    need(type(path) is str, "a part has no class")
    module, _, name = path.partition(":")
    home = f"{module}.".startswith(_HOME) or module.partition(".")[0] in _foreign_packages()
    kind = getattr(sys.modules.get(module), name, None) if home else None
    if not isinstance(kind, type) or kind.__module__ != module or not is_part(kind):
        raise UnknownTypeError(path.replace(":", "."))
    return kind


def _foreign_packages() -> set[str]:
    from headcount.quantifiers.catalogue import registered_types

    modules = {kind.__module__.partition(".")[0] for kind in registered_types()}
    return modules - {"headcount"}


def _may_be_set(kind: type[Any], name: str) -> bool:
    """Whether an attribute hides no method or property of its class."""
    if not name.isidentifier() or name.startswith(("__", "_sklearn", "_metadata")):
        return False
    static = inspect.getattr_static(kind, name, None)
    is_slot = inspect.ismemberdescriptor(static)
    return is_slot or not (callable(static) or hasattr(static, "__get__"))


@cache
def _own_classes() -> dict[str, type[Any]]:
    """Return the quantifiers of this library, by name."""
    from headcount import quantifiers

    found: dict[str, type[Any]] = {}
    waiting: list[type[Any]] = [quantifiers.Quantifier]
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if f"{kind.__module__}.".startswith(_HOME) and not inspect.isabstract(kind):
                found.setdefault(kind.__name__, kind)
    return found


def _name_of(kind: type[Any]) -> str:
    """Return what a class is called in files: of this library by its name, of others by its path."""
    from headcount.quantifiers.catalogue import registered_types

    if _own_classes().get(kind.__name__) is kind:
        return kind.__name__
    path = f"{kind.__module__}.{kind.__qualname__}"
    if kind not in registered_types():
        raise UnknownTypeError(path)
    return path


def _class_named(name: Any) -> type[Any]:
    from headcount.quantifiers.catalogue import registered_types

    need(type(name) is str, "a quantifier has no class")
    if name in _own_classes():
        return _own_classes()[name]
    for kind in registered_types():
        if f"{kind.__module__}.{kind.__qualname__}" == name:
            return kind
    raise UnknownTypeError(name)
