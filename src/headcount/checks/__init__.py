"""When not to trust an estimate: checks that need no labels of the target, and a verdict in words."""

from headcount.checks.label_shift import LabelledCells, ShiftTest, label_shift_test
from headcount.checks.report import Report, check, check_counted

__all__ = ["LabelledCells", "Report", "ShiftTest", "check", "check_counted", "label_shift_test"]
