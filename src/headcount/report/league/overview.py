"""The overview of a league for a terminal: the ranking of the first view as rows, and sentences on how sure it is."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from headcount._validation import quoted
from headcount.exceptions import UnknownNameError
from headcount.report.league.ranking import first_view, rank
from headcount.report.league.standing import standings
from headcount.report.league.tables import ranking_table
from headcount.report.league.words import unranked_in_words, verdict
from headcount.study import Results

__all__ = ["LeagueOverview", "overview_of"]


class LeagueOverview(NamedTuple):
    """Rows of texts (method, mean rank, mean errors, number of best, against the first), and sentences."""

    rows: list[list[str]]
    sentences: list[str]


def overview_of(
    results: Results, methods: Sequence[str] | None = None, targets: Sequence[str] | None = None
) -> LeagueOverview:
    """Return the ranking of the first classifier, at its given settings or those chosen for a target.

    Ranks are among all methods of the ranking; the methods that are named are those whose rows are shown.
    """
    table = standings(results)
    view = first_view(table)
    if targets:
        named = [_known("target", target, [e.target for e in table.entrants]) for target in targets]
        view = replace(view, target=named[0] if len(named) == 1 else "")
    ranking = rank(table, view)
    shown = {_known("method", name, [e.method for e in table.entrants]) for name in methods or ()}
    written = ranking_table(table, ranking)
    left = [written.columns.index(c) for c in written.columns if c.name in ("bias", "seconds")]
    rows = [
        [name, *(cell.text() for i, cell in enumerate(cells) if i not in left)]
        for name, entrant, (_, cells) in zip(ranking.names, ranking.entrants, written.rows, strict=True)
        if not shown or entrant.method in shown
    ]
    return LeagueOverview(rows, list(filter(None, [verdict(ranking), unranked_in_words(ranking)])))


def _known(what: str, name: str, names: Sequence[str]) -> str:
    """Return a name as the plan writes it."""
    by_lower = {known.lower(): known for known in names}
    if name.lower() not in by_lower:
        raise UnknownNameError(f"The plan has no {what} {name!r}; it has {quoted(list(dict.fromkeys(names)), 50)}.")
    return by_lower[name.lower()]
