"""Neural learners, over torch: `CNNClassifier`. torch itself is imported when one of them is fitted or used."""

from headcount.learners.neural.classifier import CNNClassifier
from headcount.learners.neural.requiring import DEVICES, PRECISIONS, require_torch

__all__ = ["DEVICES", "PRECISIONS", "CNNClassifier", "require_torch"]
