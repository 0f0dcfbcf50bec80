"""Headcount: learning to quantify. How many of each kind are there?

The public names are imported when they are first used, so that ``import headcount`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headcount._version import __version__

if TYPE_CHECKING:
    from headcount.auto import AutoQuantifier
    from headcount.data import Corpus, read_corpus
    from headcount.evaluation import Evaluation, evaluate
    from headcount.features import LogTfidf, TableColumns, TermIds, TermWeights
    from headcount.intervals import Estimate, difference, differences, estimate
    from headcount.learners import (
        CNNClassifier,
        NewtonLinearSVC,
        NewtonLogisticRegression,
        Outputs,
        SVMperf,
        svmperf_path,
    )
    from headcount.protocols import ArtificialPrevalence, NaturalPrevalence, Samples, UniformPrevalence
    from headcount.quantifiers import (
        ACC,
        CC,
        ELM,
        MAX,
        MLPE,
        MS,
        MS2,
        PACC,
        PCC,
        SLD,
        T50,
        ContinuousSweep,
        DMx,
        EDx,
        HDx,
        HDy,
        QuaNet,
        ReadMe,
        X,
    )
    from headcount.selection import QuantifierSearch

_HOME = {
    "auto": ("AutoQuantifier",),
    "data": ("Corpus", "read_corpus"),
    "evaluation": ("Evaluation", "evaluate"),
    "features": ("LogTfidf", "TableColumns", "TermIds", "TermWeights"),
    "intervals": ("Estimate", "difference", "differences", "estimate"),
    "learners": ("CNNClassifier", "NewtonLinearSVC", "NewtonLogisticRegression", "Outputs", "SVMperf", "svmperf_path"),
    "protocols": ("ArtificialPrevalence", "NaturalPrevalence", "Samples", "UniformPrevalence"),
    "selection": ("QuantifierSearch",),
    "quantifiers": (
        "ACC",
        "CC",
        "ELM",
        "MAX",
        "MLPE",
        "MS",
        "MS2",
        "PACC",
        "PCC",
        "SLD",
        "T50",
        "ContinuousSweep",
        "DMx",
        "EDx",
        "HDx",
        "HDy",
        "QuaNet",
        "ReadMe",
        "X",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_MODULES = (*_HOME, "checks", "desk", "errors", "exceptions", "modelfile", "simplex", "stream")

__all__ = [
    "ACC",
    "CC",
    "ELM",
    "MAX",
    "MLPE",
    "MS",
    "MS2",
    "PACC",
    "PCC",
    "SLD",
    "T50",
    "ArtificialPrevalence",
    "AutoQuantifier",
    "CNNClassifier",
    "ContinuousSweep",
    "Corpus",
    "DMx",
    "EDx",
    "Estimate",
    "Evaluation",
    "HDx",
    "HDy",
    "LogTfidf",
    "NaturalPrevalence",
    "NewtonLinearSVC",
    "NewtonLogisticRegression",
    "Outputs",
    "QuaNet",
    "QuantifierSearch",
    "ReadMe",
    "SVMperf",
    "Samples",
    "TableColumns",
    "TermIds",
    "TermWeights",
    "UniformPrevalence",
    "X",
    "__version__",
    "difference",
    "differences",
    "estimate",
    "evaluate",
    "read_corpus",
    "svmperf_path",
]


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(import_module(f"headcount.{_MODULE_OF[name]}"), name)
    elif name in _MODULES:
        value = import_module(f"headcount.{name}")
    else:
        raise AttributeError(f"module 'headcount' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})
