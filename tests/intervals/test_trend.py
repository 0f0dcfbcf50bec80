"""The trend of shares over samples: its slope, and that the interval counts the labelled side's error once."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import PACC, estimate
from headcount.exceptions import DataError
from headcount.intervals import difference, trend


def draw(share, n, generator):
    y = (generator.random(n) < share).astype(int)
    return generator.normal(2.0 * y)[:, None], y


@pytest.fixture(scope="module")
def fitted():
    return PACC(LogisticRegression(), random_state=0).fit(*draw(0.5, 600, np.random.default_rng(0)))


def months(quantifier, shares, generator, n=300):
    X = np.concatenate([draw(share, n, generator)[0] for share in shares])
    return estimate(quantifier, X, np.arange(len(X)).reshape(len(shares), n))


def test_the_slope_is_that_of_the_least_squares_line(fitted):
    answer = months(fitted, [0.2, 0.3, 0.4, 0.5], np.random.default_rng(1))
    times = [0.0, 1.0, 2.0, 5.0]
    found = trend(answer, times)
    expected = np.polyfit(times, answer.shares, 1)[0]
    assert found.slope == pytest.approx(expected)
    assert found.low[1] < found.slope[1] < found.high[1]
    assert found.slope[0] == pytest.approx(-found.slope[1])
    assert trend(answer, times, level=0.99).high[1] > found.high[1]
    assert "p = " in repr(found)


def test_the_first_and_the_last_of_three_agree_with_their_difference(fitted):
    """The slope of three equally spaced samples is half the difference of the last and the first."""
    answer = months(fitted, [0.3, 0.5, 0.6], np.random.default_rng(2))
    found, change = trend(answer), difference(answer.take(0), answer.take(2))
    assert 2 * found.slope == pytest.approx(change.change)
    assert 2 * (found.high - found.low) == pytest.approx(change.high - change.low, rel=0.05)


def test_errors_of_the_labelled_side_cancel_where_shares_are_equal():
    """With 60 labelled items a share is uncertain, but whether it changes is not."""
    generator = np.random.default_rng(3)
    few = PACC(LogisticRegression(), random_state=0).fit(*draw(0.5, 60, generator))
    many = PACC(LogisticRegression(), random_state=0).fit(*draw(0.5, 3000, generator))
    widths = []
    for quantifier in (few, many):
        answer = months(quantifier, [0.4] * 6, np.random.default_rng(4), n=1000)
        found = trend(answer)
        widths.append((found.high[1] - found.low[1], (answer.high - answer.low)[:, 1].mean()))
    (slope_few, share_few), (slope_many, share_many) = widths
    assert share_few > 2 * share_many
    assert slope_few < 1.5 * slope_many


def test_unusable_samples_are_refused(fitted):
    answer = months(fitted, [0.2, 0.3, 0.4], np.random.default_rng(5))
    with pytest.raises(DataError, match="at least 3 samples"):
        trend([answer.take(0), answer.take(1)])
    with pytest.raises(DataError, match="at different, finite times"):
        trend(answer, [0.0, 1.0, 1.0])
    with pytest.raises(DataError, match="at different, finite times"):
        trend(answer, [0.0, 1.0, np.inf])
    other = PACC(LogisticRegression(), random_state=0).fit(*draw(0.5, 200, np.random.default_rng(6)))
    with pytest.raises(DataError, match="by one fitted quantifier"):
        trend([answer.take(0), answer.take(1), months(other, [0.3, 0.4], np.random.default_rng(7)).take(0)])


@pytest.mark.slow
def test_intervals_of_the_slope_hold_it():
    """A new classifier and new samples 200 times: 95 % intervals hold the slope in at least 91 %, three standard errors below."""
    generator, shares = np.random.default_rng(8), np.linspace(0.2, 0.5, 8)
    hits = 0
    for _ in range(200):
        quantifier = PACC(LogisticRegression(), random_state=0).fit(*draw(0.5, 300, generator))
        found = trend(months(quantifier, shares, generator, n=200))
        hits += found.low[1] <= shares[1] - shares[0] <= found.high[1]
    assert hits >= 182
