"""Reference values of CC, PCC, ACC, PACC and MLPE, worked out by hand or by an independent method."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from headcount import ACC, CC, MLPE, PACC, PCC, NewtonLogisticRegression, Outputs
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.learners.fold_classifiers import first_classifier
from headcount.quantifiers import Statistics
from tests.conftest import blobs, frozen, scored_items

# Posteriors of the positive class for validation items and for a sample of five.
VALIDATION = np.array([0.1, 0.3, 0.6, 0.2, 0.9, 0.8, 0.4, 0.7])
LABELS = np.array([0, 0, 0, 0, 1, 1, 1, 1])
SAMPLE = np.array([0.9, 0.55, 0.7, 0.3, 0.6])


def two_columns(p):
    return np.column_stack([1 - p, p])


def fitted(quantifier):
    return quantifier(frozen([0, 1])).fit(two_columns(VALIDATION), LABELS)


def test_shares_of_two_classes_by_hand():
    assert fitted(CC).predict(two_columns(SAMPLE))[1] == pytest.approx(4 / 5)
    assert fitted(PCC).predict(two_columns(SAMPLE))[1] == pytest.approx(SAMPLE.mean())
    tpr, fpr = 3 / 4, 1 / 4
    assert fitted(ACC).predict(two_columns(SAMPLE))[1] == 1  # (0.8 - 0.25) / 0.5 is 1.1, clipped
    assert fitted(ACC).predict(two_columns(SAMPLE[1:]))[1] == pytest.approx((3 / 4 - fpr) / (tpr - fpr))
    assert fitted(ACC).predict(two_columns(np.array([0.2])))[1] == 0
    tpr, fpr = 0.7, 0.3
    assert fitted(PACC).predict(two_columns(SAMPLE))[1] == pytest.approx((SAMPLE.mean() - fpr) / (tpr - fpr))
    np.testing.assert_allclose(fitted(PACC).M_, [[0.7, 0.3], [0.3, 0.7]])
    np.testing.assert_allclose(MLPE().fit(two_columns(VALIDATION), LABELS).predict(two_columns(SAMPLE)), [0.5, 0.5])


def test_a_classifier_worse_than_chance_is_adjusted_too():
    inverted = PACC(frozen([0, 1])).fit(two_columns(1 - VALIDATION), LABELS)
    np.testing.assert_allclose(inverted.predict(two_columns(1 - SAMPLE)), fitted(PACC).predict(two_columns(SAMPLE)))


@pytest.mark.parametrize("quantifier", [ACC, PACC])
def test_equal_rates_warn_and_leave_the_shares_unadjusted(quantifier):
    P = two_columns(np.full(8, 0.7))
    with pytest.warns(IdentifiabilityWarning, match="returns the unadjusted shares"):
        q = quantifier(frozen([0, 1])).fit(P, LABELS)
    plain = {ACC: CC, PACC: PCC}[quantifier](frozen([0, 1])).fit(P, LABELS)
    np.testing.assert_allclose(q.predict(two_columns(SAMPLE)), plain.predict(two_columns(SAMPLE)))


@pytest.mark.parametrize("quantifier", [ACC, PACC])
def test_indistinguishable_classes_warn(quantifier):
    codes, P = scored_items(300, 3, seed=0)
    P[:, 1] = P[:, 2] = (P[:, 1] + P[:, 2]) / 2
    with pytest.warns(IdentifiabilityWarning, match="does not tell the classes 0, 1, 2 apart"):
        q = quantifier(frozen(range(3))).fit(P, codes)
    assert q.predict(P).sum() == pytest.approx(1)


def test_three_classes_solve_the_least_squares_problem():
    codes, P = scored_items(600, 3, seed=0)
    for quantifier, values in ((PACC, P), (ACC, np.eye(3)[P.argmax(axis=1)])):
        q = quantifier(frozen(range(3))).fit(P, codes)
        M = np.column_stack([values[codes == c].mean(axis=0) for c in range(3)])
        np.testing.assert_allclose(q.M_, M, atol=1e-12)
        for seed in range(5):
            rows = np.random.default_rng(seed).integers(0, 600, 25)
            mean = values[rows].mean(axis=0)
            penalty = 1e6  # an independent method: the sum of shares as a heavily weighted equation
            reference = lsq_linear(np.vstack([M, penalty * np.ones(3)]), np.append(mean, penalty), (0, 1), tol=1e-15).x
            np.testing.assert_allclose(q.predict(P[rows]), reference, atol=1e-5)


def test_refit_uses_out_of_fold_outputs_and_fits_the_classifier_on_all_items():
    X, y = blobs(150, 3, seed=0)
    q = PACC(GaussianNB(), validation=5, refit=True, random_state=1).fit(X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    P = cross_val_predict(GaussianNB(), X, y, cv=folds, method="predict_proba")
    np.testing.assert_allclose(q.M_, np.column_stack([P[y == c].mean(axis=0) for c in range(3)]), atol=1e-12)
    assert np.array_equal(q.classifier_.theta_, GaussianNB().fit(X, y).theta_)
    same = PACC(GaussianNB(), validation=folds, refit=True).fit(X, y)
    np.testing.assert_allclose(same.M_, q.M_, atol=1e-12)


def test_the_held_out_part_is_not_trained_on():
    from sklearn.model_selection import train_test_split

    X, y = blobs(150, 2, seed=0)
    q = ACC(LogisticRegression(), validation=0.3, random_state=5).fit(X, y)
    X_train, X_held, y_train, y_held = train_test_split(X, y, test_size=0.3, stratify=y, random_state=5)
    decided = LogisticRegression().fit(X_train, y_train).predict(X_held)
    expected = [[(decided[y_held == j] == i).mean() for j in range(2)] for i in range(2)]
    np.testing.assert_allclose(q.M_, expected, atol=1e-12)


def test_classifiers_without_posteriors_are_calibrated_for_methods_that_need_them():
    X, y = blobs(200, 2, seed=0)
    for quantifier in (PCC, PACC):
        q = quantifier(LinearSVC(random_state=0)).fit(X, y)
        assert type(first_classifier(q.classifier_)).__name__ == "CalibratedClassifierCV"
    assert isinstance(ACC(LinearSVC(), validation=0.4).fit(X, y).classifier_, LinearSVC)
    q = PACC(FrozenEstimator(LinearSVC().fit(X, y))).fit(X, y)
    assert q.predict(X).sum() == pytest.approx(1)


def test_adjusting_corrects_the_bias_of_counting():
    codes, P = scored_items(4000, 2, seed=0, separation=1.2)
    pool_codes, pool = scored_items(20_000, 2, seed=1, separation=1.2)
    rows = np.concatenate([np.flatnonzero(pool_codes == 0)[:200], np.flatnonzero(pool_codes == 1)[:1800]])
    errors = {q: abs(q(frozen([0, 1])).fit(P, codes).predict(pool[rows])[1] - 0.9) for q in (CC, PCC, ACC, PACC)}
    assert errors[CC] > 0.08
    assert errors[PCC] > 0.08
    assert errors[ACC] < 0.04
    assert errors[PACC] < 0.04


def test_the_default_classifier_is_logistic_regression():
    X, y = blobs(60, 2, seed=0)
    assert isinstance(CC().fit(X, y).classifier_, NewtonLogisticRegression)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X, y: PACC(validation=1.5).fit(X, y), "'validation' parameter of PACC must be"),
        (lambda X, y: ACC(validation=1).fit(X, y), "'validation' parameter of ACC must be"),
        (lambda X, y: ACC(validation=None).fit(X, y), "'validation' parameter of ACC must be"),
        (lambda X, y: ACC(validation=KFold(2)).fit(X[np.argsort(y)], np.sort(y)), "leaves no items of class"),
        (lambda X, y: CC(FrozenEstimator(LogisticRegression())).fit(X, y), "not fitted"),
        (lambda X, y: CC().fit(X, y).outputs(X, "scores"), "needs may name"),
        (lambda X, y: CC(object()).fit(X, y), "'classifier' parameter of CC must be"),
        (lambda X, y: PACC(random_state="x").fit(X, y), "random_state must be"),
        (lambda X, y: PACC(FrozenEstimator(LogisticRegression().fit(X, y)), validation=3).fit(X, y), "frozen"),
        (
            lambda X, y: PACC(FrozenEstimator(LogisticRegression().fit(X, y))).fit(X[y == 0], y[y == 0]),
            "no items of class 1",
        ),
        (lambda X, y: CC(FrozenEstimator(LogisticRegression().fit(X, y))).fit(X, y + 5), "not among the classes"),
        (lambda X, y: CC().fit(X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: CC().fit(X, y + 0.5), "fractional"),
        (lambda X, y: CC().fit(X, None), "y is None"),
        (lambda X, y: MLPE().fit(X, None), "y is None"),
        (lambda X, y: CC().fit("text", ["a"]), "one string"),
        (
            lambda X, y: (
                CC().fit(X, y).aggregate(Outputs.from_posteriors(X[:, :1] * 0 + [[0.5, 0.5]], [0, 1]), [[0, 999]])
            ),
            "999",
        ),
        (lambda X, y: PCC().fit(X, y).aggregate(CC().fit(X, y).outputs(X)), "hold no posteriors"),
    ],
)
def test_invalid_input_raises_a_sentence(make, words):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises((ValueError, TypeError), match=words):
        make(X, y)


def test_a_weak_classifier_is_adjusted_exactly():
    """The class profiles differ by 1e-6 only; their differences, not their size, determine the shares."""
    X, y = blobs(600, 3, seed=0)
    classifier = LogisticRegression(C=1e-7).fit(X, y)
    q = PACC(FrozenEstimator(classifier)).fit(X, y)
    p = np.array([0.2, 0.3, 0.5])
    assert np.ptp(q.M_, axis=1).max() < 1e-3
    np.testing.assert_allclose(q.solve(Statistics((q.M_ @ p)[None, :], np.ones(1)))[0], p, atol=1e-6)


def test_solving_before_fitting_raises():
    for quantifier in (ACC, PACC, MLPE):
        with pytest.raises(NotFittedError):
            quantifier().solve(Statistics(np.ones((1, 2)), np.ones(1)))


def test_a_seed_beyond_32_bits_is_accepted():
    X, y = blobs(100, 2, seed=0)
    a, b = (PACC(random_state=2**40).fit(X, y).M_ for _ in range(2))
    assert np.array_equal(a, b)


def test_statistics_of_different_numbers_of_samples_are_not_merged():
    a, b = Statistics(np.zeros((1, 2)), np.ones(1)), Statistics(np.zeros((2, 2)), np.ones(2))
    with pytest.raises(DataError, match="can't be merged"):
        a + b
    assert repr(b) == "Statistics(2 samples, 2 sums each)"


def test_any_iterable_of_texts_is_accepted():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    q = CC(make_pipeline(CountVectorizer(), LogisticRegression()))
    q.fit(("good film", "bad film", "good plot", "bad plot"), ("p", "n", "p", "n"))
    assert q.predict(text for text in ["good good"]).tolist() == [0, 1]
