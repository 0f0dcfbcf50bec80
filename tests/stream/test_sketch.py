"""The sketch of posteriors: the contents and width of its cells, and its bound on the error of the likelihood."""

import numpy as np
import pytest

from headcount.exceptions import DataError
from headcount.stream import Sketch

pytestmark = pytest.mark.kernels


def posteriors(n, k, seed=0):
    scores = 2.0 * np.random.default_rng(seed).standard_normal((k, n))
    P = np.exp(scores)
    return P / P.sum(axis=0)


def likelihood(P, weights, prior, shares):
    return float(np.average(np.log((P / prior) @ shares), weights=weights))


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("bits", [-6, -2, 0, 3, 9])
def test_the_error_of_the_likelihood_is_within_the_bound_for_any_shares(k, bits):
    C = np.floor(posteriors(2000, k) * 2**40 + 0.5) / 2**40  # as the sketch stores them
    sketch = Sketch(k, bits)
    sketch.add(C, np.zeros(2000, dtype=np.int32))
    _, weights, means = sketch.cells()
    assert weights.sum() == 2000
    generator = np.random.default_rng(1)
    prior = generator.dirichlet(np.ones(k))
    for shares in [*generator.dirichlet(np.ones(k), 30), *np.eye(k)]:
        gap = likelihood(means, weights, prior, shares) - likelihood(C.T, None, prior, shares)
        assert -1e-12 <= gap <= sketch.log_width**2 / 8 + 1e-12


def test_each_group_has_its_own_cells():
    C = posteriors(5000, 2)
    groups = np.random.default_rng(2).integers(0, 7, 5000).astype(np.int32)
    sketch = Sketch(2, 6)
    sketch.add(C, groups)
    cell_groups, weights, means = sketch.cells()
    for g in range(7):
        in_group = cell_groups == g
        assert weights[in_group].sum() == (groups == g).sum()
        np.testing.assert_allclose((weights[in_group] @ means[in_group]), C[:, groups == g].sum(axis=1), rtol=1e-12)


def test_cells_are_widened_when_there_are_too_many():
    C, groups = posteriors(4000, 4), np.zeros(4000, dtype=np.int32)
    sketch = Sketch(4, most_cells=300)
    sketch.add(C, groups)
    _, weights, means = sketch.cells()
    assert len(weights) <= 300
    assert sketch.bits < 8
    np.testing.assert_allclose(weights @ means, C.sum(axis=1), rtol=1e-12)
    direct = Sketch(4, sketch.bits)
    direct.add(C, groups)
    np.testing.assert_array_equal(np.sort(direct.cells()[1]), np.sort(weights))


def test_merging_equals_adding_all_items():
    C, groups = posteriors(3000, 3), np.zeros(3000, dtype=np.int32)
    fine, wide, both = Sketch(3), Sketch(3, 5), Sketch(3, 5)
    fine.add(C[:, :1000].copy(), groups[:1000])
    wide.add(C[:, 1000:].copy(), groups[1000:])
    both.add(C, groups)
    fine.merge(wide, np.array([0]))
    assert fine.bits == 5
    (_, *merged), (_, *direct) = fine.cells(), both.cells()
    first, second = np.lexsort(merged[1].T), np.lexsort(direct[1].T)
    np.testing.assert_array_equal(merged[0][first], direct[0][second])
    np.testing.assert_allclose(merged[1][first], direct[1][second], rtol=1e-9)


def test_posteriors_of_zero_and_one_are_accepted():
    sketch = Sketch(2)
    sketch.add(np.array([[0.0, 1.0, 1e-300], [1.0, 0.0, 1.0]]), np.zeros(3, dtype=np.int32))
    assert sorted(sketch.cells()[1].tolist()) == [1.0, 2.0]


def test_more_groups_than_cells_are_refused():
    sketch = Sketch(2, most_cells=8)
    with pytest.raises(DataError, match="more groups than a sketch"):
        sketch.add(np.full((2, 40), 0.5), np.arange(40, dtype=np.int32))
