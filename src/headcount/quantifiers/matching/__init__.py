"""Methods that match histograms or distribution functions of posteriors: distances, solvers, and a file for each method."""

from headcount.quantifiers.matching.dmy import DMy
from headcount.quantifiers.matching.dys import DyS
from headcount.quantifiers.matching.sord import SORD

__all__ = ["SORD", "DMy", "DyS"]
