"""SLD against expectation maximisation written out in numpy, against its optimality conditions, and in extreme cases."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from headcount import SLD, Outputs, Samples, estimate
from headcount.exceptions import DataError, PriorWarning
from headcount.quantifiers import SampleItems
from tests.conftest import blobs, frozen, scored_items


def fitted(k, prior="uniform", **options):
    codes, P = scored_items(20 * k, k, seed=0)
    return SLD(frozen(range(k)), prior=prior, **options).fit(P, codes)


def em_in_numpy(P, prior, tol, min_iter=0, max_iter=100_000, weights=None):
    weights = np.ones(len(P)) if weights is None else weights
    p = np.array(prior, dtype=float)
    for n in range(1, max_iter + 1):
        Q = P / prior * p
        Q /= Q.sum(axis=1, keepdims=True)
        new = weights @ Q / weights.sum()
        change = np.abs(new - p).mean()
        p = new
        if change < tol and n > min_iter:
            break
    return p, n


def optimality_gap(P, prior, p):
    """Violation of the optimality conditions: mean_i(R_ic / s_i) is at most 1, and 1 where p_c > 0."""
    R = P / prior
    s = R @ p
    return (R / s[:, None]).mean(axis=0).max() - 1


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_newton_converges_to_the_limit_of_em(k, weighted):
    prior = np.random.default_rng(k).dirichlet(np.full(k, 5.0))
    q = fitted(k, prior)
    generator = np.random.default_rng(1)
    for shares in (None, np.eye(k)[0] * 0.9 + 0.1 / k):
        _, P = scored_items(60, k, seed=2, separation=1.0, shares=shares)
        weights = generator.integers(0, 3, 60).astype(float) if weighted else None
        samples = Samples(np.arange(60), [0, 60], weights)
        expected, _ = em_in_numpy(P, prior, 1e-13, weights=weights)
        np.testing.assert_allclose(q.aggregate(Outputs.from_posteriors(P, range(k)), samples)[0], expected, atol=2e-6)


@pytest.mark.kernels
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), n=st.integers(1, 30), zeros=st.floats(0, 0.7))
def test_the_shares_maximise_the_likelihood(seed, k, n, zeros):
    generator = np.random.default_rng(seed)
    P = generator.dirichlet(np.full(k, 0.4), size=n) * (generator.random((n, k)) >= zeros)
    P[P.sum(axis=1) == 0] = 1.0
    P /= P.sum(axis=1, keepdims=True)
    prior = generator.dirichlet(np.full(k, 3.0)) * 0.9 + 0.1 / k
    result = fitted(k, prior).convergence(Outputs.from_posteriors(P, range(k)))
    assert result.converged.all()
    assert (result.shares >= 0).all()
    assert optimality_gap(P, prior, result.shares[0]) < 1e-4


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 4])
def test_em_stops_as_the_published_code_does(k):
    prior = np.full(k, 1 / k)
    q = fitted(k, solver="em", tol=1e-4, min_iter=10)
    for seed in range(4):
        _, P = scored_items(80, k, seed=seed, separation=0.8)
        result = q.convergence(Outputs.from_posteriors(P, range(k)))
        expected, n = em_in_numpy(P, prior, 1e-4, min_iter=10)
        assert result.n_iter[0] == n > 10
        np.testing.assert_allclose(result.shares[0], expected, atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
def test_samples_of_one_class_give_that_class_exactly(k):
    q = fitted(k)
    P = np.tile(np.eye(k)[0] * 0.9 + 0.1 / k, (20, 1))
    np.testing.assert_allclose(q.predict(P), np.eye(k)[0], atol=1e-12)
    np.testing.assert_allclose(q.predict(P[:, ::-1]), np.eye(k)[-1], atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("solver", ["newton", "em"])
def test_items_of_weight_zero_are_ignored_whatever_their_posteriors(solver):
    P = np.array([[0.9, 0.1]] * 14 + [[0.05, 0.95], [0.0, 1.0]])
    samples = Samples(np.arange(16), [0, 16], weights=[1.0] * 15 + [0.0])
    q = fitted(2, solver=solver, tol=1e-9)
    expected = q.aggregate(Outputs.from_posteriors(P[:15], [0, 1]))
    np.testing.assert_allclose(q.aggregate(Outputs.from_posteriors(P, [0, 1]), samples), expected, atol=1e-9)
    certain = Outputs.from_posteriors([[1.0, 0.0]] * 10 + [[0.0, 1.0]], [0, 1])
    first_ten = Samples(np.arange(11), [0, 11], weights=[1.0] * 10 + [0.0])
    np.testing.assert_allclose(q.aggregate(certain, first_ten), [[1, 0]], atol=1e-9)


@pytest.mark.kernels
@pytest.mark.parametrize("prior", [1e-7, 1e-11, 5e-5])
def test_newton_converges_from_a_prior_near_zero(prior):
    q = fitted(2, [1 - prior, prior], tol=1e-4)
    P = np.array([[0.0, 1.0]] * 50 + [[1.0, 0.0]] * 50)
    np.testing.assert_allclose(q.predict(P), [0.5, 0.5], atol=1e-6)
    with pytest.raises(DataError, match="positive share"):
        fitted(2, [1.0, 1e-310])


@pytest.mark.kernels
def test_newton_shortens_steps_that_would_leave_the_domain():
    """Near-certain items of different classes and a prior that is far off: full Newton steps would leave the domain."""
    generator = np.random.default_rng(0)
    for seed in range(20):
        k = 4
        prior = np.array([0.97, 0.01, 0.01, 0.01])
        P = np.eye(k)[generator.integers(0, k, 30)] * (1 - 1e-9) + 1e-9 / k
        P[: seed % 7] = prior
        result = fitted(k, prior).convergence(Outputs.from_posteriors(P, range(k)))
        assert result.converged.all()
        assert optimality_gap(P, prior, result.shares[0]) < 1e-4


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
def test_uninformative_posteriors_give_the_prior(k):
    prior = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    q = fitted(k, prior)
    np.testing.assert_allclose(q.predict(np.tile(prior, (10, 1))), prior, atol=1e-9)


def test_convergence_is_reported_as_data_and_by_a_warning():
    q = fitted(3, solver="em", tol=1e-12, max_iter=15)
    out = Outputs.from_posteriors(scored_items(200, 3, seed=3, separation=0.7)[1], range(3))
    samples = Samples.from_matrix([range(100), range(100, 200)])
    result = q.convergence(out, samples)
    assert result.n_iter.tolist() == [15, 15]
    assert not result.converged.any()
    assert (result.change > 1e-12).all()
    with pytest.warns(ConvergenceWarning, match=r"after 15 iterations without reaching tol=1e-12 in 2 of 2 samples"):
        shares = q.aggregate(out, samples)
    np.testing.assert_array_equal(shares, result.shares)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(3).convergence(out, samples).converged.all()
        fitted(3).aggregate(out, samples)


def test_the_prior_is_that_of_the_training_items_by_default():
    X, y = blobs(100, 2, seed=0)
    X, y = X[(y == 0) | (np.arange(100) % 3 == 0)], y[(y == 0) | (np.arange(100) % 3 == 0)]
    assert SLD().fit(X, y).prior_ == pytest.approx(np.bincount(y) / len(y))
    assert SLD(prior="uniform").fit(X, y).prior_.tolist() == [0.5, 0.5]
    assert SLD(prior=[0.9, 0.1]).fit(X, y).prior_.tolist() == [0.9, 0.1]
    classifier = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(
        DataError, match=r"can't know the class shares .* pass prior=\[...\] in the order of its classes"
    ):
        SLD(classifier).fit(X, y)
    assert SLD(classifier, prior=[0.7, 0.3]).fit(X, y).prior_.tolist() == [0.7, 0.3]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior": [0.5, 0.6]}, "sum to 1"),
        ({"prior": [1.0, 0.0]}, "positive share for each of the 2 classes"),
        ({"prior": [0.2, 0.3, 0.5]}, "positive share for each of the 2 classes"),
        ({"prior": "training"}, "'prior' parameter of SLD must be"),
        ({"solver": "magic"}, "'solver' parameter of SLD must be"),
        ({"tol": 0.0}, "'tol' parameter of SLD must be"),
        ({"max_iter": 0}, "'max_iter' parameter of SLD must be"),
        ({"min_iter": -1}, "'min_iter' parameter of SLD must be"),
    ],
)
def test_invalid_parameters_raise_a_sentence(options, words):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ValueError, match=words):
        SLD(**options).fit(X, y)


def test_a_classifier_without_posteriors_is_calibrated():
    X, y = blobs(200, 2, seed=0)
    assert SLD(LinearSVC(random_state=0)).fit(X, y).predict(X)[1] == pytest.approx(y.mean(), abs=0.05)


def test_item_densities_of_different_numbers_of_samples_are_not_merged():
    a = SampleItems(np.full((4, 2), 0.5), Samples.from_matrix([[0, 1], [2, 3]]))
    assert repr(a + a) == "SampleItems(Samples(2 samples of 4 items))"
    assert len(a) == 2
    with pytest.raises(DataError, match="can't be merged"):
        a + SampleItems(np.full((4, 2), 0.5), Samples.whole(4))
    with pytest.raises(NotFittedError):
        SLD().solve(a)


def test_newton_corrects_prior_shift_better_than_em_stopped_early():
    """Stopped early, EM does not reach the maximum: its likelihood is smaller, and here its share as well."""
    codes, P = scored_items(30_000, 2, seed=5, separation=0.7)
    sample = P[np.flatnonzero(codes == 1)[:2000]]
    newton, stopped = fitted(2).predict(sample), fitted(2, solver="em", tol=1e-4).predict(sample)
    assert stopped[1] < newton[1] - 0.005
    assert np.log(2 * sample @ newton).sum() > np.log(2 * sample @ stopped).sum() + 0.1


def overconfident(P):
    """Make posteriors overconfident (their cubes) and biased towards the last class."""
    P = P**3 * np.arange(1, P.shape[1] + 1)
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("calibration", ["bcts", "vs"])
@pytest.mark.parametrize("k", [2, 3])
def test_calibration_corrects_overconfident_posteriors(k, calibration):
    codes, P = scored_items(4000, k, seed=0, separation=1.0)
    _, target = scored_items(4000, k, seed=1, separation=1.0, shares=np.eye(k)[0] * 0.7 + 0.3 / k)
    truth = np.eye(k)[0] * 0.7 + 0.3 / k
    plain = SLD(frozen(range(k)), prior="uniform").fit(overconfident(P), codes).predict(overconfident(target))
    calibrated = (
        SLD(frozen(range(k)), calibration=calibration).fit(overconfident(P), codes).predict(overconfident(target))
    )
    assert np.abs(calibrated - truth).max() < 0.04
    assert np.abs(calibrated - truth).max() < np.abs(plain - truth).max() / 2


@pytest.mark.parametrize("validation", [0.4, 3])
def test_calibration_uses_a_held_out_part_or_folds(validation):
    X, y = blobs(300, 2, seed=0)
    q = SLD(LogisticRegression(), calibration="bcts", validation=validation, random_state=0).fit(X, y)
    assert len(q.validation_codes_) == (120 if validation == 0.4 else 300)
    np.testing.assert_allclose(q.prior_, np.bincount(q.validation_codes_) / len(q.validation_codes_))
    again = SLD(LogisticRegression(), calibration="bcts", validation=validation, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), q.predict(X))


def test_calibration_refuses_a_prior_and_needs_items_of_each_class():
    codes, P = scored_items(100, 2, seed=0)
    with pytest.raises(DataError, match="omit prior"):
        SLD(frozen([0, 1]), calibration="bcts", prior="uniform").fit(P, codes)
    with pytest.raises(ValueError, match="calibration"):
        SLD(frozen([0, 1]), calibration="platt").fit(P, codes)
    with pytest.raises(DataError, match="no items of class 1"):
        SLD(frozen([0, 1]), calibration="bcts").fit(P[codes == 0], codes[codes == 0])


def test_class_weights_that_contradict_the_prior_are_reported():
    X, y = blobs(200, 2, seed=0)
    for classifier in (
        LogisticRegression(class_weight="balanced"),
        Pipeline([("lr", LogisticRegression(class_weight="balanced"))]),
    ):
        with pytest.warns(PriorWarning, match=r"class_weight='balanced'.* Pass prior='uniform', or calibration='bcts'"):
            SLD(classifier).fit(X, y)
    with pytest.warns(PriorWarning, match="the shares that the weights imply"):
        SLD(LogisticRegression(class_weight={0: 1.0, 1: 2.0})).fit(X, y)
    SLD(LogisticRegression(class_weight="balanced"), prior="uniform").fit(X, y)  # warnings are errors here
    SLD(LogisticRegression(class_weight="balanced"), calibration="bcts").fit(X, y)
    SLD(LogisticRegression()).fit(X, y)


@pytest.mark.parametrize("solver", ["newton", "em"])
@pytest.mark.parametrize("k", [2, 4])
def test_smoothing_is_the_mode_under_a_dirichlet_prior(solver, k):
    """Rounds with imaginary items added to the counts, (n_j + s / k) / (n + s), have that limit."""
    _, P = scored_items(60, k, 0)
    samples = Samples([*range(40), *range(20, 60)], [0, 40, 80], weights=np.tile([1.0, 3.0], 40))
    smoothed = SLD(prior="uniform", smoothing=2.0, solver=solver, tol=1e-10, max_iter=20_000)
    shares = smoothed.fit(Outputs.from_posteriors(P, range(k)), np.arange(60) % k).aggregate(
        Outputs.from_posteriors(P, range(k)), samples
    )
    for s in range(2):
        F, w, p = P[samples[s]], np.tile([1.0, 3.0], 20), np.full(k, 1.0 / k)
        added = 2.0 / k * w.sum() / (w.sum() ** 2 / (w**2).sum())  # of the weight that an item has on average
        for _ in range(20_000):
            p = ((p * F / (F @ p)[:, None]) * w[:, None]).sum(axis=0) + added
            p /= p.sum()
        np.testing.assert_allclose(shares[s], p, atol=1e-6)


@pytest.mark.parametrize("weights", [[0.0, 3.0, 1.0], [0.5, 0.5, 0.5], [0.0, 0.0, 0.0]])
def test_smoothing_by_class_is_the_mode_under_any_dirichlet_prior(weights):
    _, P = scored_items(30, 3, 0)
    outputs = Outputs.from_posteriors(P, range(3))
    q = SLD(prior="uniform", smoothing=weights, tol=1e-10).fit(outputs, np.arange(30) % 3)
    p = np.full(3, 1 / 3)
    for _ in range(20_000):
        p = (p * P / (P @ p)[:, None]).sum(axis=0) + weights
        p /= p.sum()
    np.testing.assert_allclose(q.aggregate(outputs)[0], p, atol=1e-6)
    answer = estimate(q, outputs, assume="calibrated")
    assert ((answer.low <= answer.shares) & (answer.shares <= answer.high)).all()


@pytest.mark.parametrize("weights", [[1.0, 2.0], [1.0, -1.0, 2.0], [np.nan, 1.0, 1.0]])
def test_smoothing_of_wrong_weights_raises_a_sentence(weights):
    codes, P = scored_items(30, 3, 0)
    with pytest.raises(
        DataError, match="smoothing must be a number, or a weight that is not negative for each of the 3 classes"
    ):
        SLD(prior="uniform", smoothing=weights).fit(Outputs.from_posteriors(P, range(3)), codes)


def test_smoothing_keeps_shares_away_from_the_ends_of_weak_classifiers_only():
    sure, unsure = (Outputs.from_posteriors(np.full(100, p), [0, 1]) for p in (0.999, 0.505))
    plain, smoothed = (SLD(prior="uniform", smoothing=s).fit(sure, np.arange(100) % 2) for s in (0.0, 1.0))
    assert plain.aggregate(unsure)[0, 1] == pytest.approx(1.0, abs=1e-6)
    assert smoothed.aggregate(unsure)[0, 1] < 0.9
    assert smoothed.aggregate(sure)[0, 1] > 0.99


def test_intervals_of_smoothed_shares_hold_them():
    y, P = scored_items(200, 3, 0)
    outputs = Outputs.from_posteriors(P, range(3))
    smoothed = SLD(calibration="bcts", smoothing=5.0).fit(outputs, y)
    for options in ({}, {"assume": "calibrated"}):
        answer = estimate(smoothed, outputs.take(np.flatnonzero(y == 1)[:30]), **options)
        assert ((answer.low <= answer.shares) & (answer.shares <= answer.high)).all()
        np.testing.assert_allclose(answer.shares.sum(), 1.0)


def test_an_empty_sample_is_refused_with_smoothing_too():
    _, P = scored_items(10, 2, 0)
    outputs = Outputs.from_posteriors(P, [0, 1])
    with pytest.raises(DataError, match="Sample 1 has no items"):
        SLD(prior="uniform", smoothing=1.0).fit(outputs, np.arange(10) % 2).aggregate(
            outputs, Samples([0, 1], [0, 2, 2])
        )
