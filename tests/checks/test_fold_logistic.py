"""Logistic regressions of all folds at once: those that scikit-learn fits one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from headcount.checks.fold_logistic import fold_scores, logistic_weights


def problem(sparse, separation, n=300, d=40):
    generator = np.random.default_rng(0)
    y = np.arange(n) >= 220
    X = normalize(sp.random(n, d, 0.2, format="csr", random_state=1)) if sparse else generator.standard_normal((n, d))
    shift = separation * np.outer(y, np.arange(d) < 3)
    X = sp.csr_matrix(X + shift) if sparse else X + shift
    fold = np.arange(n) % 5
    weights = np.where(y, 1.0, 0.4)[:, None] * (fold[:, None] != np.arange(5))
    return X, y, weights, fold


@pytest.mark.parametrize("separation", [0.0, 0.3, 20.0])
@pytest.mark.parametrize(("sparse", "C", "solver"), [(True, 1.0, "liblinear"), (False, 0.1, "lbfgs")])
def test_each_fold_is_the_regression_of_the_others(sparse, C, solver, separation):
    X, y, weights, fold = problem(sparse, separation)
    scores = fold_scores(X, y, weights, fold, C, penalised_intercept=sparse)
    for f in range(5):
        train = fold != f
        one = LogisticRegression(C=C, solver=solver, tol=1e-8, max_iter=10_000)
        one.fit(X[train], y[train], sample_weight=weights[train, f])
        np.testing.assert_allclose(
            scores[~train], one.predict_proba(X[~train])[:, 1], atol=1e-2 if separation > 1.0 else 1e-3
        )


def test_items_without_weight_do_not_matter():
    X, y, weights, _ = problem(True, 0.3)
    few = weights[:, 0] > 0
    W, b = logistic_weights(X, y, weights[:, :1], 1.0, True)
    alone, c = logistic_weights(X[few], y[few], weights[few, :1], 1.0, True)
    np.testing.assert_allclose(W, alone, atol=1e-12)
    np.testing.assert_allclose(b, c, atol=1e-12)


def test_features_that_are_all_zero_leave_the_share_of_the_sides():
    y = np.arange(50) < 10
    _, b = logistic_weights(np.zeros((50, 3)), y, np.ones((50, 1)), 1.0, False)
    assert 1 / (1 + np.exp(-b[0])) == pytest.approx(0.2, abs=1e-3)
