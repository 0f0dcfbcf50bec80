"""Sums of fixed-point numbers: the same bits in any order, in any parts, for any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount.exceptions import DataError
from headcount.protocols import Samples
from headcount.protocols.exact import to_units

pytestmark = pytest.mark.kernels


@given(st.integers(1, 60), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_sums_do_not_depend_on_the_order_or_the_parts(n, d, seed):
    generator = np.random.default_rng(seed)
    values = generator.random((n, d))
    units = to_units(values)
    whole = Samples.whole(n).sum_exact(units).values()
    order = generator.permutation(n)
    np.testing.assert_array_equal(Samples.whole(n).sum_exact(units[order]).values(), whole)
    cut = int(generator.integers(0, n + 1))
    parts = [Samples.whole(len(part)).sum_exact(part) for part in (units[:cut], units[cut:])]
    np.testing.assert_array_equal((parts[0] + parts[1]).values(), whole)
    np.testing.assert_allclose(whole[0], values.sum(axis=0), atol=n * 2.0**-41)


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_weighted_sums_do_not_depend_on_the_parts(weights, seed):
    generator = np.random.default_rng(seed)
    n = len(weights)
    units, codes = to_units(generator.random((n, 2))), generator.integers(0, 3, n)
    rows, cut = np.arange(n), int(generator.integers(0, n + 1))
    whole = Samples(rows, [0, n], weights)
    halves = [
        Samples(rows[part], [0, len(rows[part])], np.array(weights)[part]) for part in (slice(cut), slice(cut, n))
    ]
    for reduce in (lambda s: s.sum_exact(units), lambda s: s.count_exact(codes, 3)):
        np.testing.assert_array_equal((reduce(halves[0]) + reduce(halves[1])).values(), reduce(whole).values())


def test_large_sums_do_not_overflow():
    units = to_units(np.ones((1, 1)))
    many = Samples(np.zeros(300_000, dtype=int), [0, 300_000])
    total = many.sum_exact(units)
    for _ in range(16):  # 20 billion items
        total = total + total
    assert total.values()[0, 0] == 300_000 * 2**16


def test_counts_stand_for_as_many_items():
    values = np.array([[0.25, 0.5], [1.0, 0.0]])
    counted = Samples([0, 1], [0, 2], counts=[3, 2])
    repeated = Samples([0, 0, 0, 1, 1], [0, 5])
    for one in (lambda s: s.sum(values), lambda s: s.sum_exact(to_units(values)).values(), Samples.total_weights):
        np.testing.assert_array_equal(one(counted), one(repeated))
    np.testing.assert_array_equal(counted.effective_sizes(), [5.0])
    weighted = Samples([0, 1], [0, 2], weights=[1.0, 3.0], counts=[3, 2])
    spread = Samples([0, 0, 0, 1, 1], [0, 5], weights=[1, 1, 1, 3, 3])
    np.testing.assert_allclose(weighted.effective_sizes(), spread.effective_sizes())
    np.testing.assert_array_equal(weighted.total_weights(), spread.total_weights())


def test_numbers_that_are_not_bounded_are_refused():
    with pytest.raises(DataError, match="larger than 8"):
        to_units(np.array([[9.0]]))
    with pytest.raises(DataError, match="not finite"):
        to_units(np.array([[np.nan]]))
    with pytest.raises(DataError, match="Divide all weights"):
        Samples([0], [0, 1], [1e9]).sum_exact(to_units(np.array([[0.5]])))


def test_negative_numbers_are_rounded_alike():
    values = np.array([[-0.3], [0.7], [-1.0]])
    sums = Samples.whole(3).sum_exact(to_units(values))
    assert sums.values()[0, 0] == pytest.approx(-0.6, abs=1e-11)
