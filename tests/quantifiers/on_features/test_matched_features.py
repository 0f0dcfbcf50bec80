"""HDx and DMx against numpy's histograms and scipy's optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize

from headcount import DMx, HDx, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.quantifiers.on_features.matching import NearestFeatures
from headcount.simplex import sum_zero_basis
from tests.conftest import blobs


def plain_histograms(X, low, high, bins):
    confined = np.clip(X, low, high)
    return [np.histogram(confined[:, f], bins, (low[f], high[f]))[0] / len(X) for f in range(X.shape[1])]


def test_hdx_equals_the_plain_version():
    X, y = blobs(150, 2, 0)
    low, high, bins = X.min(axis=0), X.max(axis=0), (4, 8, 10)
    q = HDx(bins, n_candidates=51).fit(X, y)
    for seed in range(4):
        sample, _ = blobs(60, 2, 10 + seed)
        sample = sample * 1.3  # some values are outside the range of the labelled items
        estimates = []
        for b in bins:
            h0, h1, h = (plain_histograms(part, low, high, b) for part in (X[y == 0], X[y == 1], sample))
            distances = [
                np.mean(
                    [
                        np.sqrt(max(0.0, 1 - np.sqrt(h[f] * (a * h1[f] + (1 - a) * h0[f])).sum()))
                        for f in range(X.shape[1])
                    ]
                )
                for a in np.linspace(0, 1, 51)
            ]
            estimates.append(np.linspace(0, 1, 51)[int(np.argmin(distances))])
        assert q.predict(sample)[1] == pytest.approx(np.median(estimates), abs=1e-12)


def distance_between(distance, q, m):
    if distance == "l2":
        return ((q - m) ** 2).sum()
    if distance == "hellinger":
        return ((np.sqrt(q) - np.sqrt(np.maximum(m, 0))) ** 2).sum()
    both = np.maximum(q + m, 1e-300)
    return sum((v * np.log(np.maximum(2 * v / both, 1e-300))).sum() for v in (q, np.maximum(m, 0)))


@pytest.mark.parametrize("cdf", [False, True])
@pytest.mark.parametrize("distance", ["hellinger", "topsoe", "l2"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_dmx_finds_the_least_distance(n_classes, distance, cdf):
    X, y = blobs(200, n_classes, 1)
    q = DMx(6, distance=distance, cdf=cdf).fit(X, y)
    for seed, shares in enumerate((np.full(n_classes, 1 / n_classes), np.eye(n_classes)[1])):
        items, labels = blobs(600, n_classes, 2 + seed)
        rows = np.random.default_rng(seed).choice(len(items), 80, p=shares[labels] / shares[labels].sum())
        profiles = [
            np.concatenate([h.cumsum()[:-1] if cdf else h for h in plain_histograms(part, X.min(0), X.max(0), 6)])
            for part in (items[rows], *(X[y == j] for j in range(n_classes)))
        ]
        sample, M = profiles[0], np.column_stack(profiles[1:])
        found = q.predict(items[rows])
        reached = distance_between(distance, sample, M @ found)
        starts = [np.full(n_classes, 1 / n_classes), *(0.9 * np.eye(n_classes) + 0.1 / n_classes)]
        least = min(
            minimize(
                lambda p, M=M, sample=sample: distance_between(distance, sample, M @ p),
                start,
                bounds=[(0, 1)] * n_classes,
                constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
                tol=1e-12,
            ).fun
            for start in starts
        )
        assert reached <= least + 1e-8


def test_an_empty_class_of_the_sample_has_no_share_and_a_certificate():
    generator = np.random.default_rng(0)
    M = np.concatenate([generator.dirichlet(np.ones(5), 3).T for _ in range(4)])
    truth = np.array([[0.0, 0.3, 0.7], [0.0, 0.0, 1.0], [0.2, 0.3, 0.5]])

    class Bins:
        n_features = 4

    for distance in ("hellinger", "topsoe"):
        solver = NearestFeatures(Bins(), distance, False)
        np.testing.assert_allclose(solver.solve(truth @ M.T, M), truth, atol=1e-6)


@pytest.mark.parametrize("method", [HDx(), DMx(), DMx(cdf=True, distance="l2")])
def test_labelled_items_are_scored_by_the_histograms_of_the_others(method):
    X, y = blobs(40, 2, 3)
    q = method.fit(X, y)
    answer = estimate(q, X[:20])
    b = 10 if isinstance(q, HDx) else 8
    place = np.minimum(((X - X.min(0)) / (X.max(0) - X.min(0)) * b + 1e-9).astype(int), b - 1)

    def score(i, rows):
        total = 0.0
        for f in range(X.shape[1]):
            T = np.array([np.mean(place[rows & (y == j), f] == place[i, f]) for j in (0, 1)])
            total += T / T.mean() if T.any() else 0.0
        return (total / X.shape[1] @ sum_zero_basis(2))[0]

    everything = np.ones(len(X), dtype=bool)
    for i in (0, 7, 33):
        rows = everything.copy()
        rows[i] = False
        assert answer.evidence.vectors.labelled(0)[i, 0] == pytest.approx(score(i, rows), abs=1e-12)
    mean = np.mean([score(i, everything) for i in range(20)])
    assert answer.evidence.z[0, 0] == pytest.approx(mean, abs=1e-9)


@pytest.mark.parametrize("method", [HDx(), DMx()])
def test_constant_features_are_left_out(method):
    X, y = blobs(80, 2, 0)
    wider = np.column_stack([np.full(80, 3.0), X])
    expected = method.fit(X, y).predict(X[:30])
    q = method.fit(wider, y)
    assert q.features_.tolist() == [1, 2, 3, 4]
    moved = wider[:30].copy()
    moved[:, 0] = 9.0
    np.testing.assert_allclose(q.predict(moved), expected, atol=1e-12)
    with pytest.raises(DataError, match="All 4 features are constant among the labelled items"):
        method.fit(np.ones((80, 4)), y)


@pytest.mark.parametrize("method", [HDx(), DMx()])
def test_classes_with_the_same_histograms_warn(method):
    X = np.tile([[0.0], [1.0]], (10, 1))
    with pytest.warns(IdentifiabilityWarning, match="features do not tell the classes 0, 1 apart"):
        q = method.fit(X, np.repeat([0, 1], 10))
    assert np.isfinite(q.predict(X)).all()


@pytest.mark.parametrize("method", [HDx((1,)), HDx("ten"), DMx(1), DMx(distance="l3")])
def test_parameters_out_of_range_raise_a_sentence(method):
    with pytest.raises(ValueError, match=r"bins must be one or more|parameter of (DMx|HDx) must be"):
        method.fit(*blobs(30, 2, 0))


@pytest.mark.parametrize("distance", ["hellinger", "topsoe"])
def test_a_perfect_feature_gives_the_exact_shares_of_many_classes(distance):
    P = np.eye(12)[np.repeat(np.arange(12), 5)]
    target = P[np.random.default_rng(1).integers(0, 60, 35)]
    q = DMx(distance=distance).fit(P, P.argmax(axis=1))
    np.testing.assert_allclose(q.predict(target), target.mean(axis=0), atol=1e-7)
