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
    from headcount.desk.figures import FiguresAsked
    from headcount.desk.fit import fit_table
    from headcount.desk.judge import judge_tables, read_answer_map
    from headcount.desk.label_plan import GroupPlan, TablePlan, plan_table
    from headcount.desk.sizes_before_model import early_plan
    from headcount.desk.trend import trend_tables
    from headcount.desk.watch import Watched, watch_tables

_HOME = {
    "Comparison": "changes",
    "Comparisons": "changes",
    "FiguresAsked": "figures",
    "GroupPlan": "label_plan",
    "TablePlan": "label_plan",
    "TrendOfGroups": "changes",
    "check_tables": "estimate",
    "compare_tables": "compare",
    "confusion_model": "black_box",
    "early_plan": "sizes_before_model",
    "estimate_tables": "estimate",
    "fit_table": "fit",
    "judge_tables": "judge",
    "plan_table": "label_plan",
    "provenance": "estimate",
    "read_answer_map": "judge",
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
    "FiguresAsked",
    "GroupPlan",
    "TablePlan",
    "TrendOfGroups",
    "Watched",
    "check_tables",
    "compare_tables",
    "confusion_model",
    "early_plan",
    "estimate_tables",
    "fit_table",
    "judge_tables",
    "plan_table",
    "provenance",
    "read_answer_map",
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
