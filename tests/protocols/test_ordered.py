"""Protocols of ordered classes: what moves shares along their order or spreads them out, and which shares are smooth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount import OrdinalShift, SmoothPrevalence
from headcount.protocols import jaggedness
from headcount.protocols.ordered import shifted, spread_out


@st.composite
def shares(draw):
    counts = draw(st.lists(st.integers(0, 9), min_size=2, max_size=8).filter(any))
    return np.array(counts) / sum(counts)


def mean(p):
    return p @ np.arange(p.shape[-1])


def variance(p):
    places = np.arange(p.shape[-1])
    return p @ places**2 - mean(p) ** 2


@given(p=shares(), moves=st.lists(st.floats(-9, 9), min_size=2, max_size=5))
def test_a_shift_of_location_moves_all_cumulative_shares_one_way(p, moves):
    by = np.sort(moves)
    moved = shifted(p, by)
    assert (moved >= 0).all()
    np.testing.assert_allclose(moved.sum(axis=1), 1.0)
    assert (np.diff(np.cumsum(moved, axis=1), axis=0) <= 1e-12).all()
    # Where nothing leaves the line the mean moves by as much as was asked for, and elsewhere by less.
    assert (np.abs(mean(moved) - mean(p)) <= np.abs(by) + 1e-9).all()
    np.testing.assert_allclose(shifted(p, np.zeros(1))[0], p, atol=1e-12)


def test_a_shift_moves_the_mean_by_its_classes_where_there_is_room():
    p = np.array([0.0, 0.0, 0.3, 0.4, 0.3, 0.0, 0.0])
    by = np.array([-2.0, -0.7, 0.25, 1.9])
    np.testing.assert_allclose(mean(shifted(p, by)) - mean(p), by)


@given(p=shares(), factor=st.floats(0, 1), wider=st.floats(1, 8))
def test_a_shift_of_spread_narrows_below_one_and_keeps_the_mean(p, factor, wider):
    narrow, same, wide = spread_out(p, np.array([factor, 1.0, wider]))
    np.testing.assert_allclose(same, p, atol=1e-12)
    assert mean(narrow) == pytest.approx(mean(p), abs=1e-9)
    # Between two classes a share is divided, which spreads it by a quarter of a class squared at most.
    assert variance(narrow) <= factor**2 * variance(p) + 0.25 + 1e-9
    about_the_mean = np.square(np.arange(len(p)) - mean(p))
    assert wide @ about_the_mean >= p @ about_the_mean - 1e-9


def test_spreading_out_moves_items_from_the_middle_to_the_ends():
    p = np.array([0.05, 0.2, 0.5, 0.2, 0.05])
    moved = spread_out(p, np.array([0.5, 1.5, 3.0]))
    assert variance(moved[0]) < variance(p) < variance(moved[1]) < variance(moved[2])
    np.testing.assert_allclose(moved, moved[:, ::-1])
    np.testing.assert_allclose(moved[2, [0, 4]], 0.25)


@pytest.mark.parametrize("by", ["location", "spread"])
def test_shifts_of_a_pool_start_from_its_shares_and_go_both_ways(by):
    y = np.repeat([1, 2, 3, 4, 5], [50, 100, 200, 100, 50])
    protocol = OrdinalShift(by, 1.0, n_samples=400, sample_size=200, random_state=0)
    samples, true = protocol.draw(y)
    measured, of_pool = (mean, 2.0) if by == "location" else (variance, 1.2)
    below = (measured(true) < of_pool).mean()
    assert 0.4 < below < 0.6
    assert len(samples) == 400
    if by == "location":
        assert np.abs(mean(true) - 2.0).max() < 1.02
        np.testing.assert_allclose(np.sort(mean(true))[[40, 200, 360]], [1.22, 2.0, 2.78], atol=0.1)


def test_classes_that_the_pool_lacks_get_no_items():
    y = np.repeat(["fair", "poor", "great"], 50)
    order = ["poor", "fair", "good", "great"]
    _, true = OrdinalShift("location", 2.0, n_samples=200, sample_size=50, random_state=0).draw(y, classes=order)
    assert (true[:, 2] == 0).all()
    assert (np.ptp(true[:, [0, 1, 3]], axis=0) > 0.2).all()


@pytest.mark.parametrize("part", [0.2, 0.5])
def test_the_smoothest_part_of_uniform_shares_is_kept(part):
    y = np.tile(np.arange(5), 500)
    smooth = SmoothPrevalence(part, n_samples=400, sample_size=1000, random_state=0).draw(y)[1]
    all_shares = SmoothPrevalence(1.0, n_samples=4000, sample_size=1000, random_state=1).draw(y)[1]
    cut = np.quantile(jaggedness(all_shares), part)
    assert jaggedness(smooth).max() == pytest.approx(cut, rel=0.15)
    # They are still of all kinds, as far as smooth shares can be.
    assert (smooth.max(axis=0) > 0.4).all()
    np.testing.assert_allclose(smooth.mean(axis=0), smooth.mean(axis=0)[::-1], atol=0.03)


def test_jaggedness_is_the_sum_of_squared_second_differences():
    assert jaggedness([0.2, 0.2, 0.2, 0.2, 0.2]) == 0.0
    assert jaggedness([0.1, 0.2, 0.4, 0.3]) == pytest.approx((0.1**2 + 0.3**2) / 4)
    assert jaggedness(np.full(8, 1 / 8) + 0.01 * np.array([1, -1] * 4)) == pytest.approx(6 * 0.04**2 / 6)
    assert jaggedness([[0.3, 0.7], [1.0, 0.0]]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "protocol", [OrdinalShift("width"), OrdinalShift(amount=0.0), SmoothPrevalence(0.0), SmoothPrevalence(1.5)]
)
def test_wrong_settings_are_refused(protocol):
    with pytest.raises(ValueError, match=r"parameter of \w+ must be"):
        protocol.draw([1, 2, 3] * 10)
