"""Neural classifiers, over torch: `CNNClassifier`. torch is imported when one of them is fitted or used."""

from headcount.learners.neural.classifier import CNNClassifier
from headcount.learners.neural.torch_options import DEVICES, PRECISIONS, TrainingParameters, require_torch

__all__ = ["DEVICES", "PRECISIONS", "CNNClassifier", "TrainingParameters", "require_torch"]
