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
from headcount.quantifiers.kernel_methods import CvMy, EDy, KDEyCS, KDEyHD, KDEyML, MMDy
from headcount.quantifiers.matching import SORD, DMy, DyS
from headcount.quantifiers.meta import Ensemble, MedianQuantifier, OneVsRest
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.on_features import DMx, EDx, HDx, ReadMe
from headcount.quantifiers.ordinal import OSLD, ACOrd, EDyMAP, PDFOrd
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
from headcount.quantifiers.thresholds import MAX, MS, MS2, T50, ContinuousSweep, X

__all__ = [
    "ACC",
    "BBSE",
    "CC",
    "DEFAULT_VALIDATION",
    "ELM",
    "FM",
    "MAX",
    "MLPE",
    "MS",
    "MS2",
    "OSLD",
    "PACC",
    "PCC",
    "RLLS",
    "RUN",
    "SELSE",
    "SLD",
    "SMM",
    "SORD",
    "T50",
    "ACOrd",
    "BayesianCC",
    "Cells",
    "ContinuousSweep",
    "Convergence",
    "CvMy",
    "DMx",
    "DMy",
    "Decisions",
    "DensitiesQuantifier",
    "DyS",
    "EDx",
    "EDy",
    "EDyMAP",
    "Ensemble",
    "HDx",
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
    "PDFOrd",
    "Posteriors",
    "QuaNet",
    "Quantifier",
    "ReadMe",
    "RegularisedLeastSquares",
    "RegularisedLikelihood",
    "Representation",
    "SampleItems",
    "Solver",
    "Statistics",
    "SumsQuantifier",
    "Vectors",
    "X",
    "list_methods",
    "method_named",
    "register_method",
    "registered_types",
]
