"""Intervals that hold: shares with their uncertainty from both sides, the sample's items and the labelled ones."""

from headcount.intervals.comparison import Difference, difference
from headcount.intervals.estimate import Estimate
from headcount.intervals.methods import Moments, estimate, why_no_interval

__all__ = ["Difference", "Estimate", "Moments", "difference", "estimate", "why_no_interval"]
