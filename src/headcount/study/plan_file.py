"""Read a plan from its TOML file; the error for a mistake in it says where it is and what was expected."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from headcount._validation import quoted
from headcount.errors import get_error
from headcount.exceptions import DataError, UnknownNameError
from headcount.quantifiers import method_named
from headcount.study.plan import DEFAULT, OWN, LearnerPlan, MethodPlan, Plan, ProtocolPlan, with_parameters

__all__ = ["read_plan", "shipped_plans"]

_NAME = re.compile(r"[\w.+-]+")
_MOST = 10_000_000
"""Largest count in a protocol: more can only be a typing mistake."""


def shipped_plans() -> list[str]:
    """Return the names of the plans that come with the library."""
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in files("headcount.study.plans").iterdir()
        if entry.name.endswith(".toml")
    )


def read_plan(name: str | Path) -> Plan:
    """Read a plan that comes with the library, by its name, or a TOML file."""
    if str(name) in shipped_plans():
        text, source = files("headcount.study.plans").joinpath(f"{name}.toml").read_text("utf-8"), f"the plan {name!r}"
    else:
        path, source = Path(name), str(name)
        try:
            text = path.read_text("utf-8-sig")
        except OSError as error:
            raise DataError(
                f"There is no plan {str(name)!r}: shipped are {quoted(shipped_plans())}, and it is not a file that can be read "
                f"({error.strerror})."
            ) from error
        except UnicodeDecodeError as error:
            raise DataError(f"{source} is not UTF-8: {error}.") from error
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source} is not valid TOML: {error}.") from error
    return _parse(content, source)


def _parse(content: dict[str, Any], source: str) -> Plan:
    _check_keys(content, {f.name for f in fields(Plan)}, source, required=("name", "data_sets", "methods"))
    learners = tuple(
        _learner(name, table, source)
        for name, table in _table(content.get("learners", {}), f"{source}, learners").items()
    )
    if not isinstance(content["methods"], list) or not content["methods"]:
        raise DataError(f"{source}: methods must be given as [[methods]], at least one; got {content['methods']!r}.")
    methods = tuple(method for table in content["methods"] for method in _methods(table, source, learners))
    protocol = _table(content.get("protocol", {}), f"{source}, protocol")
    _check_keys(protocol, {f.name for f in fields(ProtocolPlan)}, f"{source}, protocol")
    plan = Plan(
        name=str(content["name"]),
        title=str(content.get("title", content["name"])),
        data_sets=_strings(content["data_sets"], f"{source}, data_sets"),
        learners=learners,
        methods=methods,
        measures=_strings(content.get("measures", ["ae", "rae"]), f"{source}, measures"),
        protocol=ProtocolPlan(**protocol),
        seed=content.get("seed", 2021),
    )
    _check(plan, source)
    return plan


def _learner(name: str, table: Any, source: str) -> LearnerPlan:
    where = f"{source}, learner {name!r}"
    if not _NAME.fullmatch(name) or name == OWN:
        raise DataError(
            f"{where}: not a valid name for a learner. Use letters, digits, dots, hyphens and underscores, and not {OWN!r}."
        )
    _check_keys(table, {"class", "representation", "parameters", "grid"}, where, required=("class",))
    return LearnerPlan(
        name,
        _string(table["class"], f"{where}, class"),
        _string(table.get("representation", "tfidf"), f"{where}, representation"),
        _without_nones(_table(table.get("parameters", {}), where)),
        _grid(table.get("grid", {}), where),
    )


def _methods(table: Any, source: str, learners: Sequence[LearnerPlan]) -> Iterator[MethodPlan]:
    where = f"{source}, methods"
    _check_keys(
        table,
        {"names", "learners", "targets", "runs", "parameters", "grid", "representation"},
        where,
        required=("names",),
    )
    named = _strings(table["learners"], f"{where}, learners") if "learners" in table else ()
    for key in ("grid", "representation"):
        if named and key in table:
            raise DataError(f"{where}: methods over learners take their {key} from these; omit it.")
    defined = [learner.name for learner in learners]
    missing = [name for name in named if name not in defined]
    if missing:
        raise UnknownNameError(
            f"{where}: there is no learner {quoted(missing)} in the plan; it has {quoted(defined, 50)}."
        )
    targets = _strings(table.get("targets", [DEFAULT]), f"{where}, targets")
    for target in targets:
        if target != DEFAULT:
            get_error(target)
    runs = table.get("runs", 1)
    if not isinstance(runs, int) or isinstance(runs, bool) or runs < 1:
        raise DataError(f"{where}: runs must be an integer of at least 1; got {runs!r}.")
    for name in _strings(table["names"], f"{where}, names"):
        if "." not in name:
            name = method_named(name).name
        parameters = _without_nones(_table(table.get("parameters", {}), where))
        yield MethodPlan(
            name,
            named,
            targets,
            runs,
            parameters,
            _grid(table.get("grid", {}), where),
            _string(table.get("representation", "tfidf"), f"{where}, representation"),
        )


def _check(plan: Plan, source: str) -> None:
    for measure in plan.measures:
        if get_error(measure).of != "shares":
            raise DataError(
                f"{source}, measures: {measure} is an error of decisions; use errors of shares, such as ae and rae."
            )
    protocol = plan.protocol
    for name in ("n_prevalences", "sample_size", "validation_repeats", "test_repeats"):
        value = getattr(protocol, name)
        least = 2 if name == "n_prevalences" else 1
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _MOST:
            raise DataError(f"{source}, protocol: {name} must be an integer from {least} to {_MOST:,}; got {value!r}.")
    for name in ("held_out", "inner"):
        value = getattr(protocol, name)
        if not isinstance(value, float) or not 0.0 < value < 1.0:
            raise DataError(f"{source}, protocol: {name} must be a fraction between 0 and 1; got {value!r}.")
    if not isinstance(plan.seed, int) or isinstance(plan.seed, bool) or plan.seed < 0:
        raise DataError(f"{source}: seed must be an integer of at least 0; got {plan.seed!r}.")
    names = [method.name for method in plan.methods]
    duplicates = sorted({name for name in names if names.count(name) > 1})
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


def _check_keys(content: Any, allowed: set[str], where: str, required: Sequence[str] = ()) -> None:
    _table(content, where)
    unknown, missing = sorted(set(content) - allowed), [key for key in required if key not in content]
    if unknown:
        raise DataError(f"{where}: unknown key {quoted(unknown)}; the keys are {quoted(sorted(allowed), 50)}.")
    if missing:
        raise DataError(f"{where}: {quoted(missing)} is missing.")


def _table(content: Any, where: str) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise DataError(f"{where}: expected a table, got {content!r}.")
    return content


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise DataError(f"{where}: expected a name, got {value!r}.")
    return value


def _strings(values: Any, where: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not values or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: expected a list of names, got {values!r}.")
    if len(set(values)) < len(values):
        raise DataError(f"{where}: a name is listed twice: {quoted(values, 50)}.")
    return tuple(values)


def _grid(values: Any, where: str) -> dict[str, list[Any]]:
    grid = _table(values, f"{where}, grid")
    for key, entries in grid.items():
        if not isinstance(entries, list) or not entries:
            raise DataError(f"{where}, grid: {key} must be a list of values; got {entries!r}.")
        _check_plain(entries, f"{where}, grid, {key}")
    return {key: [None if entry == "none" else entry for entry in entries] for key, entries in grid.items()}


def _check_plain(value: Any, where: str) -> None:
    """Raise an error for a value that a store can't hold as it is, such as a date."""
    if isinstance(value, list):
        for entry in value:
            _check_plain(entry, where)
    elif isinstance(value, dict):
        for entry in value.values():
            _check_plain(entry, where)
    elif not isinstance(value, bool | int | float | str):
        raise DataError(f"{where}: a parameter must be a number, a string, true or false; got {value!r}.")


def _without_nones(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with None for "none": TOML has no null."""
    _check_plain(parameters, "parameters")
    return {key: None if value == "none" else value for key, value in parameters.items()}
