"""`Plan`: what a study computes. Nothing is loaded or fitted here; `reading` makes one of a TOML file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import Any

from headcount._validation import quoted
from headcount.exceptions import DataError, HeadcountError, UnknownNameError
from headcount.quantifiers import Quantifier, method_named

__all__ = ["DEFAULT", "OWN", "LearnerPlan", "MethodPlan", "Plan", "ProtocolPlan", "imported", "with_parameters"]

DEFAULT = "none"
"""The target of a method that is not optimised: the learner's defaults."""
OWN = "own"
"""The learner of a method that has one of its own, or none."""


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
    """Share of its training part that a method holds out for parameters of its own."""


@dataclass(frozen=True)
class LearnerPlan:
    """A learner, what it sees of a document, and the settings to choose from."""

    name: str
    maker: str
    """Import path of its class."""
    representation: str = "tfidf"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def make(self) -> Any:
        """Return the learner at its defaults, with the plan's fixed parameters."""
        return _made(self.maker, self.parameters, f"learner {self.name!r}")


@dataclass(frozen=True)
class MethodPlan:
    """A method, the learners it is combined with, and what its settings are chosen for."""

    name: str
    learners: tuple[str, ...] = ()
    """None, for a method that has a learner of its own or needs none."""
    targets: tuple[str, ...] = (DEFAULT,)
    runs: int = 1
    """Runs that differ in how the method splits its training part."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    representation: str = "tfidf"
    """What the items are for a method without a learner of the plan."""

    def make(self) -> Quantifier:
        """Return the method at its defaults, with the plan's fixed parameters."""
        if "." not in self.name:
            known: Quantifier = with_parameters(
                method_named(self.name).make(), self.parameters, f"method {self.name!r}"
            )
            return known
        made = _made(self.name, self.parameters, f"method {self.name!r}")
        if not isinstance(made, Quantifier):
            raise DataError(
                f"{self.name} is no quantifier: a method must be a subclass of headcount.quantifiers.Quantifier."
            )
        return made


@dataclass(frozen=True)
class Plan:
    """A study: data sets, learners, methods, and the protocol that is the same for all.

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

    def learner(self, name: str) -> LearnerPlan:
        """Return the learner of this name."""
        return next(learner for learner in self.learners if learner.name == name)

    def rows(self) -> Iterator[tuple[MethodPlan, LearnerPlan | None]]:
        """Yield each method with each of its learners, or with None."""
        for method in self.methods:
            for name in method.learners or (None,):
                yield method, None if name is None else self.learner(name)

    def only(self, data_sets: Sequence[str] | None = None, learners: Sequence[str] | None = None) -> "Plan":
        """Return the part of the plan with these data sets and learners ("own" for methods without a learner of the plan).

        Methods and targets share their fits, so that a part is computed for all of them or not at all.
        """
        there = {"data set": self.data_sets, "learner": (*(learner.name for learner in self.learners), OWN)}
        kept = []
        for (what, names), asked in zip(there.items(), (data_sets, learners), strict=True):
            missing = [name for name in asked or () if name not in names]
            if missing:
                raise UnknownNameError(f"The plan has no {what} {quoted(missing)}; it has {quoted(list(names), 50)}.")
            kept.append([name for name in names if asked is None or name in asked])
        methods = []
        for method in self.methods:
            own = tuple(name for name in method.learners if name in kept[1])
            if own or (not method.learners and OWN in kept[1]):
                methods.append(replace(method, learners=own))
        if not methods:
            raise DataError("Nothing of the plan is left: no method has such a learner.")
        return replace(self, data_sets=tuple(kept[0]), methods=tuple(methods))

    def on(self, data_sets: Sequence[str]) -> "Plan":
        """Return the same plan on other data sets, such as stand-ins of the paper's in a folder of one's own."""
        if not data_sets:
            raise DataError("A plan needs at least one data set.")
        return replace(self, data_sets=tuple(dict.fromkeys(data_sets)))

    def with_runs(self, runs: int) -> "Plan":
        """Return the plan with another number of runs for the methods that have several."""
        if runs < 1:
            raise DataError(f"There must be at least one run; got {runs}.")
        return replace(self, methods=tuple(replace(m, runs=runs if m.runs > 1 else 1) for m in self.methods))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain lists and dicts."""
        return asdict(self)


def _made(path: str, parameters: Mapping[str, Any], what: str) -> Any:
    maker = imported(path, what)
    try:
        return with_parameters(maker(), parameters, what)
    except HeadcountError:
        raise
    except Exception as error:
        raise DataError(f"The {what} can't be made: {type(error).__name__}: {error}.") from error


def imported(path: str, what: str) -> Any:
    """Return what an import path such as ``package.module.Name`` names."""
    module, _, name = str(path).replace(":", ".").rpartition(".")
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # whatever a module of the user's does when it is imported
        raise DataError(
            f"The {what} can't be imported as {path!r}: {type(error).__name__}: {error}. Is its module on the path?"
        ) from error


def with_parameters(made: Any, parameters: Mapping[str, Any], what: str) -> Any:
    """Set parameters of an estimator; what it does not have is a mistake of the plan."""
    try:
        return made.set_params(**parameters) if parameters else made
    except (ValueError, AttributeError) as error:
        raise DataError(f"The {what} can't be given {quoted(list(parameters))}: {error}") from error
