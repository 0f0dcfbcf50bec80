"""A study's outcome in words: what won, how surely, and what optimisation changed."""

from collections.abc import Sequence

import numpy as np

from headcount.report.figures import VARIANTS, Errors, Row, compared_rows
from headcount.report.series import Ranks
from headcount.significance import holm, paired_t

__all__ = ["in_words"]


def in_words(errors: Errors, ranks: Sequence[Ranks]) -> list[str]:
    """Return sentences on a study: the best method by mean rank, its lead over the next, what optimising the variants brought."""
    if not ranks:
        return ["The store has no results of this plan yet, so nothing can be said."]
    plan = errors.plan
    first = ranks[0]
    n = plan.protocol.n_prevalences * plan.protocol.test_repeats
    compared = "One method was tested" if len(ranks) == 1 else f"{len(ranks)} methods were compared"
    said = [
        f"{compared} on {_sets(errors)} by {_and([m.upper() for m in plan.measures])}, each on {n:,} test samples of "
        f"{plan.protocol.sample_size:,} documents.",
        _best(ranks),
    ]
    if len(ranks) > 1:
        said.append(_lead(errors, first, ranks[1]))
    gain = _gain(errors)
    if gain:
        said.append(gain)
    said.append(
        "Test samples share documents, and data sets are few: p-values flatter, and ranks say how methods did here, not everywhere."
    )
    return said


def _best(ranks: Sequence[Ranks]) -> str:
    """Say who has the lowest mean rank, of those with figures in all columns if there are such."""
    first = ranks[0]
    there = [value for value in first.ranks if value is not None]
    wins = sum(value == 1.0 for value in there)
    equal = [
        entry for entry in ranks if entry.ranks.count(None) == first.ranks.count(None) and entry.mean == first.mean
    ]
    who = (
        f"The best by mean rank is {_name(first)}"
        if len(equal) == 1
        else f"{_and([_name(e) for e in equal])} share the best mean rank"
    )
    place = f"{'column' if len(there) == 1 else 'columns'} of table 6"
    where = (
        f"{len(there)} {place}"
        if len(there) == len(first.ranks)
        else f"the {len(there)} {place} that it has figures in"
    )
    name = "it comes" if len(equal) == 1 else f"{_name(first)} comes"
    return f"{who} with {first.mean:.1f}; {name} first in {wins} of {where}."


def _sets(errors: Errors) -> str:
    names = [name for name in errors.plan.data_sets if any(key[0] == name for key in errors.files)]
    return f"{len(names)} data {'set' if len(names) == 1 else 'sets'} ({', '.join(names)})"


def _lead(errors: Errors, first: Ranks, second: Ranks) -> str:
    """Say how far the best is ahead of the next on each data set, by the first measure and a paired test."""
    measure = errors.plan.measures[0]
    rows: list[Row] = [(entry.method, entry.learner, entry.target) for entry in (first, second)]
    found = []
    for name in errors.plan.data_sets:
        x, y = (errors.of((name, *row), measure) for row in rows)
        if x is not None and y is not None:
            found.append((name, float(x.mean()), float(y.mean()), paired_t(x, y)))
    if not found:
        return f"Next is {_name(second)} with a mean rank of {second.mean:.1f}; the two share no data set."
    corrected = holm([test.p_value for *_, test in found])
    parts = []
    for (name, one, other, test), p in zip(found, corrected, strict=True):
        surely = "not surely different" if p >= 0.05 else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
        parts.append(f"{one:.3f} against {other:.3f} on {name} ({surely}, d = {test.effect:+.2f})")
    return (
        f"Next is {_name(second)} with a mean rank of {second.mean:.1f}: {measure.upper()} {'; '.join(parts)} (paired t-tests, "
        "Holm's correction; d below 0 favours the first)."
    )


def _gain(errors: Errors) -> str:
    """Say what optimising the variants of CC changed against their learners' defaults."""
    measure = errors.plan.measures[0]
    pairs, targets = [], []
    for data_set in errors.plan.data_sets:
        for method, learner, target in compared_rows(errors.plan):
            if method in VARIANTS and target != "none":
                two = [errors.mean((data_set, method, learner, t), measure) for t in (target, "none")]
                if two[0] is not None and two[1] is not None:
                    pairs.append((two[0], two[1]))
                    targets.append(target.upper())
    if not pairs:
        return ""
    tuned, plain = np.mean(pairs, axis=0)
    better = sum(x < y for x, y in pairs)
    return (
        f"Optimising the variants of CC for {_and(list(dict.fromkeys(targets)))} takes their mean {measure.upper()} from "
        f"{plain:.3f} at defaults to {tuned:.3f}; it helps in {better} of {len(pairs)} cases."
    )


def _name(entry: Ranks) -> str:
    return entry.method + (f" with {entry.learner}" if entry.learner else "")


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
