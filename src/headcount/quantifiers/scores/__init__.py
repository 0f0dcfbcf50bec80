"""Methods over sums of scores: Friedman's, mean scores, importance weights, regularised unfolding, least variance."""

from headcount.quantifiers.scores.bbse import BBSE
from headcount.quantifiers.scores.fm import FM
from headcount.quantifiers.scores.regularised import RegularisedLeastSquares, RegularisedLikelihood
from headcount.quantifiers.scores.rlls import RLLS
from headcount.quantifiers.scores.run import RUN
from headcount.quantifiers.scores.selse import SELSE
from headcount.quantifiers.scores.smm import SMM

__all__ = ["BBSE", "FM", "RLLS", "RUN", "SELSE", "SMM", "RegularisedLeastSquares", "RegularisedLikelihood"]
