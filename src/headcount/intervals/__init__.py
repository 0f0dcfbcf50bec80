"""Shares with intervals that count the uncertainty of both sides: the sample's items and the labelled ones."""

from headcount.intervals.borrowing import LEAST_GROUPS, BorrowedStrength, borrow_strength
from headcount.intervals.difference import Difference, difference
from headcount.intervals.estimate import estimate, why_no_interval
from headcount.intervals.family import Differences, differences
from headcount.intervals.figures import Figure, at_least, at_most, class_values, mean_of
from headcount.intervals.result import Estimate
from headcount.intervals.target_labels import Contradiction, LabelledEstimate
from headcount.intervals.trend import Trend, trend
from headcount.intervals.value_means import (
    CumulativeShares,
    MeanEstimate,
    QuantileEstimate,
    ShareEstimate,
    quantile_positions,
)

__all__ = [
    "LEAST_GROUPS",
    "BorrowedStrength",
    "Contradiction",
    "CumulativeShares",
    "Difference",
    "Differences",
    "Estimate",
    "Figure",
    "LabelledEstimate",
    "MeanEstimate",
    "QuantileEstimate",
    "ShareEstimate",
    "Trend",
    "at_least",
    "at_most",
    "borrow_strength",
    "class_values",
    "difference",
    "differences",
    "estimate",
    "mean_of",
    "quantile_positions",
    "trend",
    "why_no_interval",
]
