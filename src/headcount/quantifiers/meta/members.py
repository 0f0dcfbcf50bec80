"""`MembersQuantifier`: base of the methods that combine the estimates of several quantifiers, their members.

Members with the same classifier share its fit and its outputs. The outputs of a pool hold those that each member needs
(`Outputs.members`), so that each classifier scores the pool once, however many samples follow.
"""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from headcount._shared_work import shared_work
from headcount._typing import AnyArray, FloatArray, IntArray, Items
from headcount._validation import HasMethods, as_items, encode
from headcount.exceptions import DataError
from headcount.learners import Fits, Need, Outputs
from headcount.quantifiers.base import Quantifier

__all__ = ["MemberStatistics", "MembersQuantifier", "fit_member", "score_members", "seeded"]


@dataclass(frozen=True, eq=False)
class MemberStatistics:
    """The statistics of the same samples for each member, merged member by member.

    Attributes
    ----------
    parts : tuple
        Of statistics, one for each member.
    """

    parts: tuple[Any, ...]

    @property
    def weights(self) -> FloatArray:
        """Number of items, or total weight, of each sample."""
        weights: FloatArray = self.parts[0].weights
        return weights

    def __len__(self) -> int:
        return len(self.parts[0])

    def __add__(self, other: "MemberStatistics") -> "MemberStatistics":
        return MemberStatistics(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


class MembersQuantifier(Quantifier):
    """Base of the methods that combine the estimates of several quantifiers.

    A subclass writes ``_learn``, which sets ``members_``, and ``_combine``. Parameters of the quantifier that members are made of
    are set by their path, such as ``quantifier__classifier__C``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    members_ : list of fitted quantifiers
    """

    quantifier: Any
    members_: list[Quantifier]

    brings_learner = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "quantifier": [HasMethods(["fit", "aggregate"]), None],
        "random_state": "no_validation",
        "classes": ["array-like", None],
    }

    @staticmethod
    @abstractmethod
    def default_quantifier() -> Quantifier:
        """Return the quantifier that ``quantifier=None`` means."""

    def _inner(self) -> list[Quantifier]:
        """Return the quantifiers that members are made of, not fitted."""
        given = self.default_quantifier() if self.quantifier is None else self.quantifier
        inner = list(given) if isinstance(given, list | tuple) else [given]
        if not inner or not all(isinstance(one, Quantifier) for one in inner):
            raise DataError(f"Expected a quantifier to make the members of {type(self).__name__} of, got {given!r}.")
        return inner

    def check_learnt(self) -> None:
        """Raise DataError unless there are members, fitted on the same classes."""
        if not isinstance(self.members_, list) or not self.members_:
            raise DataError("members_ is not a list of quantifiers")
        expected = sorted(map(str, self._classes_of_members()))
        width = getattr(self, "n_features_in_", None)
        for one in self._scorers():
            if getattr(one, "n_features_in_", width) != width:
                raise DataError("a member reads other features")
            known = getattr(one, "classes_", ())
            if not isinstance(one, Quantifier) or sorted(map(str, known)) != expected:
                raise DataError("a member is not a quantifier that is fitted on the same classes")

    def _classes_of_members(self) -> list[Any]:
        """Return the classes that the members are fitted on, in any order."""
        return list(self.classes_)

    @abstractmethod
    def _combine(self, estimates: FloatArray, statistics: MemberStatistics) -> FloatArray:
        """Combine estimates of shape (n_members, n_samples, n_classes) to shares of shape (n_samples, n_classes)."""

    def _learn_classes(self, labels: AnyArray) -> tuple[AnyArray, IntArray]:
        if self.classes is not None:
            return super()._learn_classes(labels)
        return self._inner()[0]._learn_classes(labels)

    def _routed(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        return self._inner()[0]._routed(fit_params)

    @property
    def needs(self) -> frozenset[Need]:
        """What must be known of each item: all that a member needs."""
        return frozenset().union(*(one.needs for one in getattr(self, "members_", None) or self._inner()))

    @property
    def uses_validation(self) -> bool:
        """Whether a member learns from validation items."""
        return any(one.uses_validation for one in getattr(self, "members_", None) or self._inner())

    def _scorers(self) -> list[Quantifier]:
        """Return the quantifiers whose outputs are needed: the members."""
        return self.members_

    def _score(self, X: Items, needs: Collection[Need]) -> Outputs:
        return Outputs(self.classes_, as_items(X)[1], members=score_members(self._scorers(), X))

    def reduce(self, outputs: Outputs, samples: Any = None) -> MemberStatistics:
        """Reduce the outputs of each member to its statistics."""
        outputs, samples = self._ready(outputs, samples)
        scorers = self._scorers()
        parts = self._shared_outputs(outputs) if outputs.members is None else outputs.members
        if len(parts) != len(scorers):
            raise DataError(
                f"These outputs are of {len(parts)} members, and {type(self).__name__} needs those of {len(scorers)}: score the "
                "items with quantifier.outputs(X)."
            )
        return MemberStatistics(tuple(one.reduce(part, samples) for one, part in zip(scorers, parts, strict=True)))

    def _shared_outputs(self, outputs: Outputs) -> Sequence[Outputs]:
        """Return what each member is given of outputs of one classifier that all of them share."""
        return [outputs] * len(self._scorers())

    def solve(self, statistics: MemberStatistics) -> FloatArray:
        """Estimate with each member, and combine their estimates."""
        check_is_fitted(self, "members_")
        solved = [one.solve(part) for one, part in zip(self.members_, statistics.parts, strict=False)]
        return self._combine(
            np.stack([self._in_order(*pair) for pair in zip(self.members_, solved, strict=True)]), statistics
        )

    def _in_order(self, member: Quantifier, shares: FloatArray) -> FloatArray:
        """Return a member's shares in the order of this method's classes."""
        return shares[:, encode(self.classes_, member.classes_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._inner()[0]).input_tags
        return tags


def seeded(quantifier: Quantifier, seed: int | None, classes: Any = None) -> Quantifier:
    """Return a clone with this seed and these classes, where it has none."""
    new: Quantifier = clone(quantifier)
    given = {"random_state": seed, "classes": classes}
    params = new.get_params(deep=False)
    new.set_params(**{name: value for name, value in given.items() if name in params and params[name] is None})
    return new


def fit_member(
    member: Quantifier, fits: Fits, rows: IntArray | None = None, labels: AnyArray | None = None
) -> Quantifier:
    """Fit a member on some of the items, or for other labels of theirs, through fits that others can share."""
    own = fits if rows is None and labels is None else fits.other(rows, labels)
    if own is not fits:
        own.seconds, own.not_converged = 0.0, []
    member.fit_through(own)
    if own is not fits:
        fits.seconds += own.seconds
        fits.not_converged += own.not_converged
    return member


def score_members(members: Sequence[Quantifier], X: Items) -> tuple[Outputs, ...]:
    """Score items for each member: each classifier once, for all that the members over it need."""
    X, _ = as_items(X)
    keys = [id(getattr(member, "classifier_", member)) for member in members]
    needs: dict[int, frozenset[Need]] = {}
    for key, member in zip(keys, members, strict=True):
        needs[key] = needs.get(key, frozenset()) | member.needs
    scored: dict[int, Outputs] = {}
    with shared_work():
        for key, member in zip(keys, members, strict=True):
            if key not in scored:
                scored[key] = member.outputs(X, needs[key])
    return tuple(scored[key] for key in keys)
