"""Judge methods over settings of learners: each setting is fitted once in folds, and all methods learn from its outputs."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from headcount._recording import recorded_warnings
from headcount._threads import one_blas_thread
from headcount.auto.cross_fitting import CrossFits, mean_outputs
from headcount.auto.learners import Kind, Learner, learner_named
from headcount.auto.ranking import Tried
from headcount.auto.trials import Trial, errors_in_trials
from headcount.quantifiers import Quantifier
from headcount.selection.progress import Progress, run_all

__all__ = ["Judged", "Setting", "judge"]


@dataclass(frozen=True, eq=False)
class Setting:
    """A learner with a setting of its parameters, not fitted."""

    learner: Learner
    params: dict[str, Any]
    classifier: Any

    @property
    def key(self) -> str:
        """What tells it from other settings."""
        return f"{self.learner.name} {self.params}"

    @property
    def title(self) -> str:
        """What it is called while it is tried."""
        params = ", ".join(f"{name} {value:g}" for name, value in self.params.items() if isinstance(value, float))
        return f"{self.learner.title} ({params})" if params else self.learner.title

    def members(self, kind: Kind, seed: int) -> "list[Setting]":
        """Return the settings of the learners that vote; none for other learners."""
        members = [learner_named(name) for name in self.learner.members]
        return [Setting(member, *member.settings(kind, seed)[0]) for member in members]


@dataclass(frozen=True, eq=False)
class Judged:
    """A method over a setting, with its errors.

    Attributes
    ----------
    position : int
        Of the method among all methods.
    quantifier : Quantifier
        The method over the setting's classifier, not fitted.
    tried : Tried
    """

    position: int
    quantifier: Quantifier
    tried: Tried


@dataclass(frozen=True, eq=False)
class _Result:
    """What a job returned, or the error that it ended with."""

    job: int
    value: Any = None
    error: str = ""
    seconds: float = 0.0


def judge(
    methods: Sequence[tuple[str, Quantifier]],
    settings: Sequence[Setting],
    fits: CrossFits,
    trials: Sequence[Trial],
    *,
    kind: Kind,
    seed: int,
    deadline: float,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[list[Judged], list[dict[str, Any]]]:
    """Return each method over each setting with its errors, and what failed or came too late, with the reason.

    Parameters
    ----------
    methods : sequence of pairs of name and quantifier
    settings : sequence of Setting
        Those that are tried first come first; the first is tried whatever the time.
    fits : CrossFits
    trials : sequence of Trial
    kind : str
        Of the items.
    seed : int
        Of learners.
    deadline : float
        By the monotonic clock: settings that were not begun by then are skipped.
    n_jobs : int, optional
    progress : bool or "auto"
    """
    alone = {one.key: one for one in settings if not one.learner.members}
    for vote in settings:  # members that are not tried themselves are fitted too
        alone |= {one.key: one for one in vote.members(kind, seed) if one.key not in alone}
    work = [
        joblib.delayed(_attempt)(job, fits.outputs, (one.classifier,), np.inf if job == 0 else deadline)
        for job, one in enumerate(alone.values())
    ]
    names = {job: one.title for job, one in enumerate(alone.values())}
    scored = dict(zip(alone, _in_order(run_all(work, n_jobs, "Fitting", progress, names)), strict=True))
    for vote in settings:
        if vote.learner.members:
            scored[vote.key] = _voted([scored[one.key] for one in vote.members(kind, seed)])
    pairs = [(one, position) for one in settings for position in range(len(methods))]
    work = [
        joblib.delayed(_attempt)(
            job, errors_in_trials, (methods[position][1], scored[one.key].value, fits.labels, trials)
        )
        for job, (one, position) in enumerate(pairs)
        if not scored[one.key].error
    ]
    names = {
        job: f"{methods[position][0]} over {one.title}"
        for job, (one, position) in enumerate(pairs)
        if not scored[one.key].error
    }
    results = {result.job: result for result in run_all(work, n_jobs, "Trying", progress, names)}
    judged, skipped = [], []
    for job, (one, position) in enumerate(pairs):
        name, method = methods[position]
        result = results.get(job, scored[one.key])
        if result.error:
            about = {"method": name, "learner": one.learner.name, "settings": one.params}
            skipped.append({**about, "reason": result.error})
            continue
        seconds = scored[one.key].seconds / len(methods) + result.seconds
        row = Tried(name, one.learner.name, one.params, result.value, method.has_interval, seconds)
        judged.append(Judged(position, clone(method).set_params(classifier=one.classifier), row))
    return judged, skipped


def _attempt(job: int, function: Callable[..., Any], arguments: tuple[Any, ...], deadline: float = np.inf) -> _Result:
    """Call a function, unless the time is up; record the error that it ends with, and show no warnings."""
    start = time.monotonic()
    if start > deadline:
        return _Result(job, error="the time budget was spent")
    with recorded_warnings(), one_blas_thread():
        try:
            value = function(*arguments)
        except Exception as error:
            return _Result(job, error=f"{type(error).__name__}: {error}")
    return _Result(job, value, seconds=time.monotonic() - start)


def _in_order(results: Sequence[_Result]) -> list[_Result]:
    return sorted(results, key=lambda result: result.job)


def _voted(members: Sequence[_Result]) -> _Result:
    """Return the outputs of learners that vote; if one of them failed, its error."""
    failed = next((member for member in members if member.error), None)
    if failed is not None:
        return failed
    return _Result(0, mean_outputs([member.value for member in members]))
