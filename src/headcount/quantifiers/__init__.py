"""Methods that estimate class shares. Each is `reduce` (outputs and samples to statistics) and `solve` (to shares)."""

from headcount.quantifiers.adjusted import ACC, PACC
from headcount.quantifiers.base import Quantifier
from headcount.quantifiers.catalogue import Method, list_methods, method_named
from headcount.quantifiers.counting import CC, PCC
from headcount.quantifiers.elm import ELM
from headcount.quantifiers.hdy import HDy
from headcount.quantifiers.mlpe import MLPE
from headcount.quantifiers.quanet import QuaNet
from headcount.quantifiers.sld import SLD, Convergence
from headcount.quantifiers.statistics import Statistics

__all__ = [
    "ACC",
    "CC",
    "ELM",
    "MLPE",
    "PACC",
    "PCC",
    "SLD",
    "Convergence",
    "HDy",
    "Method",
    "QuaNet",
    "Quantifier",
    "Statistics",
    "list_methods",
    "method_named",
]
