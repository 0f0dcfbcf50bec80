"""Classes that have moved: files written before name them by their old path."""

__all__ = ["OLD_PATHS", "RENAMED"]

RENAMED = {
    "headcount.quantifiers.adjusted.ACC": "headcount.quantifiers.acc.ACC",
    "headcount.quantifiers.adjusted.PACC": "headcount.quantifiers.pacc.PACC",
    "headcount.quantifiers.counting.CC": "headcount.quantifiers.cc.CC",
    "headcount.quantifiers.counting.PCC": "headcount.quantifiers.pcc.PCC",
}
"""Old path to new path."""
OLD_PATHS = {new: old for old, new in RENAMED.items()}
"""New path to the one that results of studies are stored under."""
