"""`Plan`: what a study computes. Nothing is loaded or fitted here; `plan_file` reads a plan from a TOML file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.model_selection import ParameterGrid

from headcount._imports import import_object
from headcount._validation import quoted
from headcount.data import data_folder, sets_in
from headcount.errors import ErrorMeasure, get_error, register_error
from headcount.exceptions import DataError, HeadcountError, UnknownNameError
from headcount.quantifiers import Quantifier, method_named

__all__ = [
    "DEFAULT",
    "EVERYTHING",
    "MAX_RUNS",
    "OWN",
    "LearnerPlan",
    "MeasurePlan",
    "MethodPlan",
    "PartPlan",
    "Plan",
    "PlanRow",
    "ProtocolPlan",
    "with_parameters",
]

DEFAULT = "none"
"""The target of a method that is not optimised: the learner's defaults."""
MAX_RUNS = 10_000
"""Runs of a method: more can only be a typing mistake."""
EVERYTHING = "*"
"""Stands for all data sets of the data folder."""
OWN = "own"
"""Name shown for the learner of a method that brings its own, or needs none."""


@dataclass(frozen=True)
class PartPlan:
    """Test samples of one kind and size, one of several parts of the test samples."""

    name: str
    kind: str
    """How class shares are drawn: "app" (on a grid; at random for three classes or more), "upp" (at random) or "natural"; of
    ordered classes also "smooth" (the smoothest fifth), "location" or "spread" (moved along the order, or spread over it)."""
    sample_size: int
    n_samples: int


@dataclass(frozen=True)
class ProtocolPlan:
    """How samples are drawn, and how the labelled part is split."""

    n_prevalences: int = 21
    sample_size: int = 500
    validation_repeats: int = 10
    test_repeats: int = 100
    held_out: float = 0.4
    """Share of the labelled items that settings are judged on."""
    inner: float = 0.4
    """Share of its training part that a method with a validation part holds out, or a number of folds."""
    parts: tuple[PartPlan, ...] = ()
    """Parts of the test samples; without any, there is one, by the figures above."""


@dataclass(frozen=True)
class LearnerPlan:
    """A learner, its representation of a document, and the settings to choose from."""

    name: str
    maker: str
    """Import path of its class."""
    representation: str = "tfidf"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    choose_once: bool = False
    """Whether the setting that a method chooses in its first run serves all its runs, instead of one chosen in each."""
    on: str = ""
    """"tables" or "texts", if it is for data sets of that kind only."""
    settings: str = ""
    """A file beside the tables of a folder, with a row for each set: its columns named like parameters are the learner's there."""

    def make(self) -> Any:
        """Return the learner at its defaults, with the plan's fixed parameters."""
        return _make(self.maker, self.parameters, f"learner {self.name!r}")


@dataclass(frozen=True)
class MethodPlan:
    """A method, the learners that it is combined with, and the targets that its settings are chosen for."""

    name: str
    """The name that results go by: that of a method, its import path, or the name of a variant."""
    learners: tuple[str, ...] = ()
    """Empty for a method that brings its own learner or needs none."""
    targets: tuple[str, ...] = (DEFAULT,)
    runs: int = 1
    """Number of runs, which differ in how the method splits its training part."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    representation: str = "tfidf"
    """Representation of a document for a method without a learner of the plan."""
    method: str = ""
    """The name or import path of the method of which this is a named variant; empty for the method itself."""
    on: str = ""
    """"tables" or "texts", if it is for data sets of that kind only."""

    def make(self) -> Quantifier:
        """Return the method at its defaults, with the plan's fixed parameters."""
        method = self.method or self.name
        maker = method if "." in method else method_named(method).make
        quantifier = _make(maker, self.parameters, f"method {self.name!r}")
        if not isinstance(quantifier, Quantifier):
            raise DataError(
                f"{method} is not a quantifier: a method must be a subclass of headcount.quantifiers.Quantifier."
            )
        return quantifier


@dataclass(frozen=True)
class MeasurePlan:
    """An error measure of the user's own, by import path."""

    name: str
    function: str
    """Import path of a function ``(true, estimated)`` or ``(true, estimated, sample_size)``, or of an `ErrorMeasure`."""
    label: str = ""
    """Name in tables; empty: the name."""
    lower_is_better: bool = True

    def make(self) -> ErrorMeasure:
        """Import the measure."""
        function = import_object(self.function, f"measure {self.name!r}")
        if isinstance(function, ErrorMeasure):
            return replace(function, name=self.name, label=self.label or function.label)
        if not callable(function):
            raise DataError(f"{self.function} is not a measure: name a function of true and estimated shares.")
        try:
            known = signature(function)
        except ValueError:  # a function written in C may have no signature
            known = Signature([Parameter("arguments", Parameter.VAR_POSITIONAL)])
        positional = [
            p
            for p in known.parameters.values()
            if p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) and p.default is p.empty
        ]
        try:
            known.bind(*range(max(2, len(positional))))
        except TypeError as error:
            raise DataError(
                f"{self.function} is not a measure: it takes no true and estimated shares ({error})."
            ) from error
        title = (getattr(function, "__doc__", None) or self.name).strip().partition("\n")[0].rstrip(".")
        return ErrorMeasure(
            self.name,
            self.label or self.name,
            title,
            function,
            needs_sample_size=len(positional) == 3,
            lower_is_better=self.lower_is_better,
        )

    def register(self) -> ErrorMeasure:
        """Register the measure by its name, so that everything that shows a study knows it; another one's name is an error."""
        measure = self.make()
        try:
            registered = get_error(self.name)
        except UnknownNameError:
            return register_error(measure)
        if _path(registered.function) != _path(measure.function):
            raise DataError(
                f"The measure {self.name!r} of the plan ({self.function}) has the name of another one: choose another name."
            )
        return registered if registered == measure else register_error(measure)


class PlanRow(NamedTuple):
    """A method of a plan with one of its learners, or without a learner of the plan."""

    method: MethodPlan
    learner: LearnerPlan | None

    @property
    def learner_name(self) -> str:
        """The learner's name, empty if there is none."""
        return "" if self.learner is None else self.learner.name

    @property
    def grid(self) -> Mapping[str, Sequence[Any]]:
        """The values to choose from: the learner's, or the method's if it has no learner of the plan."""
        return self.method.grid if self.learner is None else self.learner.grid

    @property
    def runs_that_choose(self) -> int:
        """Number of runs in which a setting is chosen: all, or the first only."""
        return 1 if self.learner is not None and self.learner.choose_once else self.method.runs

    def settings(self) -> list[dict[str, Any]]:
        """List all combinations of the grid's values."""
        return list(ParameterGrid(dict(self.grid)))


@dataclass(frozen=True)
class Plan:
    """A study: data sets, learners, methods, and one protocol for all of them.

    Examples
    --------
    >>> from headcount.study import read_plan
    >>> plan = read_plan("stand-ins")
    >>> plan.data_sets
    ('synthetic-imdb', 'synthetic-kindle', 'synthetic-hp')
    """

    name: str
    title: str
    data_sets: tuple[str, ...]
    learners: tuple[LearnerPlan, ...]
    methods: tuple[MethodPlan, ...]
    measures: tuple[str, ...] = ("ae", "rae")
    protocol: ProtocolPlan = ProtocolPlan()
    seed: int = 2021
    own_measures: tuple[MeasurePlan, ...] = ()
    """Measures by import path, whose names may be among `measures` and targets."""
    league: bool = False
    """Whether many data sets are compared by ranks: methods that a set does not suit are left out there, and a set that can't be
    used does not stop the others."""
    ordered: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """The classes from the lowest to the highest, by data set; numbers and dates are in order without that."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Files of data sets that stand elsewhere than in the data folder, by name; no figure depends on it."""

    def learner(self, name: str) -> LearnerPlan:
        """Return the learner of this name."""
        return next(learner for learner in self.learners if learner.name == name)

    def row(self, method: str, learner: str) -> PlanRow:
        """Return the row of a method and a learner (empty for none), both by name."""
        return next(row for row in self.rows() if (row.method.name, row.learner_name) == (method, learner))

    def rows(self) -> Iterator[PlanRow]:
        """Yield each method with each of its learners, or with None."""
        for method in self.methods:
            for name in method.learners or (None,):
                yield PlanRow(method, None if name is None else self.learner(name))

    def only(self, data_sets: Sequence[str] | None = None, learners: Sequence[str] | None = None) -> "Plan":
        """Return the part of the plan with these data sets and learners ("own" for methods without a learner of the plan).

        Methods and targets can't be selected: they share their fits, so leaving one out would change the tasks of the others.
        """
        kept_sets = _selected("data set", self.data_sets, data_sets)
        kept_learners = _selected("learner", (*(learner.name for learner in self.learners), OWN), learners)
        methods = []
        for method in self.methods:
            remaining = tuple(name for name in method.learners if name in kept_learners)
            if remaining or (not method.learners and OWN in kept_learners):
                methods.append(replace(method, learners=remaining))
        if not methods:
            raise DataError("Nothing of the plan is left: no method has such a learner.")
        return replace(self, data_sets=kept_sets, methods=tuple(methods))

    def suited_to(self, truth: Mapping[str, Any]) -> "Plan":
        """Return a league's plan for one data set, by what its store says of it: methods that suit it, learners with its settings.

        Any other plan is returned as it is.
        """
        if not self.league:
            return self
        k, kind = len(truth["classes"]), truth["kind"]
        given = truth["settings"]
        learners = tuple(
            replace(learner, parameters={**learner.parameters, **given.get(learner.name, {})})
            for learner in self.learners
            if learner.on in ("", kind)
        )
        names = {learner.name for learner in learners}
        methods = []
        for method in self.methods:
            suited = tuple(name for name in method.learners if name in names)
            most = method.make().max_classes
            if method.on in ("", kind) and (most is None or k <= most) and bool(suited) == bool(method.learners):
                methods.append(replace(method, learners=suited))
        return replace(self, learners=learners, methods=tuple(methods))

    def on(self, data_sets: Sequence[str]) -> "Plan":
        """Return the same plan on other data sets, by name or by folder."""
        if not data_sets:
            raise DataError("A plan needs at least one data set.")
        return replace(self, data_sets=tuple(dict.fromkeys(data_sets)))

    def found_in(self, places: Sequence[str], data_dir: str | Path | None = None) -> "Plan":
        """Return the same plan on all data sets of these places: folders, "bundled", or "*" for the whole data folder."""
        found: dict[str, str] = {}
        for place in places:
            inside = sets_in(place, data_dir)
            if not inside and place == EVERYTHING:
                raise DataError(
                    f"There are no data sets in {data_folder(data_dir)}. Name a folder of them (--on FOLDER), or take "
                    "those that are at hand anywhere: --on bundled."
                )
            found |= inside or {place: place}
        return replace(self.on(list(found)), places=found)

    def with_runs(self, runs: int) -> "Plan":
        """Return the plan with another number of runs for the methods that have more than one."""
        if not 1 <= runs <= MAX_RUNS:
            raise DataError(f"There must be from 1 to {MAX_RUNS:,} runs; got {runs}.")
        return replace(self, methods=tuple(replace(m, runs=runs if m.runs > 1 else 1) for m in self.methods))


def _path(function: Any) -> Any:
    """Return the import path of a function: a module that was loaded again has new functions."""
    return getattr(function, "__module__", None), getattr(function, "__qualname__", function)


def _selected(what: str, names: Sequence[str], selected: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names that are selected (None: all), in the order of the plan."""
    missing = [name for name in selected or () if name not in names]
    if missing:
        raise UnknownNameError(f"The plan has no {what} {quoted(missing)}; it has {quoted(list(names), 50)}.")
    return tuple(name for name in names if selected is None or name in selected)


def _make(maker: str | Callable[[], Any], parameters: Mapping[str, Any], what: str) -> Any:
    """Make an estimator from its class, or from the import path of this."""
    cls = import_object(maker, what) if isinstance(maker, str) else maker
    try:
        return with_parameters(cls(), parameters, what)
    except HeadcountError:
        raise
    except Exception as error:
        raise DataError(f"The {what} can't be made: {type(error).__name__}: {error}.") from error


def with_parameters(estimator: Any, parameters: Mapping[str, Any], what: str) -> Any:
    """Set parameters of an estimator; a parameter that it does not have is a mistake of the plan.

    A table with a class, ``{ class = "package.module.Name", parameters = {} }``, stands for an object, such as a splitter.
    """
    values = {name: _value(value, what) for name, value in parameters.items()}
    try:
        return estimator.set_params(**values) if values else estimator
    except (ValueError, AttributeError) as error:
        raise DataError(f"The {what} can't be given {quoted(list(parameters))}: {error}") from error


def _value(value: Any, what: str) -> Any:
    """Return a value of a parameter; for a table with a class, and perhaps with parameters of its own, the object that it names."""
    if not isinstance(value, dict) or "class" not in value or set(value) - {"class", "parameters"}:
        return value
    parameters = {name: _value(entry, what) for name, entry in value.get("parameters", {}).items()}
    maker = import_object(value["class"], what)
    try:
        return maker(**parameters)
    except (TypeError, ValueError) as error:
        raise DataError(f"The {what} can't be given {value['class']}: {error}") from error
