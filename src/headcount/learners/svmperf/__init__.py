"""Linear classifiers trained for a loss of the whole labelling, such as an error of the estimated shares."""

from headcount.learners.svmperf.classifier import SVMperf, svmperf_path
from headcount.learners.svmperf.losses import LOSSES

__all__ = ["LOSSES", "SVMperf", "svmperf_path"]
