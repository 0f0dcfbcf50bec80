"""Headcount: learning to quantify. How many of each kind are there?

The public names are imported when they are first used, so that ``import headcount`` itself costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from headcount._version import __version__

if TYPE_CHECKING:
    from headcount.auto import AutoQuantifier
    from headcount.correction import PriorCorrectedClassifier, expected_accuracy
    from headcount.data import Corpus, read_corpus
    from headcount.designs import SurveyDesign, SurveyMean, survey_mean
    from headcount.evaluation import Evaluation, evaluate
    from headcount.features import LogTfidf, TableColumns, TermIds, TermWeights
    from headcount.intervals import Estimate, LabelledEstimate, difference, differences, estimate
    from headcount.judges import JudgeCorrection
    from headcount.learners import (
        CNNClassifier,
        ContinuationRatio,
        FrankHall,
        NewtonLinearSVC,
        NewtonLogisticRegression,
        Outputs,
        SVMperf,
        svmperf_path,
    )
    from headcount.monitor import Monitor
    from headcount.protocols import (
        ArtificialPrevalence,
        DirichletPrevalence,
        DomainMixture,
        NaturalPrevalence,
        OrdinalShift,
        ReadyMadeSamples,
        Samples,
        SeveralProtocols,
        SmoothPrevalence,
        UniformPrevalence,
    )
    from headcount.quantifiers import (
        ACC,
        BBSE,
        CC,
        ELM,
        FM,
        MAX,
        MLPE,
        MS,
        MS2,
        OSLD,
        PACC,
        PCC,
        RLLS,
        RUN,
        SELSE,
        SLD,
        SMM,
        SORD,
        T50,
        ACOrd,
        BayesianCC,
        ContinuousSweep,
        CvMy,
        DMx,
        DMy,
        DyS,
        EDx,
        EDy,
        EDyMAP,
        Ensemble,
        HDx,
        HDy,
        KDEyCS,
        KDEyHD,
        KDEyML,
        MedianQuantifier,
        MMDy,
        OneVsRest,
        PDFOrd,
        QuaNet,
        ReadMe,
        X,
    )
    from headcount.selection import QuantifierSearch

_HOME = {
    "auto": ("AutoQuantifier",),
    "data": ("Corpus", "read_corpus"),
    "designs": ("SurveyDesign", "SurveyMean", "survey_mean"),
    "evaluation": ("Evaluation", "evaluate"),
    "features": ("LogTfidf", "TableColumns", "TermIds", "TermWeights"),
    "intervals": ("Estimate", "LabelledEstimate", "difference", "differences", "estimate"),
    "judges": ("JudgeCorrection",),
    "learners": (
        "CNNClassifier",
        "ContinuationRatio",
        "FrankHall",
        "NewtonLinearSVC",
        "NewtonLogisticRegression",
        "Outputs",
        "SVMperf",
        "svmperf_path",
    ),
    "monitor": ("Monitor",),
    "protocols": (
        "ArtificialPrevalence",
        "DirichletPrevalence",
        "DomainMixture",
        "NaturalPrevalence",
        "OrdinalShift",
        "ReadyMadeSamples",
        "Samples",
        "SeveralProtocols",
        "SmoothPrevalence",
        "UniformPrevalence",
    ),
    "selection": ("QuantifierSearch",),
    "quantifiers": (
        "ACC",
        "ACOrd",
        "BBSE",
        "BayesianCC",
        "CC",
        "ContinuousSweep",
        "CvMy",
        "DMx",
        "DMy",
        "DyS",
        "EDx",
        "EDy",
        "EDyMAP",
        "ELM",
        "Ensemble",
        "FM",
        "HDx",
        "HDy",
        "KDEyCS",
        "KDEyHD",
        "KDEyML",
        "MAX",
        "MLPE",
        "MMDy",
        "MS",
        "MS2",
        "MedianQuantifier",
        "OSLD",
        "OneVsRest",
        "PACC",
        "PCC",
        "PDFOrd",
        "QuaNet",
        "RLLS",
        "RUN",
        "ReadMe",
        "SELSE",
        "SLD",
        "SMM",
        "SORD",
        "T50",
        "X",
    ),
    "correction": ("PriorCorrectedClassifier", "expected_accuracy"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
_MODULES = (*_HOME, "checks", "desk", "errors", "exceptions", "modelfile", "plots", "significance", "simplex", "stream")

__all__ = [
    "ACC",
    "BBSE",
    "CC",
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
    "ArtificialPrevalence",
    "AutoQuantifier",
    "BayesianCC",
    "CNNClassifier",
    "ContinuationRatio",
    "ContinuousSweep",
    "Corpus",
    "CvMy",
    "DMx",
    "DMy",
    "DirichletPrevalence",
    "DomainMixture",
    "DyS",
    "EDx",
    "EDy",
    "EDyMAP",
    "Ensemble",
    "Estimate",
    "Evaluation",
    "FrankHall",
    "HDx",
    "HDy",
    "JudgeCorrection",
    "KDEyCS",
    "KDEyHD",
    "KDEyML",
    "LabelledEstimate",
    "LogTfidf",
    "MMDy",
    "MedianQuantifier",
    "Monitor",
    "NaturalPrevalence",
    "NewtonLinearSVC",
    "NewtonLogisticRegression",
    "OneVsRest",
    "OrdinalShift",
    "Outputs",
    "PDFOrd",
    "PriorCorrectedClassifier",
    "QuaNet",
    "QuantifierSearch",
    "ReadMe",
    "ReadyMadeSamples",
    "SVMperf",
    "Samples",
    "SeveralProtocols",
    "SmoothPrevalence",
    "SurveyDesign",
    "SurveyMean",
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
    "expected_accuracy",
    "read_corpus",
    "survey_mean",
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
