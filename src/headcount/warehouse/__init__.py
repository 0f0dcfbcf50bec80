"""Statistics from a database: the query that computes them there, and its result turned into a tally."""

from headcount.warehouse.query import DIALECTS, scoring_query, statistics_query
from headcount.warehouse.statistics_file import tally_statistics

__all__ = ["DIALECTS", "scoring_query", "statistics_query", "tally_statistics"]
