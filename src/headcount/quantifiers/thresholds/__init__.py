"""Methods that adjust counts above thresholds of the posterior: one threshold, a median of many, or their mean."""

from headcount.quantifiers.thresholds.continuous_sweep import ContinuousSweep
from headcount.quantifiers.thresholds.max import MAX
from headcount.quantifiers.thresholds.ms import MS
from headcount.quantifiers.thresholds.ms2 import MS2
from headcount.quantifiers.thresholds.t50 import T50
from headcount.quantifiers.thresholds.x import X

__all__ = ["MAX", "MS", "MS2", "T50", "ContinuousSweep", "X"]
