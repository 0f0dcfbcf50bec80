"""The default protocol: a grid for two classes, random shares for more."""

import numpy as np
import pytest

from headcount.protocols import ArtificialPrevalence, UniformPrevalence, default_protocol

LABELS = np.arange(300) % 3


def test_two_classes_get_a_grid_of_shares():
    protocol = default_protocol(2, n_prevalences=5, repeats=3, sample_size=20, random_state=7)
    samples, true = protocol.draw(LABELS % 2)
    expected = ArtificialPrevalence(5, repeats=3, sample_size=20, random_state=7).draw(LABELS % 2)
    np.testing.assert_array_equal(samples.indices, expected[0].indices)
    np.testing.assert_array_equal(true, expected[1])


@pytest.mark.parametrize(("n_samples", "expected"), [(None, 15), (4, 4)])
def test_more_classes_get_random_shares(n_samples, expected):
    protocol = default_protocol(3, n_prevalences=5, repeats=3, sample_size=20, random_state=7, n_samples=n_samples)
    samples, _ = protocol.draw(LABELS)
    same = UniformPrevalence(expected, sample_size=20, random_state=7).draw(LABELS)
    np.testing.assert_array_equal(samples.indices, same[0].indices)
