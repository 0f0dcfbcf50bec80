"""The method and learner that suit the labelled data, found by trying them: `AutoQuantifier`."""

from headcount.auto.quantifier import AutoQuantifier
from headcount.auto.reference import held_out_scores

__all__ = ["AutoQuantifier", "held_out_scores"]
