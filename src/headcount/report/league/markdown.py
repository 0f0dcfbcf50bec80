"""The summary of a league as Markdown, to be read in a repository: words, the diagram of ranks, tables, provenance."""

from collections.abc import Iterator

import numpy as np

from headcount._escaping import escape_markdown
from headcount.report.league.breakdowns import BY_SHIFT
from headcount.report.league.contents import LeagueContents, RankedView
from headcount.report.league.pictures import breakdown_picture, rank_picture
from headcount.report.league.ranking import Ranking
from headcount.report.league.tables import breakdown_table, groups_table, ranking_table, sets_table
from headcount.report.league.words import title_of

__all__ = ["league_pictures", "league_summary"]


def league_pictures(contents: LeagueContents) -> dict[str, str]:
    """Return the pictures of the view that is shown first as SVG files, by name of file."""
    view = contents.first
    plots = {"ranks": rank_picture(view.ranking)}
    for breakdown in view.breakdowns:
        if breakdown.name == BY_SHIFT:
            plots["shifts"] = breakdown_picture(breakdown, view.ranking.names, title_of(view.view))
    return {f"{name}.svg": plot.standalone() for name, plot in plots.items() if plot is not None}


def league_summary(contents: LeagueContents, command: str, folder: str = "") -> str:
    """Return the summary.

    Parameters
    ----------
    contents : LeagueContents
    command : str
        The command line that writes it.
    folder : str
        Where the files of `league_pictures` lie; empty for none.
    """
    first = contents.first
    parts = [
        f"# {escape_markdown(contents.standings.plan.title)}",
        f"Written by `{command}`; from the store alone, nothing is fitted.",
        *map(escape_markdown, contents.answer),
        _as_list(contents.details),
    ]
    if folder:
        parts += [f"![{name.removesuffix('.svg')}]({folder}/{name})" for name in league_pictures(contents)]
    parts += ["## Ranking", ranking_table(contents.standings, first.ranking).to_markdown()]
    parts += _against_the_first(first.ranking)
    parts += ["## Who is best where", groups_table(first.view, first.groups).to_markdown()]
    parts += ["## Errors by what is known beforehand", *_breakdowns(first)]
    others = [view for view in contents.views[1:] if len(view.ranking.entrants) > 1]
    if others:
        parts += [
            "## Other rankings",
            *(ranking_table(contents.standings, view.ranking).to_markdown() for view in others),
        ]
    parts += ["## Data sets", sets_table(contents.standings).to_markdown()]
    if contents.missing:
        parts += ["## What is missing", _as_list(contents.missing)]
    parts += ["## Provenance", _as_list([f"{what}: {value}" for what, value in contents.provenance])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _breakdowns(view: RankedView) -> Iterator[str]:
    for breakdown in view.breakdowns:
        yield breakdown_table(view.ranking, breakdown).to_markdown()


def _against_the_first(ranking: Ranking) -> list[str]:
    """Compare each method with the first alone: on how many units it is better, and Wilcoxon's p-value without correction."""
    from scipy.stats import wilcoxon

    values = ranking.ranked
    if min(values.shape) < 2:
        return []
    first, lines = (
        ranking.names[0],
        ["| method | first is better | equal | worse | mean error more | p |", "|---|---:|---:|---:|---:|---:|"],
    )
    for j, name in enumerate(ranking.names[1:], 1):
        change = values[:, j] - values[:, 0]
        p = float(wilcoxon(change).pvalue) if change.any() else 1.0
        counts = [int(count) for count in ((change > 0).sum(), (change == 0).sum(), (change < 0).sum())]
        cells = [escape_markdown(name), *map(str, counts), f"{np.mean(change):+z.4f}", f"{p:.2g}"]
        lines.append("| " + " | ".join(cells) + " |")
    about = (
        f"Each method against {escape_markdown(first)} alone, over {len(values)} data sets (those of the same items count once). "
        "p is that of Wilcoxon's signed rank test for this pair alone. It is not corrected for the number of pairs, nor for the "
        "fact that the first was found on the same data sets."
    )
    return ["### Against the first", about, "\n".join(lines)]


def _as_list(sentences: list[str]) -> str:
    return "\n".join(f"- {escape_markdown(sentence)}" for sentence in sentences)
