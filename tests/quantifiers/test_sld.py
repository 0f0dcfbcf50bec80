"""SLD against expectation maximisation written out in numpy, against its optimality conditions, and at the edges."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from headcount import SLD, Outputs, Samples
from headcount.exceptions import DataError
from headcount.quantifiers import ItemDensities
from tests.conftest import blobs, frozen, scored_items


def fitted(k, prior="uniform", **options):
    codes, P = scored_items(20 * k, k, seed=0)
    return SLD(frozen(range(k)), prior=prior, **options).fit(P, codes)


def rounds_in_numpy(P, prior, tol, min_iter=0, max_iter=100_000, weights=None):
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


def worst_condition(P, prior, p):
    """How far p is from maximising the likelihood: mean_i(R_ic / s_i) is at most 1, and 1 where p_c > 0."""
    R = P / prior
    s = R @ p
    return (R / s[:, None]).mean(axis=0).max() - 1


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_newton_finds_the_limit_of_the_rounds(k, weighted):
    prior = np.random.default_rng(k).dirichlet(np.full(k, 5.0))
    q = fitted(k, prior)
    generator = np.random.default_rng(1)
    for shares in (None, np.eye(k)[0] * 0.9 + 0.1 / k):
        _, P = scored_items(60, k, seed=2, separation=1.0, shares=shares)
        weights = generator.integers(0, 3, 60).astype(float) if weighted else None
        samples = Samples(np.arange(60), [0, 60], weights)
        expected, _ = rounds_in_numpy(P, prior, 1e-13, weights=weights)
        np.testing.assert_allclose(q.aggregate(Outputs.from_posteriors(P, range(k)), samples)[0], expected, atol=2e-6)


@pytest.mark.kernels
@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), n=st.integers(1, 30), zeros=st.floats(0, 0.7))
def test_the_answer_maximises_the_likelihood(seed, k, n, zeros):
    generator = np.random.default_rng(seed)
    P = generator.dirichlet(np.full(k, 0.4), size=n) * (generator.random((n, k)) >= zeros)
    P[P.sum(axis=1) == 0] = 1.0
    P /= P.sum(axis=1, keepdims=True)
    prior = generator.dirichlet(np.full(k, 3.0)) * 0.9 + 0.1 / k
    found = fitted(k, prior).convergence(Outputs.from_posteriors(P, range(k)))
    assert found.converged.all()
    assert (found.shares >= 0).all()
    assert worst_condition(P, prior, found.shares[0]) < 1e-4


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 4])
def test_the_rounds_stop_as_the_published_code_does(k):
    prior = np.full(k, 1 / k)
    q = fitted(k, solver="em", tol=1e-4, min_iter=10)
    for seed in range(4):
        _, P = scored_items(80, k, seed=seed, separation=0.8)
        found = q.convergence(Outputs.from_posteriors(P, range(k)))
        expected, n = rounds_in_numpy(P, prior, 1e-4, min_iter=10)
        assert found.n_iter[0] == n > 10
        np.testing.assert_allclose(found.shares[0], expected, atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
def test_samples_of_one_class_give_exactly_that_class(k):
    q = fitted(k)
    P = np.tile(np.eye(k)[0] * 0.9 + 0.1 / k, (20, 1))
    np.testing.assert_allclose(q.predict(P), np.eye(k)[0], atol=1e-12)
    np.testing.assert_allclose(q.predict(P[:, ::-1]), np.eye(k)[-1], atol=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("solver", ["newton", "em"])
def test_items_without_weight_have_no_say_whatever_their_posteriors(solver):
    P = np.array([[0.9, 0.1]] * 14 + [[0.05, 0.95], [0.0, 1.0]])
    samples = Samples(np.arange(16), [0, 16], weights=[1.0] * 15 + [0.0])
    q = fitted(2, solver=solver, tol=1e-9)
    expected = q.aggregate(Outputs.from_posteriors(P[:15], [0, 1]))
    np.testing.assert_allclose(q.aggregate(Outputs.from_posteriors(P, [0, 1]), samples), expected, atol=1e-9)
    sure = Outputs.from_posteriors([[1.0, 0.0]] * 10 + [[0.0, 1.0]], [0, 1])
    only = Samples(np.arange(11), [0, 11], weights=[1.0] * 10 + [0.0])
    np.testing.assert_allclose(q.aggregate(sure, only), [[1, 0]], atol=1e-9)


@pytest.mark.kernels
@pytest.mark.parametrize("prior", [1e-7, 1e-11, 5e-5])
def test_a_prior_near_nothing_does_not_hold_the_search_back(prior):
    q = fitted(2, [1 - prior, prior], tol=1e-4)
    P = np.array([[0.0, 1.0]] * 50 + [[1.0, 0.0]] * 50)
    np.testing.assert_allclose(q.predict(P), [0.5, 0.5], atol=1e-6)
    with pytest.raises(DataError, match="positive share"):
        fitted(2, [1.0, 1e-310])


@pytest.mark.kernels
def test_hard_likelihoods_take_shorter_steps_and_still_end():
    """Items that are sure of different classes, from a prior that is far off: full Newton steps would leave the domain."""
    generator = np.random.default_rng(0)
    for seed in range(20):
        k = 4
        prior = np.array([0.97, 0.01, 0.01, 0.01])
        P = np.eye(k)[generator.integers(0, k, 30)] * (1 - 1e-9) + 1e-9 / k
        P[: seed % 7] = prior
        found = fitted(k, prior).convergence(Outputs.from_posteriors(P, range(k)))
        assert found.converged.all()
        assert worst_condition(P, prior, found.shares[0]) < 1e-4


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3])
def test_posteriors_that_say_nothing_leave_the_prior(k):
    prior = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    q = fitted(k, prior)
    np.testing.assert_allclose(q.predict(np.tile(prior, (10, 1))), prior, atol=1e-9)


def test_convergence_is_reported_as_data_and_by_a_warning():
    q = fitted(3, solver="em", tol=1e-12, max_iter=15)
    out = Outputs.from_posteriors(scored_items(200, 3, seed=3, separation=0.7)[1], range(3))
    samples = Samples.from_matrix([range(100), range(100, 200)])
    found = q.convergence(out, samples)
    assert found.n_iter.tolist() == [15, 15]
    assert not found.converged.any()
    assert (found.change > 1e-12).all()
    with pytest.warns(ConvergenceWarning, match=r"after 15 iterations without reaching tol=1e-12 in 2 of 2 samples"):
        shares = q.aggregate(out, samples)
    np.testing.assert_array_equal(shares, found.shares)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fitted(3).convergence(out, samples).converged.all()
        fitted(3).aggregate(out, samples)


def test_the_prior_is_that_of_training_unless_said_otherwise():
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
def test_wrong_parameters_get_a_sentence(options, words):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ValueError, match=words):
        SLD(**options).fit(X, y)


def test_a_classifier_without_posteriors_is_calibrated():
    X, y = blobs(200, 2, seed=0)
    assert SLD(LinearSVC(random_state=0)).fit(X, y).predict(X)[1] == pytest.approx(y.mean(), abs=0.05)


def test_gathered_posteriors_merge_only_with_their_like():
    a = ItemDensities(np.full((4, 2), 0.5), Samples.from_matrix([[0, 1], [2, 3]]))
    assert repr(a + a) == "ItemDensities(Samples(2 samples of 4 items))"
    assert len(a) == 2
    with pytest.raises(DataError, match="can't be merged"):
        a + ItemDensities(np.full((4, 2), 0.5), Samples.whole(4))
    with pytest.raises(NotFittedError):
        SLD().solve(a)


def test_undoes_prior_shift_better_than_the_rounds_of_the_code():
    """Stopped early, the rounds stay short of the maximum: their likelihood is the smaller, and so is their share here."""
    codes, P = scored_items(30_000, 2, seed=5, separation=0.7)
    pile = P[np.flatnonzero(codes == 1)[:2000]]
    found, stopped = fitted(2).predict(pile), fitted(2, solver="em", tol=1e-4).predict(pile)
    assert stopped[1] < found[1] - 0.005
    assert np.log(2 * pile @ found).sum() > np.log(2 * pile @ stopped).sum() + 0.1


def spoilt(P):
    """Posteriors three times too sure of themselves, and biased towards the last class."""
    P = P**3 * np.arange(1, P.shape[1] + 1)
    return P / P.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("k", [2, 3])
def test_calibration_mends_posteriors_that_are_too_sure(k):
    codes, P = scored_items(4000, k, seed=0, separation=1.0)
    _, target = scored_items(4000, k, seed=1, separation=1.0, shares=np.eye(k)[0] * 0.7 + 0.3 / k)
    truth = np.eye(k)[0] * 0.7 + 0.3 / k
    plain = SLD(frozen(range(k)), prior="uniform").fit(spoilt(P), codes).predict(spoilt(target))
    mended = SLD(frozen(range(k)), calibration="bcts").fit(spoilt(P), codes).predict(spoilt(target))
    assert np.abs(mended - truth).max() < 0.04
    assert np.abs(mended - truth).max() < np.abs(plain - truth).max() / 2


@pytest.mark.parametrize("validation", [0.4, 3])
def test_calibration_takes_a_part_or_folds(validation):
    X, y = blobs(300, 2, seed=0)
    q = SLD(LogisticRegression(), calibration="bcts", validation=validation, random_state=0).fit(X, y)
    assert len(q.validation_codes_) == (120 if validation == 0.4 else 300)
    np.testing.assert_allclose(q.prior_, np.bincount(q.validation_codes_) / len(q.validation_codes_))
    again = SLD(LogisticRegression(), calibration="bcts", validation=validation, random_state=0).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), q.predict(X))


def test_calibration_knows_its_own_prior():
    codes, P = scored_items(100, 2, seed=0)
    with pytest.raises(DataError, match="omit prior"):
        SLD(frozen([0, 1]), calibration="bcts", prior="uniform").fit(P, codes)
    with pytest.raises(ValueError, match="calibration"):
        SLD(frozen([0, 1]), calibration="platt").fit(P, codes)
    with pytest.raises(DataError, match="no items of class 1"):
        SLD(frozen([0, 1]), calibration="bcts").fit(P[codes == 0], codes[codes == 0])
