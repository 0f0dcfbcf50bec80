"""The covariance of true values between groups, by moments."""

import numpy as np
import pytest

from headcount.intervals.between_groups import between_groups


def draw(n, A, T, generator):
    true = generator.multivariate_normal(np.zeros(len(A)), A, n)
    return true + np.stack([generator.multivariate_normal(np.zeros(len(A)), t) for t in T])


def test_mean_and_covariance_are_found_in_many_groups_of_unequal_errors():
    generator = np.random.default_rng(0)
    A = np.array([[0.04, 0.01], [0.01, 0.02]])
    T = generator.uniform(0.2, 3.0, 4000)[:, None, None] * np.array([[0.02, -0.005], [-0.005, 0.01]])
    found = between_groups(np.array([1.0, 2.0]) + draw(4000, A, T, generator), lambda mean: T)
    assert found.mean == pytest.approx([1.0, 2.0], abs=0.01)
    assert found.covariance == pytest.approx(A, abs=0.004)
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.weights[T[:, 0, 0].argmin()] > found.weights[T[:, 0, 0].argmax()]


@pytest.mark.parametrize("d", [1, 2, 4])
def test_one_that_is_right_on_average_less_its_negative_part(d):
    generator = np.random.default_rng(1)
    T = np.broadcast_to(np.eye(d), (24, d, d))
    found = [between_groups(draw(24, 0.0 * np.eye(d), T, generator), lambda mean: T) for _ in range(100)]
    least = min(np.linalg.eigvalsh(one.covariance).min() for one in found)
    assert least > -1e-12  # never negative
    assert np.mean([np.trace(one.covariance) / d for one in found]) < 0.4
    assert all(
        np.linalg.eigvalsh(one.upper - one.covariance).min() > 1.0 for one in found
    )  # 4 sqrt(2 / 23) of the error


def test_the_standard_error_is_that_of_many_draws():
    generator = np.random.default_rng(2)
    T = np.ones((24, 1, 1))
    found = [between_groups(draw(24, np.array([[2.0]]), T, generator), lambda mean: T) for _ in range(2000)]
    spread = np.std([one.covariance[0, 0] for one in found])
    assert np.mean([one.error[0, 0] for one in found]) == pytest.approx(spread, rel=0.06)
