"""Which fits of a study depend on a seed, and which runs of a method have a seed of their own."""

from collections.abc import Sequence
from typing import Any

from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from headcount.quantifiers import DensitiesQuantifier, Quantifier, SumsQuantifier
from headcount.selection import Run
from headcount.study.plan import Plan
from headcount.study.tasks import make_member

__all__ = ["distinct_runs", "seeds_of"]

_ONE_OPTIMUM = (LogisticRegression, RidgeClassifier, LinearSVC)
"""Learners with one optimum, which a seed changes the way to, and nothing else."""


def seeds_of(quantifier: Quantifier) -> dict[str, Any]:
    """Return the random states that a fit depends on, by parameter; empty for a method that draws nothing.

    Examples
    --------
    >>> from headcount import CC, PACC, SLD
    >>> [sorted(seeds_of(method(LogisticRegression()))) for method in (CC, SLD, PACC)]
    [[], [], ['random_state']]
    """
    parameters = quantifier.get_params()
    seeds = {}
    for name, value in parameters.items():
        owner, _, last = name.rpartition("__")
        if last != "random_state":
            continue
        if owner:
            depends = not isinstance(parameters[owner], _ONE_OPTIMUM)
        else:
            # In the two families a seed splits off the validation items; a method of neither may draw anything.
            depends = quantifier.uses_validation or not isinstance(quantifier, SumsQuantifier | DensitiesQuantifier)
        if depends:
            seeds[name] = value
    return seeds


def distinct_runs(plan: Plan, runs: Sequence[Run]) -> tuple[list[int], bool]:
    """Return the positions of runs of one method that each have another seed, and whether the method draws at random.

    Runs with one seed are one run: their number says nothing about luck.
    """
    seeds = [seeds_of(make_member(plan, run).quantifier) for run in runs]
    first = {repr(sorted(by_name.items())): i for i, by_name in reversed(list(enumerate(seeds)))}
    return sorted(first.values()), any(seeds)
