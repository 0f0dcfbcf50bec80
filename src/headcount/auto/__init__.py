"""The method and learner that suit the labelled data, found by trying them: `AutoQuantifier`."""

from headcount.auto.quantifier import AutoQuantifier

__all__ = ["AutoQuantifier"]
