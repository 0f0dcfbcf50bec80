"""What a study computes, in tasks: settings that share fits, judged on validation samples or tested on test samples."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np

from headcount.errors import ErrorMeasure, get_error
from headcount.protocols import (
    ArtificialPrevalence,
    NaturalPrevalence,
    OrdinalShift,
    Protocol,
    SeveralProtocols,
    SmoothPrevalence,
    UniformPrevalence,
    default_protocol,
)
from headcount.selection import Run
from headcount.selection.candidates import Candidate, group
from headcount.study import format_1
from headcount.study.code_version import code_version
from headcount.study.description import described, modules_in, stored_path
from headcount.study.plan import DEFAULT, PartPlan, Plan
from headcount.study.representations import module_of

__all__ = [
    "Member",
    "Task",
    "chosen_tasks",
    "device_of",
    "make_member",
    "protocol_of",
    "select_tasks",
    "truth_code",
    "truth_task",
    "truth_task_in_format_1",
]


_POINTS = 21
"""Points of the grid of class shares of a part of the test samples."""
_CODE_OF_SAMPLES = ("headcount.study.data", "headcount.protocols.default")
_CODE_OF_TASKS = ("headcount.study.compute", *_CODE_OF_SAMPLES)


@dataclass(frozen=True, eq=False, kw_only=True)
class Member(Candidate):
    """A run of a task, with its quantifier."""

    cost: float = 0.0
    """Position of the setting in its grid, from 0 to 1: the last settings (large C, many trees) tend to take longest."""

    @property
    def setting_text(self) -> str:
        """The setting in words."""
        return ", ".join(f"{name}={value}" for name, value in sorted(self.params.items())) or "at its defaults"

    def described(self) -> dict[str, Any]:
        """Return everything that its outcome depends on, as plain data."""
        return {"method": self.method, "run": self.run, "quantifier": described(self.quantifier)}


@dataclass(frozen=True)
class Task:
    """Members that share their fits, at one stage: "select" judges them on validation samples, "test" tests them."""

    stage: str
    data_set: str
    learner: str
    representation: str
    members: tuple[Member, ...]
    description: dict[str, Any]
    measures: tuple[str, ...]
    """The errors that its members are judged by: the targets of their methods."""
    protocol: Protocol
    """Draws its samples, were there two classes."""

    def on(self, data_set: str) -> "Task":
        """Return the same task on another data set."""
        task = replace(self, data_set=data_set, description={**self.description, "data_set": data_set})
        vars(task)["code"] = self.code  # finding it takes time, and it is the same
        return task

    @property
    def methods(self) -> list[str]:
        """The names of its methods, each once."""
        return list(dict.fromkeys(member.method for member in self.members))

    @cached_property
    def code(self) -> str:
        """Version of the code that computes it, in the process that made the task."""
        return self.code_here(self.error_measures())

    def code_here(self, measures: Sequence[ErrorMeasure]) -> str:
        """Return the version of the code that computes it, by these measures, in this process.

        It is that of its methods, learners, representation and measures, and of what they import.
        """
        of_members = {module for member in self.members for module in modules_in(member.quantifier)}
        of_measures = {module for measure in measures for module in modules_in(measure.function)}
        of_samples = _modules_of_parts(self.protocol)
        return code_version(
            {*_CODE_OF_TASKS, module_of(self.representation), *of_members, *of_measures, *of_samples} - {""}
        )

    def error_measures(self) -> list[ErrorMeasure]:
        """Return the measures that its members are judged by; none for a task that tests them."""
        return [get_error(name) for name in self.measures] if self.stage == "select" else []

    def in_format_1(self) -> dict[str, Any]:
        """Return its description in results of the earlier format."""
        measures = list(self.measures) if self.stage == "select" else None
        return format_1.description_of(self.description | {"measures": measures}, self.members, self.protocol)


def seeds(plan: Plan) -> dict[str, int]:
    """Return one seed for each purpose that a study draws random numbers for."""
    names = ("split", "validation", "test", "runs", "learners")
    states = np.random.SeedSequence(plan.seed).generate_state(len(names))
    return {name: int(state) for name, state in zip(names, states, strict=True)}


def protocol_of(plan: Plan, stage: str, n_classes: int) -> Protocol:
    """Return the protocol that draws the samples of a stage."""
    settings = plan.protocol
    if stage == "test" and settings.parts:
        states = np.random.SeedSequence(seeds(plan)["test"]).generate_state(len(settings.parts))
        seeded = zip(settings.parts, states, strict=True)
        return SeveralProtocols({part.name: _protocol_of_part(part, int(seed), n_classes) for part, seed in seeded})
    return default_protocol(
        n_classes,
        n_prevalences=settings.n_prevalences,
        repeats=settings.validation_repeats if stage == "select" else settings.test_repeats,
        sample_size=settings.sample_size,
        random_state=seeds(plan)["validation" if stage == "select" else "test"],
    )


def _protocol_of_part(part: PartPlan, seed: int, n_classes: int) -> Protocol:
    settings: dict[str, Any] = {"sample_size": part.sample_size, "random_state": seed}
    if part.kind == "natural":
        return NaturalPrevalence(part.n_samples, **settings)
    if part.kind == "smooth":
        return SmoothPrevalence(n_samples=part.n_samples, **settings)
    if part.kind in ("location", "spread"):
        return OrdinalShift(part.kind, n_samples=part.n_samples, **settings)
    if part.kind == "upp" or n_classes > 2:
        return UniformPrevalence(part.n_samples, **settings)
    n_prevalences = min(_POINTS, part.n_samples)
    return ArtificialPrevalence(n_prevalences, repeats=max(1, part.n_samples // n_prevalences), **settings)


def select_tasks(plan: Plan, data_set: str) -> list[Task]:
    """Return the tasks that judge all settings of all methods that are optimised for a target."""
    members = [
        make_member(plan, Run(row.method.name, row.learner_name, setting, run), i / len(settings))
        for row in plan.rows()
        if set(row.method.targets) != {DEFAULT}
        for settings in [row.settings()]
        for run in range(row.runs_that_choose)
        for i, setting in enumerate(settings)
    ]
    return list(_grouped(plan, "select", data_set, members))


def chosen_tasks(plan: Plan, data_set: str, runs: Sequence[Run]) -> list[Task]:
    """Return the tasks that test these runs."""
    return list(_grouped(plan, "test", data_set, [make_member(plan, run) for run in runs]))


def make_member(plan: Plan, run: Run, cost: float = 0.0) -> Member:
    """Make the quantifier of a run, every random state in it seeded by the plan."""
    method, learner = plan.row(run.method, run.learner)
    quantifier: Any = method.make()
    names = quantifier.get_params(deep=False)
    # Attributes are set directly: set_params would list all parameters each time, which takes seconds for a large plan.
    if learner is not None:
        quantifier.classifier = learner.make()
    if "validation" in names and "validation" not in method.parameters:
        quantifier.validation = plan.protocol.inner
    if "random_state" in names and "random_state" not in method.parameters:
        seed = np.random.SeedSequence([seeds(plan)["runs"], run.run]).generate_state(1)[0]
        quantifier.random_state = int(seed)
    prefix = "classifier__" if "classifier" in names else ""
    quantifier.set_params(**{f"{prefix}{name}": value for name, value in run.params.items()})
    parameters = quantifier.get_params().items()
    unseeded = [name for name, value in parameters if name.endswith("random_state") and value is None]
    quantifier.set_params(**dict.fromkeys(unseeded, seeds(plan)["learners"] % 2**31))
    return Member(run.method, run.learner, run.params, run.run, quantifier=quantifier, cost=cost)


def _grouped(plan: Plan, stage: str, data_set: str, members: Sequence[Member]) -> Iterator[Task]:
    """Group members of one learner and representation by the fits that they share."""
    if data_set in plan.ordered:
        for member in members:
            member.quantifier.set_params(classes=list(plan.ordered[data_set]))
    by_learner: dict[tuple[str, str], list[Member]] = {}
    for member in members:
        method, learner = plan.row(member.method, member.learner)
        representation = (learner or method).representation
        by_learner.setdefault((member.learner, representation), []).append(member)
    targets = {method.name: method.targets for method in plan.methods}
    protocol = protocol_of(plan, stage, 2)
    own = {measure.name for measure in plan.own_measures}
    stage_description = {
        "protocol": described(protocol),
        "held_out": plan.protocol.held_out if stage == "select" else None,
        "split_seed": seeds(plan)["split"] if stage == "select" else None,
    }
    for (learner_name, representation), same_learner in by_learner.items():
        for sharing in group(same_learner):
            measures = sorted({target for member in sharing for target in targets[member.method]} - {DEFAULT})
            description = {
                "stage": stage,
                "data_set": data_set,
                "learner": learner_name,
                "representation": representation,
                "members": [member.described() for member in sharing],
                "measures": [_measure(name, own) for name in measures] if stage == "select" else None,
                **stage_description,
            }
            yield Task(
                stage, data_set, learner_name, representation, tuple(sharing), description, tuple(measures), protocol
            )


def _measure(name: str, own: set[str]) -> Any:
    """Describe a measure: by name, one of the user's own also by the path of its function."""
    measure = get_error(name)
    return {"name": name, "function": stored_path(measure.function)} if name in own else name


def truth_task(plan: Plan, data_set: str) -> dict[str, Any]:
    """Describe the shares of the test samples of a data set."""
    return {"stage": "truth", "data_set": data_set, "learner": "", "protocol": described(protocol_of(plan, "test", 2))}


def truth_task_in_format_1(plan: Plan, data_set: str) -> dict[str, Any]:
    """Describe the shares of the test samples as results of the earlier format do."""
    return format_1.description_of(truth_task(plan, data_set), (), protocol_of(plan, "test", 2))


def truth_code(plan: Plan) -> str:
    """Return the version of the code that draws the test samples."""
    return code_version({*_CODE_OF_SAMPLES, *_modules_of_parts(protocol_of(plan, "test", 2))})


def _modules_of_parts(protocol: Protocol) -> set[str]:
    """Return the modules of the protocols that draw parts of the test samples; none for the protocol of other plans."""
    return set(modules_in(protocol)) if isinstance(protocol, SeveralProtocols) else set()


def device_of(task: Task) -> str:
    """Return the device and precision that the networks of a task compute with here; empty for a task without networks."""
    networks = [
        estimator
        for member in task.members
        for estimator in (member.quantifier, *member.quantifier.get_params().values())
        # An estimator from elsewhere may mean something else by a device.
        if type(estimator).__module__.startswith("headcount.") and hasattr(estimator, "device")
    ]
    if not networks or find_spec("torch") is None:
        return ""
    from headcount.learners.neural.device import device_label

    labels = {device_label(network.device, getattr(network, "precision", None)) for network in networks}
    return "; ".join(sorted(labels))
