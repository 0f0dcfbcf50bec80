"""A whole study: its plan, its run, and the store that is the only bridge to presenting it."""

from headcount.study.plan import Plan
from headcount.study.reading import read_plan, shipped_plans
from headcount.study.results import Cell, Results
from headcount.study.run import Summary, run_study
from headcount.study.store import Store

__all__ = ["Cell", "Plan", "Results", "Store", "Summary", "read_plan", "run_study", "shipped_plans"]
