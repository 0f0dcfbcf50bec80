"""The tables of a league: the ranking, the breakdowns, the errors by data set, and the data sets themselves."""

from collections.abc import Sequence

import numpy as np

from headcount._typing import FloatArray
from headcount.exceptions import UnknownNameError
from headcount.quantifiers import method_named
from headcount.report.league.breakdowns import Breakdown, usual_seconds
from headcount.report.league.groups import GroupRanking
from headcount.report.league.ranking import ALPHA, Ranking, View
from headcount.report.league.standing import Standings
from headcount.report.league.words import title_of
from headcount.report.scores import label_of, losses
from headcount.report.table import Cell, Column, Table
from headcount.study.plan import MethodPlan

__all__ = ["breakdown_table", "errors_table", "groups_table", "methods_table", "ranking_table", "sets_table"]

_LABELS = ["method", "learner", "target"]


def ranking_table(standings: Standings, ranking: Ranking) -> Table:
    """Return the ranking with mean errors, bias, times, and whether each entrant can be told apart from the first."""
    measures = standings.plan.measures
    columns = [
        Column("mean rank"),
        *(Column(f"mean {label_of(measure)}") for measure in measures),
        Column("bias"),
        Column("best on"),
        Column("seconds"),
        Column("against the first"),
    ]
    index = [standings.entrants.index(entrant) for entrant in ranking.entrants]
    part = standings.parts.index(ranking.view.part)
    errors = [_mean_of_units(standings, ranking, standings.errors[m][:, :, part])[index] for m in measures]
    bias = _mean_of_units(standings, ranking, standings.bias[:, :, part])[index]
    equals, seconds, wins = ranking.equals_of_first(), usual_seconds(standings, ranking), ranking.wins
    rows = []
    for j, entrant in enumerate(ranking.entrants):
        against = "first" if j == 0 else "can't be told apart" if entrant in equals else "worse"
        cells = [
            Cell(float(ranking.mean_ranks[j]), digits=2, bold=j == 0),
            *(Cell(float(values[j]), digits=4) for values in errors),
            Cell(float(bias[j]), digits=4),
            Cell(float(wins[j]), digits=0),
            Cell(float(seconds[j]), digits=3),
            Cell(against),
        ]
        rows.append((list(entrant), cells))
    test = (
        "–"
        if ranking.comparison is None
        else f"{ranking.comparison.test}, Friedman p = {ranking.comparison.p_value:.2g}"
    )
    caption = (
        f"Mean ranks by {label_of(ranking.view.measure)} over {len(ranking.units)} data sets; 1 is the best. Bias: estimated minus "
        "true share of the rarest class of the training part. Best on: the number of data sets with the lowest error, alone or "
        "with others. Seconds: the median time of training. "
        f"Against the first: by the test of pairs ({test})."
    )
    return Table(f"Ranking, {title_of(ranking.view)}", caption, _LABELS, columns, rows)


def breakdown_table(ranking: Ranking, breakdown: Breakdown) -> Table:
    """Return the mean errors of entrants by group."""
    columns = [Column(group) for group in breakdown.groups]
    best = breakdown.values.argmin(axis=0) if breakdown.values.size else []
    rows = [
        (list(entrant), [Cell(float(v), digits=4, bold=j == best[g]) for g, v in enumerate(breakdown.values[j])])
        for j, entrant in enumerate(breakdown.entrants)
    ]
    numbers = ", ".join(f"{group}: {n}" for group, n in zip(breakdown.groups, breakdown.n_units, strict=True))
    return Table(
        f"{breakdown.title}, {title_of(ranking.view)}",
        f"{breakdown.caption} Data sets: {numbers}.",
        _LABELS,
        columns,
        rows,
    )


def groups_table(view: View, groups: Sequence[GroupRanking]) -> Table:
    """Return who is first in each group, and who can't be told apart from it."""
    columns = [Column(name) for name in ("data sets", "mean rank", "of", "can't be told apart from it")]
    rows = []
    for group in groups:
        ranking = group.ranking
        names = dict(zip(ranking.entrants, ranking.names, strict=True))
        equals = [names[entrant] for entrant in ranking.equals_of_first()]
        cells = [
            Cell(float(len(ranking.units)), digits=0),
            Cell(float(ranking.mean_ranks[0]), digits=1),
            Cell(float(len(ranking.entrants)), digits=0),
            Cell(f"{len(equals)}: {'; '.join(equals)}" if equals else "none"),
        ]
        rows.append(([f"{group.by}: {group.group}", ranking.names[0]], cells))
    caption = (
        f"The method with the best mean rank by {label_of(view.measure)} in each group of test samples or data sets, and those "
        f"that can't be told apart from it at the level of {100 * ALPHA:g} %, by Friedman's test and a test of pairs as in the "
        "ranking of all. Each group is tested by itself, without a correction for the number of groups."
    )
    return Table(f"Who is best where, {title_of(view)}", caption, ["group", "first by mean rank"], columns, rows)


def errors_table(standings: Standings, ranking: Ranking) -> Table:
    """Return the mean error of each ranked entrant on each data set of the ranking."""
    names, measure = ranking.names, ranking.view.measure
    index = {facts.name: i for i, facts in enumerate(standings.sets)}
    columns = [standings.entrants.index(entrant) for entrant in ranking.entrants]
    part = standings.parts.index(ranking.view.part)
    rows: list[tuple[list[str], list[Cell]]] = []
    for facts in (facts for unit in ranking.units for facts in unit):
        values = standings.errors[measure][index[facts.name], columns, part]
        best = np.argmin(losses(values, measure))
        rows.append(([facts.name], [Cell(float(v), digits=4, bold=j == best) for j, v in enumerate(values)]))
    title = f"{label_of(measure)} by data set, {title_of(ranking.view)}"
    runs = " and runs" if standings.of.max(initial=0) > 1 else ""
    caption = f"Mean {label_of(measure)} over the test samples{runs}; the best in bold."
    return Table(title, caption, ["data set"], [Column(name) for name in names], rows)


def sets_table(standings: Standings) -> Table:
    """Return the data sets: kind, classes, sizes, imbalance, and which are made of the same items."""
    columns = [
        Column(name) for name in ("kind", "classes", "labelled items", "test items", "rarest class", "counts with")
    ]
    rows = []
    for facts in standings.sets:
        cells = [
            Cell(facts.kind),
            Cell(float(len(facts.classes)), digits=0),
            Cell(float(facts.n_train), digits=0),
            Cell(float(facts.n_test), digits=0),
            Cell(float(min(facts.training)), digits=3),
            Cell(facts.unit if facts.unit != facts.name else None),
        ]
        rows.append(([facts.name], cells))
    caption = "Rarest class: its share in the training part. Counts with: another data set of the same items; the two count once."
    return Table("Data sets", caption, ["data set"], columns, rows)


def methods_table(standings: Standings) -> Table:
    """Return what each method of the league is, as the catalogue has it."""
    columns = [Column(name) for name in ("what it does", "reference", "classes", "settings")]
    rows = [
        ([method.name], [Cell(text) for text in _of_catalogue(method)])
        for method in standings.plan.methods
        if any(entrant.method == method.name for entrant in standings.entrants)
    ]
    caption = "Methods as in the list of 'headcount methods'. Settings: where they differ from the method's defaults."
    return Table("Methods", caption, ["method"], columns, rows)


def _of_catalogue(method: MethodPlan) -> list[str | None]:
    settings = ", ".join(f"{name} = {value}" for name, value in method.parameters.items()) or None
    try:
        entry = method_named(method.method or method.name)
    except UnknownNameError:  # named by its import path
        return [method.method or method.name, None, None, settings]
    return [entry.title, entry.reference, entry.classes, settings]


def _mean_of_units(standings: Standings, ranking: Ranking, values: FloatArray) -> FloatArray:
    """Return the mean over the units of a ranking of values by data set and entrant."""
    index = {facts.name: i for i, facts in enumerate(standings.sets)}
    units: Sequence[FloatArray] = [values[[index[f.name] for f in unit]].mean(axis=0) for unit in ranking.units]
    return np.mean(units, axis=0) if len(units) else np.full(len(standings.entrants), np.nan)
