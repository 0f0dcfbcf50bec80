"""Paired t-tests against scipy, and Holm's correction against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from headcount.exceptions import DataError
from headcount.significance import holm, paired_t


@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), shift=st.floats(-1, 1))
def test_equals_the_paired_t_test_of_scipy(seed, n, shift):
    generator = np.random.default_rng(seed)
    x, y = generator.random(n), generator.random(n) + shift
    test, expected = paired_t(x, y), ttest_rel(x, y)
    assert test.statistic == pytest.approx(expected.statistic)
    assert test.p_value == pytest.approx(expected.pvalue)
    assert test.effect == pytest.approx((x - y).mean() / (x - y).std(ddof=1))
    assert paired_t(y, x).p_value == pytest.approx(test.p_value)
    swapped = {">>": "<<", ">": "<", "~": "~", "<": ">", "<<": ">>"}
    assert paired_t(y, x).mark() == swapped[test.mark()]


def test_marks_show_direction_and_significance():
    generator = np.random.default_rng(0)
    noise = generator.standard_normal(100)
    assert paired_t(noise, noise + 1 + 0.1 * noise).mark() == ">>"
    weak = paired_t(noise, noise + 0.3 + generator.standard_normal(100))
    assert 0.001 < weak.p_value < 0.05
    assert weak.mark() == ">"
    assert weak.mark(0.2) == "~"
    assert weak.mark(0.0001) == ">>"


def test_differences_that_are_all_equal():
    assert paired_t([0.1, 0.2], [0.1, 0.2]).p_value == 1.0
    assert paired_t([0.1, 0.2], [0.1, 0.2]).mark() == "~"
    assert paired_t([0.25, 0.5], [0.5, 0.75]).mark() == ">>"
    assert paired_t([0.5, 0.75], [0.25, 0.5]).mark() == "<<"


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_equals_its_definition(p_values):
    corrected = holm(p_values)
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (m - rank) * p_values[i]))
        assert corrected[i] == pytest.approx(largest)


@pytest.mark.parametrize(
    ("x", "y"), [([1.0], [1.0]), ([1.0, 2.0], [1.0]), ([[1.0, 2.0]], [[1.0, 2.0]]), ([1.0, np.nan], [1.0, 2.0])]
)
def test_invalid_input_is_refused(x, y):
    with pytest.raises(DataError, match="errors"):
        paired_t(x, y)
    with pytest.raises(DataError, match="p-values between 0 and 1"):
        holm([0.5, 2.0])


def test_holm_over_more_tests_than_are_given():
    assert holm([0.01, 0.02], n_tests=10).tolist() == pytest.approx([0.1, 0.18])
