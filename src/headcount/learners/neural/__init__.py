"""Neural classifiers, over torch: `CNNClassifier`. torch is imported when one of them is fitted or used."""

from headcount.learners.neural.classifier import CNNClassifier
from headcount.learners.neural.torch_options import DEVICES, PRECISIONS, TRAINING_CONSTRAINTS, require_torch

__all__ = ["DEVICES", "PRECISIONS", "TRAINING_CONSTRAINTS", "CNNClassifier", "require_torch"]
