"""Candidates of a search: quantifiers with settings, grouped such that those of one group share their fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.learners.forests import size_of_forest
from headcount.quantifiers import Quantifier

__all__ = ["Candidate", "expand", "group"]


@dataclass(frozen=True)
class Candidate:
    """One quantifier with one setting of its parameters."""

    index: int
    position: int
    """Of its quantifier among those that are searched."""
    quantifier: Quantifier
    params: dict[str, Any]


def expand(quantifiers: Sequence[Quantifier], grid: Any, seed: int) -> list[Candidate]:
    """List all settings of all quantifiers, in the order of the grid.

    A key of the grid that a quantifier does not have is left out for it; one that none of them has is an error. Quantifiers
    without a seed of their own get the given one, so that all candidates of a search split alike.
    """
    known = [set(quantifier.get_params()) for quantifier in quantifiers]
    settings = list(ParameterGrid(grid))
    nowhere = {key for setting in settings for key in setting if not any(key in names for names in known)}
    if nowhere:
        raise DataError(
            f"The grid names {quoted(sorted(nowhere))}, which no quantifier of the search has; their parameters are "
            f"{quoted(sorted(set().union(*known)), 30)}."
        )
    candidates: list[Candidate] = []
    for position, (quantifier, names) in enumerate(zip(quantifiers, known, strict=True)):
        seen = set()
        for setting in settings:
            params = {key: value for key, value in setting.items() if key in names}
            content = joblib.hash(params)
            if content not in seen:
                seen.add(content)
                one = clone(quantifier).set_params(**{key: _own(value) for key, value in params.items()})
                if "random_state" in names and one.random_state is None:
                    one.set_params(random_state=seed)
                candidates.append(Candidate(len(candidates), position, one, params))
    return candidates


def _own(value: Any) -> Any:
    """Return an estimator of the grid as a clone, so that no two candidates share it."""
    return clone(value) if hasattr(value, "get_params") and not isinstance(value, type) else value


def group(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Group candidates that rest on the same fits, the largest forests first in each group."""
    groups: dict[Any, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(_rests_on(candidate), []).append(candidate)
    return [sorted(group, key=lambda c: -_trees(c)) for group in groups.values()]


def _trees(candidate: Candidate) -> int:
    return size_of_forest(getattr(candidate.quantifier, "classifier", None))


def _rests_on(candidate: Candidate) -> Any:
    """Name what is fitted for a candidate: its classifier (whatever the number of trees), on which parts of the data."""
    params: Mapping[str, Any] = candidate.quantifier.get_params(deep=False)
    classifier = params.get("classifier")
    if "classifier" not in params:
        return candidate.index
    if size_of_forest(classifier):
        classifier = clone(classifier).set_params(n_estimators=1)
    return joblib.hash((classifier, params.get("validation"), params.get("random_state")))
