"""Intervals that hold: shares with their uncertainty from both sides, the sample's items and the labelled ones."""

from headcount.intervals.comparison import Difference, difference
from headcount.intervals.estimate import Estimate
from headcount.intervals.methods import estimate

__all__ = ["Difference", "Estimate", "difference", "estimate"]
