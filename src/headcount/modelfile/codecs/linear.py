"""Codecs of linear classifiers."""

from typing import Any

from headcount.modelfile.checks import check_floats, check_labels, check_width, need
from headcount.modelfile.codecs.base import EstimatorCodec, Learnt

__all__ = ["CODECS"]


def check_linear(estimator: Any) -> None:
    """Raise unless there is a row of weights for the second of two classes, or one for each class."""
    k = check_labels(estimator.classes_)
    need(k > 1, "a linear classifier has one class")
    rows = 1 if k == 2 else k
    check_floats(estimator.coef_, "coef_", (rows, None))
    if isinstance(estimator.intercept_, float):  # LinearSVC(fit_intercept=False)
        need(estimator.intercept_ == 0.0, "intercept_ is not one for each class")
    else:
        check_floats(estimator.intercept_, "intercept_", (rows,))
    check_width(estimator, estimator.coef_.shape[1])


def check_svmperf(estimator: Any) -> None:
    """Raise unless there is one row of weights, for at most two classes."""
    need(check_labels(estimator.classes_) <= 2, "SVMperf has more than two classes")
    check_floats(estimator.coef_, "coef_", (1, None))
    check_floats(estimator.intercept_, "intercept_", (1,))
    check_width(estimator, estimator.coef_.shape[1])


_LINEAR = ("classes_", "coef_", "intercept_")
CODECS = (
    EstimatorCodec(
        "newton logistic regression",
        "headcount.learners.linear.classifiers:NewtonLogisticRegression",
        Learnt(_LINEAR, ("n_iter_", "gap_")),
        check_linear,
    ),
    EstimatorCodec(
        "newton linear svc",
        "headcount.learners.linear.classifiers:NewtonLinearSVC",
        Learnt(_LINEAR, ("n_iter_", "gap_")),
        check_linear,
    ),
    EstimatorCodec(
        "svmperf",
        "headcount.learners.svmperf.classifier:SVMperf",
        Learnt(_LINEAR, ("n_iter_", "objective_", "gap_")),
        check_svmperf,
    ),
    EstimatorCodec(
        "logistic regression",
        "sklearn.linear_model._logistic:LogisticRegression",
        Learnt(_LINEAR, ("n_iter_",)),
        check_linear,
    ),
    EstimatorCodec("linear svc", "sklearn.svm._classes:LinearSVC", Learnt(_LINEAR, ("n_iter_",)), check_linear),
)
