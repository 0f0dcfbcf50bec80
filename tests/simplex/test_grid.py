import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.simplex import apportion, grid, grid_size, uniform


@given(n_classes=st.integers(2, 5), steps=st.integers(1, 8))
def test_the_grid_has_every_composition_once(n_classes, steps):
    points = grid(n_classes, steps)
    assert len(points) == grid_size(n_classes, steps)
    assert len({tuple(p) for p in points.tolist()}) == len(points)
    assert (points.sum(axis=1) == steps).all()
    assert (points >= 0).all()


def test_the_grid_of_the_paper_gives_its_counts():
    counts = apportion(grid(2, 20), 500, unit=20)
    assert counts[:, 1].tolist() == list(range(0, 501, 25))


@given(data=st.data(), n_classes=st.integers(2, 6), total=st.integers(1, 2000))
def test_rounded_counts_keep_the_total_and_differ_by_less_than_one(data, n_classes, total):
    weights = data.draw(st.lists(st.integers(0, 50), min_size=n_classes, max_size=n_classes).filter(any))
    unit = sum(weights)
    counts = apportion(np.array([weights]), total, unit=unit)
    assert counts.sum() == total
    assert (np.abs(counts[0] - total * np.array(weights) / unit) < 1).all()
    shares = np.array([weights]) / unit
    fractional = apportion(shares, total)
    assert fractional.sum() == total
    assert (np.abs(fractional[0] - total * shares[0]) < 1 + 1e-9).all()


@pytest.mark.parametrize(("share", "expected"), [(0, 0), (1, 1), (5, 3), (9, 5), (10, 5)])
def test_with_two_classes_the_second_is_rounded_half_up(share, expected):
    assert apportion(np.array([[10 - share, share]]), 5, unit=10)[0, 1] == expected


def test_moments_and_quantiles_of_uniform_points():
    points = uniform(20_000, 2, np.random.default_rng(0))
    quantiles = np.quantile(points[:, 1], [0.1, 0.5, 0.9])
    np.testing.assert_allclose(quantiles, [0.1, 0.5, 0.9], atol=0.015)
    three = uniform(20_000, 3, np.random.default_rng(0))
    np.testing.assert_allclose(three.mean(axis=0), 1 / 3, atol=0.01)
    np.testing.assert_allclose(three.var(axis=0), 1 / 18, atol=0.003)  # of a Dirichlet(1, 1, 1)
