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
from headcount.quantifiers.kernel_methods import EDy, KDEyCS, KDEyHD, KDEyML, MMDy
from headcount.quantifiers.matching import SORD, DMy, DyS
from headcount.quantifiers.meta import Ensemble, MedianQuantifier, OneVsRest
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.pacc import PACC
from headcount.quantifiers.pcc import PCC
from headcount.quantifiers.quanet import QuaNet
from headcount.quantifiers.representations import Cells, Decisions, Posteriors, Representation, Vectors
from headcount.quantifiers.scores import (
    BBSE,
    FM,
    RLLS,
    RUN,
    SELSE,
    SMM,
    RegularisedLeastSquares,
    RegularisedLikelihood,
)
from headcount.quantifiers.sld import SLD
from headcount.quantifiers.solvers import LeastSquares, MeanVector, Solver
from headcount.quantifiers.statistics import SampleItems, Statistics
from headcount.quantifiers.sums import SumsQuantifier

__all__ = [
    "ACC",
    "BBSE",
    "CC",
    "DEFAULT_VALIDATION",
    "ELM",
    "FM",
    "MLPE",
    "PACC",
    "PCC",
    "RLLS",
    "RUN",
    "SELSE",
    "SLD",
    "SMM",
    "SORD",
    "BayesianCC",
    "Cells",
    "Convergence",
    "DMy",
    "Decisions",
    "DensitiesQuantifier",
    "DyS",
    "EDy",
    "Ensemble",
    "HDy",
    "Histograms",
    "KDEyCS",
    "KDEyHD",
    "KDEyML",
    "LeastSquares",
    "MMDy",
    "MeanVector",
    "MedianQuantifier",
    "Method",
    "OneVsRest",
    "Posteriors",
    "QuaNet",
    "Quantifier",
    "RegularisedLeastSquares",
    "RegularisedLikelihood",
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
