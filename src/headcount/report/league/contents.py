"""`LeagueContents`: everything that the page of a league shows, gathered once from the store."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from headcount._typing import FloatArray
from headcount.report.league.breakdowns import Breakdown, breakdowns, usual_seconds
from headcount.report.league.groups import GroupRanking, group_rankings
from headcount.report.league.ranking import Ranking, View, first_view, rank, views
from headcount.report.league.standing import Standings, standings
from headcount.report.league.tables import (
    breakdown_table,
    errors_table,
    groups_table,
    methods_table,
    ranking_table,
    sets_table,
)
from headcount.report.league.words import compared, unranked_in_words, verdict, where
from headcount.report.page_contents import missing_of
from headcount.report.provenance import describe_parameters, describe_runs, describe_software
from headcount.report.table import Table
from headcount.study import Results

__all__ = ["LeagueContents", "RankedView", "gather_league", "ranked_views"]


@dataclass(frozen=True, eq=False)
class RankedView:
    """A ranking with its breakdowns, the rankings of its groups, and the median time of a fit of each entrant."""

    ranking: Ranking
    breakdowns: list[Breakdown]
    groups: list[GroupRanking]
    seconds: FloatArray

    @property
    def view(self) -> View:
        """What is compared."""
        return self.ranking.view


@dataclass(frozen=True, eq=False)
class LeagueContents:
    """The results of a league, ready to be shown.

    Attributes
    ----------
    standings : Standings
    views : list of RankedView
        Each learner with each target, over sets with two classes and over all; the one that is shown first comes first.
    missing : list of str
        Sentences on what the store lacks.
    provenance : list of (what, value)
    not_converged : list of (run, method, learner, data set, text)
    """

    standings: Standings
    views: list[RankedView]
    missing: list[str]
    provenance: list[tuple[str, str]]
    not_converged: Sequence[tuple[int, str, str, str, str]]

    @property
    def first(self) -> RankedView:
        """The view that is shown first."""
        return self.views[0]

    @cached_property
    def answer(self) -> list[str]:
        """What was compared, who is best, how sure that is, and who is not ranked."""
        ranking = self.first.ranking
        return list(filter(None, [compared(self.standings), verdict(ranking), unranked_in_words(ranking)]))

    @cached_property
    def details(self) -> list[str]:
        """Who is best where, and the verdicts of the other rankings."""
        others = [verdict(view.ranking) for view in self.views[1:] if len(view.ranking.entrants) > 1]
        return [*where(self.first.ranking, self.first.groups), *others]

    @cached_property
    def tables(self) -> list[Table]:
        """All tables: of each view the ranking, the breakdowns and the errors by data set; then the methods and the data sets."""
        return [table for view in self.views for table in self.tables_of(view)] + self.common_tables

    @property
    def common_tables(self) -> list[Table]:
        """The tables that are the same for all views: the methods, and the data sets."""
        return [methods_table(self.standings), sets_table(self.standings)]

    def tables_of(self, view: RankedView) -> list[Table]:
        """Return the tables of a view."""
        return [
            ranking_table(self.standings, view.ranking),
            groups_table(view.view, view.groups),
            *(breakdown_table(view.ranking, breakdown) for breakdown in view.breakdowns),
            errors_table(self.standings, view.ranking),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain lists and dicts."""
        return {
            "title": self.standings.plan.title,
            "words": [*self.answer, *self.details],
            "standings": self.standings.to_frame().to_dict("records"),
            "tables": [
                {"title": table.title, "caption": table.caption, "cells": table.to_records()} for table in self.tables
            ],
            "not_converged": [list(fit) for fit in self.not_converged],
            "missing": self.missing,
            "provenance": [{"what": what, "value": value} for what, value in self.provenance],
        }


def gather_league(results: Results) -> LeagueContents:
    """Gather everything that the store has of a league; nothing is fitted."""
    table = standings(results)
    return LeagueContents(
        standings=table,
        views=ranked_views(table),
        missing=missing_of(results),
        provenance=_provenance(results),
        not_converged=results.not_converged(),
    )


def ranked_views(table: Standings) -> list[RankedView]:
    """Return the rankings of all views, with their breakdowns; the one that is shown first comes first."""
    rankings = [rank(table, view) for view in dict.fromkeys([first_view(table), *views(table)])]
    return [
        RankedView(ranking, breakdowns(table, ranking), group_rankings(table, ranking), usual_seconds(table, ranking))
        for ranking in rankings
    ]


def _provenance(results: Results) -> list[tuple[str, str]]:
    """Return what the figures depend on: plan, seed, samples, settings, time, versions."""
    plan, protocol = results.plan, results.plan.protocol
    inner = f"{protocol.inner:g} folds" if protocol.inner >= 1 else f"{protocol.inner:.0%}"
    entries = [
        ("plan", f"{plan.name}, seed {plan.seed}"),
        *((f"test samples, {part.name}", f"{part.n_samples} of {part.sample_size:,} items") for part in protocol.parts),
        (
            "settings",
            f"chosen on {protocol.held_out:.0%} of the labelled part, for targets other than none; methods with a validation part "
            f"use {inner} of their training part",
        ),
        ("runs", describe_runs(results)),
    ]
    learners = {row.learner_name: row.learner for row in plan.rows() if row.learner is not None}
    entries += [
        (
            f"learner {name}",
            f"{learner.maker.rpartition('.')[2]}{describe_parameters(learner)}{_of_sets(learner.settings)}",
        )
        for name, learner in learners.items()
    ]
    entries += [
        (f"method {m.name}", f"its own{describe_parameters(m)}") for m in plan.methods if m.grid or m.parameters
    ]
    choosing, testing = (sum(seconds[i] for seconds in results.seconds.values()) for i in range(2))
    time = f"{_duration(choosing)} to choose settings, {_duration(testing)} to fit and test, summed over processes"
    return [*entries, ("time", time), *describe_software(results)]


def _of_sets(file: str) -> str:
    return f"; where a data set has a row in {file}, with the parameters given there" if file else ""


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
