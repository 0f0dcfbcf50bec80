"""`rank`: entrants that were run on the same data sets, by the mean rank of their errors, and which of them can't be told apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from headcount._typing import FloatArray, IntArray
from headcount.report.league.sets import SetFacts
from headcount.report.league.standing import ALL_PARTS, Entrant, Standings
from headcount.report.scores import losses
from headcount.significance import RankComparison, compare_ranks
from headcount.study.plan import DEFAULT

__all__ = ["ALPHA", "ANY_CLASSES", "COVERAGE", "TWO_CLASSES", "Ranking", "View", "first_view", "rank", "views"]

TWO_CLASSES, ANY_CLASSES = "two", "any"
"""Which data sets: those with two classes, or all of them, for the methods that take any number of classes."""
COVERAGE = 0.9
"""Share of the data sets that an entrant must have figures on to be ranked; sets that lack one of the ranked are then left out."""
ALPHA = 0.05
"""Level of the tests."""
_TIE_DECIMALS = 7
"""Digits of mean errors that are compared: what is equal to so many shares its rank."""


@dataclass(frozen=True)
class View:
    """What is compared by which errors on which data sets; an empty text is no restriction.

    Attributes
    ----------
    learner, target : str
        Of the entrants. Methods without a learner of the plan are in each view.
    part : str
        Of the test samples.
    measure : str
    classes : {"two", "any"}
    kind, size, imbalance : str
        Of the data sets.
    """

    learner: str
    target: str
    measure: str
    part: str = ALL_PARTS
    classes: str = TWO_CLASSES
    kind: str = ""
    size: str = ""
    imbalance: str = ""

    def has_set(self, facts: SetFacts) -> bool:
        """Whether a data set is in the view."""
        return (
            (self.classes == ANY_CLASSES or len(facts.classes) == 2)
            and self.kind in ("", facts.kind)
            and self.size in ("", facts.size)
            and self.imbalance in ("", facts.imbalance)
        )

    def has_entrant(self, entrant: Entrant) -> bool:
        """Whether an entrant is in the view."""
        return not entrant.learner or (self.learner in ("", entrant.learner) and self.target in ("", entrant.target))


class Unranked(NamedTuple):
    """An entrant that is not ranked, and why."""

    entrant: Entrant
    reason: str


@dataclass(frozen=True, eq=False)
class Ranking:
    """Entrants over data sets that all of them have figures on.

    Attributes
    ----------
    view : View
    entrants : list of Entrant
        The best mean rank first.
    units : list of list of SetFacts
        Each has one data set, or several made of the same items, over which errors are averaged.
    errors : array of shape (n_units, n_entrants)
    mean_ranks : array of shape (n_entrants,)
    unranked : list of Unranked
    sets_left_out : list of str
        Data sets of the view that one of the entrants has no figures on.
    """

    view: View
    entrants: list[Entrant]
    units: list[list[SetFacts]]
    errors: FloatArray
    mean_ranks: FloatArray
    unranked: list[Unranked] = field(default_factory=list)
    sets_left_out: list[str] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Names of the entrants: those of the methods, if no two entrants have the same."""
        methods = [entrant.method for entrant in self.entrants]
        return methods if len({*methods}) == len(methods) else [entrant.name for entrant in self.entrants]

    @property
    def n_sets(self) -> int:
        """Number of data sets; those of the same items are several."""
        return sum(map(len, self.units))

    @property
    def mean_errors(self) -> FloatArray:
        """Mean error of each entrant over the units."""
        means: FloatArray = self.errors.mean(axis=0)
        return means

    @property
    def wins(self) -> IntArray:
        """Number of units on which each entrant has the lowest error, alone or with others."""
        if not self.errors.size:
            return np.zeros(len(self.entrants), dtype=np.int64)
        wins: IntArray = (self.ranked == self.ranked.min(axis=1, keepdims=True)).sum(axis=0)
        return wins

    @property
    def ranked(self) -> FloatArray:
        """The errors that ranks go by: lower is better, and differences of no account are none."""
        values: FloatArray = np.round(losses(self.errors, self.view.measure), _TIE_DECIMALS)
        return values

    @property
    def test(self) -> Literal["wilcoxon", "nemenyi"]:
        """The test of pairs: Wilcoxon's with Holm's correction, unless sets are so few that it can't find any difference."""
        n, k = self.errors.shape
        least = 2.0 ** (1 - n) * k * (k - 1) / 2  # where one of a pair is better on every set
        return "wilcoxon" if least < ALPHA else "nemenyi"

    @cached_property
    def comparison(self) -> RankComparison | None:
        """Friedman's test, then that of pairs; None with fewer than two entrants or units."""
        if min(self.errors.shape) < 2:
            return None
        return compare_ranks(self.ranked, self.names, test=self.test, alpha=ALPHA)

    def equals_of_first(self) -> list[Entrant]:
        """Return the entrants that can't be told apart from the first: all, if Friedman's test tells none apart."""
        if self.comparison is None or self.comparison.p_value >= ALPHA:
            return self.entrants[1:]
        p = self.comparison.p_pairs[0]
        return [entrant for j, entrant in enumerate(self.entrants) if j and p[j] >= ALPHA]


def views(standings: Standings) -> list[View]:
    """Return the views with pictures: each learner with each target, over sets of two classes, and over all if some have more."""
    measure = standings.plan.measures[0]
    pairs = dict.fromkeys((entrant.learner, entrant.target) for entrant in standings.entrants if entrant.learner)
    two = [len(facts.classes) == 2 for facts in standings.sets]
    classes = [name for name, there in ((TWO_CLASSES, any(two)), (ANY_CLASSES, not all(two))) if there]
    return [View(*pair, measure, classes=name) for pair in pairs or [("", DEFAULT)] for name in classes]


def first_view(standings: Standings) -> View:
    """Return the view that is shown first: the first learner and target, two classes if most sets have two."""
    of_first = views(standings)
    two = sum(len(facts.classes) == 2 for facts in standings.sets)
    if 2 * two < len(standings.sets) and len(of_first) > 1:
        return replace(of_first[0], classes=ANY_CLASSES)
    return of_first[0] if of_first else View("", DEFAULT, standings.plan.measures[0])


def rank(standings: Standings, view: View, errors: FloatArray | None = None) -> Ranking:
    """Return the ranking of a view, by its mean errors or by other errors of each data set and entrant.

    An entrant is ranked if it suits all data sets of the view and has figures on at least `COVERAGE` of them; sets on which one
    of these has none are left out. Errors are averaged over sets made of the same items, which count once.
    """
    if errors is None:
        errors = standings.errors[view.measure][:, :, standings.parts.index(view.part)]
    rows = [i for i, facts in enumerate(standings.sets) if view.has_set(facts) and np.isfinite(errors[i]).any()]
    ranked, unranked = [], []
    for j, entrant in enumerate(standings.entrants):
        if not view.has_entrant(entrant) or not standings.of[rows, j].any():
            continue
        suits, has = int((standings.of[rows, j] > 0).sum()), int(np.isfinite(errors[rows, j]).sum())
        if suits < len(rows):
            unranked.append(Unranked(entrant, f"suits {suits} of {len(rows)} data sets"))
        elif has < COVERAGE * len(rows) or not has:
            unranked.append(Unranked(entrant, f"has figures on {has} of {len(rows)} data sets"))
        else:
            ranked.append(j)
    kept = [i for i in rows if np.isfinite(errors[i, ranked]).all()] if ranked else []
    units = _units([standings.sets[i] for i in kept])
    index = {facts.name: i for i, facts in enumerate(standings.sets)}
    means = [errors[np.ix_([index[facts.name] for facts in unit], ranked)].mean(axis=0) for unit in units]
    table = np.array(means).reshape(len(units), len(ranked))
    left_out = [standings.sets[i].name for i in rows if i not in kept] if ranked else []
    ranking = Ranking(
        view, [standings.entrants[j] for j in ranked], units, table, np.ones(len(ranked)), unranked, left_out
    )
    return _sorted(ranking)


def _units(sets: Sequence[SetFacts]) -> list[list[SetFacts]]:
    """Return data sets grouped by their items."""
    units: dict[str, list[SetFacts]] = {}
    for facts in sets:
        units.setdefault(facts.unit, []).append(facts)
    return list(units.values())


def _sorted(ranking: Ranking) -> Ranking:
    """Return the ranking with mean ranks, the best first; entrants of equal rank by their mean error."""
    from scipy.stats import rankdata

    if not ranking.errors.size:
        return ranking
    means = rankdata(ranking.ranked, axis=1).mean(axis=0)
    order = np.lexsort((ranking.ranked.mean(axis=0), np.round(means, _TIE_DECIMALS)))
    return replace(
        ranking,
        entrants=[ranking.entrants[j] for j in order],
        errors=ranking.errors[:, order],
        mean_ranks=means[order],
    )
