"""Methods made of several quantifiers: ensembles, medians over settings, and two-class methods for more classes."""

from headcount.quantifiers.meta.ensemble import Ensemble
from headcount.quantifiers.meta.median import MedianQuantifier
from headcount.quantifiers.meta.one_vs_rest import OneVsRest

__all__ = ["Ensemble", "MedianQuantifier", "OneVsRest"]
