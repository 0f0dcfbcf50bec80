"""Tail probabilities and quantiles are those of scipy.stats, to the last bit."""

import numpy as np
import pytest
from scipy import stats

from headcount._distributions import (
    f_tail,
    hypergeometric_tail,
    normal_quantile,
    normal_tail,
    student_quantile,
    student_tail,
)

X = np.concatenate([np.random.default_rng(0).normal(0, 5, 2000), [0.0, np.inf, -np.inf, np.nan, 40.0]])
TAILS = np.concatenate([np.random.default_rng(1).random(2000), 10.0 ** -np.arange(300), [0.0, 0.5, 1.0, np.nan]])
DEGREES = np.concatenate([np.random.default_rng(2).exponential(30, 30) + 0.1, [1.0, 1e12]])


def test_normal():
    np.testing.assert_array_equal(normal_tail(X), stats.norm.sf(X))
    np.testing.assert_array_equal(normal_quantile(TAILS), stats.norm.isf(TAILS))


def test_student():
    np.testing.assert_array_equal(student_tail(X[:, None], DEGREES), stats.t.sf(X[:, None], DEGREES))
    np.testing.assert_array_equal(student_quantile(0.025, DEGREES), stats.t.isf(0.025, DEGREES))


def test_f():
    for x in (-1.0, 0.0, 0.3, 2.5, 80.0, np.inf):
        for above, below in ((1, 1.0), (3, 17.4), (25, 400.0)):
            assert f_tail(x, above, below) == stats.f.sf(x, above, below)


@pytest.mark.parametrize("largest", [5, 3000])
def test_hypergeometric(largest):
    generator = np.random.default_rng(3)
    population = generator.integers(1, largest, 2000).astype(np.float64)
    successes, draws = np.floor(generator.random((2, 2000)) * (population + 1.0))
    count = np.floor(generator.random(2000) * (np.minimum(successes, draws) + 4.0)) - 2.0
    expected = stats.hypergeom.sf(count, population, successes, draws)
    np.testing.assert_array_equal(hypergeometric_tail(count, population, successes, draws), expected)
