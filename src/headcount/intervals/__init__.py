"""Shares with intervals that count the uncertainty of both sides: the sample's items and the labelled ones."""

from headcount.intervals.borrowing import LEAST_GROUPS, BorrowedStrength, borrow_strength
from headcount.intervals.designs import DesignErrors, TargetErrors, independent_errors
from headcount.intervals.difference import Difference, difference
from headcount.intervals.estimate import estimate, why_no_interval
from headcount.intervals.evidence import Evidence
from headcount.intervals.family import Differences, differences
from headcount.intervals.fixed_vectors import FixedVectors, fixed_vectors
from headcount.intervals.result import Estimate, MeanEstimate, class_values
from headcount.intervals.target_labels import Contradiction, LabelledEstimate
from headcount.intervals.trend import Trend, trend

__all__ = [
    "LEAST_GROUPS",
    "BorrowedStrength",
    "Contradiction",
    "DesignErrors",
    "Difference",
    "Differences",
    "Estimate",
    "Evidence",
    "FixedVectors",
    "LabelledEstimate",
    "MeanEstimate",
    "TargetErrors",
    "Trend",
    "borrow_strength",
    "class_values",
    "difference",
    "differences",
    "estimate",
    "fixed_vectors",
    "independent_errors",
    "trend",
    "why_no_interval",
]
