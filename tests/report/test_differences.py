"""The critical-difference diagram: groups, and tests of all pairs that equal those of one pair at a time."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from headcount.report.differences import _groups, differences
from headcount.report.scores import Errors, Key, Row
from headcount.significance import holm
from headcount.study import Results


@pytest.fixture(scope="module")
def errors(study_results):
    return Errors(study_results)


@pytest.mark.parametrize("measure", ["ae", "rae"])
def test_methods_are_sorted_by_mean_rank_and_groups_hold_no_pair_that_differs(errors, measure):
    entry = differences(errors, measure)
    assert entry.measure == measure
    assert entry.mean_ranks == sorted(entry.mean_ranks)
    assert len(entry.methods) == 16
    names = errors.data_sets
    pairs = list(combinations(range(16), 2))
    tests = {
        (i, j): errors.comparisons.joint_test(
            [(Row(*entry.methods[i]).on(name), Row(*entry.methods[j]).on(name)) for name in names], measure
        )[0]
        for i, j in pairs
    }
    judged = {pair: test.p_value for pair, test in tests.items() if test.p_value is not None}
    corrected = dict(zip(judged, holm(list(judged.values())), strict=True))
    different = {pair for pair, p in corrected.items() if p < 0.05}
    assert (entry.n_tests, entry.n_significant) == (len(judged), len(different))
    assert entry.groups
    for first, last in entry.groups:
        assert not different & set(combinations(range(first, last + 1), 2))
        assert last == 15 or different & set(combinations(range(first, last + 2), 2)) or last + 1 in entry.not_judged
    joined = {pair for first, last in entry.groups for pair in combinations(range(first, last + 1), 2)}
    neighbours = {(i, i + 1) for i in range(15)} - different
    assert neighbours <= joined | {(i, j) for i, j in neighbours if {i, j} & set(entry.not_judged)}


def test_all_pairs_equal_the_tests_of_one_pair_at_a_time(errors):
    keys = [Key("even", method, "lr", "ae") for method in ("CC", "PACC", "SLD")]
    tests = errors.comparisons.all_pairs([{"even": key} for key in keys], "ae")
    for (i, j), test in tests.items():
        alone = errors.comparisons.test(keys[i], keys[j], "ae")
        assert test.difference == pytest.approx(alone.difference)
        assert test.pool_variance == pytest.approx(alone.pool_variance)
        assert test.p_value == pytest.approx(alone.p_value)


def test_influence_is_linear(errors):
    pool = errors.comparisons._pool("even")
    x, y = np.random.default_rng(0).random((2, pool.n_samples))
    np.testing.assert_allclose(pool.influence(x) - pool.influence(y), pool.influence(x - y), atol=1e-12)
    assert pool.variance(x - y, pool.influence(x) - pool.influence(y)) == pytest.approx(pool.variance(x - y))


def test_groups_are_the_longest_runs_of_neighbours():
    different = {(0, 2), (0, 3), (1, 3), (0, 4), (1, 4), (2, 4), (3, 4)}
    assert _groups([0, 1, 2, 3, 4], different) == [(0, 1), (1, 2), (2, 3)]
    assert _groups([0, 1, 2, 3, 4], set()) == [(0, 4)]
    assert _groups([0, 1], {(0, 1)}) == []
    assert _groups([0, 2, 3], {(2, 3)}) == [(0, 2)]  # 1 can't be judged


def test_methods_with_one_run_are_not_judged(study_results):
    methods = tuple(replace(m, runs=1) for m in study_results.plan.methods if m.name in ("CC", "ACC", "PACC"))
    one_run = Results(replace(study_results.plan, methods=methods), study_results.store.folder)
    entry = differences(Errors(one_run), "ae")
    assert {entry.methods[i][0] for i in entry.not_judged} == {"ACC", "PACC"}
    nothing = Results(replace(study_results.plan, data_sets=("odd",)), study_results.store.folder)
    assert differences(Errors(nothing), "ae") is None
