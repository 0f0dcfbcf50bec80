"""From a labelled table to a model, and from a model and new tables to shares: what the commands do, as Python functions.

Names are imported when they are first used: a command needs few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headcount.desk.black_box import confusion_model, scored_model
    from headcount.desk.changes import Comparison, Comparisons, TrendOfGroups
    from headcount.desk.compare import compare_tables
    from headcount.desk.database import scoring_sql, statistics_sql
    from headcount.desk.estimate import check_tables, estimate_tables, provenance
    from headcount.desk.fit import fit_table
    from headcount.desk.trend import trend_tables
    from headcount.desk.watch import Watched, watch_tables

_HOME = {
    "Comparison": "changes",
    "Comparisons": "changes",
    "TrendOfGroups": "changes",
    "check_tables": "estimate",
    "compare_tables": "compare",
    "confusion_model": "black_box",
    "estimate_tables": "estimate",
    "fit_table": "fit",
    "provenance": "estimate",
    "scored_model": "black_box",
    "scoring_sql": "database",
    "statistics_sql": "database",
    "trend_tables": "trend",
    "Watched": "watch",
    "watch_tables": "watch",
}

__all__ = [
    "Comparison",
    "Comparisons",
    "TrendOfGroups",
    "Watched",
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
    "watch_tables",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'headcount.desk' has no attribute {name!r}")
    value = getattr(import_module(f"headcount.desk.{_HOME[name]}"), name)
    globals()[name] = value
    return value
