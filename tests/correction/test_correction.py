"""Corrected posteriors against the formula item by item, and the accuracy to be expected against the true one."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from headcount import (
    ACC,
    CC,
    PACC,
    SLD,
    BayesianCC,
    Ensemble,
    HDy,
    NewtonLogisticRegression,
    Outputs,
    PriorCorrectedClassifier,
    Samples,
    expected_accuracy,
)
from headcount.exceptions import ClassifierError, DataError
from tests.conftest import blobs, frozen, scored_items

EXEMPT = {
    "check_methods_subset_invariance": "an item's posteriors depend on the shares of the sample that it is scored with",
    "check_classifiers_regression_target": "the error is a sentence of our own: y holds fractional numbers",
}
EXEMPT_FOLDS = {"check_classifier_data_not_an_array": "what has no rows can't be cut into folds"}


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")  # their labels are random
@parametrize_with_checks(
    [PriorCorrectedClassifier(SLD(NewtonLogisticRegression())), PriorCorrectedClassifier(PACC(random_state=0))],
    expected_failed_checks=lambda model: EXEMPT | (EXEMPT_FOLDS if isinstance(model.quantifier, PACC) else {}),
)
def test_the_classifier_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def moved(P, prior, shares):
    rows = []
    for row in P:
        joint = [p * s / q for p, s, q in zip(row, shares, prior, strict=True)]
        rows.append([one / sum(joint) for one in joint])
    return np.array(rows)


def test_posteriors_are_moved_from_the_prior_to_the_estimated_shares():
    codes, P = scored_items(300, 3, seed=0)
    names = np.array(["x", "y", "z"])
    target = scored_items(100, 3, seed=1, shares=[0.7, 0.2, 0.1])[1]
    prior = [0.2, 0.3, 0.5]
    model = PriorCorrectedClassifier(PACC(frozen(names)), prior=prior).fit(P, names[codes])
    shares = PACC(frozen(names)).fit(P, names[codes]).predict(target)
    np.testing.assert_allclose(model.shares(target), shares)
    expected = moved(target, prior, shares)
    np.testing.assert_allclose(model.predict_proba(target), expected, atol=1e-12)
    np.testing.assert_array_equal(model.predict(target), names[expected.argmax(axis=1)])
    given = moved(target[:1], prior, [0.1, 0.1, 0.8])
    np.testing.assert_allclose(model.predict_proba(target[:1], shares=[0.1, 0.1, 0.8]), given, atol=1e-12)
    np.testing.assert_array_equal(model.predict(target[:1], shares=[0.0, 0.0, 1.0]), ["z"])
    outputs = Outputs.from_posteriors(target[:, ::-1], names[::-1])
    np.testing.assert_allclose(model.predict_proba(outputs), expected, atol=1e-12)


def test_folds_are_corrected_one_by_one_and_averaged():
    X, y = blobs(300, 2, seed=0)
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:40]]
    model = PriorCorrectedClassifier(PACC(LogisticRegression(), random_state=0)).fit(X[rows], y[rows])
    prior = np.bincount(y[rows]) / len(rows)
    np.testing.assert_allclose(model.prior_, prior)
    shares = model.shares(X)
    folds = [moved(one.predict_proba(X), prior, shares) for one in model.quantifier_.classifier_.classifiers_]
    np.testing.assert_allclose(model.predict_proba(X), np.mean(folds, axis=0), atol=1e-12)


def test_a_method_over_densities_brings_its_own():
    X, y = blobs(400, 3, seed=0)
    calibrated = PriorCorrectedClassifier().fit(X, y)
    sld = calibrated.quantifier_
    shares = sld.predict(X)
    posteriors = [moved(sld.densities(fold), [1, 1, 1], shares) for fold in sld.outputs(X).folds]
    np.testing.assert_allclose(calibrated.predict_proba(X), np.mean(posteriors, axis=0), atol=1e-12)
    plain = PriorCorrectedClassifier(SLD(LogisticRegression())).fit(X, y)
    P, p = plain.quantifier_.classifier_.predict_proba(X), plain.shares(X)
    np.testing.assert_allclose(plain.predict_proba(X), moved(P, np.bincount(y) / len(y), p), atol=1e-12)


def test_items_that_no_class_with_a_share_explains_get_the_shares():
    codes, P = scored_items(100, 2, seed=0)
    model = PriorCorrectedClassifier(CC(frozen([0, 1])), prior="uniform").fit(P, codes)
    np.testing.assert_allclose(model.predict_proba([[1.0, 0.0], [0.5, 0.5]], shares=[0.0, 1.0]), [[0, 1], [0, 1]])


def test_correction_makes_decisions_right_more_often():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], [9500, 500])
    X = y[:, None] * 1.5 + generator.standard_normal((len(y), 1))
    labels = np.arange(1000) % 2
    items = labels[:, None] * 1.5 + generator.standard_normal((1000, 1))
    model = PriorCorrectedClassifier(PACC(LogisticRegression(), random_state=0)).fit(items, labels)
    before = LogisticRegression().fit(items, labels).score(X, y)
    best = LogisticRegression().fit(X, y).score(X, y)
    assert before < 0.80
    assert model.score(X, y) > best - 0.006


def test_what_can_not_be_corrected_is_said():
    X, y = blobs(100, 2, seed=0)
    with pytest.raises(ValueError, match="The 'quantifier' parameter of PriorCorrectedClassifier"):
        PriorCorrectedClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(ClassifierError, match="'predict_proba', which is needed here"):
        PriorCorrectedClassifier(ACC(LinearSVC(), random_state=0)).fit(X, y).predict(X)
    with pytest.raises(DataError, match="Ensemble has no classifier of its own whose posteriors could be moved"):
        PriorCorrectedClassifier(Ensemble(PACC(GaussianNB()), n_members=2)).fit(X, y).predict(X)
    solid = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(DataError, match="can't know the class shares that it was trained on"):
        PriorCorrectedClassifier(PACC(solid)).fit(X, y)
    fitted = PriorCorrectedClassifier(PACC(solid), prior="uniform").fit(X, y)
    with pytest.raises(DataError, match="shares must hold one share for each of the 2 classes"):
        fitted.predict(X, shares=[0.2, 0.3, 0.5])


# ------------------------------------------------------------------------------------------------ accuracy


def test_expected_accuracy_weights_recalls_by_the_estimated_shares():
    codes, P = scored_items(300, 3, seed=0, separation=1.2)
    pool = scored_items(400, 3, seed=1, separation=1.2, shares=[0.6, 0.3, 0.1])[1]
    q = PACC(frozen([0, 1, 2])).fit(P, codes)
    recalls = [np.mean(P[codes == j].argmax(axis=1) == j) for j in range(3)]
    assert expected_accuracy(q, pool).accuracy == pytest.approx(q.predict(pool) @ recalls)
    samples = Samples.from_matrix(np.random.default_rng(0).integers(0, 400, (5, 100)))
    many = expected_accuracy(q, pool, samples)
    np.testing.assert_allclose(many.accuracy, q.aggregate(q.outputs(pool), samples) @ recalls)
    one = expected_accuracy(q, pool[samples[2]])
    np.testing.assert_allclose([many.low[2], many.high[2]], [one.low, one.high])
    assert (many.low < many.accuracy).all()
    assert (many.accuracy < many.high).all()
    wider = expected_accuracy(q, pool, level=0.99)
    assert wider.low < expected_accuracy(q, pool).low


def test_folds_have_recalls_of_their_own():
    X, y = blobs(120, 2, seed=0)
    q = ACC(GaussianNB(), random_state=0).fit(X, y)
    right = q.validation_outputs_.decisions == q.validation_codes_
    recalls = [np.mean([right[(y == j) & (q.validation_folds_ == f)].mean() for f in range(5)]) for j in (0, 1)]
    assert expected_accuracy(q, X).accuracy == pytest.approx(q.predict(X) @ recalls)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PACC(frozen([0, 1])),
        lambda: ACC(frozen([0, 1])),
        lambda: HDy(frozen([0, 1])),
        lambda: PriorCorrectedClassifier(PACC(frozen([0, 1])), prior="uniform"),
        lambda: PriorCorrectedClassifier(SLD(frozen([0, 1]), calibration="bcts")),
    ],
    ids=["PACC", "ACC", "HDy", "PACC corrected", "SLD corrected"],
)
def test_the_interval_holds_the_true_accuracy(make):
    held, shares = [], [0.85, 0.15]
    y_all, everyone = scored_items(20_000, 2, seed=2000, separation=1.1, shares=shares)
    for seed in range(60):
        codes, P = scored_items(150, 2, seed=seed, separation=1.1)
        model = make().fit(P, codes)
        _, target = scored_items(400, 2, seed=1000 + seed, separation=1.1, shares=shares)
        expected = expected_accuracy(model, target)
        decided = (
            model.predict(everyone, shares=model.shares(target))
            if isinstance(model, PriorCorrectedClassifier)
            else everyone.argmax(axis=1)
        )
        held.append(expected.low <= np.mean(decided == y_all) <= expected.high)
    assert np.mean(held) >= 0.88  # nominal 0.95, standard error 0.03
    assert expected.high - expected.low < 0.3


@pytest.mark.parametrize(("n_labelled", "n_target"), [(2000, 60), (60, 2000)])
def test_the_width_is_that_of_the_spread_over_draws_of_either_side(n_labelled, n_target):
    accuracies, reaches = [], []
    for seed in range(200):
        codes, P = scored_items(n_labelled, 2, seed=seed, separation=1.1)
        target = scored_items(n_target, 2, seed=1000 + seed, separation=1.1, shares=[0.6, 0.4])[1]
        P, target = (np.column_stack([1 - p, p]) for p in (np.clip(A[:, 1] + 0.15, 0, 1) for A in (P, target)))
        expected = expected_accuracy(PACC(frozen([0, 1])).fit(P, codes), target)
        accuracies.append(expected.accuracy)
        reaches.append(expected.high - expected.low)
    spread = np.std(accuracies)  # known to 5 %
    assert np.mean(reaches) / 2 / 1.96 == pytest.approx(spread, rel=0.15)


def test_a_perfect_classifier_is_expected_to_be_nearly_always_right():
    P = np.eye(2)[np.repeat([0, 1], 20)]
    q = PACC(frozen([0, 1])).fit(P, P.argmax(axis=1))
    expected = expected_accuracy(q, P)
    assert expected.accuracy == expected.high == 1.0
    assert 0.8 < expected.low < 0.99


def test_methods_without_validation_items_or_interval():
    X, y = blobs(150, 2, seed=0)
    with pytest.raises(DataError, match="CC keeps no validation items"):
        expected_accuracy(CC().fit(X, y), X)
    with pytest.raises(DataError, match="with refit=False"):
        expected_accuracy(PACC(refit=True).fit(X, y), X)
    bayes = expected_accuracy(BayesianCC(n_draws=100, random_state=0).fit(X, y), X)
    assert 0.8 < bayes.accuracy <= 1.0
    assert np.isnan(bayes.low)
    assert np.isnan(bayes.high)
