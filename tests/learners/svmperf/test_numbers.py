"""Features of any size: the solution is right, or a warning or error says that it is not."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from headcount import SVMperf
from headcount.exceptions import DataError
from headcount.learners.svmperf.losses import worst_labelling


def value_at(svm, X, y):
    """The objective at the fitted weights, computed independently."""
    scores = X @ svm.coef_[0] + svm.intercept_[0]
    search = worst_labelling(svm.loss, int(y.sum()), int((y == 0).sum()))
    value, _, _ = search(np.sort(scores[y == 1])[::-1], np.sort(scores[y == 0])[::-1])
    return float(svm.coef_[0] @ svm.coef_[0] + svm.intercept_[0] ** 2) / 2 + svm.C * max(value, 0.0)


@pytest.mark.parametrize("loss", ["ae", "kld", "q"])
@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6, 1e9])
def test_the_objective_is_right_and_never_worse_than_with_zero_weights(loss, C, scale):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 80)
    X = scale * (generator.standard_normal((80, 3)) + y[:, None] + 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        svm = SVMperf(loss=loss, C=C).fit(X, y)
    assert svm.objective_ == pytest.approx(value_at(svm, X, y), rel=1e-6, abs=1e-9)
    zero = SVMperf(loss=loss, C=C).fit(np.zeros((80, 1)), y)
    zero.coef_, zero.intercept_ = np.zeros((1, 1)), np.zeros(1)
    assert svm.objective_ <= value_at(zero, np.zeros((80, 1)), y) * (1 + 1e-12)
    converged = svm.gap_ <= C * svm.eps * (1 + 1e-9)
    assert converged != any(issubclass(w.category, ConvergenceWarning) for w in caught)
    if scale <= 1e3 and C == 1.0:
        assert converged


def test_a_column_of_timestamps_gives_a_warning_to_scale_features():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 300)
    X = np.column_stack([generator.standard_normal(300) + y, generator.integers(1_600_000_000, 1_700_000_000, 300)])
    with pytest.warns(ConvergenceWarning, match="prevent more: scale the features"):
        SVMperf().fit(X, y)


@pytest.mark.parametrize(("scale", "C"), [(1e160, 1.0), (1.0, 1e300)])
def test_products_that_overflow_are_an_error(scale, C):
    generator = np.random.default_rng(0)
    with pytest.raises(DataError, match="Scale the features"):
        SVMperf(C=C).fit(scale * generator.standard_normal((50, 2)), np.arange(50) % 2)


def test_the_bits_do_not_depend_on_the_memory_layout():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((200, 6)), np.arange(200) % 2
    fits = [
        SVMperf(loss="kld", C=10, eps=1e-3).fit(form(X), y).coef_ for form in (np.ascontiguousarray, np.asfortranarray)
    ]
    assert np.array_equal(*fits)
