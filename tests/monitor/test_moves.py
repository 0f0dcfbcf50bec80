"""The process behind alarms: reference values by integration, thinning, and false alarms and delays by a small simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from headcount.monitor import MoveProcess
from headcount.monitor.move_sizes import MoveSizes


def integrated_ratio(before, after, v, s, process):
    """The ratio of marginal likelihoods of a change after ``before``, by numerical integration over e."""
    numbers = np.concatenate([before, after])

    def likelihood(theta):
        means = np.concatenate([np.zeros(len(before)), np.full(len(after), theta)])
        return quad(lambda e: np.exp(norm.logpdf(numbers, e + means, np.sqrt(v)).sum()) * norm.pdf(e, 0.0, s), -2, 2)[0]

    sizes = MoveSizes.of_normal(process.variance, process.scale)
    weights = np.exp(sizes.log_weights[0])
    assert weights.sum() == pytest.approx(1.0)
    return sum(w * likelihood(theta) for w, theta in zip(weights, sizes.moves[0], strict=True)) / likelihood(0.0)


def test_the_evidence_is_the_ratio_of_marginal_likelihoods():
    rng = np.random.default_rng(0)
    before, after = rng.normal(0.05, 0.5, 4), rng.normal(0.4, 0.5, 5)
    process = MoveProcess(np.array([0.25]), np.array([0.1**2]), 0.3)
    process.update(4, np.array([before.sum()]))
    process.update(5, np.array([after.sum()]))
    assert process.at_n.tolist() == [0.0, 4.0]
    expected = [
        integrated_ratio(np.empty(0), np.concatenate([before, after]), 0.25, 0.1, process),
        integrated_ratio(before, after, 0.25, 0.1, process),
    ]
    np.testing.assert_allclose(np.exp(process.log_ratios[0]), expected, rtol=1e-6)
    weights = np.exp(process.log_weights[0])
    np.testing.assert_allclose(
        np.exp(process.log_evidence[0]), weights @ expected + 1.0 - process.started[0], rtol=1e-6
    )


def test_one_sided_evidence_is_that_of_positive_moves():
    process = MoveProcess(np.array([0.25]), np.zeros(1), 0.3, one_sided=True)
    process.update(6, np.array([1.5]))

    sizes = MoveSizes.of_normal(process.variance, 0.3, one_sided=True)
    assert (sizes.moves > 0.0).all()
    ratios = norm.pdf(1.5, 6 * sizes.moves[0], np.sqrt(1.5)) / norm.pdf(1.5, 0.0, np.sqrt(1.5))
    np.testing.assert_allclose(np.exp(process.log_ratios[0, 0]), np.exp(sizes.log_weights[0]) @ ratios, rtol=1e-9)


def test_without_a_shared_error_the_level_of_the_stream_does_not_matter():
    infinite = [MoveProcess(np.array([0.25]), np.array([np.inf]), 0.05) for _ in range(2)]
    sums = np.random.default_rng(1).normal(0.0, 5.0, 30)
    for total in sums:
        for process, level in zip(infinite, (0.0, 3.0), strict=True):
            process.update(100, np.array([total + 100 * level]))
    np.testing.assert_allclose(infinite[0].log_evidence, infinite[1].log_evidence, atol=1e-6)


def test_starts_are_thinned_to_a_number_that_grows_with_the_logarithm_and_lose_no_evidence():
    process = MoveProcess(np.array([0.25]), np.array([1e-4]), 0.05)
    rng, counts = np.random.default_rng(2), []
    for batch in range(3000):
        process.update(20, rng.normal(0.0, np.sqrt(5.0), 1))
        before = process.log_evidence.copy()
        capital = np.exp(process.log_weights + process.log_ratios).sum() + max(1.0 - process.started[0], 0.0)
        np.testing.assert_allclose(np.log(capital), before[0], atol=1e-9)  # after merging: wealth is kept
        if batch in (299, 2999):
            counts.append(len(process.at_n))
    assert counts[1] < counts[0] + 30 < 80
    assert process.started[0] <= 1.0


def test_a_process_goes_on_from_its_state_bit_by_bit():
    rng = np.random.default_rng(3)
    sums = rng.normal(0.0, 5.0, (40, 2))
    process = MoveProcess(np.array([0.25, 0.3]), np.array([1e-4, np.inf]), 0.05)
    again = MoveProcess(np.array([0.25, 0.3]), np.array([1e-4, np.inf]), 0.05)
    for row in sums:
        process.update(50, row)
        again = MoveProcess.from_state(again.state())
        again.update(50, row)
    assert again.state() == process.state()


def test_false_alarms_and_delays_in_a_small_simulation():
    # 400 streams of 400 looks: standard error of a rate of 5 % is 1.1 %. benchmarks/watch.py has 2,000 streams of 10,000 looks.
    m, v, s, rng = 400, 0.4, 0.01, np.random.default_rng(4)
    errors = rng.normal(0.0, s, m)
    first = {}
    for move in (0.0, 0.05):
        process, first[move] = MoveProcess(np.full(m, v), np.full(m, s**2), 0.05), np.full(m, np.inf)
        for look in range(400):
            mean = errors + move * (look >= 40)
            process.update(50, 50 * mean + rng.normal(0.0, np.sqrt(50 * v), m))
            new = (process.log_evidence >= np.log(20)) & np.isinf(first[move])
            first[move][new] = process.n
    assert np.isfinite(first[0.0]).mean() <= 0.05
    fixed = v / (0.05**2 / 2.8016**2 - s**2)  # items of a fixed test at 5 % with 80 % power
    after = first[0.05][first[0.05] > 2000] - 2000
    assert np.median(after) <= 3.0 * fixed


def test_what_would_have_been_found_by_now_is_found_by_such_a_move():
    process = MoveProcess(np.array([0.4]), np.array([1e-4]), 0.05)
    assert np.isinf(process.resolution(3.0)[0])
    process.update(5000, np.zeros(1))
    move = process.resolution(np.log(20.0))[0]
    assert process.limit(np.log(20.0))[0] < move
    for factor, found in ((1.02, True), (0.95, False)):
        moved = MoveProcess(np.array([0.4]), np.array([1e-4]), 0.05)
        moved.update(5000, np.array([5000 * factor * move]))
        log_first = float(moved.log_weights[0, 0] + moved.log_ratios[0, 0])
        assert (log_first > np.log(20.0)) == found


@pytest.mark.parametrize("one_sided", [False, True])
def test_no_move_is_no_evidence(one_sided):
    process = MoveProcess(np.array([0.25]), np.zeros(1), 0.05, one_sided=one_sided)
    for _ in range(50):
        process.update(100, np.array([-300.0 if one_sided else 0.0]))
    assert process.log_evidence[0] < 0.0
