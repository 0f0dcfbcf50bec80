"""Who is best where: the ranking in each group of test samples and of data sets, each with its own test."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from headcount.report.league.ranking import Ranking, rank
from headcount.report.league.sets import IMBALANCES, SIZES
from headcount.report.league.standing import Entrant, Standings, shift_names

__all__ = ["GroupRanking", "group_rankings"]


@dataclass(frozen=True, eq=False)
class GroupRanking:
    """The ranking of a group: what the group is by, its name, and the ranking over its samples or data sets."""

    by: str
    group: str
    ranking: Ranking

    def told_from_first(self, entrant: Entrant) -> bool:
        """Whether an entrant is ranked here and its errors are larger than those of the first, by the test."""
        others = self.ranking.entrants[1:]
        return entrant in others and entrant not in self.ranking.equals_of_first()


def group_rankings(standings: Standings, whole: Ranking) -> list[GroupRanking]:
    """Return the rankings of all groups of which there are two at least, over the view of a ranking."""
    kinds: dict[str, list[GroupRanking]] = {}
    for group in _groups(standings, whole):
        if group.ranking.units and len(group.ranking.entrants) > 1:
            kinds.setdefault(group.by, []).append(group)
    return [group for groups in kinds.values() if len(groups) > 1 for group in groups]


def _groups(standings: Standings, whole: Ranking) -> Iterator[GroupRanking]:
    view = whole.view
    for b, name in enumerate(shift_names()):
        yield GroupRanking("size of shift", name, rank(standings, view, standings.by_shift[:, :, b]))
    for part in standings.parts[1:]:
        yield GroupRanking("test samples", part, rank(standings, replace(view, part=part)))
    for _, name in IMBALANCES:
        yield GroupRanking("share of the rarest class", name, rank(standings, replace(view, imbalance=name)))
    for _, name in SIZES:
        yield GroupRanking("labelled items", name, rank(standings, replace(view, size=name)))
