"""Coverage of the intervals, by seeded simulation. The full table is docs/coverage.md."""

import numpy as np
import pytest
from benchmarks.coverage_table import METHODS, SHARES, cell


@pytest.mark.parametrize("estimand", ["population", "sample"])
@pytest.mark.parametrize("method", METHODS)
def test_coverage_is_about_95_percent(method, estimand):
    """200 simulations, Monte Carlo error 1.5 points: detects only large deviations."""
    covered = cell(method, "delta", estimand, 200, 500, (0.8, 0.2), 200, 200)[1]
    assert 0.90 <= covered <= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("shares", [*SHARES[2], *SHARES[3]], ids=str)
@pytest.mark.parametrize("method", METHODS[:3])
def test_nominal_95_percent_intervals_cover_93_to_97_percent(method, shares):
    """The cell with the fewest items, both estimands, 2,000 simulations a cell, Monte Carlo error 0.5 points."""
    for estimand in ("population", "sample"):
        covered = np.array(cell(method, "delta", estimand, 200, 500, shares, 2000, 200)[:-1])
        assert (covered >= 0.93).all(), (estimand, covered)
        assert (covered <= 0.97).all(), (estimand, covered)
