"""Model selection by the error of estimated shares: each setting of a classifier is fitted once for all methods and measures."""

from headcount.selection.runs import Run
from headcount.selection.search import QuantifierSearch

__all__ = ["QuantifierSearch", "Run"]
