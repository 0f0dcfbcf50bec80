"""After quantifying: posteriors and decisions under the shares that are estimated, and the accuracy to be expected there."""

from headcount.correction.accuracy import ExpectedAccuracy, expected_accuracy
from headcount.correction.classifier import PriorCorrectedClassifier

__all__ = ["ExpectedAccuracy", "PriorCorrectedClassifier", "expected_accuracy"]
