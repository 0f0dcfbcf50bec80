"""Critical values for a normal error with a bias whose mean square alone is known."""

import numpy as np
import pytest

from headcount._distributions import normal_tail
from headcount.intervals.robust_quantiles import robust_quantile


def test_reference_values():
    # Armstrong and Kolesár (2020), cva(m2=...) without a bound on the kurtosis: 1.96 without bias, Chebyshev's bound far out.
    assert robust_quantile(np.zeros(1), 0.95) == pytest.approx(1.95996, abs=1e-4)
    assert robust_quantile(np.zeros(1), 0.9) == pytest.approx(1.64485, abs=1e-4)
    assert robust_quantile(np.array([40.0]), 0.95) == pytest.approx(np.sqrt(1601 / 0.05))
    assert np.all(np.diff(robust_quantile(np.linspace(0.0, 50.0, 500), 0.95)) >= 0.0)


@pytest.mark.parametrize("bias", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_no_distribution_of_the_bias_does_worse_and_one_is_as_bad(bias, level):
    c = float(robust_quantile(np.array([bias]), level)[0])

    def missed(b):
        return normal_tail(c - b) + normal_tail(c + b)

    worst = max(
        (1.0 - (bias / b) ** 2) * missed(0.0) + (bias / b) ** 2 * missed(b)
        for b in np.linspace(bias, bias + 3 * c, 4001)
    )
    assert worst == pytest.approx(1.0 - level, abs=2e-3)
    generator = np.random.default_rng(0)
    for kind in (generator.standard_normal(4000), generator.standard_t(3, 4000), generator.choice([-1.0, 1.0], 4000)):
        b = bias * kind / np.sqrt(np.square(kind).mean())
        assert missed(b).mean() < 1.0 - level + 2e-3
