"""EDx and ReadMe against loops over pairs of items, and patterns counted one by one."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.feature_extraction.text import CountVectorizer

from headcount import EDx, ReadMe, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.simplex import sum_zero_basis
from tests.conftest import blobs

NORMS = {"manhattan": 1, "euclidean": 2}


def mean_distances(X, y, x, norm, without=None):
    kept = np.arange(len(X)) != without
    return np.array([np.linalg.norm(X[kept & (y == j)] - x, norm, axis=1).mean() for j in range(y.max() + 1)])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("distance", ["manhattan", "euclidean"])
def test_edx_has_the_least_energy_distance(distance, n_classes):
    X, y = blobs(60, n_classes, 0)
    q = EDx(distance).fit(X, y)
    spans = X.max(0) - X.min(0)
    largest = np.linalg.norm(spans, NORMS[distance])
    left_out = np.array([mean_distances(X, y, x, NORMS[distance], i) for i, x in enumerate(X)]) / largest
    M = np.column_stack([left_out[y == j].mean(axis=0) for j in range(n_classes)])
    np.testing.assert_allclose(q.M_, M, atol=1e-12)
    for seed in range(3):
        sample = np.clip(1.5 * blobs(25, n_classes, 5 + seed)[0], X.min(0), X.max(0))
        distances = np.mean([mean_distances(X, y, x, NORMS[distance]) for x in sample], axis=0) / largest

        def energy(p, distances=distances):
            return 2 * p @ distances - p @ M @ p

        found = q.predict(1.5 * blobs(25, n_classes, 5 + seed)[0])
        starts = [np.full(n_classes, 1 / n_classes), *np.eye(n_classes)]
        constraint = {"type": "eq", "fun": lambda p: p.sum() - 1}
        least = min(
            minimize(energy, p, bounds=[(0, 1)] * n_classes, constraints=constraint, tol=1e-14).fun for p in starts
        )
        assert energy(found) <= least + 1e-9
    answer = estimate(q, X[:20])
    np.testing.assert_allclose(answer.evidence.vectors.labelled(0), left_out @ sum_zero_basis(n_classes), atol=1e-12)


def pattern_shares(patterns, rows):
    counts = Counter(patterns[i] for i in rows)
    return {pattern: n / len(rows) for pattern, n in counts.items()}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_readme_is_the_mean_of_least_squares_over_patterns(n_classes):
    X, y = blobs(120, n_classes, 1)
    X = np.column_stack([X, X[:, ::-1] + X])
    q = ReadMe(4, subset_size=3, random_state=0).fit(X, y)
    assert q.subsets_.shape == (4, 3)
    sample = blobs(50, n_classes, 2)[0]
    sample = np.column_stack([sample, sample[:, ::-1] + sample])
    means = X.mean(axis=0)
    present, in_sample = means < X, means < sample
    shares = []
    for subset in q.words_[q.subsets_]:
        patterns = [tuple(row) for row in present[:, subset]]
        by_class = [pattern_shares(patterns, np.flatnonzero(y == j)) for j in range(n_classes)]
        of_sample = pattern_shares([tuple(row) for row in in_sample[:, subset]], range(50))
        every = sorted(set(of_sample).union(*by_class))
        M = np.array([[shares_j.get(pattern, 0.0) for shares_j in by_class] for pattern in every])
        target = np.array([of_sample.get(pattern, 0.0) for pattern in every])
        shares.append(
            minimize(
                lambda p, M=M, target=target: ((M @ p - target) ** 2).sum(),
                np.full(n_classes, 1 / n_classes),
                bounds=[(0, 1)] * n_classes,
                constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
                tol=1e-14,
            ).x
        )
    np.testing.assert_allclose(q.predict(sample), np.mean(shares, axis=0), atol=2e-5)


def test_readme_leaves_an_item_out_of_its_own_likeness():
    X, y = blobs(30, 2, 1)
    q = ReadMe(2, subset_size=2, random_state=0).fit(X, y)
    labelled = estimate(q, X[:10]).evidence.vectors.labelled(0)
    means = X.mean(axis=0)
    present = means < X
    for i in (0, 11, 29):
        others = np.arange(30) != i
        likeness = np.mean(
            [
                [np.mean((present[others & (y == j)][:, subset] == present[i, subset]).all(axis=1)) for j in (0, 1)]
                for subset in q.words_[q.subsets_]
            ],
            axis=0,
        )
        assert labelled[i, 0] == pytest.approx((likeness @ sum_zero_basis(2))[0], abs=1e-12)


def test_readme_reads_texts_and_a_pattern_that_was_never_seen_says_nothing():
    texts = ["good film", "bad film", "good plot", "bad plot"] * 10
    q = ReadMe(transformer=CountVectorizer(), random_state=0).fit(texts, ["pos", "neg"] * 20)
    assert q.subsets_.shape == (1, 4)
    np.testing.assert_allclose(q.predict(["good film", "good film", "bad plot"]), [1 / 3, 2 / 3], atol=1e-12)
    vectors = q.representation.vectors(q.outputs(["good bad film plot", "nothing"]))
    assert np.array_equal(vectors, np.zeros((2, 2)))


def test_readme_takes_subsets_that_are_not_too_large():
    with pytest.raises(DataError, match="subset_size must be at most 50; got 51"):
        ReadMe(subset_size=51).fit(*blobs(30, 2, 0))


@pytest.mark.parametrize("method", [EDx(), EDx("euclidean"), ReadMe(random_state=0)])
def test_constant_features_and_equal_classes(method):
    X, y = blobs(80, 2, 0)
    expected = method.fit(X, y).predict(X[:30])
    wider = np.column_stack([np.full(80, 3.0), X])
    np.testing.assert_allclose(method.fit(wider, y).predict(wider[:30]), expected, atol=1e-12)
    with pytest.raises(DataError, match="All 2 features are constant"):
        method.fit(np.ones((80, 2)), y)
    alike = np.tile([[0.0], [1.0]], (10, 1))
    with pytest.warns(IdentifiabilityWarning, match="features do not tell the classes 0, 1 apart"):
        q = method.fit(alike, np.repeat([0, 1], 10))
    assert q.predict(alike).tolist() == [0.5, 0.5]
