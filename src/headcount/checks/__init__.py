"""When not to trust an estimate: checks that need no labels of the target, and a verdict in words."""

from headcount.checks.label_shift import ShiftTest, label_shift_test
from headcount.checks.report import Report, check

__all__ = ["Report", "ShiftTest", "check", "label_shift_test"]
