"""When not to trust an estimate: checks that need no labels of the target, and a verdict in words."""

from headcount.checks.item_features import ItemFeatures, item_features
from headcount.checks.items import ItemFindings, LabelledItems
from headcount.checks.label_shift import label_shift_test
from headcount.checks.labelled_cells import LabelledCells, ShiftTest
from headcount.checks.report import Report, check, check_counted

__all__ = [
    "ItemFeatures",
    "ItemFindings",
    "LabelledCells",
    "LabelledItems",
    "Report",
    "ShiftTest",
    "check",
    "check_counted",
    "item_features",
    "label_shift_test",
]
