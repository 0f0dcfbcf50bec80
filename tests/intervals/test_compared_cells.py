"""Intervals of methods that compare several histograms or distribution functions: vectors by hand, and coverage."""

import numpy as np
import pytest

from headcount import SORD, DMy, DyS, HDy, Samples, difference, estimate
from headcount.intervals import item_vectors as module
from headcount.intervals.item_vectors import item_vectors
from headcount.simplex import sum_zero_basis
from tests.conftest import frozen, scored_items

CASES = [
    (DyS, 2, {"distance": "l2"}),
    (DyS, 2, {"distance": "topsoe"}),
    (SORD, 2, {}),
    (DMy, 2, {}),
    (DMy, 2, {"distance": "topsoe", "cdf": True}),
    (DMy, 3, {}),
    (DMy, 3, {"distance": "l2", "cdf": True}),
]
"""All but DyS by "topsoe" have vectors of their own; it has those of cell frequencies, as HDy."""
every_compared_case = pytest.mark.parametrize(("quantifier", "k", "options"), [CASES[0], *CASES[2:]])
every_case = pytest.mark.parametrize(("quantifier", "k", "options"), CASES)


def fitted(quantifier, k, options, n=120, seed=0):
    codes, P = scored_items(n, k, seed, 1.0)
    return quantifier(frozen(range(k)), **options).fit(P, codes)


def sample(k, n=200, seed=1, shares=None):
    return scored_items(n, k, seed, 1.0, shares)[1]


def vectors_of(q, P, shares):
    return item_vectors(q, q.reduce(q.outputs(P)), shares)


def test_one_histogram_gives_the_vectors_of_cell_frequencies():
    """HDy and DMy with as many bins compare the same cells, by two classes of vectors."""
    hdy, dmy = fitted(HDy, 2, {"bins": (7,)}), fitted(DMy, 2, {"bins": 7})
    P, shares = sample(2), np.array([[0.3, 0.7]])
    one, other = vectors_of(hdy, P, shares), vectors_of(dmy, P, shares)
    assert type(one) is not type(other)
    for ours, theirs in (
        (other.labelled(0), one.labelled(0)),
        (other.plugged_in(0), one.plugged_in(0)),
        (other.means(), one.means()),
        (other.observed(), one.observed()),
        (other.extremes(0), one.extremes(0)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)


@every_compared_case
def test_the_vector_of_a_labelled_item_is_that_of_a_table_without_it(quantifier, k, options):
    q = fitted(quantifier, k, options, n=40)
    shares = np.full((1, k), 1 / k)
    vectors = vectors_of(q, sample(k), shares)
    representation, solver, codes = q.representation, q.solver, q.validation_codes_
    one_hot = representation.coarsened(representation.vectors(q.validation_outputs_))
    added = 0.0 if solver.squares else 0.5
    n_cells = one_hot.shape[1] / one_hot[0].sum()
    for i in (0, 11, 39):
        others = np.arange(len(codes)) != i
        table = np.column_stack(
            [
                solver.compared(one_hot[others & (codes == j)].sum(axis=0) + added)
                / ((others & (codes == j)).sum() + added * n_cells)
                for j in range(k)
            ]
        )
        weights = np.ones(len(table)) if solver.squares else 1 / (table @ vectors.inside[0])
        expected = (solver.compared(one_hot[i]) * weights) @ table @ sum_zero_basis(k)
        np.testing.assert_allclose(vectors.labelled(0)[i], expected, rtol=1e-9, atol=1e-12)


@every_compared_case
def test_blocks_of_items_change_nothing(quantifier, k, options, monkeypatch):
    q, P, shares = fitted(quantifier, k, options), sample(k), np.full((1, k), 1 / k)
    whole = vectors_of(q, P, shares)
    labelled, target = whole.labelled(0), whole.target(0, q.outputs(P))
    monkeypatch.setattr(module, "_BLOCK", 5 * 1001)
    blocks = vectors_of(q, P, shares)
    np.testing.assert_allclose(blocks.labelled(0), labelled, rtol=1e-12)
    np.testing.assert_allclose(blocks.target(0, q.outputs(P)), target, rtol=1e-12)
    np.testing.assert_allclose(target.mean(axis=0), whole.means()[0], rtol=1e-9, atol=1e-12)


@every_case
def test_intervals_contain_the_estimate_whatever_is_asked_for(quantifier, k, options):
    q, P = fitted(quantifier, k, options), sample(k, 300)
    for estimand in ("population", "sample"):
        for method in ("delta", "bootstrap"):
            answer = estimate(q, P, estimand=estimand, method=method, n_replicates=100, random_state=0)
            assert (answer.low >= 0).all()
            assert (answer.low <= answer.shares).all()
            assert (answer.shares <= answer.high).all()
            assert (answer.high <= 1).all()
            assert (answer.high - answer.low > 0).all()
            assert (answer.high - answer.low < 0.9).all()


@every_case
def test_many_samples_at_once_equal_one_by_one(quantifier, k, options):
    q, P = fitted(quantifier, k, options), sample(k, 300)
    rows = [np.arange(100), np.arange(50, 300)]
    together = estimate(q, P, Samples.from_lists(rows))
    for s, items in enumerate(rows):
        alone = estimate(q, P[items])
        np.testing.assert_allclose(together.low[s], alone.low, atol=1e-6)
        np.testing.assert_allclose(together.high[s], alone.high, atol=1e-6)


@every_case
def test_two_samples_are_compared(quantifier, k, options):
    q = fitted(quantifier, k, options, n=600)
    few, many = [0.1, 0.9], [0.7, 0.3]
    if k == 3:
        few, many = [0.1, 0.1, 0.8], [0.7, 0.1, 0.2]
    a, b = (estimate(q, sample(k, 600, seed, shares)) for seed, shares in ((1, few), (2, many)))
    change = difference(a, b)
    assert change.low[0] < 0.6 < change.high[0]
    assert change.p_value[0] < 1e-3
    assert difference(a, a).p_value.tolist() == [1.0] * k


@every_case
def test_intervals_cover_the_truth_with_few_labelled_items(quantifier, k, options):
    """25 labelled items a class, classifier and truth fixed; 120 simulations, with a Monte Carlo error of 2 points."""
    true, n = np.array([0.15, 0.85] if k == 2 else [0.05, 0.35, 0.6]), 120
    generator = np.random.default_rng(5)
    covered, width = np.zeros(k), 0.0
    for seed in range(n):
        codes = np.repeat(np.arange(k), 25)
        scores = np.eye(k)[codes] + generator.standard_normal((len(codes), k))
        P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        q = quantifier(frozen(range(k)), **options).fit(P, codes)
        answer = estimate(q, scored_items(400, k, seed, 1.0, true)[1])
        covered += (answer.low <= true) & (true <= answer.high)
        width += (answer.high - answer.low).mean() / n
    assert (covered / n >= 0.95 - 2 * 0.02).all(), covered / n
    assert width < 0.75


def test_extreme_vectors_are_those_of_an_item_whose_class_is_certain():
    """Histogram c is certain of class c, or that the item is of another class; each adds its ratio."""
    vectors = vectors_of(fitted(DMy, 3, {}, n=600), sample(3), np.array([[0.2, 0.3, 0.5]]))
    extremes, p = vectors.extremes(0), vectors.inside[0]
    for j in range(3):
        ratio = np.zeros(3)
        for c in range(3):
            densities = np.eye(3)[c] if c == j else 1.0 - np.eye(3)[c]
            ratio += densities / (densities @ p)
        np.testing.assert_allclose(extremes[j], ratio @ sum_zero_basis(3), rtol=1e-12)
