"""A whole study: its plan, its run, and the store that a report is made from."""

from headcount.study.plan import Plan
from headcount.study.plan_file import read_plan, shipped_plans
from headcount.study.restamp import Restamped, restamp
from headcount.study.results import Cell, Results, stored_runs, stored_sets
from headcount.study.run import Summary, run_study
from headcount.study.store import Store

__all__ = [
    "Cell",
    "Plan",
    "Restamped",
    "Results",
    "Store",
    "Summary",
    "read_plan",
    "restamp",
    "run_study",
    "shipped_plans",
    "stored_runs",
    "stored_sets",
]
