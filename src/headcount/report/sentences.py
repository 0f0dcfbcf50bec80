"""A study's outcome in sentences: the best method, its lead over the next, and the effect of optimisation."""

from collections.abc import Sequence

import numpy as np

from headcount.report.scores import VARIANTS, Errors, Key, label_of, losses
from headcount.report.series import Ranks
from headcount.significance import holm, paired_t
from headcount.study.plan import DEFAULT

__all__ = ["in_words"]


def in_words(errors: Errors, ranks: Sequence[Ranks]) -> list[str]:
    """Return sentences on the best method by mean rank, its lead over the next, and the gain of optimising the variants of CC."""
    if not ranks:
        return ["The store has no results of this plan yet."]
    plan = errors.plan
    n = plan.protocol.n_prevalences * plan.protocol.test_repeats
    compared = "One method was tested" if len(ranks) == 1 else f"{len(ranks)} methods were compared"
    sentences = [
        f"{compared} on {_sets(errors)} by {_and([label_of(m) for m in plan.measures])}, each on {n:,} test samples of "
        f"{plan.protocol.sample_size:,} documents.",
        _best(ranks),
    ]
    if len(ranks) > 1:
        sentences.append(_lead(errors, *ranks[:2]))
    sentences += [
        _gain(errors),
        "Data sets are few, and each has one set of training documents: ranks and tests hold for these only.",
    ]
    return list(filter(None, sentences))


def _best(ranks: Sequence[Ranks]) -> str:
    """Say which method has the lowest mean rank; those with figures in all columns come first."""
    first = ranks[0]
    ranked = [column for column, rank in enumerate(first.ranks) if rank is not None]
    # The lowest rank of a column is more than 1 where several methods share the first place.
    lowest = {column: min(rank for e in ranks if (rank := e.ranks[column]) is not None) for column in ranked}
    wins = sum(first.ranks[column] == rank for column, rank in lowest.items())
    equal = [e for e in ranks if (e.ranks.count(None), e.mean) == (first.ranks.count(None), first.mean)]
    who, name = f"The best by mean rank over all measures and data sets is {_name(first)}", "it comes"
    if len(equal) > 1:
        names = _and([_name(e) for e in equal])
        who, name = f"{names} share the best mean rank over all measures and data sets", f"{_name(first)} comes"
    where = f"{len(ranked)} {'column' if len(ranked) == 1 else 'columns'} of table 6"
    if len(ranked) < len(first.ranks):
        where = f"the {where} that it has figures in"
    return f"{who}, at {first.mean:.1f}; {name} first in {wins} of {where}."


def _sets(errors: Errors) -> str:
    names = [name for name in errors.plan.data_sets if any(key.data_set == name for key in errors.cells)]
    return f"{len(names)} data {'set' if len(names) == 1 else 'sets'} ({', '.join(names)})"


def _lead(errors: Errors, first: Ranks, second: Ranks) -> str:
    """Say how far the best is ahead of the next on each data set by the first measure, and what two tests say of it."""
    measure = errors.plan.measures[0]
    compared = []
    for name in errors.plan.data_sets:
        keys = [Key(name, e.method, e.learner, e.target) for e in (first, second)]
        x, y = (errors.of(key, measure) for key in keys)
        if x is not None and y is not None:
            paired = paired_t(losses(x, measure), losses(y, measure))
            figures = f"{x.mean():.3f} against {y.mean():.3f} on {name}"
            compared.append((figures, errors.comparisons.test(keys[0], keys[1], measure), paired))
    if not compared:
        return f"Next is {_name(second)}, at {second.mean:.1f}; the two share no data set."
    judged = [test.p_value for _, test, _ in compared if test.p_value is not None]
    corrected = iter(holm(judged).tolist())
    parts, reasons = [], []
    for figures, test, paired in compared:
        if test.p_value is None:
            reasons.append(test.reason)
        verdict = "not judged" if test.p_value is None else _significance(next(corrected))
        parts.append(f"{figures} ({verdict}; paired t-test {_p(paired.p_value)}, d = {paired.effect:+z.2f})")
    sentence = (
        f"Next is {_name(second)}, at {second.mean:.1f}; the {label_of(measure)} of the two is {'; '.join(parts)}. "
        "The first test counts the luck of test items and runs (Holm's correction over data sets); the paired t-test, the paper's, "
        "takes samples that share items as independent, and its p-values are too small; d below 0 favours the first."
    )
    whys = "; ".join(dict.fromkeys(reasons))
    return (
        f"{sentence} Not judged means that {whys}; the difference holds for these fits, not for the methods."
        if whys
        else sentence
    )


def _significance(p: float) -> str:
    return "no significant difference" if p >= 0.05 else _p(p)


def _p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def _gain(errors: Errors) -> str:
    """Say what optimising the variants of CC changed against their learners' defaults."""
    measure = errors.plan.measures[0]
    pairs, targets = [], []
    for key in errors.compared():
        optimised, default = errors.mean(key, measure), errors.mean(key._replace(target=DEFAULT), measure)
        if key.method in VARIANTS and key.target != DEFAULT and default is not None:
            pairs.append((optimised, default))
            targets.append(label_of(key.target))
    if not pairs:
        return ""
    tuned, plain = np.mean(np.array(pairs), axis=0)
    better = sum(losses(x, measure) < losses(y, measure) for x, y in pairs)
    return (
        f"Optimising the variants of CC for {_and(list(dict.fromkeys(targets)))} takes their mean {label_of(measure)} from "
        f"{plain:.3f} at defaults to {tuned:.3f}; it helps in {better} of {len(pairs)} cases."
    )


def _name(entry: Ranks) -> str:
    return entry.method + (f" with {entry.learner}" if entry.learner else "")


def _and(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
