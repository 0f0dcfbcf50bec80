"""Read a plan from its TOML file; the error for a mistake in it says where it is and what was expected."""

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from math import prod
from pathlib import Path
from typing import Any

from headcount._validation import quoted
from headcount.errors import check_comparable, get_error
from headcount.exceptions import DataError, UnknownNameError
from headcount.quantifiers import list_methods, method_named
from headcount.study.plan import (
    DEFAULT,
    MAX_RUNS,
    OWN,
    LearnerPlan,
    MeasurePlan,
    MethodPlan,
    PartPlan,
    Plan,
    ProtocolPlan,
    with_parameters,
)

__all__ = ["read_plan", "shipped_plans"]

Rule = Callable[[Any, str], Any]
"""Checks a value of the file and converts it for the plan; its second argument names the value in an error."""
_MOST = 10_000_000
"""Largest count in a protocol: more can only be a typing mistake."""
_MOST_SETTINGS = 2_000
"""Settings of a grid: listing the tasks of more would take longer than a few seconds."""


def _must_be(
    expected: str, valid: Callable[[Any], object], convert: Callable[[Any], Any] = lambda value: value
) -> Rule:
    """Return the rule that a value must be valid."""

    def checked(value: Any, name: str) -> Any:
        if not valid(value):
            raise DataError(f"{name} must be {expected}; got {value!r}.")
        return convert(value)

    return checked


def _integer(low: int, high: int | None = None) -> Rule:
    # The type is compared because True is an int, too.
    expected = f"an integer of at least {low}" if high is None else f"an integer from {low} to {high:,}"
    return _must_be(expected, lambda value: type(value) is int and low <= value and (high is None or value <= high))


def _is_plain(value: Any) -> bool:
    """Whether a store can hold a value as it is, unlike a date."""
    if isinstance(value, list | dict):
        return all(map(_is_plain, value.values() if isinstance(value, dict) else value))
    return isinstance(value, bool | int | float | str)


def _parameters(table: Any, name: str) -> dict[str, Any]:
    """Check parameters and return them with None for "none": TOML has no null."""
    rule = _must_be("a number, a string, true or false", _is_plain)
    values = {key: rule(value, f"{name}, {key}") for key, value in _TABLE(table, name).items()}
    return {key: None if value == "none" else value for key, value in values.items()}


def _grid(table: Any, name: str) -> dict[str, list[Any]]:
    """Check the values to choose from and return them with None for "none"."""
    rule = _must_be("a list of values", lambda value: isinstance(value, list) and value)
    lists = {key: rule(values, f"{name}, {key}") for key, values in _TABLE(table, name).items()}
    n_settings = prod(map(len, lists.values()))
    if n_settings > _MOST_SETTINGS:
        raise DataError(f"{name} makes {n_settings:,} settings; a grid may make {_MOST_SETTINGS:,}. List fewer values.")
    return {key: [_parameters({key: value}, name)[key] for value in values] for key, values in lists.items()}


_TABLE = _must_be("a table", lambda value: isinstance(value, dict))
_NAME = _must_be("a name", lambda value: isinstance(value, str) and value)
_NAMES = _must_be(
    "a list of names, each listed once",
    lambda value: (
        isinstance(value, list) and value and set(map(type, value)) == {str} and len(set(value)) == len(value)
    ),
    tuple,
)
_ENTRIES = _must_be(
    "a list of names and tables, each listed once",
    lambda value: (
        isinstance(value, list)
        and value
        and all(isinstance(entry, str | dict) for entry in value)
        and len({repr(entry) for entry in value}) == len(value)
    ),
    tuple,
)
_COUNT, _FRACTION = _integer(1, _MOST), _must_be("a fraction between 0 and 1", lambda v: type(v) is float and 0 < v < 1)
_ORDER = _must_be(
    "a list of the classes from the lowest to the highest, each once",
    lambda value: (
        isinstance(value, list) and len(value) > 1 and len(set(map(str, value))) == len(value) and _is_plain(value)
    ),
    tuple,
)
_PLAN: Mapping[str, Rule] = {
    "name": lambda value, _: str(value),
    "title": lambda value, _: str(value),
    "data_sets": _NAMES,
    "learners": _TABLE,
    "methods": _must_be("given as [[methods]], at least one", lambda value: isinstance(value, list) and value),
    "measures": _ENTRIES,
    "protocol": _TABLE,
    "seed": _integer(0),
    "ordered": lambda table, name: {key: _ORDER(value, f"{name}, {key}") for key, value in _TABLE(table, name).items()},
    "league": _must_be("true or false", lambda value: isinstance(value, bool)),
}
_PART = {
    "name": _NAME,
    "kind": _must_be(
        "app, upp, natural, smooth, location or spread",
        lambda value: value in ("app", "upp", "natural", "smooth", "location", "spread"),
    ),
    "sample_size": _COUNT,
    "n_samples": _COUNT,
}
_PROTOCOL = {
    "n_prevalences": _integer(2, _MOST),
    "held_out": _FRACTION,
    "inner": _must_be(
        "a fraction between 0 and 1, or a number of folds",
        lambda v: (type(v) is float and 0 < v < 1) or (type(v) is int and v >= 2),
    ),
    "parts": _must_be("given as [[protocol.parts]]", lambda value: isinstance(value, list) and value),
} | dict.fromkeys(("sample_size", "validation_repeats", "test_repeats"), _COUNT)
_TRUE_OR_FALSE = _must_be("true or false", lambda value: isinstance(value, bool))
_KIND = _must_be("tables or texts", lambda value: value in ("tables", "texts"))
_LEARNER = {
    "class": _NAME,
    "on": _KIND,
    "settings": _NAME,
    "representation": _NAME,
    "parameters": _parameters,
    "grid": _grid,
    "choose_once": _TRUE_OR_FALSE,
}
_METHODS = {
    "names": _ENTRIES,
    "name": _NAME,
    "method": _NAME,
    "learners": _NAMES,
    "targets": _NAMES,
    "on": _KIND,
    "runs": _integer(1, MAX_RUNS),
} | {name: _LEARNER[name] for name in ("representation", "parameters", "grid")}
_VARIANT = {"name": _NAME, "method": _NAME, "parameters": _parameters}
_MEASURE = {
    "name": _NAME,
    "function": _NAME,
    "label": _NAME,
    "lower_is_better": _TRUE_OR_FALSE,
}
_NOT_PRINTED = re.compile(r"[\x00-\x1f\x7f]")


def shipped_plans() -> list[str]:
    """Return the names of the plans that come with the library."""
    names = (entry.name for entry in files("headcount.study.plans").iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def read_plan(name: str | Path) -> Plan:
    """Read a plan that comes with the library, by its name, or a TOML file."""
    shipped = str(name) in shipped_plans()
    path = files("headcount.study.plans").joinpath(f"{name}.toml") if shipped else Path(name)
    source = f"the plan {name!r}" if shipped else str(name)
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise DataError(
            f"There is no plan {str(name)!r}: shipped are {quoted(shipped_plans())}, and it is not a file that can be read "
            f"({error.strerror})."
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(f"{source} is not UTF-8: {error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source} is not valid TOML: {error}.") from error
    return _plan(content, source)


def _checked(table: Any, rules: Mapping[str, Rule], where: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the values of a table, each checked by the rule for its key."""
    _TABLE(table, where)
    unknown, missing = sorted(set(table) - set(rules)), [key for key in required if key not in table]
    if unknown:
        raise DataError(f"{where}: unknown key {quoted(unknown)}; the keys are {quoted(sorted(rules), 50)}.")
    if missing:
        raise DataError(f"{where}: {quoted(missing)} is missing.")
    return {key: rules[key](value, f"{where}: {key}") for key, value in table.items()}


def _plan(content: dict[str, Any], source: str) -> Plan:
    values = _checked(content, _PLAN, source, required=("name", "data_sets", "methods"))
    own = tuple(_own_measures(values.get("measures", ()), f"{source}, measures"))
    for measure in own:
        measure.register()
    if "measures" in values:
        names = tuple(entry["name"] if isinstance(entry, dict) else entry for entry in values["measures"])
        by_path = {measure.function: measure.name for measure in own}
        values["measures"] = _NAMES([by_path.get(name, name) for name in names], f"{source}: measures")
    values["own_measures"] = own
    learners = tuple(_learner(name, table, source) for name, table in values.get("learners", {}).items())
    values["learners"] = learners
    values["methods"] = tuple(
        method for table in values["methods"] for method in _methods(table, f"{source}, methods", learners)
    )
    protocol = _checked(values.get("protocol", {}), _PROTOCOL, f"{source}, protocol")
    protocol["parts"] = tuple(_parts(protocol.get("parts", ()), f"{source}, protocol, parts"))
    values["protocol"] = ProtocolPlan(**protocol)
    plan = Plan(**{"title": values["name"], **values})
    _check(plan, source)
    return plan


def _learner(name: str, table: Any, source: str) -> LearnerPlan:
    where = f"{source}, learner {name!r}"
    if not re.fullmatch(r"[\w.+-]+", name) or name == OWN:
        raise DataError(
            f"{where}: not a valid name for a learner. Use letters, digits, dots, hyphens and underscores, and not {OWN!r}."
        )
    values = _checked(table, _LEARNER, where, required=("class",))
    return LearnerPlan(name, values.pop("class"), **values)


def _parts(entries: Any, where: str) -> Iterator[PartPlan]:
    """Yield the parts of the test samples, each with a name of its own."""
    names = set()
    for entry in entries:
        part = PartPlan(**_checked(entry, _PART, where, required=tuple(_PART)))
        if part.name in names:
            raise DataError(f"{where}: {part.name!r} is named twice.")
        names.add(part.name)
        yield part


def _own_measures(entries: tuple[Any, ...], where: str) -> Iterator[MeasurePlan]:
    """Yield the measures that are given by import path: as a table, or as the path alone, named like its function."""
    for entry in entries:
        if isinstance(entry, dict):
            yield MeasurePlan(**_checked(entry, _MEASURE, where, required=("name", "function")))
        elif "." in entry:
            yield MeasurePlan(entry.replace(":", ".").rpartition(".")[2], entry)


def _methods(table: Any, where: str, learners: tuple[LearnerPlan, ...]) -> Iterator[MethodPlan]:
    values = _checked(table, _METHODS, where)
    if ("names" in values) == ("name" in values):
        raise DataError(f"{where}: 'names' is missing, or 'name' with 'method' for one variant of a method.")
    for key in ("grid", "representation"):
        if "learners" in values and key in values:
            raise DataError(f"{where}: methods over learners take their {key} from these; omit it.")
    defined = [learner.name for learner in learners]
    missing = [name for name in values.get("learners", ()) if name not in defined]
    if missing:
        raise UnknownNameError(
            f"{where}: there is no learner {quoted(missing)} in the plan; it has {quoted(defined, 50)}."
        )
    for target in values.get("targets", ()):
        if target != DEFAULT:
            check_comparable(get_error(target))
    single = {key: values.pop(key) for key in ("name", "method") if key in values}
    if "method" in single and "name" not in single:
        raise DataError(f"{where}: 'method' goes with the 'name' of a variant; list methods in 'names'.")
    for entry in values.pop("names", (single,)):
        if isinstance(entry, dict):
            yield _variant(entry, values, where)
        else:
            yield MethodPlan(entry if "." in entry else method_named(entry).name, **values)


def _variant(entry: dict[str, Any], values: dict[str, Any], where: str) -> MethodPlan:
    """Return a named variant of a method; its parameters are added to those of the entry that it stands in."""
    variant = _checked(entry, _VARIANT, where, required=("name", "method"))
    name, method = variant["name"], variant["method"]
    if _NOT_PRINTED.search(name) or name.strip() != name:
        raise DataError(f"{where}: {name!r} is not a valid name for a variant: use printable characters.")
    if "." not in method:
        method = method_named(method).name
    if name.lower() != method.lower() and any(name.lower() == known.name.lower() for known in list_methods()):
        raise DataError(f"{where}: {name!r} is the name of another method than {method}: choose another name.")
    parameters = {**values.get("parameters", {}), **variant.get("parameters", {})}
    return MethodPlan(name, **(values | {"parameters": parameters, "method": method}))


def _check(plan: Plan, source: str) -> None:
    if elsewhere := sorted(set(plan.ordered) - set(plan.data_sets)):
        raise DataError(f"{source}, ordered: {quoted(elsewhere)} is not among the data sets of the plan.")
    for measure in plan.measures:
        check_comparable(get_error(measure))
        if get_error(measure).of != "shares":
            raise DataError(
                f"{source}, measures: {measure} is an error of decisions; use errors of shares, such as ae and rae."
            )
    times = Counter(method.name for method in plan.methods)
    duplicates = sorted(name for name, n in times.items() if n > 1)
    if duplicates:
        raise DataError(
            f"{source}: {quoted(duplicates)} is named more than once among the methods; list all its learners in one entry."
        )
    for learner in plan.learners:
        estimator, where = learner.make(), f"{source}, learner {learner.name!r}"
        for setting in ({key: values[0]} for key, values in learner.grid.items()):
            with_parameters(estimator, setting, where)
    for method in plan.methods:
        quantifier = method.make()
        if method.learners and "classifier" in method.parameters:
            raise DataError(
                f"{source}: {method.name} gets its classifier from its learners; omit it from the parameters."
            )
        if method.learners and "classifier" not in quantifier.get_params(deep=False):
            raise DataError(f"{source}: {method.name} takes no learner; omit learners.")
        parameters = set(quantifier.get_params())
        prefix = "classifier__" if "classifier" in parameters else ""
        unknown = {f"{prefix}{key}" for key in method.grid} - parameters
        if unknown:
            raise DataError(f"{source}: {method.name} has no parameters {quoted(sorted(unknown))} to choose.")
