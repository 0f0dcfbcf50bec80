"""The test over test pools and runs: its parts against known answers, and how often it finds a difference that is not there."""

import numpy as np
import pytest
from scipy.stats import norm, t
from sklearn.linear_model import LogisticRegression

from headcount import CC, PACC, ArtificialPrevalence, LogTfidf, Samples, UniformPrevalence
from headcount.data import load_set
from headcount.exceptions import DataError
from headcount.significance import LuckTest, PoolMembership, combined_test, luck_test, paired_t


def pool_of(y, n_prevalences=5, repeats=20, sample_size=50, seed=0):
    samples, true = ArtificialPrevalence(
        n_prevalences, repeats=repeats, sample_size=sample_size, random_state=seed
    ).draw(y)
    return samples, true, PoolMembership(samples, y, true)


def means_of(samples, scores):
    return samples.sum(scores[:, None])[:, 0] / np.diff(samples.indptr)


def test_p_value_of_one_part_is_that_of_students_distribution():
    for pool, runs in (((0.04, 7.0), (0.0, np.inf)), ((0.0, np.inf), (0.04, 7.0))):
        test = LuckTest(0.5, *pool, *runs)
        assert test.p_value == pytest.approx(2.0 * t.sf(2.5, 7.0))
    assert LuckTest(-1.0, 0.25, np.inf, 0.0, np.inf).p_value == pytest.approx(2.0 * norm.sf(2.0))


@pytest.mark.parametrize("parts", [(1.0, 1.0, 4.0, 30.0), (1.0, 2.0, 0.1, 1.0), (1.0, 9.0, 1.0, 2.0)])
def test_p_value_of_two_parts_is_that_of_a_sum_of_two_variables(parts):
    generator = np.random.default_rng(0)
    first, second = (
        np.sqrt(v) * generator.standard_t(d, 400_000) for v, d in zip(parts[::2], parts[1::2], strict=True)
    )
    for difference in (0.5, 3.0, 10.0):
        expected = np.mean(np.abs(first + second) > difference)
        assert LuckTest(difference, *parts).p_value == pytest.approx(expected, abs=4 * 0.5 / np.sqrt(400_000))


def test_pool_variance_of_mean_scores_is_the_variance_over_pools():
    """The value of a sample is the mean of its items' scores, so that the variance over pools is known."""
    y = np.repeat([0, 1], [150, 450])
    generator = np.random.default_rng(1)
    estimates, means = [], []
    for seed in range(60):
        samples, _, pool = pool_of(y, seed=seed)
        values = means_of(samples, generator.standard_normal(600))
        estimates.append(pool.variance(values)[0])
        means.append(values.mean())
    expected = 0.5**2 / 150 + 0.5**2 / 450
    assert np.mean(estimates) == pytest.approx(expected, rel=0.15)
    assert np.var(means) == pytest.approx(expected, rel=0.6)


@pytest.mark.parametrize("kind", ["counted", "adjusted"])
@pytest.mark.parametrize(
    ("n", "share", "size", "repeats"), [(1000, 0.5, 100, 10), (1000, 0.1, 100, 10), (300, 0.3, 100, 5)]
)
def test_methods_of_equal_error_on_other_pools_are_not_told_apart(kind, n, share, size, repeats):
    """Two methods see two features of one distribution: they err alike over pools, whatever they do on one."""
    y = (np.arange(n) < share * n).astype(int)
    generator = np.random.default_rng(2)
    miss = norm.sf(0.75)
    honest, naive = [], []
    for seed in range(100):
        samples, true, pool = pool_of(y, 11, repeats, size, seed)
        errors = []
        for _ in range(2):
            q = means_of(samples, (generator.standard_normal(n) + 1.5 * y > 0.75).astype(float))
            p = q if kind == "counted" else np.clip((q - miss) / (1.0 - 2.0 * miss), 0.0, 1.0)
            errors.append(np.abs(p - true[:, 1]))
        honest.append(luck_test(*errors, pool, draws=(False, False)).p_value < 0.05)
        naive.append(paired_t(*errors).p_value < 0.05)
    assert np.mean(honest) <= 0.08
    assert np.mean(naive) >= 0.2  # the paper's test, on the same figures


def errors_of(quantifier, X, samples, true):
    return np.abs(quantifier.aggregate(quantifier.outputs(X), samples) - true).mean(axis=1)


def exchangeable(draw, n_runs, n_simulations, seed, halves=False):
    """Compare PACC with itself, fitted with other seeds (on other halves of the items): how often each test finds a difference."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(n_simulations):
        X, y, X_test, y_test = draw(generator)
        protocol = (
            ArtificialPrevalence(11, repeats=20, sample_size=100, random_state=int(generator.integers(2**31)))
            if len(np.unique(y)) == 2
            else UniformPrevalence(220, sample_size=100, random_state=int(generator.integers(2**31)))
        )
        samples, true = protocol.draw(y_test)
        pool = PoolMembership(samples, y_test, true)
        sides = [[], []]
        for _ in range(n_runs):
            parts = np.array_split(generator.permutation(len(y)), 2) if halves else [np.arange(len(y))] * 2
            for side, rows in zip(sides, parts, strict=True):
                pacc = PACC(LogisticRegression(), validation=0.4, random_state=int(generator.integers(2**31)))
                side.append(errors_of(pacc.fit(X[rows], y[rows]), X_test, samples, true))
        counted = errors_of(CC(LogisticRegression()).fit(X, y), X_test, samples, true)
        tests = luck_test(*sides, pool), luck_test(counted, sides[0], pool, draws=(False, True))
        paired = paired_t(*np.mean(sides, axis=1))
        found.append([(test.p_value or 0.0) < 0.05 for test in (*tests, paired)])
    return np.mean(found, axis=0)


def gaussians(generator, n=300, n_test=1000):
    def draw(size):
        y = (np.arange(size) < 0.3 * size).astype(int)
        return generator.standard_normal((size, 5)) + np.outer(y, [1.5, 0.0, 0.0, 0.0, 0.0]), y

    return (*draw(n), *draw(n_test))


def test_exchangeable_fits_are_not_told_apart_and_clear_differences_are_found():
    same, counted, paired = exchangeable(gaussians, n_runs=5, n_simulations=40, seed=0)
    assert same <= 0.1
    assert counted >= 0.8
    assert paired >= 0.5


@pytest.mark.slow
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("n_runs", [2, 5, 10])
def test_exchangeable_fits_many_times(n_runs, halves):
    same, *_ = exchangeable(gaussians, n_runs, 300, seed=n_runs, halves=halves)
    assert same <= 0.08


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("name", ["imdb", "amazon_categories"])
@pytest.mark.parametrize("n_runs", [2, 5])
def test_exchangeable_fits_on_text(name, n_runs, data_dir):
    train, _ = load_set(name, data_dir)
    chosen = np.random.default_rng(0).permutation(len(train))[:6000]
    X = LogTfidf().fit_transform([train.items[i] for i in chosen])
    y = np.unique(np.asarray(train.labels)[chosen], return_inverse=True)[1]

    def draw(generator):
        rows = generator.permutation(len(y))
        return X[rows[:500]], y[rows[:500]], X[rows[500:2000]], y[rows[500:2000]]

    same, _, paired = exchangeable(draw, n_runs, 100, seed=n_runs)
    assert same <= 0.08
    assert paired >= 0.5


@pytest.fixture(scope="module")
def small_pool():
    return pool_of(np.arange(600) % 2)


def test_one_run_of_a_method_that_draws_is_not_judged(small_pool):
    _, _, pool = small_pool
    x, y = np.random.default_rng(0).random((2, 1, 100))
    y = y + 10.0
    assert luck_test(x, y, pool).p_value is None
    assert luck_test(x, y, pool).mark() == "?"
    assert "one run" in luck_test(x, y, pool).reason
    assert luck_test(x, y, pool, draws=(False, True)).p_value is None
    assert luck_test(x, y, pool, draws=(False, False)).mark() == ">>"


def test_without_the_items_that_samples_share_nothing_is_judged():
    x, y = np.random.default_rng(0).random((2, 5, 100))
    test = luck_test(x, y + 10.0, None)
    assert test.p_value is None
    assert "share" in test.reason


def test_equal_errors_have_a_p_value_of_one(small_pool):
    _, _, pool = small_pool
    x = np.random.default_rng(0).random((1, 100))
    for given in (pool, None):
        assert luck_test(x, x, given).p_value == 1.0
    assert luck_test(x, x, pool).mark() == "~"


def test_swapping_the_methods_swaps_the_mark(small_pool):
    _, _, pool = small_pool
    x, y = np.random.default_rng(0).random((2, 4, 100))
    there, back = luck_test(x, y + 0.5, pool), luck_test(y + 0.5, x, pool)
    assert there.p_value == pytest.approx(back.p_value)
    assert (there.mark(), back.mark()) in {(">>", "<<"), (">", "<")}
    assert there.mark(0.2) == "~"
    assert there.difference == -back.difference


def test_runs_of_one_method_alone_have_their_own_variance(small_pool):
    _, _, pool = small_pool
    generator = np.random.default_rng(0)
    x, y = generator.random((1, 100)), generator.random((6, 100)) + generator.random((6, 1))
    test = luck_test(x, y, pool, draws=(False, True))
    assert test.run_variance == pytest.approx(y.mean(axis=1).var(ddof=1) / 6)
    assert test.run_degrees == 5
    assert test.n_runs == (1, 6)


def test_unequal_numbers_of_runs_are_not_paired(small_pool):
    _, _, pool = small_pool
    x, y = np.random.default_rng(0).random((6, 100)), np.random.default_rng(1).random((3, 100))
    expected = x.mean(axis=1).var(ddof=1) / 6 + y.mean(axis=1).var(ddof=1) / 3
    assert luck_test(x, y, pool).run_variance == pytest.approx(expected)
    assert luck_test(x[:3], y, pool, paired=False).run_variance != luck_test(x[:3], y, pool).run_variance


def test_combination_of_data_sets_weights_differences_and_variances(small_pool):
    _, _, pool = small_pool
    x, y = np.random.default_rng(0).random((2, 4, 100))
    one, two = luck_test(x, y + 0.5, pool), luck_test(x, y + 1.0, pool)
    both = combined_test([one, two], [0.25, 0.75])
    assert both.difference == pytest.approx(0.25 * one.difference + 0.75 * two.difference)
    assert both.run_variance == pytest.approx(one.run_variance / 16 + two.run_variance * 9 / 16)
    assert combined_test([one], [1.0]).p_value == pytest.approx(one.p_value)
    assert combined_test([one, luck_test(x[:1], y[:1], pool)], [0.5, 0.5]).p_value is None


def test_class_of_one_item_leaves_the_pool_unbounded():
    """Where every sample holds the only item of a class, nothing says what another item would have done."""
    y = np.array([1] + [0] * 199)
    samples = Samples.from_matrix([[0, *range(1 + 10 * i, 11 + 10 * i)] for i in range(10)])
    pool = PoolMembership(samples, y, np.tile([10 / 11, 1 / 11], (10, 1)))
    values = np.random.default_rng(0).random((2, 10))
    assert luck_test(*values, pool, draws=(False, False)).p_value == 1.0
    assert luck_test(values[0], values[1] + 100.0, pool, draws=(False, False)).mark() == "~"


def test_invalid_input_is_refused(small_pool):
    samples, true, pool = small_pool
    ones = np.ones((2, 100))
    for x, y in ((ones, ones[:, :50]), (ones[:, :1], ones[:, :1]), (ones, np.full((2, 100), np.nan)), (ones[:0], ones)):
        with pytest.raises(DataError, match="errors"):
            luck_test(x, y, pool)
    with pytest.raises(DataError, match="50 samples"):
        luck_test(ones[:, :50], ones[:, :50], pool)
    with pytest.raises(DataError, match="pool of 10 items"):
        PoolMembership(samples, np.zeros(10), true)
