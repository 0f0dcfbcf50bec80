"""Candidates of a search: all settings of all quantifiers, in groups that share their fits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from headcount._validation import quoted
from headcount.exceptions import DataError
from headcount.learners.fits import content_hash
from headcount.learners.forests import size_of_forest
from headcount.learners.paths import on_path, starts_from_smaller, without_place
from headcount.quantifiers import Quantifier
from headcount.selection.runs import Run

__all__ = ["Candidate", "expand", "group"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Candidate(Run):
    """A run with the quantifier, not fitted yet, that does it.

    Attributes
    ----------
    quantifier : Quantifier
    index : int
        Position among all candidates of a search.
    position : int
        Position of its quantifier among the quantifiers of a search.
    """

    quantifier: Quantifier
    index: int = 0
    position: int = 0


CandidateT = TypeVar("CandidateT", bound=Candidate)


def expand(quantifiers: Sequence[Quantifier], grid: Any, seed: int) -> list[Candidate]:
    """List all settings of all quantifiers, in the order of the grid.

    A parameter that a quantifier lacks is ignored for it; one that no quantifier has is an error. Quantifiers without a
    ``random_state`` get the given seed, so that all candidates of a search split the data alike.
    """
    if isinstance(grid, list) and not grid:
        raise DataError("The grid is empty: pass a dict of lists, or {} to try each quantifier as it is.")
    settings = list(ParameterGrid(grid))
    invalid = [key for setting in settings for key in setting if not isinstance(key, str)]
    if invalid:
        raise DataError(f"The keys of the grid must be names of parameters; got {quoted(invalid)}.")
    quantifiers = [_with_default_classifier(quantifier, settings) for quantifier in quantifiers]
    used = {key for setting in settings for q in quantifiers for key in setting if key in _parameter_names(q, setting)}
    unknown = {key for setting in settings for key in setting} - used
    if unknown:
        parameters = sorted(set().union(*(q.get_params() for q in quantifiers)))
        raise DataError(
            f"The grid names {quoted(sorted(unknown))}, which no quantifier of the search has; their parameters are: "
            f"{quoted(parameters, 30) or 'none'}."
        )
    candidates: list[Candidate] = []
    for position, quantifier in enumerate(quantifiers):
        seen = set()
        for setting in settings:
            names = _parameter_names(quantifier, setting)
            params = {key: value for key, value in setting.items() if key in names}
            content = content_hash(params) or len(candidates)
            if content not in seen:
                seen.add(content)
                new = clone(quantifier).set_params(**{key: _cloned(value) for key, value in params.items()})
                if "random_state" in names and new.random_state is None:
                    new.set_params(random_state=seed)
                classifier = getattr(new, "classifier", None)
                learner = "" if classifier is None else type(classifier).__name__
                method = type(new).__name__
                index = len(candidates)
                candidates.append(Candidate(method, learner, params, quantifier=new, index=index, position=position))
    return candidates


def _with_default_classifier(quantifier: Quantifier, settings: Sequence[Mapping[str, Any]]) -> Quantifier:
    """Make the default classifier explicit where the grid has parameters for it."""
    named = any(key.startswith("classifier__") for setting in settings for key in setting)
    if named and getattr(quantifier, "classifier", 0) is None:
        explicit: Quantifier = clone(quantifier).set_params(classifier=quantifier.default_classifier())
        return explicit
    return quantifier


def _parameter_names(quantifier: Quantifier, setting: Mapping[str, Any]) -> set[str]:
    """Return the parameters of a quantifier, including those of estimators that the setting puts into it."""
    names = set(quantifier.get_params())
    for key, value in setting.items():
        if key in names:
            names = {name for name in names if not name.startswith(f"{key}__")}
            if hasattr(value, "get_params"):
                names |= {f"{key}__{inner}" for inner in value.get_params()}
    return names


def _cloned(value: Any) -> Any:
    """Clone an estimator of the grid, so that no two candidates share it; return any other value as it is."""
    return clone(value) if hasattr(value, "get_params") and not isinstance(value, type) else value


def group(candidates: Sequence[CandidateT]) -> list[list[CandidateT]]:
    """Group candidates that share fits, the largest forest first in each group: the smaller ones are cut from it."""
    groups: dict[Any, list[CandidateT]] = {}
    for i, candidate in enumerate(candidates):
        groups.setdefault(_fit_key(candidate.quantifier) or i, []).append(candidate)
    return [sorted(group, key=lambda c: -_n_trees(c)) for group in groups.values()]


def _n_trees(candidate: Candidate) -> int:
    return size_of_forest(getattr(candidate.quantifier, "classifier", None))


def _fit_key(quantifier: Quantifier) -> str:
    """Hash what is fitted for a quantifier: its classifier, and the part of the items that this is trained on.

    Forests of any size and all values of a path have the key of one: they come out of one fit, or start from each other. The key
    is empty if nothing can be shared. It only decides which candidates are fitted
    together, so a key that is too fine costs time but changes no figure.
    """
    params: Mapping[str, Any] = quantifier.get_params(deep=False)
    if "classifier" not in params:
        return ""
    classifier = params["classifier"]
    if classifier is None:
        classifier = quantifier.default_classifier()
    if size_of_forest(classifier):
        classifier = clone(classifier).set_params(n_estimators=1)
    elif on_path(classifier) or starts_from_smaller(classifier):
        classifier = without_place(classifier)
    # `validation` (of a method with a validation part) or `split` says which part the classifier is not trained on.
    held_out = params.get("validation") if quantifier.uses_validation else params.get("split")
    # With folds and refit=True the classifier is fitted on all items too: it shares that fit with methods that hold out nothing.
    refitted = isinstance(held_out, int) and params.get("refit")
    part = None if held_out is None or refitted else (held_out, params.get("random_state"))
    return content_hash((classifier, part))
