"""The guarantee itself: how often intervals hold the truth, by seeded simulation. The full table is docs/coverage.md."""

import numpy as np
import pytest
from benchmarks.coverage_table import METHODS, SHARES, cell


@pytest.mark.parametrize("estimand", ["population", "sample"])
@pytest.mark.parametrize("method", METHODS)
def test_quickly(method, estimand):
    """200 simulations, Monte Carlo error 1.5: far off would show."""
    covered = cell(method, "delta", estimand, 200, 500, (0.8, 0.2), 200, 200)[1]
    assert 0.90 <= covered <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("shares", [*SHARES[2], *SHARES[3]], ids=str)
@pytest.mark.parametrize("method", METHODS[:3])
def test_nominal_95_covers_93_to_97(method, shares):
    """The cell with the fewest items, both estimands, 2,000 simulations a cell, Monte Carlo error 0.5."""
    for estimand in ("population", "pile"):
        covered = np.array(cell(method, "delta", estimand, 200, 500, shares, 2000, 200)[:-1])
        assert (covered >= 0.93).all(), (estimand, covered)
        assert (covered <= 0.97).all(), (estimand, covered)
