"""A whole study: its plan, its run, and the store that a report is made from."""

from headcount.study.plan import Plan
from headcount.study.plan_file import read_plan, shipped_plans
from headcount.study.results import Cell, Results
from headcount.study.run import Summary, run_study
from headcount.study.store import Store

__all__ = ["Cell", "Plan", "Results", "Store", "Summary", "read_plan", "run_study", "shipped_plans"]
