"""Bayesian quantification: the posterior of the shares, given counts in cells of a sample and of validation items."""

from headcount.quantifiers.bayesian.bayesian_cc import BayesianCC

__all__ = ["BayesianCC"]
