"""From a labelled table to a model, and from a model and new tables to shares: what the commands do, as Python functions."""

from headcount.desk.black_box import confusion_model, scored_model
from headcount.desk.compare import Comparison, Comparisons, TrendOfGroups, compare_tables, trend_tables
from headcount.desk.database import scoring_sql, statistics_sql
from headcount.desk.estimate import check_tables, estimate_tables, provenance
from headcount.desk.fit import fit_table

__all__ = [
    "Comparison",
    "Comparisons",
    "TrendOfGroups",
    "check_tables",
    "compare_tables",
    "confusion_model",
    "estimate_tables",
    "fit_table",
    "provenance",
    "scored_model",
    "scoring_sql",
    "statistics_sql",
    "trend_tables",
]
