"""T50, MAX, X, MS and MS2 against plain versions that go through thresholds one by one."""

import numpy as np
import pytest

from headcount import MAX, MS, MS2, T50, Outputs, Samples, X, estimate
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.quantifiers.thresholds.cells import ThresholdCells
from headcount.quantifiers.thresholds.rates import MOST_THRESHOLDS
from tests.conftest import blobs, frozen, scored_items

ONE = {
    T50: lambda tpr, fpr: abs(tpr - 0.5),
    MAX: lambda tpr, fpr: fpr - tpr,
    X: lambda tpr, fpr: abs(1 - tpr - fpr),
}
ALL = [*ONE, MS, MS2]


def validation_items(seed=0, n=300):
    codes, P = scored_items(n, 2, seed, separation=1.1)
    return codes, P.round(2 if seed % 2 else 12)  # of rounded posteriors many are equal


def plain_rates(P, codes, thresholds):
    return [(t, np.mean(P[codes == 1, 1] >= t), np.mean(P[codes == 0, 1] >= t)) for t in thresholds]


def plain_estimate(method, P, codes, sample, thresholds):
    rates = [(t, tpr, fpr) for t, tpr, fpr in plain_rates(P, codes, thresholds) if abs(tpr - fpr) > 1e-12]
    if method is MS2:
        rates = [r for r in rates if r[1] - r[2] > 0.25 + 1e-12]
    if method in ONE:
        rates = [min(rates, key=lambda r: (round(ONE[method](r[1], r[2]), 12), r[2] - r[1]))]
    estimates = [((sample >= t).mean() - fpr) / (tpr - fpr) for t, tpr, fpr in rates]
    return np.median(np.clip(estimates, 0, 1))


@pytest.mark.kernels
@pytest.mark.parametrize("steps", ["scores", 100])
@pytest.mark.parametrize("method", ALL)
def test_equal_to_going_through_thresholds_one_by_one(method, steps):
    for seed in range(4):
        codes, P = validation_items(seed)
        q = method(frozen([0, 1]), thresholds=steps).fit(P, codes)
        thresholds = np.unique(P[:, 1]) if steps == "scores" else np.linspace(0, 1, 101) - 1e-9
        for share in (0.0, 0.3, 0.5, 1.0):
            _, sample = scored_items(61, 2, seed=100 + seed, separation=1.1, shares=[1 - share, share])
            expected = plain_estimate(method, P, codes, sample[:, 1], thresholds)
            assert q.predict(sample)[1] == pytest.approx(expected, abs=1e-12)


@pytest.mark.kernels
@pytest.mark.parametrize("n_thresholds", [1, 2, 3, 24, 25, 400])
def test_medians_equal_those_of_numpy(n_thresholds):
    from headcount.quantifiers.thresholds import _kernels

    generator = np.random.default_rng(n_thresholds)
    cells = generator.dirichlet(np.full(n_thresholds + 1, 0.3), 30)
    cells[0] = 1.0 / (n_thresholds + 1)
    counted = np.sort(generator.permutation(n_thresholds)[: (n_thresholds + 1) // 2])
    fpr, inverse = generator.random(len(counted)) / 3, generator.choice([-1.5, 1.0, 3.0, 0.0], len(counted))
    above = np.cumsum(cells[:, ::-1], axis=1)[:, ::-1][:, 1:][:, counted]
    expected = np.median(np.clip((above - fpr) * inverse, 0, 1), axis=1)
    medians = np.empty(30)
    _kernels.median_adjusted(cells, np.ones(30), counted, fpr, inverse, medians)
    np.testing.assert_allclose(medians, expected, atol=1e-13)
    counts = generator.integers(0, 50, (30, n_thresholds + 1)) << 20
    above = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1][:, 1:][:, counted] / counts.sum(axis=1, keepdims=True)
    expected = np.median(np.clip((above - fpr) * inverse, 0, 1), axis=1)
    _kernels.median_adjusted(counts, 1.0 / counts.sum(axis=1), counted, fpr, inverse, medians)
    np.testing.assert_allclose(medians, expected, atol=1e-13)


def test_of_thresholds_with_the_same_true_positive_rate_t50_takes_the_one_with_the_fewest_false_positives():
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    codes = np.array([1, 0, 0, 1, 0, 0])
    P = np.column_stack([1 - scores, scores])
    assert T50(frozen([0, 1])).fit(P, codes).threshold_ == 0.9


def test_many_scores_give_a_bounded_number_of_thresholds():
    codes, P = scored_items(3 * MOST_THRESHOLDS, 2, seed=0)
    q = MS(frozen([0, 1])).fit(P, codes)
    assert len(q.thresholds_) == MOST_THRESHOLDS
    assert q.thresholds_[[0, -1]].tolist() == [P[:, 1].min(), P[:, 1].max()]


@pytest.mark.kernels
@pytest.mark.parametrize("method", [MAX, MS])
def test_many_samples_in_parts_equal_all_at_once(method, monkeypatch):
    monkeypatch.setattr("headcount.quantifiers.representations.Representation.numbers_per_part", 1)
    codes, P = validation_items(0)
    q = method(frozen([0, 1]), thresholds=20).fit(P, codes)
    samples = Samples.from_matrix(np.random.default_rng(0).integers(0, len(P), (150, 40)))
    out = q.outputs(P)
    assert np.array_equal(q.aggregate(out, samples), q.solve(q.reduce(out, samples)))


def sweep_weights(P, codes):
    """Return the thresholds whose rates differ by more than 1/4, their weights, and the mean count of the first class."""
    rates = plain_rates(P, codes, np.unique(P[:, 1]))
    steady = [(t, tpr, fpr) for t, tpr, fpr in rates if abs(tpr - fpr) > 0.25 + 1e-12]
    weights = np.array([1 / (tpr - fpr) / len(steady) for _, tpr, fpr in steady])
    return np.array([t for t, _, _ in steady]), weights, weights @ [fpr for _, _, fpr in steady]


@pytest.mark.parametrize("method", [MS, MS2])
def test_the_interval_is_that_of_the_mean_over_thresholds(method):
    codes, P = validation_items(2)
    q = method(frozen([0, 1])).fit(P, codes)
    _, sample = scored_items(80, 2, seed=5, separation=1.1)
    thresholds, weights, offset = sweep_weights(P, codes)
    scores = (sample[:, 1:] >= thresholds) @ weights
    answer = estimate(q, sample)
    assert answer.evidence.z[0, 0] == pytest.approx(scores.mean(), abs=1e-12)
    assert answer.evidence.vectors.observed()[0, 0, 0] == pytest.approx(scores.var(), abs=1e-12)
    mean = scores.mean() - offset
    assert answer.low[1] < min(mean, answer.shares[1])
    assert max(mean, answer.shares[1]) < answer.high[1]
    # Labelled items are scored by what the others give: here those of the first tenth of each class.
    first = np.zeros(len(codes), dtype=bool)
    for j in (0, 1):
        first[np.flatnonzero(codes == j)[::10]] = True
    others = sweep_weights(P[~first], codes[~first])
    expected = (P[first, 1:] >= others[0]) @ others[1] - others[2] + offset
    np.testing.assert_allclose(answer.evidence.vectors.labelled(0)[first, 0], expected, atol=1e-12)


@pytest.mark.parametrize("method", list(ONE))
def test_one_threshold_has_the_interval_of_counts_above_it(method):
    codes, P = validation_items(0)
    q = method(frozen([0, 1])).fit(P, codes)
    answer = estimate(q, P[:90])
    above = (P[:90, 1] >= q.threshold_).mean()
    root = np.sqrt(0.5)  # of the direction of the simplex
    assert abs(answer.evidence.z[0, 0]) == pytest.approx(abs(1 - 2 * above) * root, abs=1e-12)
    first = np.zeros(len(codes), dtype=bool)
    for j in (0, 1):
        first[np.flatnonzero(codes == j)[::10]] = True
    without = method(frozen([0, 1])).fit(P[~first], codes[~first]).threshold_
    labelled = answer.evidence.vectors.labelled(0)[first, 0]
    assert len(np.unique(labelled.round(12))) == 2
    assert np.array_equal(labelled == labelled[P[first, 1].argmax()], P[first, 1] >= without)


@pytest.mark.parametrize("method", ALL)
def test_posteriors_of_0_and_1_and_a_class_with_one_item_work(method):
    P = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    q = method(frozen([0, 1])).fit(P, [0, 1, 0, 1, 1])
    assert np.isfinite(q.predict(P)).all()
    one = method(frozen([0, 1])).fit(P[:3], [0, 1, 0])
    np.testing.assert_allclose(one.predict(P), [0.6, 0.4])
    answer = estimate(one, P)
    assert answer.low[1] < 0.4 < answer.high[1]


@pytest.mark.parametrize("method", ALL)
def test_equal_rates_warn(method):
    P = np.tile([[0.3, 0.7], [0.6, 0.4]], (10, 1))
    with pytest.warns(IdentifiabilityWarning, match=r"rates are the same"):
        q = method(frozen([0, 1])).fit(P, np.repeat([0, 1], 10))
    assert q.predict(P)[1] == pytest.approx(0.5)


def test_ms2_without_a_threshold_warns_and_takes_the_best():
    generator = np.random.default_rng(0)
    scores = generator.random(200)
    codes = (generator.random(200) < 0.45 + 0.1 * scores).astype(int)
    P = np.column_stack([1 - scores, scores])
    with pytest.warns(IdentifiabilityWarning, match=r"no threshold has TPR - FPR above 0\.25 \(the largest is"):
        q = MS2(frozen([0, 1])).fit(P, codes)
    best = max(plain_rates(P, codes, np.unique(scores)), key=lambda r: abs(r[1] - r[2]))
    expected = np.clip(((scores[:50] >= best[0]).mean() - best[2]) / (best[1] - best[2]), 0, 1)
    assert q.predict(P[:50])[1] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(estimate(q, P[:50]).low).all()


@pytest.mark.parametrize("thresholds", [1, 0.5, "posteriors"])
def test_thresholds_that_are_neither_scores_nor_a_number_of_steps_raise_a_sentence(thresholds):
    with pytest.raises(ValueError, match="The 'thresholds' parameter of MS must be"):
        MS(thresholds=thresholds).fit(*blobs(30, 2, 0))


def test_three_classes_raise_a_sentence():
    with pytest.raises(DataError, match="two classes"):
        T50().fit(*blobs(60, 3, 0))


@pytest.mark.parametrize("thresholds", [np.array([0.37]), np.linspace(0, 1, 101) - 1e-9, np.array([1e-7, 0.25])])
def test_sql_gives_the_cells(thresholds):
    import sqlite3

    cells = ThresholdCells(thresholds)
    scores = np.concatenate([np.random.default_rng(0).random(200), [0.0, 1.0, 0.37, 0.25, 1e-7]])
    (expression,) = cells.sql(2)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (p1 REAL)")
        database.executemany("INSERT INTO t VALUES (?)", [(float(s),) for s in scores])
        codes = [row[0] for row in database.execute(f"SELECT {expression} FROM t ORDER BY rowid")]
    database.close()
    assert codes == cells.codes(Outputs.from_posteriors(scores, [0, 1])).tolist()
    assert ThresholdCells(np.linspace(0, 1, 1000)).sql(2) is None
