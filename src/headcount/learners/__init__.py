"""Classifiers and their outputs: scoring a pool once, fitting once, calibration, validation splits."""

from headcount.learners.black_box import BlackBox
from headcount.learners.boosting import BoostedTrees
from headcount.learners.calibration import with_posteriors
from headcount.learners.fits import Fit, FitCache, Fits
from headcount.learners.fold_classifiers import FoldClassifiers
from headcount.learners.linear import NewtonLinearSVC, NewtonLogisticRegression
from headcount.learners.neural import CNNClassifier
from headcount.learners.ordinal import ContinuationRatio, FrankHall
from headcount.learners.outputs import Need, Outputs
from headcount.learners.scoring import require, score
from headcount.learners.svmperf import SVMperf, svmperf_path
from headcount.learners.temperature import (
    CALIBRATIONS,
    BiasCorrectedTemperature,
    LogLinearCalibration,
    NoBiasVectorScaling,
    TemperatureScaling,
    VectorScaling,
)
from headcount.learners.validation import VALIDATION_CONSTRAINTS, Validation, validation_parts
from headcount.learners.vote import Vote

__all__ = [
    "CALIBRATIONS",
    "VALIDATION_CONSTRAINTS",
    "BiasCorrectedTemperature",
    "BlackBox",
    "BoostedTrees",
    "CNNClassifier",
    "ContinuationRatio",
    "Fit",
    "FitCache",
    "Fits",
    "FoldClassifiers",
    "FrankHall",
    "LogLinearCalibration",
    "Need",
    "NewtonLinearSVC",
    "NewtonLogisticRegression",
    "NoBiasVectorScaling",
    "Outputs",
    "SVMperf",
    "TemperatureScaling",
    "Validation",
    "VectorScaling",
    "Vote",
    "require",
    "score",
    "svmperf_path",
    "validation_parts",
    "with_posteriors",
]
