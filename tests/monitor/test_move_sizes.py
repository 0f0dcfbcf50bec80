"""Moves that are looked for: bounds of cumulants, the likelihood ratio of a perfect classifier, and moves that can't be."""

import numpy as np
import pytest
from benchmarks._watch_worlds import World

from headcount import ACC
from headcount.monitor import Monitor, ShareScores
from headcount.monitor.move_sizes import MoveSizes, signed_sizes

SHARE = 0.02


def perfect_scores(n=2_000, share=0.3):
    """Scores of a classifier that is never wrong."""
    y = (np.arange(n) < share * n).astype(int)
    return ShareScores.of(
        ACC(World("ACC", share, 30.0).quantifier().classifier).fit(np.where(y, 23, 0)[:, None], y), None
    )


def mean_factors(sizes, values, weights, centre):
    """Mean of exp(t (x - centre) - v t^2 / 2) at each move."""
    t = sizes.moves[0] / sizes.variance[0]
    return np.exp(np.outer(t, values - centre) - (sizes.variance[0] * t**2 / 2.0)[:, None]) @ weights


@pytest.mark.parametrize("share", [0.005, 0.02, 0.3, 0.5, 0.95])
def test_no_move_has_evidence_in_the_mean_while_nothing_changes(share):
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.exponential(0.05, 300) - 0.05, 1.2 - generator.exponential(0.2, 300)])
    weights = np.repeat([1.0 - share, share], 300) / 300
    centre = float(weights @ values)
    sizes = MoveSizes.of_values(values, weights[None, :], np.array([centre]), 0.05, up=1.0 - share, down=share)
    factors = mean_factors(sizes, values, weights, centre)
    assert factors.max() <= 1.0 + 1e-9
    assert (
        factors[sizes.moves[0] > 0.0].min() > 0.995 or share > 0.5
    )  # where numbers are skewed, no evidence is given away
    assert sizes.variance.min() >= weights @ (values - centre) ** 2 - 1e-12


def test_a_perfect_classifier_is_tested_by_the_likelihood_ratio_of_the_binomial_distribution():
    values, weights = np.array([0.0, 1.0]), np.array([1.0 - SHARE, SHARE])
    sizes = MoveSizes.of_values(values, weights[None, :], np.array([SHARE]), 0.05, up=0.05, down=0.0)
    t, v = sizes.moves[0] / sizes.variance[0], sizes.variance[0]
    moved = SHARE + 0.05 * 2.0 ** np.arange(-1.5, 0.5, 0.5)
    log_ratios = np.log([(1.0 - moved) / (1.0 - SHARE), moved / SHARE])
    for x in (0, 1):
        np.testing.assert_allclose(t * (x - SHARE) - v * t**2 / 2.0, log_ratios[x], rtol=1e-4, atol=1e-6)


def test_moves_below_0_or_above_1_are_not_looked_for():
    for up, down in ((0.98, 0.02), (0.02, 0.98), (0.5, 0.5), (1.0, 0.0), (0.999, 0.001)):
        moves, log_weights = signed_sizes(0.05, up, down)
        assert moves.max() <= up
        assert moves.min() >= -down
        assert np.exp(log_weights).sum() == pytest.approx(1.0)
        assert (down > 0.0) == bool((moves < 0.0).any())


def test_a_band_bounds_the_cumulants_at_all_shares_inside_it():
    quantifier = World("PACC", 0.05, 2.5, 0.2).labelled(np.random.default_rng(1))
    scores = ShareScores.of(quantifier)
    values = scores._values(1)
    for sign, end in ((1.0, 0.4), (-1.0, 0.1)):
        sizes = scores.moves_beyond(1, (0.1, 0.4), sign, 0.05)
        for share in np.linspace(0.1, 0.4, 13):
            weights = scores._weights(np.array([[1.0 - share, share]]))[0]
            assert mean_factors(sizes, sign * values, weights, sign * end).max() <= 1.0 + 1e-4


def test_a_mistake_that_no_labelled_item_shows_is_not_taken_for_a_change():
    # 700 of one class and 300 of the other without a mistake; in the stream one item of 200 is mistaken.
    scores = perfect_scores()
    assert scores.error_variance(np.array([0.7, 0.3]))[1] > 0.0
    y, generator = np.array([0, 1]), np.random.default_rng(0)
    monitor = Monitor(scores.quantifier, reference={1: 0.3}, check=False)
    for look in range(200):
        decided = np.where(generator.random(50) < 0.005, 1 - y[:, None], y[:, None]).ravel()[: 2 * 50]
        drawn = decided[np.where(generator.random(50) < 0.3, 50, 0) + generator.integers(0, 50, 50)]
        monitor.update(np.where(drawn, 23, 0)[:, None], batch_id=str(look))
    assert not monitor.alarms


def test_moves_are_read_as_they_were_written():
    sizes = MoveSizes.stacked(
        [MoveSizes.of_normal(np.array([0.2]), 0.05), MoveSizes.of_normal(np.array([0.1]), 0.05, True)]
    )
    again = MoveSizes.from_state(sizes.state())
    for name in ("moves", "variance", "log_weights"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sizes, name))
    assert np.exp(sizes.log_weights).sum(axis=1) == pytest.approx(np.ones(2))


def test_a_rare_class_is_found_at_most_three_times_as_late_as_by_a_fixed_test():
    # benchmarks/watch.py has 2,000 streams and the other settings; the standard error of the median is about 0.15.
    from benchmarks.watch import delays

    table = np.array(delays(World("PACC", SHARE, 4.0, 0.1, 1.0, (10, 10)), 4, 25, range(100)))
    fixed = table[0, 0]
    for column, most in zip(table[:, 1:].T, (2.0, 2.8, 3.3), strict=True):
        assert np.median(column[column > 0]) < most * fixed
