"""A league in plain sentences: what was compared, who is best where, and how sure that is."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from headcount.errors import get_error
from headcount.report.league.groups import GroupRanking
from headcount.report.league.ranking import ALPHA, ANY_CLASSES, TWO_CLASSES, Ranking, View
from headcount.report.league.standing import Entrant, Standings
from headcount.report.scores import label_of
from headcount.study.plan import DEFAULT

__all__ = ["compared", "listed", "sets_of", "settings_of", "title_of", "unranked_in_words", "verdict", "where"]

_MOST_NAMES = 8
"""Names that a sentence lists; of more, it gives the number."""


def compared(standings: Standings) -> str:
    """Say what was compared: methods, data sets, test samples, and sets of the same items."""
    sets, plan = standings.sets, standings.plan
    if not sets:
        return "The store has no results of this plan yet."
    methods = {entrant.method for entrant in standings.entrants}
    learners = list(dict.fromkeys(e.learner for e in standings.entrants if e.learner))
    kinds = Counter(facts.kind for facts in sets)
    of_kinds = listed([_count(n, _KINDS[kind]) for kind, n in kinds.items()])
    two = sum(len(facts.classes) == 2 for facts in sets)
    classes = "all with two classes" if two == len(sets) else f"{two} with two classes, {len(sets) - two} with more"
    described = [f"{name} ({plan.learner(name).maker.rpartition('.')[2]})" for name in learners]
    over = f" over the {'classifiers' if len(learners) > 1 else 'classifier'} {listed(described)}" if learners else ""
    targets = list(dict.fromkeys(e.target for e in standings.entrants if e.target != DEFAULT))
    chosen = (
        f" The classifier's settings are those given or, in rankings of their own, chosen for {listed([*map(label_of, targets)])}."
        if targets
        else ""
    )
    parts = plan.protocol.parts
    samples = f", on {sum(part.n_samples for part in parts):,} test samples of each" if parts else ""
    what = listed([f"{part.n_samples} of “{part.name}”" for part in parts])
    measure = get_error(plan.measures[0])
    units = len({facts.unit for facts in sets})
    same = (
        f" Some are made of the same items and count once: {len(sets)} data sets count as {units}."
        if units < len(sets)
        else ""
    )
    return (
        f"{_count(len(methods), ('method', 'methods'))} that estimate class shares were compared on {_count(len(sets), _SETS)} "
        f"({of_kinds}; {classes}){over}{samples}{f' ({what})' if len(parts) > 1 else ''}.{same} "
        f"On each data set they are ranked by the mean over its samples of the {measure.title} of the shares ({measure.label}); "
        f"1 is the best rank.{chosen}"
    )


def verdict(ranking: Ranking) -> str:
    """Say who is best in a ranking, and how sure that is."""
    if not ranking.entrants or not ranking.units:
        return "Nothing can be ranked yet: no method has figures on all data sets of the first ranking."
    names, n = dict(zip(ranking.entrants, ranking.names, strict=True)), len(ranking.units)
    first = ranking.entrants[0]
    label = label_of(ranking.view.measure)
    if len(ranking.entrants) == 1:
        return f"{_start(ranking)} only {names[first]} was tested; its mean {label} is {ranking.mean_errors[0]:.4f}."
    tied = [
        e
        for e, rank in zip(ranking.entrants, ranking.mean_ranks, strict=True)
        if abs(rank - ranking.mean_ranks[0]) < 1e-9
    ]
    who = (
        f"{listed([names[e] for e in tied])} share the best mean rank"
        if len(tied) > 1
        else f"{names[first]} has the best mean rank"
    )
    best = (
        f"{_start(ranking)} {who} of {len(ranking.entrants)} methods: {ranking.mean_ranks[0]:.1f}, with a mean {label} of "
        f"{ranking.mean_errors[0]:.4f}; it has the lowest error on {ranking.wins[0]} of {n}."
    )
    if ranking.comparison is None:
        return f"{best} With one data set there is no test of how sure that is."
    return f"{best} {_how_sure(ranking, names, n)}"


def _how_sure(ranking: Ranking, names: dict[Entrant, str], n: int) -> str:
    comparison = ranking.comparison
    assert comparison is not None  # noqa: S101 (the caller has looked)
    if comparison.p_value >= ALPHA:
        return (
            f"But these data sets can't tell the methods apart (Friedman's test, p = {comparison.p_value:.2f}): another choice of "
            "data sets may put another first."
        )
    equals = ranking.equals_of_first()
    test = (
        "Wilcoxon's test with Holm's correction"
        if comparison.test == "wilcoxon"
        else f"Nemenyi's test; {n} data sets are too few for Wilcoxon's"
    )
    level = f"at the level of {100 * ALPHA:g} % ({test})"
    if not equals:
        return f"It is better than every other one {level}."
    told = len(ranking.entrants) - 1 - len(equals)
    named = [names[e] for e in equals]
    rest = listed(named if len(named) <= _MOST_NAMES else [*named[:_MOST_NAMES], f"{len(named) - _MOST_NAMES} more"])
    better = (
        f"; it is better than the other {told}" if told > 1 else "; it is better than the other one" if told else ""
    )
    return f"It can't be told apart from {rest}{better}, {level}."


def where(ranking: Ranking, groups: Sequence[GroupRanking]) -> list[str]:
    """Say in how many groups the best of a ranking is first, who else is, and where the best is worse by the test."""
    if not groups or ranking.comparison is None:
        return []
    best = ranking.entrants[0]
    names = {entrant: entrant.method for entrant in ranking.entrants}
    firsts = Counter(group.ranking.entrants[0] for group in groups)
    own = firsts.pop(best, 0)
    others = [f"{names.get(entrant, entrant.name)} in {n}" for entrant, n in firsts.most_common()]
    of = _count(len(groups), ("group", "groups"))
    who = listed([f"{names[best]} has the best mean rank in {own}", *others])
    sentences = [f"Of {of} of test samples and data sets, {who}."]
    worse = [group for group in groups if group.told_from_first(best)]
    if worse:
        where_worse = [
            f"{group.by} {group.group} ({names.get(e := group.ranking.entrants[0], e.name)})" for group in worse
        ]
        sentences.append(
            f"{names[best]} is worse than the first, by the test, in {len(worse)} of them: {'; '.join(where_worse)}."
        )
    elif others:
        sentences.append(f"Where another one is first, {names[best]} can't be told apart from it.")
    return sentences


def unranked_in_words(ranking: Ranking) -> str:
    """Say which entrants of a view are not ranked and which data sets are left out; empty if there are none."""
    by_reason: dict[str, list[str]] = {}
    for entrant, reason in ranking.unranked:
        by_reason.setdefault(reason, []).append(entrant.name)
    sentences = []
    if by_reason:
        parts = [f"{listed(names)} ({reason})" for reason, names in by_reason.items()]
        sentences.append(f"Not ranked here, because ranks need the same data sets: {'; '.join(parts)}.")
    if ranking.sets_left_out:
        n = len(ranking.sets_left_out)
        sentences.append(
            f"{_count(n, _SETS)} on which a ranked method has no figures {'is' if n == 1 else 'are'} left out: "
            f"{listed(ranking.sets_left_out)}."
        )
    return " ".join(sentences)


def title_of(view: View) -> str:
    """Return the title of a view: learner, settings, data sets."""
    learner = view.learner or "any classifier"
    return f"{learner}, {settings_of(view.target)}, {sets_of(view)}"


def settings_of(target: str) -> str:
    """Return how settings were chosen, in words; empty stands for all ways."""
    if not target:
        return "given and chosen settings"
    return "given settings" if target == DEFAULT else f"settings chosen for {label_of(target)}"


def sets_of(view: View) -> str:
    """Return which data sets a view has, in words."""
    return {TWO_CLASSES: "two classes", ANY_CLASSES: "any number of classes"}[view.classes]


def listed(names: Sequence[str]) -> str:
    """Join names by commas and "and"; by semicolons if a name has a comma itself."""
    if len(names) < 2:
        return "".join(names)
    comma = ";" if any("," in name for name in names) else ""
    return f"{(comma or ',') + ' '}".join(names[:-1]) + f"{comma} and {names[-1]}"


def _start(ranking: Ranking) -> str:
    view, n = ranking.view, len(ranking.units)
    two = np.all([len(facts.classes) == 2 for unit in ranking.units for facts in unit])
    which = f"{_count(n, _SETS)} with two classes" if two else f"{_count(n, _SETS)} with any number of classes"
    learner = f" with the classifier {view.learner}" if view.learner else ""
    return f"Over {which},{learner} at {settings_of(view.target)},"


_KINDS = {"tables": ("table", "tables"), "texts": ("set of texts", "sets of texts")}
_SETS = ("data set", "data sets")


def _count(n: int, of: tuple[str, str]) -> str:
    return f"{n:,} {of[n != 1]}"
