"""Tests of whether one method errs less than another: the paper's paired t, and one that counts the luck of pool and runs."""

from headcount.significance.paired import PairedTest, holm, paired_t
from headcount.significance.pool_and_runs import LuckTest, combined_test, luck_test
from headcount.significance.pool_membership import PoolMembership
from headcount.significance.ranks import RankComparison, compare_ranks

__all__ = [
    "LuckTest",
    "PairedTest",
    "PoolMembership",
    "RankComparison",
    "combined_test",
    "compare_ranks",
    "holm",
    "luck_test",
    "paired_t",
]
