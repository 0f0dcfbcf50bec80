"""Linear classifiers reach their optimum within the stated gap, by independent solvers, and sharing solutions changes no bit."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from headcount import NewtonLinearSVC, NewtonLogisticRegression
from headcount.learners import Fits
from headcount.learners.linear.solutions import shared_solutions

BOTH = pytest.mark.parametrize("learner", [NewtonLogisticRegression, NewtonLinearSVC])


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        yield


def items(k=2, n=400, seed=0):
    return make_classification(
        n, 30, n_informative=8, n_classes=k, weights=[0.6, 0.25][: k - 1], flip_y=0.1, random_state=seed
    )


def objective(fitted, X, y, weights, C):
    """The objective that both libraries state, from coefficients alone."""
    scores = X @ fitted.coef_.T + fitted.intercept_
    codes = np.searchsorted(fitted.classes_, y)
    penalty = 0.5 * (fitted.coef_**2).sum()
    if isinstance(fitted, NewtonLinearSVC | LinearSVC):
        signs = np.where(codes[:, None] == (np.arange(len(fitted.classes_)) if scores.shape[1] > 1 else 1), 1.0, -1.0)
        losses = np.maximum(0.0, 1.0 - signs * scores) ** 2
        # Of more than two classes, only the items of the class that is separated from the others have its weight.
        of_items = np.where(signs > 0, weights[:, None], C) if scores.shape[1] > 1 else weights[:, None]
        return penalty + 0.5 * (fitted.intercept_**2).sum() + (of_items * losses).sum()
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    log_sums = np.logaddexp.reduce(scores, axis=1)
    return penalty + (weights * (log_sums - scores[np.arange(len(y)), codes])).sum()


def reference(learner, C, class_weight):
    if learner is NewtonLinearSVC:
        return LinearSVC(C=C, class_weight=class_weight, tol=1e-10, max_iter=200_000, random_state=0)
    return LogisticRegression(C=C, class_weight=class_weight, solver="newton-cholesky", tol=1e-12, max_iter=1000)


@BOTH
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_gap_holds_against_a_long_run_of_another_solver(learner, C, class_weight, k):
    X, y = items(k)
    ours = learner(C=C, class_weight=class_weight).fit(X, y)
    other = reference(learner, C, class_weight).fit(X, y)
    shares = np.bincount(y) / len(y)
    weights = C * (np.ones(len(y)) if class_weight is None else 1 / (k * shares)[y])
    ours_value, best = objective(ours, X, y, weights, C), objective(other, X, y, weights, C)
    assert ours.gap_ <= 1e-4
    assert best * (1 - 1e-9) <= ours_value <= best + 1e-4 * 0.5 * (ours.coef_**2).sum() * (1 + 1e-6) + 1e-9 * best
    assert np.linalg.norm(ours.coef_ - other.coef_) <= 1e-2 * np.linalg.norm(other.coef_) * 1.02


@pytest.mark.parametrize("C", [1e2, 1e5])
def test_large_c_on_columns_of_different_units(C):
    X, y = load_breast_cancer(return_X_y=True)
    ours, other = NewtonLogisticRegression(C=C).fit(X, y), reference(NewtonLogisticRegression, C, None).fit(X, y)
    weights = np.full(len(y), C)
    assert objective(ours, X, y, weights, C) <= objective(other, X, y, weights, C) * (1 + 1e-4)


@BOTH
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("n", [400, 25])
def test_sparse_and_dense_items_give_the_same(learner, k, n):
    X, y = items(k, n)  # with 25 items there are more features
    X[X < 0.3] = 0.0
    dense, sparse = (learner(C=10.0, tol=1e-8).fit(form, y) for form in (X, csr_matrix(X)))
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-3 * np.abs(dense.coef_).max())
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_matrix(X)))


def test_the_intercept_of_logistic_regression_is_free():
    X, y = items()
    here, there = (NewtonLogisticRegression(tol=1e-10).fit(X + shift, y) for shift in (0.0, 3.0))
    np.testing.assert_allclose(here.predict_proba(X), there.predict_proba(X + 3.0), atol=1e-4)
    np.testing.assert_allclose(here.predict_proba(X)[:, 1].mean(), y.mean(), atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_columns_far_from_zero(k):
    X, y = items(k, 100)
    assert NewtonLogisticRegression().fit(X[:, :2] + 1e4, y).gap_ <= 1e-4


@BOTH
def test_weights_are_repetitions(learner):
    X, y = items()
    times = np.arange(len(y)) % 3
    weighted = learner(tol=1e-10).fit(X, y, sample_weight=times)
    repeated = learner(tol=1e-10).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-4)


@BOTH
def test_small_c_does_not_end_at_zero(learner):
    X, y = items()
    small, smaller = learner(C=1e-6).fit(X, y), learner(C=1e-7).fit(X, y)
    np.testing.assert_allclose(small.coef_, 10 * smaller.coef_, rtol=0.05, atol=0.01 * np.abs(small.coef_).max())


@BOTH
def test_useless_features(learner):
    fitted = learner().fit(np.zeros((10, 3)), np.arange(10) % 2)
    assert not fitted.coef_.any()
    assert fitted.gap_ <= 1e-4


def test_posteriors():
    X, y = items(3)
    fitted = NewtonLogisticRegression().fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X))
    np.testing.assert_array_equal(fitted.classes_[fitted.predict_proba(X).argmax(axis=1)], fitted.predict(X))


@BOTH
def test_a_fit_that_did_not_converge_warns(learner):
    X, y = load_wine(return_X_y=True)
    with pytest.warns(
        ConvergenceWarning, match=rf"{learner.__name__} \(C=100, class_weight=None\) did not converge: its relative gap"
    ):
        fitted = learner(C=100.0, max_iter=1).fit(X, y)
    assert fitted.gap_ > 1e-4


@pytest.mark.parametrize("calibrated", [False, True])
@BOTH
def test_fits_share_solutions_and_no_bit_changes(learner, calibrated, monkeypatch):
    X, y = items(n=200)
    solved = []
    from headcount.learners.linear.newton import Problem

    solve = Problem.solve
    monkeypatch.setattr(Problem, "solve", lambda *args: solved.append(1) or solve(*args))
    classifiers = [learner(C=C) for C in (10.0, 0.1, 1e3)]
    if calibrated:
        classifiers = [CalibratedClassifierCV(classifier, cv=2) for classifier in classifiers]
    fits = Fits(X, y, remember=True)
    shared = [fits.fit(classifier).predict(X) for classifier in classifiers]
    n_shared = len(solved)
    scores = [clone(classifier).fit(X, y).predict(X) for classifier in classifiers]
    assert n_shared < len(solved) - n_shared
    np.testing.assert_array_equal(shared, scores)


@BOTH
def test_solutions_do_not_depend_on_the_order_of_c(learner):
    X, y = items(n=200)
    alone = learner(C=1e3).fit(X, y)
    with shared_solutions({}):
        for C in (1e4, 10.0, 5.0):
            learner(C=C).fit(X, y)
        shared = learner(C=1e3).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, shared.coef_)


INEXACT = "weights and repetitions give the same optimum, and fits within tol of it, as tested above"


@parametrize_with_checks(
    [NewtonLogisticRegression(), NewtonLinearSVC()],
    xfail_strict=False,
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": INEXACT,
        "check_sample_weight_equivalence_on_sparse_data": INEXACT,
    },
)
def test_scikit_learn_laws(estimator, check):
    check(estimator)
