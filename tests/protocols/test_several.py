"""Several protocols as one: each part is what its protocol draws alone."""

import numpy as np
import pytest

from headcount import ArtificialPrevalence, NaturalPrevalence, SeveralProtocols, UniformPrevalence
from headcount.exceptions import DataError

Y = np.repeat(["a", "b", "c"], [30, 50, 20])
PARTS = {
    "uniform": UniformPrevalence(5, sample_size=40, random_state=1),
    "natural": NaturalPrevalence(3, sample_size=7, random_state=2),
    "grid": ArtificialPrevalence(3, repeats=1, sample_size=10, random_state=3),
}


@pytest.mark.parametrize("classes", [None, ["c", "a", "b"]])
def test_each_part_is_drawn_as_alone(classes):
    samples, true = SeveralProtocols(PARTS).draw(Y, classes)
    first = 0
    for name, protocol in PARTS.items():
        alone, shares = protocol.draw(Y, classes)
        rows = range(first, first + len(alone))
        assert [samples.names[i] for i in rows] == [name] * len(alone)
        np.testing.assert_array_equal(true[first : first + len(alone)], shares)
        for i, one in zip(rows, alone, strict=True):
            np.testing.assert_array_equal(samples[i], one)
        first += len(alone)
    assert len(samples) == first


def test_none_is_a_mistake():
    with pytest.raises(DataError, match="at least one protocol"):
        SeveralProtocols({}).draw(Y)
