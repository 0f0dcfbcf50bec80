"""SVMperf as a scikit-learn classifier: dense and sparse input, labels, paths, warnings and errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from headcount import SVMperf, svmperf_path
from headcount.exceptions import DataError
from tests.conftest import blobs

CS = (0.01, 0.1, 1.0, 10.0, 100.0)


@parametrize_with_checks([SVMperf(), SVMperf(loss="q", path=(0.1, 1.0))])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", ["ae", "q", "kld"])
@pytest.mark.parametrize(
    "form", [sp.csr_matrix, sp.csc_matrix, sp.coo_array, lambda X: X.astype(np.float32).astype(float)]
)
def test_sparse_and_dense_input_give_the_same(loss, form):
    X, y = blobs(200, 2, seed=0)
    X = np.where(np.abs(X) < 1, 0.0, X).astype(np.float32).astype(float)
    dense, other = SVMperf(loss=loss, C=10).fit(X, y), SVMperf(loss=loss, C=10).fit(form(X), y)
    np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(other.predict(form(X)), dense.predict(X))
    np.testing.assert_allclose(other.decision_function(form(X)), X @ dense.coef_[0] + dense.intercept_[0], atol=1e-8)


@pytest.mark.parametrize("names", [(0, 1), (-1, 1), ("no", "yes"), (False, True), (3.0, 7.0), ("b", "a")])
def test_it_takes_any_two_labels(names):
    X, codes = blobs(120, 2, seed=1)
    y = np.array(names)[codes]
    svm = SVMperf(C=10).fit(X, y)
    assert svm.classes_.tolist() == sorted(names)
    assert (svm.predict(X) == y).mean() > 0.8
    np.testing.assert_array_equal(svm.predict(X) == svm.classes_[1], svm.decision_function(X) > 0)


def test_a_score_of_0_is_decided_negative():
    svm = SVMperf(C=1e-9).fit(np.zeros((4, 1)), [0, 1, 0, 1])
    svm.coef_, svm.intercept_ = np.zeros((1, 1)), np.zeros(1)
    assert svm.predict(np.zeros((1, 1))).tolist() == [0]


def test_training_for_absolute_error_reduces_the_error_of_counting():
    """On skewed, noisy data its counts are nearer to the training shares than those of an SVM trained on decisions."""
    generator = np.random.default_rng(0)
    y = (generator.random(2000) < 0.1).astype(int)
    X = generator.standard_normal((2000, 5)) + y[:, None]
    counted = SVMperf(loss="ae", C=100).fit(X, y).predict(X).mean()
    plain = LinearSVC().fit(X, y).predict(X).mean()
    assert abs(counted - y.mean()) < 0.7 * abs(plain - y.mean())


def test_a_custom_loss_equals_the_named_one():
    X, y = blobs(80, 2, seed=2)

    def absolute(tp, fp, fn, tn):
        return 100 * np.abs(fp - fn) / (tp + fp + fn + tn)

    custom, named = SVMperf(loss=absolute, C=10, eps=1e-4).fit(X, y), SVMperf(loss="ae", C=10, eps=1e-4).fit(X, y)
    assert custom.objective_ == pytest.approx(named.objective_, abs=10 * 1e-4 * 2)


def test_a_path_equals_single_fits_with_that_path():
    X, y = blobs(300, 2, seed=3)
    for loss in ("ae", "kld", "q"):
        together = svmperf_path(X, y, CS[::-1], loss=loss)
        assert [svm.C for svm in together] == list(CS)
        for svm in together:
            alone = clone(svm).fit(X, y)
            assert np.array_equal(alone.coef_, svm.coef_)
            assert alone.objective_ == svm.objective_
            optimum = SVMperf(loss=loss, C=svm.C, eps=1e-5).fit(X, y)
            assert svm.objective_ - optimum.objective_ <= svm.C * svm.eps


def test_a_c_that_is_not_on_the_path_starts_from_the_smaller_ones():
    X, y = blobs(300, 2, seed=3)
    off = SVMperf(C=5.0, path=CS).fit(X, y)
    assert np.array_equal(off.coef_, SVMperf(C=5.0, path=[0.01, 0.1, 1.0]).fit(X, y).coef_)


def test_the_bits_do_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    X, y = blobs(2000, 2, seed=4)
    fits = []
    for threads in (1, 2, 1):
        with threadpool_limits(threads):
            fits.append(SVMperf(loss="q", C=100).fit(X, y).coef_)
    assert np.array_equal(fits[0], fits[1])
    assert np.array_equal(fits[0], fits[2])


def test_too_few_rounds_give_a_warning_with_the_gap():
    X, y = blobs(300, 2, seed=5)
    with pytest.warns(
        ConvergenceWarning,
        match=r"after 3 rounds without reaching eps=0.1 \(C=1000\): .* above the optimum, and at most 100 is allowed",
    ):
        svm = SVMperf(C=1000, max_iter=3).fit(X, y)
    assert svm.n_iter_ == 3
    assert svm.gap_ > 100


def test_a_single_class_is_always_decided():
    svm = SVMperf().fit(np.array([[1.0], [2.0]]), ["only", "only"])
    assert svm.predict(np.array([[-5.0], [5.0]])).tolist() == ["only", "only"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"loss": "hinge"}, "'loss' parameter"),
        ({"C": 0}, "'C' parameter"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": float("nan")}, "'C' parameter|NaN"),
        ({"eps": 0.0}, "'eps' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"path": [0.0, 1.0]}, "path must hold values of C, positive numbers"),
        ({"path": []}, "path must hold values of C"),
        ({"path": ["a"]}, "path must hold values of C"),
        ({"path": [1.0, np.inf]}, "path must hold values of C"),
    ],
)
def test_invalid_parameters_are_an_error(parameters, words):
    with pytest.raises(ValueError, match=words):
        SVMperf(**parameters).fit(np.eye(4), [0, 1, 0, 1])


def test_invalid_data_is_an_error():
    with pytest.raises(ValueError, match=r"Only binary classification is supported by SVMperf.* y has 3 \(0, 1, 2\)"):
        SVMperf().fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="NaN"):
        SVMperf().fit(np.array([[np.nan], [1.0]]), [0, 1])
    with pytest.raises(DataError, match="There is no path to fit"):
        SVMperf().iter_path(np.eye(2), [0, 1])


def test_iterating_over_a_path_changes_neither_threads_nor_the_classifier():
    from threadpoolctl import threadpool_info

    X, y = blobs(100, 2, seed=0)
    before = [pool["num_threads"] for pool in threadpool_info()]
    svm = SVMperf(path=[1.0, 10.0])
    steps = svm.iter_path(X, y)
    next(steps)
    assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert not hasattr(svm, "classes_")
    with pytest.raises(ValueError, match="NaN"):
        svm.iter_path(np.full((2, 1), np.nan), [0, 1])


@pytest.mark.parametrize(
    "loss",
    [lambda tp, fp: tp, lambda tp, fp, fn, tn: "a", lambda tp, fp, fn, tn: 1 if tp > 0 else 0, dict],
    ids=["two arguments", "a string", "for scalars only", "a type"],
)
def test_an_invalid_custom_loss_is_an_error(loss):
    with pytest.raises(DataError, match="The loss must"):
        SVMperf(loss=loss).fit(np.eye(4), [0, 1, 0, 1])


def test_a_path_given_twice_or_with_invalid_values_is_an_error():
    with pytest.raises(DataError, match="omit 'C'"):
        svmperf_path(np.eye(4), [0, 1, 0, 1], [1.0], C=5.0)
    for path in (["1", "2"], [True], [[1.0, 2.0]]):
        with pytest.raises(DataError, match="path must hold values of C"):
            SVMperf(path=path).fit(np.eye(4), [0, 1, 0, 1])
