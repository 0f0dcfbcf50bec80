"""The sketch of posteriors: the contents and width of its cells, and its bound on the error of the likelihood."""

import numpy as np
import pytest

from headcount.exceptions import DataError
from headcount.learners import Outputs
from headcount.protocols import Samples
from headcount.quantifiers import SLD
from headcount.stream import Sketch
from headcount.stream import sketch as sketches


def posteriors(n, k, seed=0):
    scores = 2.0 * np.random.default_rng(seed).standard_normal((k, n))
    P = np.exp(scores)
    return P / P.sum(axis=0)


def likelihood(P, weights, prior, shares):
    return float(np.average(np.log((P / prior) @ shares), weights=weights))


@pytest.mark.kernels
@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("bits", [0, 3, 9])
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


@pytest.mark.kernels
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


@pytest.mark.kernels
def test_cells_are_widened_when_there_are_too_many():
    C, groups = posteriors(4000, 3), np.zeros(4000, dtype=np.int32)
    sketch = Sketch(3, cells_per_group=600)
    sketch.add(C, groups)
    _, weights, means = sketch.cells()
    assert len(weights) <= 600
    ((bits, halvings),) = sketch.levels(1)
    assert bits < 8
    assert halvings == 0
    np.testing.assert_allclose(weights @ means, C.sum(axis=1), rtol=1e-12)
    direct = Sketch(3, bits)
    direct.add(C, groups)
    np.testing.assert_array_equal(np.sort(direct.cells()[1]), np.sort(weights))
    finer = Sketch(3, bits + 1)
    finer.add(C, groups)
    assert len(finer.cells()[1]) > 600


@pytest.mark.kernels
def test_a_sample_of_cells_has_the_mean_of_all_items():
    C, groups = posteriors(6000, 6), np.zeros(6000, dtype=np.int32)
    C[:, :1500] = np.eye(6)[:, [3]]  # one cell holds a quarter of the items, and is drawn like any other
    sketch = Sketch(6, cells_per_group=500)
    sketch.add(C, groups)
    _, weights, means = sketch.cells()
    assert 200 < len(weights) <= 501
    assert sketch.levels(1)[0, 1] > 0
    assert sketch.sizes(1).tolist() == [6000]
    assert weights.sum() < 6000
    np.testing.assert_allclose(weights @ means / weights.sum(), C.mean(axis=1), atol=1e-5)


@pytest.mark.kernels
def test_heavy_cells_far_from_all_others_are_not_lost():
    """Two fifths of the items are certain, all others hardly tell anything: no weights of the latter have the mean of all."""
    found = set()
    for certain in range(6):
        C = 0.01 + 0.94 * posteriors(6000, 6) ** 0.3 / (posteriors(6000, 6) ** 0.3).sum(axis=0)
        C[:, :2400] = np.eye(6)[:, [certain]]
        sketch = Sketch(6, cells_per_group=400)
        sketch.add(C, np.zeros(6000, dtype=np.int32))
        _, weights, means = sketch.cells()
        found.add(bool(means.max() > 0.99))
        np.testing.assert_allclose(weights @ means / weights.sum(), C.mean(axis=1), atol=1e-3)
    assert found == {True, False}


@pytest.mark.kernels
def test_a_class_that_was_left_out_does_not_upset_the_weights():
    C = np.full((7, 4000), 1e-9)
    C[:6] = posteriors(4000, 6)
    C[:, 7] = [*np.full(6, 0.01), 0.94]
    sketch = Sketch(7, cells_per_group=200)
    sketch.add(C / C.sum(axis=0), np.zeros(4000, dtype=np.int32))
    _, weights, means = sketch.cells()
    assert np.isfinite(weights).all()
    assert weights.max() < 0.05 * weights.sum()
    np.testing.assert_allclose((weights @ means / weights.sum())[:6], C[:6].mean(axis=1), atol=1e-3)


@pytest.mark.kernels
@pytest.mark.parametrize(("k", "cells"), [(2, 40), (3, 60), (6, 100)])
def test_order_parts_and_other_groups_do_not_matter(k, cells):
    C = np.hstack([posteriors(900, k, seed) for seed in range(3)])
    groups = np.repeat(np.arange(3, dtype=np.int32), 900)
    C[:, 900:910], groups[900:1800] = C[:, :10], np.arange(900) % 2 + 1
    whole = Sketch(k, cells_per_group=cells)
    whole.add(C, groups)
    order = np.random.default_rng(1).permutation(2700)
    parts = [Sketch(k, cells_per_group=cells) for _ in range(4)]
    for part, rows in zip(parts, np.array_split(order, [5, 900, 1000]), strict=True):
        part.add(np.ascontiguousarray(C[:, rows]), groups[rows])
    merged = Sketch(k, cells_per_group=cells)
    for part in parts:
        merged.merge(part, np.arange(3))
    for ours, theirs in zip(whole.cells(), merged.cells(), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(whole.levels(3), merged.levels(3))
    for group in range(3):
        alone = Sketch(k, cells_per_group=cells)
        alone.add(np.ascontiguousarray(C[:, groups == group]), np.zeros((groups == group).sum(), dtype=np.int32))
        of_group = [part[whole.cells()[0] == group] for part in whole.cells()[1:]]
        for ours, theirs in zip(of_group, alone.cells()[1:], strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("sharpness", [1.0, 3.0, 8.0])
@pytest.mark.parametrize("k", [6, 10, 25])
def test_shares_of_a_sample_are_near_those_of_all_items(k, sharpness):
    generator = np.random.default_rng(k)
    shares = generator.dirichlet(np.ones(k))
    y = generator.choice(k, 30_000, p=shares)
    C = np.exp(generator.standard_normal((k, 30_000)) + sharpness * (y == np.arange(k)[:, None]))
    C /= C.sum(axis=0)
    sketch = Sketch(k, cells_per_group=4000)
    sketch.add(C, np.zeros(30_000, dtype=np.int32))
    groups, weights, means = sketch.cells()
    assert sketch.levels(1)[0, 1] > 0
    quantifier = SLD(prior="uniform").fit(Outputs(np.arange(k), k, np.arange(k), np.eye(k)), np.arange(k))
    cells = quantifier.from_sketch(means, Samples(np.arange(len(groups)), [0, len(groups)], counts=weights))
    exact = quantifier.predict(Outputs(np.arange(k), 30_000, posteriors=C.T))
    assert np.abs(quantifier.solve(cells)[0] - exact).mean() < 0.004


@pytest.mark.kernels
def test_posteriors_of_zero_and_one_are_accepted():
    sketch = Sketch(2)
    sketch.add(np.array([[0.0, 1.0, 1e-300], [1.0, 0.0, 1.0]]), np.zeros(3, dtype=np.int32))
    assert sorted(sketch.cells()[1].tolist()) == [1.0, 2.0]


@pytest.mark.kernels
def test_more_cells_than_there_is_room_for_are_refused(monkeypatch):
    monkeypatch.setattr(sketches, "_MOST_NUMBERS", 7 << 14)
    sketch = Sketch(2)
    with pytest.raises(DataError, match="too many groups for a sketch"):
        sketch.add(posteriors(20_000, 2), np.arange(20_000, dtype=np.int32))
