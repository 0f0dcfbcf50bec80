"""FM, SMM, BBSE and RLLS against the formulas, written as loops or left to an optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from headcount import ACC, BBSE, FM, PACC, RLLS, SMM, Outputs, Samples, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.quantifiers.scores._weights_search import non_negative_minimiser, regularised_weights
from headcount.quantifiers.scores.bbse import Inverse
from tests.conftest import Linear, blobs, frozen, scored_items


def samples_of(n_items, n_samples=12, size=40, seed=0):
    return Samples.from_matrix(np.random.default_rng(seed).integers(0, n_items, (n_samples, size)))


def on_the_simplex(objective, k):
    """Minimise over the simplex from several starts."""
    constraint = {"type": "eq", "fun": lambda p: p.sum() - 1}
    starts = [np.full(k, 1 / k), *(0.9 * np.eye(k) + 0.1 / k)]
    results = [
        minimize(objective, start, bounds=[(0, 1)] * k, constraints=[constraint], method="SLSQP", tol=1e-14)
        for start in starts
    ]
    return min(results, key=lambda r: r.fun)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_fm_counts_posteriors_above_the_training_shares(k):
    shares = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    codes, P = scored_items(400, k, 0, separation=1.2, shares=shares)
    q = FM(frozen(range(k)), prior="train").fit(P, codes)
    prior = np.array([(codes == j).mean() for j in range(k)])
    M = np.array(
        [[np.mean([P[i, a] > prior[a] for i in np.flatnonzero(codes == b)]) for b in range(k)] for a in range(k)]
    )
    np.testing.assert_allclose(q.M_, M, atol=1e-11)
    pool = scored_items(200, k, 1, separation=1.2)[1]
    samples = samples_of(200)
    for rows, p in zip(samples, q.aggregate(q.outputs(pool), samples), strict=True):
        mean = np.array([[float(x > t) for x, t in zip(pool[i], prior, strict=True)] for i in rows]).mean(axis=0)
        best = on_the_simplex(lambda p, mean=mean: ((M @ p - mean) ** 2).sum(), k)
        assert ((M @ p - mean) ** 2).sum() <= best.fun + 1e-9


def test_fm_takes_given_thresholds_and_uses_both_indicators_of_two_classes():
    P = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1], [0.1, 0.9], [0.2, 0.8], [0.8, 0.2]])
    codes = np.array([0, 1, 0, 1, 1, 0])
    q = FM(frozen([0, 1]), prior="uniform").fit(P, codes)
    np.testing.assert_allclose(q.M_, [[2 / 3, 0], [0, 2 / 3]], atol=1e-11)  # posteriors at the threshold exceed neither
    np.testing.assert_allclose(q.predict(P[[0, 2, 3, 3]]), [0.3125, 0.6875], atol=1e-9)  # both equations count alike
    given = FM(frozen([0, 1]), prior=[0.85, 0.15]).fit(P, codes)
    np.testing.assert_allclose(given.M_, [[1 / 3, 0], [2 / 3, 1]], atol=1e-11)
    with pytest.raises(DataError, match="prior must hold a positive share for each of the 2 classes"):
        FM(frozen([0, 1]), prior=[1.0, 0.0]).fit(P, codes)


def test_fm_finds_a_class_that_is_too_rare_to_be_decided_for():
    generator = np.random.default_rng(0)

    def items(n, share):
        y = (generator.random(n) < share).astype(int)
        x = generator.standard_normal((n, 1)) + 1.5 * y[:, None]
        return x, y

    X, y = items(4000, 0.03)
    new, truth = items(4000, 0.3)
    fm, acc = (q(Linear(), random_state=0).fit(X, y) for q in (FM, ACC))
    widths = [np.ptp([e.low[1], e.high[1]]) for e in (estimate(q, new) for q in (fm, acc))]
    assert fm.predict(new)[1] == pytest.approx(truth.mean(), abs=0.1)
    assert widths[0] < 0.7 * widths[1]


def test_indicators_that_are_decisions_have_the_interval_of_acc():
    """With few items that are all alike it leaves room for others, as that of counts does."""
    codes, P = scored_items(24, 3, 0, separation=1.5)
    hard = np.eye(3)[P.argmax(axis=1)]
    new = np.repeat(np.eye(3), [30, 10, 20], axis=0)
    fm, acc = (estimate(q(frozen(range(3))).fit(hard, codes), new) for q in (FM, ACC))
    np.testing.assert_allclose(fm.low, acc.low, atol=1e-9)
    np.testing.assert_allclose(fm.high, acc.high, atol=1e-9)


def test_smm_is_pacc_for_two_classes():
    X, y = blobs(300, 2, 0)
    for options in ({}, {"validation": 0.4}):
        smm, pacc = (q(Linear(), random_state=0, **options).fit(X, y) for q in (SMM, PACC))
        out, samples = smm.outputs(X), samples_of(300)
        assert np.array_equal(smm.aggregate(out, samples), pacc.aggregate(out, samples))
    smm = SMM(frozen([0, 1])).fit(np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9]]), [0, 0, 1])
    assert smm.predict([[0.5, 0.5], [0.3, 0.7]])[1] == pytest.approx((0.6 - 0.3) / (0.9 - 0.3))
    assert smm.predict([[0.1, 0.9]]).tolist() == pytest.approx([0, 1])


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("confusion", ["hard", "soft"])
def test_bbse_inverts_the_joint_confusion_matrix(k, confusion):
    codes, P = scored_items(500, k, 0, separation=1.2, shares=np.arange(1, k + 1) / np.arange(1, k + 1).sum())
    q = BBSE(frozen(range(k)), confusion=confusion).fit(P, codes)
    votes = np.eye(k)[P.argmax(axis=1)] if confusion == "hard" else P
    C = sum(np.outer(votes[i], np.eye(k)[codes[i]]) for i in range(500)) / 500
    pool = scored_items(200, k, 1, separation=1.2, shares=0.98 * np.eye(k)[0] + 0.02 / k)[1]
    samples = samples_of(200)
    shares = q.aggregate(q.outputs(pool), samples)
    clipped = 0
    for rows, p in zip(samples, shares, strict=True):
        mean = (np.eye(k)[pool[rows].argmax(axis=1)] if confusion == "hard" else pool[rows]).mean(axis=0)
        w = np.linalg.solve(C, mean)
        clipped += (w < 0).any()
        expected = np.maximum(w, 0) * np.bincount(codes) / 500
        np.testing.assert_allclose(p, expected / expected.sum(), atol=1e-8)
    assert clipped
    np.testing.assert_allclose(q.importance_weights(pool) * np.bincount(codes) / 500, q.predict(pool))


@pytest.mark.parametrize("k", [2, 4])
def test_constrained_bbse_is_acc_or_pacc(k):
    codes, P = scored_items(300, k, 0, separation=1.0)
    pool = Outputs.from_posteriors(scored_items(100, k, 1)[1], range(k))
    for confusion, other in (("hard", ACC), ("soft", PACC)):
        q = BBSE(frozen(range(k)), confusion=confusion, constrained=True).fit(P, codes)
        expected = other(frozen(range(k))).fit(P, codes)
        assert np.array_equal(q.aggregate(pool, samples_of(100)), expected.aggregate(pool, samples_of(100)))


def test_bbse_of_classes_that_look_alike_warns_and_stays_on_the_simplex():
    P = np.tile([[0.6, 0.2, 0.2], [0.2, 0.4, 0.4]], (30, 1))
    codes = np.tile([0, 1, 0, 2], 15)
    with pytest.warns(IdentifiabilityWarning, match="does not tell the classes"):
        q = BBSE(frozen(range(3)), confusion="soft").fit(P, codes)
    p = q.predict(P[1::2])
    assert p.sum() == pytest.approx(1)
    assert p[1] == pytest.approx(p[2])
    nowhere = Inverse().solve(np.array([[-1.0, -1.0]]), np.eye(2))
    assert nowhere.tolist() == [[0.5, 0.5]]


def objective(C, q, rho, w):
    return np.linalg.norm(C @ w - q) + rho * np.linalg.norm(w - 1)


def least(C, q, rho, k):
    """Minimise by an optimiser, from several starts and at the point where the objective has a kink."""
    starts = [
        np.full(k, 0.9),
        np.full(k, 1.5),
        *(0.1 + k * np.eye(k)),
        np.maximum(np.linalg.lstsq(C, q, rcond=None)[0], 0),
    ]
    found = [
        minimize(lambda w: objective(C, q, rho, w), s, bounds=[(0, None)] * k, method="L-BFGS-B", tol=1e-14)
        for s in starts
    ]
    return min(objective(C, q, rho, np.ones(k)), *(r.fun for r in found))


@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("rho", [0.0, 0.01, 0.3])
def test_regularised_weights_minimise_the_sum_of_norms(k, rho):
    generator = np.random.default_rng(k)
    for case in range(5):
        M = 0.5 * np.eye(k) + 0.5 * generator.dirichlet(np.ones(k), k).T
        if case == 0:
            M[:, 1] = M[:, 0]
        C = M * generator.dirichlet(np.full(k, 3.0))
        q = generator.multinomial(60, M @ generator.dirichlet(np.full(k, 0.3)))[None] / 60
        w = regularised_weights(C, q, rho)[0]
        assert (w >= 0).all()
        assert objective(C, q[0], rho, w) <= least(C, q[0], rho, k) + 1e-6


def test_non_negative_minimisers_satisfy_their_conditions():
    generator = np.random.default_rng(0)
    roots = generator.standard_normal((200, 7, 7))
    H, B = roots @ np.swapaxes(roots, 1, 2) + 0.01 * np.eye(7), generator.standard_normal((200, 7))
    W = non_negative_minimiser(H, B)
    slack = (H @ W[:, :, None])[:, :, 0] - B
    assert (W >= 0).all()
    assert (slack >= -1e-6).all()
    assert np.abs(W * slack).max() < 1e-6


def test_rlls_has_the_published_regularisation_and_shrinks_towards_the_training_shares():
    codes, P = scored_items(120, 3, 0, separation=1.0, shares=[0.5, 0.3, 0.2])
    q = RLLS(frozen(range(3)), alpha=0.02, delta=0.1).fit(P, codes)
    assert q.rho_ == pytest.approx(0.02 * 3 * (2 * np.log(60) / 360 + np.sqrt(2 * np.log(60) / 120)))
    target = scored_items(100, 3, 1, separation=1.0, shares=[0.1, 0.2, 0.7])[1]
    prior = np.bincount(codes) / 120
    distances = [
        np.abs(RLLS(frozen(range(3)), alpha=alpha).fit(P, codes).predict(target) - prior).sum()
        for alpha in (0.0, 0.01, 0.1, 0.3, 100.0)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 0.5
    assert distances[-1] < 1e-9
    unregularised = RLLS(frozen(range(3)), alpha=0.0).fit(P, codes).predict(target)
    np.testing.assert_allclose(
        unregularised, BBSE(frozen(range(3)), confusion="soft").fit(P, codes).predict(target), atol=1e-9
    )


@pytest.mark.parametrize("quantifier", [FM, BBSE, RLLS])
def test_intervals_hold_the_shares_of_the_equations(quantifier):
    X, y = blobs(600, 3, 0)
    q = quantifier(Linear(), random_state=0).fit(X[:300], y[:300])
    answer = estimate(q, X[300:])
    true = np.bincount(y[300:]) / 300
    assert (answer.low <= answer.shares).all()
    assert (answer.shares <= answer.high).all()
    assert (answer.low - 0.02 <= true).all()
    assert (true <= answer.high + 0.02).all()


@pytest.mark.parametrize(
    ("quantifier", "words"),
    [
        (RLLS(delta=1.0), "'delta' parameter of RLLS"),
        (RLLS(alpha=-1.0), "'alpha' parameter of RLLS"),
        (BBSE(confusion="firm"), "'confusion' parameter of BBSE"),
        (FM(prior="equal"), "'prior' parameter of FM"),
    ],
)
def test_invalid_parameters_are_refused(quantifier, words):
    with pytest.raises(ValueError, match=words):
        quantifier.fit(*blobs(60, 2, 0))
