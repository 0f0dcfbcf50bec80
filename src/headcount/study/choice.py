"""Which setting each method uses: the learner's defaults, or the one with the least error by its target on the held-out part."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from headcount.study.plan import DEFAULT, LearnerPlan, MethodPlan, Plan
from headcount.study.tasks import Task

__all__ = ["Use", "choose", "distinct", "fitted_key", "grid_size"]


@dataclass(frozen=True)
class Use:
    """One method over one learner, optimised for one target, in one run.

    Attributes
    ----------
    params : dict
        The setting that it uses.
    score : float or None
        Its error by the target.
    failure : str or None
        Why there is no setting.
    """

    method: MethodPlan
    learner: LearnerPlan | None
    target: str
    run: int
    params: dict[str, Any]
    score: float | None = None
    failure: str | None = None

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What is fitted for it: uses of the same key share their estimates."""
        return fitted_key(self.method.name, self.learner.name if self.learner else "", self.run, self.params)


def fitted_key(method: str, learner: str, run: int, params: dict[str, Any]) -> tuple[str, str, int, str]:
    """Return method, learner, run and setting in a form that can be looked up."""
    return method, learner, run, repr(sorted(params.items(), key=str))


def distinct(uses: Iterable[Use]) -> list[tuple[MethodPlan, LearnerPlan | None, int, dict[str, Any]]]:
    """Return what must be fitted for these uses, each once."""
    found = {use.key: (use.method, use.learner, use.run, use.params) for use in uses if use.failure is None}
    return list(found.values())


def choose(plan: Plan, judged: Sequence[tuple[Task, dict[str, Any]]], partly: bool = False) -> list[Use]:
    """Choose the setting of each use; of equal errors, the first in the grid.

    ``partly``: some tasks may be missing, and uses that need them say so.
    """
    scores: dict[tuple[str, str, int], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for task, outcome in judged:
        for member, entry in zip(task.members, outcome["members"], strict=True):
            scores.setdefault((member.method, member.learner, member.run), []).append((member.params, entry))
    uses = []
    for method, learner in plan.rows():
        for target in method.targets:
            for run in range(method.runs):
                if target == DEFAULT:
                    uses.append(Use(method, learner, target, run, {}))
                    continue
                tried = scores.get((method.name, "" if learner is None else learner.name, run), [])
                if partly and len(tried) < grid_size(method, learner):
                    uses.append(Use(method, learner, target, run, {}, failure="not all settings are judged yet"))
                else:
                    uses.append(_best(method, learner, target, run, tried))
    return uses


def grid_size(method: MethodPlan, learner: LearnerPlan | None) -> int:
    """Return the number of settings that a method chooses from."""
    return math.prod(len(values) for values in (method.grid if learner is None else learner.grid).values())


def _best(
    method: MethodPlan, learner: LearnerPlan | None, target: str, run: int, tried: Sequence[tuple[Any, Any]]
) -> Use:
    grid = method.grid if learner is None else learner.grid
    sound = [(params, entry["scores"][target]) for params, entry in tried if not entry["error"]]
    if not sound:
        where = f"{method.name}{' over ' + learner.name if learner else ''}"
        return Use(
            method, learner, target, run, {}, failure=f"no setting of {where} could be judged: {tried[0][1]['error']}"
        )

    def place(params: dict[str, Any]) -> list[int]:
        return [list(values).index(params[key]) for key, values in sorted(grid.items())]

    params, score = min(sound, key=lambda entry: (entry[1], place(entry[0])))
    return Use(method, learner, target, run, params, score)
