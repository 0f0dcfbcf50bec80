"""Shares with intervals that count the uncertainty of both sides: the sample's items and the labelled ones."""

from headcount.intervals.borrowing import LEAST_GROUPS, BorrowedStrength, borrow_strength
from headcount.intervals.difference import Difference, difference
from headcount.intervals.estimate import estimate, why_no_interval
from headcount.intervals.family import Differences, differences
from headcount.intervals.result import Estimate, MeanEstimate, class_values
from headcount.intervals.target_labels import Contradiction, LabelledEstimate
from headcount.intervals.trend import Trend, trend

__all__ = [
    "LEAST_GROUPS",
    "BorrowedStrength",
    "Contradiction",
    "Difference",
    "Differences",
    "Estimate",
    "LabelledEstimate",
    "MeanEstimate",
    "Trend",
    "borrow_strength",
    "class_values",
    "difference",
    "differences",
    "estimate",
    "trend",
    "why_no_interval",
]
