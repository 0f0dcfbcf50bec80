"""What a study computes, in pieces: settings that rest on the same fits, judged on drawn samples or tested on the test part."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import ParameterGrid

from headcount._recording import recorded_warnings
from headcount._threads import one_blas_thread
from headcount._validation import encode
from headcount.errors import get_error
from headcount.learners import CNNClassifier, Need, Outputs
from headcount.protocols import ArtificialPrevalence, Protocol, UniformPrevalence
from headcount.quantifiers import QuaNet, Quantifier
from headcount.selection.candidates import Candidate, group
from headcount.selection.tasks import Fold, fit_through, judge, outputs_of
from headcount.study.plan import DEFAULT, LearnerPlan, MethodPlan, Plan
from headcount.study.store import to_plain

__all__ = [
    "Member",
    "Task",
    "chosen_tasks",
    "device_of",
    "judged",
    "protocol_of",
    "select_tasks",
    "tested",
    "truth_task",
]


@dataclass(frozen=True)
class Member:
    """A method with one setting in one run."""

    method: str
    learner: str
    run: int
    params: dict[str, Any]
    quantifier: Quantifier
    place: float = 0.0
    """Of the setting in its grid, from 0 to 1: the last ones (large C, many trees) tend to take longest."""

    def described(self) -> dict[str, Any]:
        """Return all that its outcome depends on, as plain data."""
        return {
            "method": self.method,
            "run": self.run,
            "params": self.params,
            "quantifier": described(self.quantifier),
        }


@dataclass(frozen=True)
class Task:
    """Members that share their fits, at one stage: "select" judges them on drawn samples, "test" tests them."""

    stage: str
    data_set: str
    learner: str
    representation: str
    members: tuple[Member, ...]
    description: dict[str, Any]
    measures: tuple[str, ...]
    """The errors that its members are judged by: those that their methods are optimised for."""

    def on(self, data_set: str) -> "Task":
        """Return the same task on another data set."""
        return replace(self, data_set=data_set, description={**self.description, "data_set": data_set})


def seeds(plan: Plan) -> dict[str, int]:
    """Return the seeds of all that is drawn, one for each purpose."""
    names = ("split", "validation", "test", "runs", "learners")
    states = np.random.SeedSequence(plan.seed).generate_state(len(names))
    return {name: int(state) for name, state in zip(names, states, strict=True)}


def protocol_of(plan: Plan, stage: str, n_classes: int) -> Protocol:
    """Return how samples are drawn: on a grid of shares for two classes, at random ones for more, as many as for two."""
    own = plan.protocol
    repeats = own.validation_repeats if stage == "select" else own.test_repeats
    seed = seeds(plan)["validation" if stage == "select" else "test"]
    if n_classes > 2:
        return UniformPrevalence(own.n_prevalences * repeats, sample_size=own.sample_size, random_state=seed)
    return ArtificialPrevalence(own.n_prevalences, repeats=repeats, sample_size=own.sample_size, random_state=seed)


def select_tasks(plan: Plan, data_set: str) -> list[Task]:
    """Return the tasks that judge all settings of all methods that are optimised for something."""
    members = [
        replace(_member(plan, method, learner, run, setting), place=i / len(_settings(method, learner)))
        for method, learner in plan.rows()
        if set(method.targets) != {DEFAULT}
        for run in range(method.runs)
        for i, setting in enumerate(_settings(method, learner))
    ]
    return list(_grouped(plan, "select", data_set, members))


def chosen_tasks(
    plan: Plan, data_set: str, chosen: Sequence[tuple[MethodPlan, LearnerPlan | None, int, dict[str, Any]]]
) -> list[Task]:
    """Return the tasks that test these settings."""
    members = [_member(plan, method, learner, run, setting) for method, learner, run, setting in chosen]
    return list(_grouped(plan, "test", data_set, members))


def _settings(method: MethodPlan, learner: LearnerPlan | None) -> list[dict[str, Any]]:
    return [dict(setting) for setting in ParameterGrid({**(method.grid if learner is None else learner.grid)})]


def _member(plan: Plan, method: MethodPlan, learner: LearnerPlan | None, run: int, setting: dict[str, Any]) -> Member:
    quantifier: Any = method.make()
    own = quantifier.get_params(deep=False)
    if learner is not None:
        quantifier.set_params(classifier=learner.make())
    if "validation" in own and "validation" not in method.parameters:
        quantifier.set_params(validation=plan.protocol.inner)
    if "random_state" in own and "random_state" not in method.parameters:
        quantifier.set_params(random_state=int(np.random.SeedSequence([seeds(plan)["runs"], run]).generate_state(1)[0]))
    prefix = "classifier__" if "classifier" in own else ""
    quantifier.set_params(**{f"{prefix}{key}": value for key, value in setting.items()})
    unseeded = [
        name for name, value in quantifier.get_params().items() if name.endswith("random_state") and value is None
    ]
    quantifier.set_params(**dict.fromkeys(unseeded, seeds(plan)["learners"] % 2**31))
    return Member(method.name, "" if learner is None else learner.name, run, setting, quantifier)


def _grouped(plan: Plan, stage: str, data_set: str, members: Sequence[Member]) -> Iterator[Task]:
    """Group members by what they rest on; the representation of their items keeps groups apart too."""
    representations = {learner.name: learner.representation for learner in plan.learners}
    lone = {method.name: method.representation for method in plan.methods}
    by_learner: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        representation = representations[member.learner] if member.learner else lone[member.method]
        by_learner.setdefault((member.learner, representation), []).append(member)
    own, targets = plan.protocol, {method.name: method.targets for method in plan.methods}
    setting = {
        "protocol": described(protocol_of(plan, stage, 2)),
        "held_out": own.held_out if stage == "select" else None,
        "split_seed": seeds(plan)["split"] if stage == "select" else None,
    }
    for (learner, representation), some in by_learner.items():
        candidates = [Candidate(i, i, member.quantifier, member.params) for i, member in enumerate(some)]
        for together in group(candidates):
            part = tuple(some[candidate.index] for candidate in together)
            measures = sorted({target for member in part for target in targets[member.method]} - {DEFAULT})
            description = {
                "stage": stage,
                "data_set": data_set,
                "learner": learner,
                "representation": representation,
                "members": [member.described() for member in part],
                "measures": measures if stage == "select" else None,
                **setting,
            }
            yield Task(stage, data_set, learner, representation, part, description, tuple(measures))


def truth_task(plan: Plan, data_set: str) -> dict[str, Any]:
    """Describe the shares of the test samples of a data set."""
    return {"stage": "truth", "data_set": data_set, "learner": "", "protocol": described(protocol_of(plan, "test", 2))}


def judged(task: Task, fold: Fold) -> tuple[dict[str, Any], float]:
    """Judge the members of a task on the held-out part; return outcome and seconds."""
    start = time.perf_counter()
    candidates = [Candidate(i, i, member.quantifier, member.params) for i, member in enumerate(task.members)]
    outcomes = sorted(
        judge(candidates, fold, [get_error(name) for name in task.measures]), key=lambda outcome: outcome.index
    )
    members = [
        {
            "scores": outcome.scores,
            "fit_seconds": outcome.fit_seconds,
            "warnings": outcome.warnings,
            "error": outcome.error,
        }
        for outcome in outcomes
    ]
    return {"members": members}, time.perf_counter() - start


def tested(task: Task, fold: Fold) -> tuple[dict[str, Any], float]:
    """Fit the members of a task on all labelled items and estimate the shares of the test samples; return outcome and seconds."""
    start = time.perf_counter()
    fits = fold.fits.scope()
    scored: dict[tuple[int, Need], tuple[Any, Outputs]] = {}
    members = []
    for member in task.members:
        begun = time.perf_counter()
        entry: dict[str, Any] = {"estimated": None, "error": "", "warnings": []}
        with recorded_warnings() as caught, one_blas_thread():
            try:
                fits.seconds = 0.0
                fitted = fit_through(member.quantifier, fits)
                entry["fit_seconds"] = fits.seconds or time.perf_counter() - begun
                estimated = fitted.aggregate(outputs_of(fitted, fold, set(fitted.needs), scored), fold.samples)
                entry["estimated"] = to_plain(estimated[:, encode(fold.classes, fitted.classes_, "the labels")])
            except Exception as error:
                entry["error"] = f"{type(error).__name__}: {error}"
        entry["warnings"] = list(dict.fromkeys(f"{type(warning).__name__}: {warning}" for warning in caught))
        members.append(entry)
    return {"members": members}, time.perf_counter() - start


def device_of(task: Task) -> str:
    """Return what the networks of a task compute on here, by what and how; nothing for a task without networks."""
    networks = [
        network
        for member in task.members
        for network in (member.quantifier, *member.quantifier.get_params().values())
        if isinstance(network, CNNClassifier | QuaNet)
    ]
    if not networks or find_spec("torch") is None:
        return ""
    from headcount.learners.neural.device import device_label

    return "; ".join(
        sorted({device_label(network.device, getattr(network, "precision", None)) for network in networks})
    )


def described(value: Any) -> Any:
    """Return an estimator, or a value of its parameters, as plain data: its class by name, its parameters likewise."""
    if isinstance(value, BaseEstimator) or (hasattr(value, "get_params") and not isinstance(value, type)):
        return {
            "class": _name_of(type(value)),
            "parameters": {k: described(v) for k, v in value.get_params(deep=False).items()},
        }
    if isinstance(value, dict):
        return {str(key): described(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [described(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return described(value.tolist())
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if callable(value):
        return _name_of(value)
    if hasattr(value, "__dict__"):
        return {"class": _name_of(type(value)), "parameters": {k: described(v) for k, v in sorted(vars(value).items())}}
    return repr(value)


def _name_of(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"
