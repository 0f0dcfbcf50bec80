"""Codecs of naive Bayes."""

from typing import Any

import numpy as np

from headcount.modelfile.checks import check_floats, check_labels, check_width, need
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt

__all__ = ["CODECS"]


def check_multinomial(estimator: Any) -> None:
    """Raise unless there are logarithms of probabilities of classes, and of terms in each class."""
    k = check_labels(estimator.classes_)
    check_floats(estimator.class_log_prior_, "class_log_prior_", (k,), finite=False)
    check_floats(estimator.feature_log_prob_, "feature_log_prob_", (k, None), finite=False)
    for logs in (estimator.class_log_prior_, estimator.feature_log_prob_):
        need(bool((logs <= 1e-6).all()), "logarithms of probabilities are above 0")
    need(np.isfinite(estimator.class_log_prior_).any(), "no class has a probability")
    check_width(estimator, estimator.feature_log_prob_.shape[1])


def check_gaussian(estimator: Any) -> None:
    """Raise unless there are a mean and a positive variance of each feature in each class."""
    k = check_labels(estimator.classes_)
    check_floats(estimator.theta_, "theta_", (k, None))
    check_floats(estimator.var_, "var_", estimator.theta_.shape)
    check_floats(estimator.class_prior_, "class_prior_", (k,))
    need(bool((estimator.var_ > 0.0).all()), "var_ holds variances that are not positive")
    need(bool((estimator.class_prior_ >= 0.0).all()), "class_prior_ holds negative shares")
    check_width(estimator, estimator.theta_.shape[1])


CODECS = (
    EstimatorCodec(
        "multinomial naive bayes",
        "sklearn.naive_bayes:MultinomialNB",
        Learnt(("classes_", "class_log_prior_", "feature_log_prob_"), ("class_count_", "feature_count_")),
        check_multinomial,
    ),
    EstimatorCodec(
        "gaussian naive bayes",
        "sklearn.naive_bayes:GaussianNB",
        Learnt(("classes_", "theta_", "var_", "class_prior_"), ("class_count_", "epsilon_")),
        check_gaussian,
    ),
)
