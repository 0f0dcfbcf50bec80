"""Methods that estimate class shares, each in a file of its own, and the two families that carry them."""

from headcount.quantifiers.acc import ACC
from headcount.quantifiers.base import DEFAULT_VALIDATION, Quantifier
from headcount.quantifiers.bayesian import BayesianCC
from headcount.quantifiers.catalogue import Method, list_methods, method_named, register_method, registered_types
from headcount.quantifiers.cc import CC
from headcount.quantifiers.densities import Convergence, DensitiesQuantifier
from headcount.quantifiers.elm import ELM
from headcount.quantifiers.hdy import HDy
from headcount.quantifiers.histograms import Histograms
from headcount.quantifiers.meta import Ensemble, MedianQuantifier, OneVsRest
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.pacc import PACC
from headcount.quantifiers.pcc import PCC
from headcount.quantifiers.quanet import QuaNet
from headcount.quantifiers.representations import Cells, Decisions, Posteriors, Representation, Vectors
from headcount.quantifiers.sld import SLD
from headcount.quantifiers.solvers import LeastSquares, MeanVector, Solver
from headcount.quantifiers.statistics import SampleItems, Statistics
from headcount.quantifiers.sums import SumsQuantifier

__all__ = [
    "ACC",
    "CC",
    "DEFAULT_VALIDATION",
    "ELM",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "BayesianCC",
    "Cells",
    "Convergence",
    "Decisions",
    "DensitiesQuantifier",
    "Ensemble",
    "HDy",
    "Histograms",
    "LeastSquares",
    "MeanVector",
    "MedianQuantifier",
    "Method",
    "OneVsRest",
    "Posteriors",
    "QuaNet",
    "Quantifier",
    "Representation",
    "SampleItems",
    "Solver",
    "Statistics",
    "SumsQuantifier",
    "Vectors",
    "list_methods",
    "method_named",
    "register_method",
    "registered_types",
]
