"""Features of any size: the answer is right, or a sentence says that it is not."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from headcount import SVMperf
from headcount.exceptions import DataError
from headcount.learners.svmperf.losses import worst_labelling


def value_at(svm, X, y):
    """The problem's value at the fitted weights, reckoned anew."""
    scores = X @ svm.coef_[0] + svm.intercept_[0]
    search = worst_labelling(svm.loss, int(y.sum()), int((y == 0).sum()))
    value, _, _ = search(np.sort(scores[y == 1])[::-1], np.sort(scores[y == 0])[::-1])
    return float(svm.coef_[0] @ svm.coef_[0] + svm.intercept_[0] ** 2) / 2 + svm.C * max(value, 0.0)


@pytest.mark.parametrize("loss", ["ae", "kld", "q"])
@pytest.mark.parametrize("C", [1.0, 1e4])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3, 1e6, 1e9])
def test_no_solution_is_worse_than_it_says_or_than_none(loss, C, scale):
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 80)
    X = scale * (generator.standard_normal((80, 3)) + y[:, None] + 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        svm = SVMperf(loss=loss, C=C).fit(X, y)
    assert svm.objective_ == pytest.approx(value_at(svm, X, y), rel=1e-6, abs=1e-9)
    nothing = SVMperf(loss=loss, C=C).fit(np.zeros((80, 1)), y)
    nothing.coef_, nothing.intercept_ = np.zeros((1, 1)), np.zeros(1)
    assert svm.objective_ <= value_at(nothing, np.zeros((80, 1)), y) * (1 + 1e-12)
    converged = svm.gap_ <= C * svm.eps * (1 + 1e-9)
    assert converged != any(issubclass(w.category, ConvergenceWarning) for w in caught)
    if scale <= 1e3 and C == 1.0:
        assert converged


def test_a_column_of_seconds_is_said_to_be_too_large():
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 300)
    X = np.column_stack([generator.standard_normal(300) + y, generator.integers(1_600_000_000, 1_700_000_000, 300)])
    with pytest.warns(ConvergenceWarning, match="leave no more digits: scale the features"):
        SVMperf().fit(X, y)


@pytest.mark.parametrize(("scale", "C"), [(1e160, 1.0), (1.0, 1e300)])
def test_what_can_not_be_held_is_refused(scale, C):
    generator = np.random.default_rng(0)
    with pytest.raises(DataError, match="Scale the features"):
        SVMperf(C=C).fit(scale * generator.standard_normal((50, 2)), np.arange(50) % 2)


def test_the_memory_layout_changes_no_bit():
    generator = np.random.default_rng(0)
    X, y = generator.standard_normal((200, 6)), np.arange(200) % 2
    fits = [
        SVMperf(loss="kld", C=10, eps=1e-3).fit(form(X), y).coef_ for form in (np.ascontiguousarray, np.asfortranarray)
    ]
    assert np.array_equal(*fits)
