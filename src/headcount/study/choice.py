"""Which setting each method uses: the learner's defaults, or the best by its target on the held-out part."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from headcount.errors import get_error
from headcount.selection import Run
from headcount.study.plan import DEFAULT, Plan, PlanRow
from headcount.study.tasks import Task

__all__ = ["Use", "choose", "distinct"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Use(Run):
    """A run whose setting was chosen for a target.

    Attributes
    ----------
    target : str
        The error measure that the setting was chosen by, or "none" for the learner's defaults.
    score : float or None
        The error by the target on the held-out part.
    failure : str or None
        Why there is no setting.
    """

    target: str
    score: float | None = None
    failure: str | None = None


def distinct(uses: Iterable[Use]) -> list[Use]:
    """Return the uses that must be fitted: one of those that chose the same setting, none that failed."""
    return list({use.key: use for use in uses if use.failure is None}.values())


def choose(plan: Plan, judged: Sequence[tuple[Task, dict[str, Any]]], partly: bool = False) -> list[Use]:
    """Choose the setting of each use; of equal errors, the first in the grid.

    Parameters
    ----------
    plan : Plan
    judged : sequence of (task, outcome)
        The tasks that judged settings, with what the store holds of each.
    partly : bool
        Whether tasks may be missing; uses that need them then have a failure that says so.
    """
    tried: dict[Hashable, list[tuple[Run, dict[str, Any]]]] = {}
    for task, outcome in judged:
        for member, entry in zip(task.members, outcome["members"], strict=True):
            any_setting = Run(member.method, member.learner, {}, member.run)
            tried.setdefault(any_setting.key, []).append((member, entry))
    uses = []
    for row in plan.rows():
        for target in row.method.targets:
            for run in range(row.method.runs):
                use = Use(row.method.name, row.learner_name, {}, run, target=target)
                if target != DEFAULT:
                    choosing = replace(use, run=min(run, row.runs_that_choose - 1))
                    entries = tried.get(choosing.key, [])
                    if partly and len(entries) < len(row.settings()):
                        use = replace(use, failure="not all settings are judged yet")
                    else:
                        use = _best(use, row, entries)
                uses.append(use)
    return uses


def _best(use: Use, row: PlanRow, tried: Sequence[tuple[Run, dict[str, Any]]]) -> Use:
    """Return the use with the best of the settings that were judged without an error."""
    valid = [(run.params, entry["scores"][use.target]) for run, entry in tried if not entry["error"]]
    if not valid:
        name = f"{use.method}{' over ' + use.learner if use.learner else ''}"
        return replace(use, failure=f"no setting of {name} could be judged: {tried[0][1]['error']}")
    sign = 1 if get_error(use.target).lower_is_better else -1

    def order(entry: tuple[Any, float]) -> tuple[float, list[int]]:
        params, score = entry
        return sign * score, [list(values).index(params[name]) for name, values in sorted(row.grid.items())]

    params, score = min(valid, key=order)
    return replace(use, params=params, score=score)
