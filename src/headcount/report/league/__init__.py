"""The page of a league, from its store alone: who is best over many data sets, how sure that is, pictures, tables, files."""

from headcount.report.league.contents import LeagueContents, gather_league
from headcount.report.league.files import league_to_csv, league_to_json, league_to_latex
from headcount.report.league.markdown import league_pictures, league_summary
from headcount.report.league.overview import LeagueOverview, overview_of
from headcount.report.league.page import render_league
from headcount.report.league.ranking import Ranking, View, rank
from headcount.report.league.sets import SetFacts
from headcount.report.league.standing import Entrant, Standings, standings

__all__ = [
    "Entrant",
    "LeagueContents",
    "LeagueOverview",
    "Ranking",
    "SetFacts",
    "Standings",
    "View",
    "gather_league",
    "league_pictures",
    "league_summary",
    "league_to_csv",
    "league_to_json",
    "league_to_latex",
    "overview_of",
    "rank",
    "render_league",
    "standings",
]
