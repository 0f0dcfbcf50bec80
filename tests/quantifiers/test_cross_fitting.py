"""Cross-fitting: the fold classifiers score later items, each with the rates of its own fold."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from headcount import ACC, CC, PACC, SLD, HDy, Outputs, Samples, estimate
from headcount.exceptions import DataError
from headcount.intervals import why_no_interval
from headcount.learners import Fits, FoldClassifiers
from tests.conftest import Scored, blobs

K = 4


def calibrated(*args, **options):
    return SLD(*args, calibration="bcts", **options)


def fitted(method, n_classes=2, classifier=None, **options):
    X, y = blobs(203, n_classes, seed=0)
    q = method(classifier or GaussianNB(), **{"validation": K, "random_state": 1, **options})
    return q.fit(X, y), X, y


def fold_means(V, y, folds, n_classes):
    """Return by hand the mean over folds of the mean vectors of each class."""
    return np.column_stack(
        [
            np.mean([V[(y == j) & (folds == f)].mean(axis=0) for f in range(folds.max() + 1)], axis=0)
            for j in range(n_classes)
        ]
    )


def test_folds_are_the_default():
    assert ACC().validation == PACC().validation == HDy().validation == SLD().validation == 5
    assert fitted(PACC, validation=5)[0].n_folds == 5
    assert CC().fit(*blobs(50, 2, 0)).n_folds == 1


def test_validation_items_are_scored_by_the_classifier_that_was_not_trained_on_them():
    q, X, y = fitted(PACC, 3)
    splitter = StratifiedKFold(K, shuffle=True, random_state=1)
    expected = cross_val_predict(GaussianNB(), X, y, cv=splitter, method="predict_proba")
    np.testing.assert_array_equal(q.validation_outputs_.posteriors, expected)
    np.testing.assert_array_equal(q.validation_codes_, y)
    assert q.validation_items_ is X
    assert q.validation_outputs_.folds is None
    for f, (train, held_out) in enumerate(splitter.split(X, y)):
        assert (q.validation_folds_[held_out] == f).all()
        np.testing.assert_array_equal(q.classifier_.classifiers_[f].theta_, GaussianNB().fit(X[train], y[train]).theta_)
    same = PACC(GaussianNB(), validation=splitter).fit(X, y)
    np.testing.assert_array_equal(same.M_, q.M_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rates_and_scores_are_means_over_the_folds(n_classes):
    X_new, _ = blobs(70, n_classes, seed=5)
    for method, kind in ((ACC, "decisions"), (PACC, "posteriors")):
        q, X, y = fitted(method, n_classes)

        def vectors(classifier, items, kind=kind):
            return (
                np.eye(n_classes)[classifier.predict(items)] if kind == "decisions" else classifier.predict_proba(items)
            )

        V = np.empty((len(y), n_classes))
        for f, classifier in enumerate(q.classifier_.classifiers_):
            V[q.validation_folds_ == f] = vectors(classifier, X[q.validation_folds_ == f])
        M = fold_means(V, y, q.validation_folds_, n_classes)
        np.testing.assert_allclose(q.M_, M, atol=1e-11)
        target = np.mean([vectors(classifier, X_new) for classifier in q.classifier_.classifiers_], axis=0)
        outputs = q.outputs(X_new)
        np.testing.assert_allclose(q.representation.vectors(outputs), target, atol=1e-15)
        statistics = q.reduce(outputs, products=True)
        np.testing.assert_allclose(statistics.means()[0], target.mean(axis=0), atol=1e-11)
        assert statistics.weights.tolist() == [70]
        second = q.representation.second_moments(statistics)[0]
        np.testing.assert_allclose(second, target.T @ target, atol=1e-9)
        if n_classes == 2:
            expected = (target.mean(axis=0)[1] - M[1, 0]) / (M[1, 1] - M[1, 0])
            np.testing.assert_allclose(q.predict(X_new)[1], np.clip(expected, 0, 1), atol=1e-10)


def test_histograms_count_each_fold_in_part():
    q, X, y = fitted(HDy)
    P = np.stack([classifier.predict_proba(X)[:, 1] for classifier in q.classifier_.classifiers_])
    means = q.reduce(q.outputs(X)).means()
    by_hand = np.mean([np.histogram(p, bins=10, range=(0, 1))[0] for p in P], axis=0) / len(y)
    np.testing.assert_allclose(q.representation.folded(means, 10)[0], by_hand, atol=1e-11)


def test_a_likelihood_counts_each_fold_in_part():
    q, X, _ = fitted(calibrated)
    outputs, samples = q.outputs(X), Samples.from_lists([np.arange(60), np.arange(40, 200)])
    weighted = Samples(samples.indices, samples.indptr, weights=np.linspace(0.5, 2, samples.indices.size))
    for these in (samples, weighted):
        items = q.reduce(outputs, these)
        assert len(items.vectors) == K * len(X)
        np.testing.assert_allclose(items.weights, these.total_weights())
        np.testing.assert_allclose(items.samples.effective_sizes(), these.effective_sizes())
        for s, rows in enumerate(these):
            w = these.factors_of(s)
            P = [q.calibration_.posteriors(c.predict_proba(X[rows])) / q.prior_ for c in q.classifier_.classifiers_]

            def loss(p, P=P, w=w):
                return -sum((w * np.log(F @ [1 - p, p])).sum() for F in P)

            best = minimize_scalar(loss, bounds=(0, 1), method="bounded", options={"xatol": 1e-10}).x
            assert q.aggregate(outputs, these)[s, 1] == pytest.approx(best, abs=1e-5)


def test_one_calibration_is_learnt_on_all_out_of_fold_posteriors():
    from headcount.learners import BiasCorrectedTemperature

    q, _, y = fitted(calibrated, 3)
    learnt = BiasCorrectedTemperature.learnt(q.validation_outputs_.posteriors, y)
    np.testing.assert_array_equal(q.calibration_.theta, learnt.theta)
    outputs = q.outputs(blobs(30, 3, seed=5)[0])
    folds = q.calibrated(outputs).folds
    np.testing.assert_array_equal(folds[1].posteriors, learnt.posteriors(outputs.folds[1].posteriors))


def test_refit_has_no_interval_and_says_why():
    for method in (ACC, PACC, calibrated):
        q, X, y = fitted(method, refit=True)
        assert isinstance(q.classifier_, GaussianNB)
        assert (q.n_folds, q.has_interval) == (1, False)
        assert set(q.validation_folds_) == set(range(K))
        assert "better than they are" in why_no_interval(q)
        with pytest.raises(DataError, match=r"No interval for \w+: with refit=True the rates of .* Leave refit=False"):
            estimate(q, X)
        with pytest.raises(DataError, match="refit=True is for folds"):
            q.set_params(validation=0.4).fit(X, y)
        assert method(GaussianNB()).has_interval
    assert "without calibration" in why_no_interval(SLD(refit=True))  # which has no rates


def test_a_held_out_part_a_frozen_classifier_and_outputs_have_no_folds():
    X, y = blobs(200, 2, seed=0)
    held_out = PACC(GaussianNB(), validation=0.25, random_state=0).fit(X, y)
    assert held_out.validation_folds_.tolist() == [0] * 50
    np.testing.assert_array_equal(
        held_out.classifier_.predict_proba(held_out.validation_items_), held_out.validation_outputs_.posteriors
    )
    one_split = PACC(GaussianNB(), validation=PredefinedSplit(np.where(np.arange(200) < 50, 0, -1))).fit(X, y)
    assert isinstance(one_split.classifier_, GaussianNB)
    np.testing.assert_array_equal(one_split.validation_items_, X[:50])
    for validation in (5, 0.4):  # the default, and that of earlier versions
        frozen = PACC(FrozenEstimator(GaussianNB().fit(X, y)), validation=validation).fit(X, y)
        assert frozen.validation_items_ is X
        assert frozen.outputs(X).folds is None
    with pytest.raises(DataError, match="leave validation at its default"):
        PACC(FrozenEstimator(GaussianNB().fit(X, y)), validation=3).fit(X, y)
    given = PACC().fit(Outputs.from_posteriors(GaussianNB().fit(X, y).predict_proba(X), [0, 1]), y)
    assert given.validation_items_ is None
    assert given.validation_folds_.tolist() == [0] * 200


def test_there_are_as_many_folds_as_the_rarest_class_has_items():
    X, y = blobs(100, 2, seed=0)
    y = np.where(np.arange(100) < 97, 0, 1)
    q = PACC(GaussianNB(var_smoothing=1.0), random_state=0).fit(X, y)
    assert q.n_folds == 3
    assert [int(((y == 1) & (q.validation_folds_ == f)).sum()) for f in range(3)] == [1, 1, 1]
    with pytest.raises(DataError, match="at least 2 labelled items of each class; the rarest has 1"):
        PACC(random_state=0).fit(X[:98], y[:98])


def test_splitters_may_repeat_or_omit_items():
    X, y = blobs(120, 2, seed=0)
    twice = PACC(GaussianNB(), validation=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert (twice.n_folds, len(twice.validation_codes_), len(twice.validation_items_)) == (6, 240, 240)
    np.testing.assert_array_equal(
        twice.validation_codes_, y[[np.flatnonzero((x == X).all(axis=1))[0] for x in twice.validation_items_]]
    )
    by_class = np.argsort(y, kind="stable")  # folds in order of the items: some have items of one class only
    sorted_items = PACC(GaussianNB(), validation=KFold(6)).fit(X[by_class], y[by_class])
    assert np.isfinite(sorted_items.M_).all()


def test_items_that_are_validated_twice_do_not_shorten_the_interval():
    X, y = blobs(300, 2, seed=0)
    target = blobs(400, 2, seed=1)[0]
    widths = []
    for repeats in (1, 4):
        splitter = RepeatedStratifiedKFold(n_splits=3, n_repeats=repeats, random_state=0)
        answer = estimate(PACC(GaussianNB(), validation=splitter).fit(X, y), target)
        widths.append(answer.high[0] - answer.low[0])
    assert widths[1] == pytest.approx(widths[0], rel=0.1)


class Counting(GaussianNB):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_fold_fits_are_shared_between_methods():
    X, y = blobs(200, 2, seed=0)
    fits = Fits(X, y, remember=True)
    methods = [method(Counting(), random_state=0).fit_through(fits) for method in (ACC, PACC, HDy, calibrated)]
    assert Counting.fits == 5
    assert len({id(q.classifier_) for q in methods}) == 1
    assert len({id(q.validation_items_) for q in methods}) == 1
    PACC(Counting(), random_state=1).fit_through(fits)
    assert Counting.fits == 10


def test_items_are_scored_once_by_each_fold_classifier():
    class Calls(Scored):
        calls = 0

        def predict_proba(self, X):
            type(self).calls += 1
            return super().predict_proba(X)

    P = np.tile([[0.2, 0.8], [0.7, 0.3]], (20, 1))
    q = PACC(Calls(), random_state=0).fit(P, np.tile([1, 0], 20))
    assert Calls.calls == 5
    q.predict(P)
    assert Calls.calls == 10


def test_classifiers_without_posteriors_decide_by_most_folds():
    q, X, _ = fitted(ACC, 3, classifier=LinearSVC(random_state=0))
    votes = np.stack([one.predict(X) for one in q.classifier_.classifiers_])
    expected = [np.bincount(column, minlength=3).argmax() for column in votes.T]
    np.testing.assert_array_equal(q.classifier_.predict(X), expected)
    np.testing.assert_array_equal(q.outputs(X).decisions, expected)
    assert not hasattr(q.classifier_, "predict_proba")


def test_fold_classifiers_predict_by_their_mean_posterior():
    q, X, _ = fitted(PACC, 3)
    assert isinstance(q.classifier_, FoldClassifiers)
    mean = np.mean([one.predict_proba(X) for one in q.classifier_.classifiers_], axis=0)
    np.testing.assert_allclose(q.classifier_.predict_proba(X), mean, atol=1e-15)
    np.testing.assert_array_equal(q.classifier_.predict(X), mean.argmax(axis=1))
    np.testing.assert_allclose(q.outputs(X).posteriors, mean, atol=1e-15)
    over = CC(FrozenEstimator(q.classifier_)).fit(X, q.classifier_.predict(X))
    np.testing.assert_allclose(over.predict(X), np.bincount(mean.argmax(axis=1), minlength=3) / len(X), atol=1e-12)


def test_a_pickled_quantifier_keeps_its_validation_items():
    q, X, _ = fitted(PACC)
    again = pickle.loads(pickle.dumps(q))
    np.testing.assert_array_equal(again.validation_items_, X)
    np.testing.assert_array_equal(again.predict(X), q.predict(X))


def mean_residuals(method, classifier, n_simulations, **options):
    """Simulate refits over few items of many features; return the mean of q - M p for a target of the second class alone, and
    its standard error."""
    generator = np.random.default_rng(1)
    shift = np.where(np.arange(158) < 6, 1.0, 0.0)
    y, new = np.repeat([0, 1], 100), np.ones(500)
    residuals = []
    for simulation in range(n_simulations):
        X, X_new = (generator.standard_normal((len(codes), 158)) + codes[:, None] * shift for codes in (y, new))
        q = method(classifier, validation=2, random_state=simulation, **options).fit(X, y)
        residuals.append((q.reduce(q.outputs(X_new)).means()[0] - q.M_[:, 1])[1])
    return np.mean(residuals), np.std(residuals, ddof=1) / np.sqrt(n_simulations)


@pytest.mark.parametrize(
    ("method", "classifier", "n_simulations"),
    [
        pytest.param(PACC, LogisticRegression(C=0.1), 80, id="PACC over LR"),
        pytest.param(ACC, LogisticRegression(C=0.1), 400, id="ACC over LR", marks=pytest.mark.slow),
        pytest.param(ACC, DecisionTreeClassifier(random_state=0), 250, id="ACC over a tree", marks=pytest.mark.slow),
    ],
)
def test_scores_less_their_mixture_of_rates_have_mean_zero(method, classifier, n_simulations):
    """E[q - M p] = 0, however much the classifier overfits; the refitted one is better than the rates of the folds say."""
    mean, error = mean_residuals(method, classifier, n_simulations)
    assert abs(mean) < 3.5 * error
    mean, error = mean_residuals(method, classifier, n_simulations, refit=True)
    assert mean > 5 * error
