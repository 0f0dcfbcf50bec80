"""Candidates of a search: quantifiers with settings, grouped such that those of one group share their fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.learners.fits import content_hash
from headcount.learners.forests import size_of_forest
from headcount.learners.paths import on_path, without_place
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
    if isinstance(grid, list) and not grid:
        raise DataError("The grid is empty: pass a dict of lists, or {} to try each quantifier as it is.")
    settings = list(ParameterGrid(grid))
    strange = [key for setting in settings for key in setting if not isinstance(key, str)]
    if strange:
        raise DataError(f"The keys of the grid must be names of parameters; got {quoted(strange)}.")
    quantifiers = [_with_default_classifier(quantifier, settings) for quantifier in quantifiers]
    somewhere = {key for setting in settings for q in quantifiers for key in setting if key in _keys(q, setting)}
    nowhere = {key for setting in settings for key in setting} - somewhere
    if nowhere:
        known = sorted(set().union(*(q.get_params() for q in quantifiers)))
        raise DataError(
            f"The grid names {quoted(sorted(nowhere))}, which no quantifier of the search has; their parameters are: "
            f"{quoted(known, 30) or 'none'}."
        )
    candidates: list[Candidate] = []
    for position, quantifier in enumerate(quantifiers):
        seen = set()
        for setting in settings:
            keys = _keys(quantifier, setting)
            params = {key: value for key, value in setting.items() if key in keys}
            content = content_hash(params) or len(candidates)
            if content not in seen:
                seen.add(content)
                one = clone(quantifier).set_params(**{key: _own(value) for key, value in params.items()})
                if "random_state" in keys and one.random_state is None:
                    one.set_params(random_state=seed)
                candidates.append(Candidate(len(candidates), position, one, params))
    return candidates


def _with_default_classifier(quantifier: Quantifier, settings: Sequence[Mapping[str, Any]]) -> Quantifier:
    """Write out the default classifier of a quantifier where the grid has settings for it."""
    named = any(key.startswith("classifier__") for setting in settings for key in setting)
    if named and getattr(quantifier, "classifier", 0) is None:
        written_out: Quantifier = clone(quantifier).set_params(classifier=quantifier.default_classifier())
        return written_out
    return quantifier


def _keys(quantifier: Quantifier, setting: Mapping[str, Any]) -> set[str]:
    """Return the parameters that a quantifier has, those of estimators that the setting itself puts in included."""
    keys = set(quantifier.get_params())
    for key, value in setting.items():
        if key in keys:
            keys = {name for name in keys if not name.startswith(f"{key}__")}
            if hasattr(value, "get_params"):
                keys |= {f"{key}__{inner}" for inner in value.get_params()}
    return keys


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
    """Name what is fitted for a candidate: its classifier (whatever its size or place on a path), on which parts of the data."""
    params: Mapping[str, Any] = candidate.quantifier.get_params(deep=False)
    if "classifier" not in params:
        return candidate.index
    classifier = params["classifier"]
    if classifier is None:
        classifier = candidate.quantifier.default_classifier()
    if size_of_forest(classifier):
        classifier = clone(classifier).set_params(n_estimators=1)
    elif on_path(classifier):
        classifier = without_place(classifier)
    held_out = params.get("validation") if candidate.quantifier.uses_validation else params.get("split")
    part = (
        (held_out, params.get("random_state")) if isinstance(held_out, float | tuple | list) else None
    )  # else the whole is fitted too
    return content_hash((classifier, part)) or candidate.index
