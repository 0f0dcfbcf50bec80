"""Shares of files larger than memory: sums over groups, batch by batch, merged, then solved, with intervals and checks."""

from headcount.stream.design_columns import DesignColumns
from headcount.stream.group_changes import compare_all_groups, compare_groups
from headcount.stream.group_estimates import estimate_groups
from headcount.stream.group_shares import GroupShares
from headcount.stream.groups import Grouping
from headcount.stream.scan import Reading, tally_files
from headcount.stream.sketch import Sketch
from headcount.stream.tally import Recipe, Tally

__all__ = [
    "DesignColumns",
    "GroupShares",
    "Grouping",
    "Reading",
    "Recipe",
    "Sketch",
    "Tally",
    "compare_all_groups",
    "compare_groups",
    "estimate_groups",
    "tally_files",
]
