"""Ranks of a league against a computation of their own; which sets count once; what is ranked; words that admit ties."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, rankdata, wilcoxon

from headcount.report.league import View, rank, standings
from headcount.report.league.groups import group_rankings
from headcount.report.league.words import unranked_in_words, verdict, where
from tests.report.league.leagues import WithItems, made_up

TWO = View("lr", "none", "ae")


def name_of(facts):
    return facts.name.rpartition("/")[2]


@pytest.fixture(scope="module")
def table(results):
    return standings(results)


def own_means(results, method, sets, target="none", rows=slice(None)):
    """Return the mean error of a method on data sets, from the estimates themselves."""
    cells = {
        cell.data_set.rpartition("/")[2]: cell
        for cell in results.cells
        if (cell.method, cell.target) == (method, target)
    }
    return [np.abs(cells[name].estimated - cells[name].true)[rows].mean() for name in sets]


def test_mean_ranks_are_those_of_the_estimates(results, table):
    ranking = rank(table, TWO)
    sets = ["a", "b", "c", "like-a"]
    assert [[name_of(facts) for facts in unit] for unit in ranking.units] == [[name] for name in sets]
    methods = ["CC", "PACC", "SLD", "HDy", "MLPE"]
    errors = np.array([own_means(results, method, sets) for method in methods]).T
    means = dict(zip(methods, rankdata(errors.round(7), axis=1).mean(axis=0), strict=True))
    assert {e.method: m for e, m in zip(ranking.entrants, ranking.mean_ranks, strict=True)} == pytest.approx(means)
    assert list(ranking.mean_ranks) == sorted(means.values())
    assert ranking.entrants[-1].method == "MLPE"  # it answers the training shares, whatever the sample
    assert ranking.mean_ranks[-1] > 4.5
    expected = friedmanchisquare(*errors.T).statistic
    n, k = errors.shape
    assert ranking.comparison.statistic == pytest.approx((n - 1) * expected / (n * (k - 1) - expected), rel=1e-6)


def test_parts_are_ranked_by_their_own_samples(results, table):
    parts = results.parts(results.plan.data_sets[0])
    for name, rows in parts.items():
        ranking = rank(table, replace(TWO, part=name))
        for j, entrant in enumerate(ranking.entrants):
            expected = own_means(results, entrant.method, ["a", "b", "c", "like-a"], rows=rows)
            np.testing.assert_allclose(ranking.errors[:, j], expected, atol=1e-8)


@pytest.mark.parametrize("by", ["items", "same_items_as"])
def test_sets_of_the_same_items_count_once(league, results, table, by):
    same = standings(WithItems(*league, by=by))
    ranking = rank(same, TWO)
    assert [[name_of(facts) for facts in unit] for unit in ranking.units] == [["a", "like-a"], ["b"], ["c"]]
    assert ranking.n_sets == 4
    assert ranking.comparison.n_sets == 3
    j = [entrant.method for entrant in ranking.entrants].index("PACC")
    assert ranking.errors[0, j] == pytest.approx(np.mean(own_means(results, "PACC", ["a", "like-a"])), abs=1e-8)


def test_only_methods_that_suit_all_sets_are_ranked(table):
    two, every = rank(table, TWO), rank(table, replace(TWO, classes="any"))
    assert "HDy" in [entrant.method for entrant in two.entrants]
    assert {entrant.method for entrant in every.entrants} == {"CC", "PACC", "SLD", "MLPE"}
    assert [(e.method, reason) for e, reason in every.unranked] == [("HDy", "suits 4 of 5 data sets")]
    assert every.errors.shape == (5, 4)
    assert "HDy lr (suits 4 of 5 data sets)" in unranked_in_words(every)


def test_targets_are_entrants_of_their_own(table):
    chosen = rank(table, replace(TWO, target="ae"))
    assert {(e.method, e.target) for e in chosen.entrants} == {("CC", "ae"), ("PACC", "ae"), ("MLPE", "none")}
    both = rank(table, replace(TWO, target=""))
    assert len(both.entrants) == 7
    assert {"CC lr", "CC lr, chosen for AE"} <= {*both.names}


def test_an_entrant_with_few_figures_is_left_out_and_else_its_sets():
    errors = np.random.default_rng(1).random((20, 4))
    errors[:3, 0] = np.nan  # on 85 % of the sets
    errors[7, 2] = np.nan
    ranking = rank(made_up(errors), TWO)
    assert [e.method for e, _ in ranking.unranked] == ["M0"]
    assert ranking.sets_left_out == ["set 7"]
    assert ranking.errors.shape == (19, 3)
    assert "set 7" in unranked_in_words(ranking)


def test_verdict_names_the_best_alone_where_the_test_says_so():
    rng = np.random.default_rng(2)
    errors = 0.1 + 0.01 * rng.random((30, 4)) + [0.0, 0.05, 0.06, 0.2]
    ranking = rank(made_up(errors), TWO)
    assert ranking.test == "wilcoxon"
    assert "M0 has the best mean rank of 4 methods: 1.0" in verdict(ranking)
    assert "It is better than every other one at the level of 5 % (Wilcoxon" in verdict(ranking)


def test_verdict_admits_what_it_can_not_tell():
    rng = np.random.default_rng(3)
    tied = 0.1 + 0.01 * rng.random((30, 4)) + [0.0, 0.0005, 0.06, 0.2]
    ranking = rank(made_up(tied), TWO)
    p = wilcoxon(tied[:, 0] - tied[:, 1]).pvalue
    assert p > 0.05
    first, second = ranking.names[:2]
    assert {first, second} == {"M0", "M1"}
    assert f"can't be told apart from {second}; it is better than the other 2" in verdict(ranking)
    nothing = rank(made_up(rng.random((12, 4))), TWO)
    assert "these data sets can't tell the methods apart" in verdict(nothing)
    assert len(nothing.equals_of_first()) == 3
    same = rank(made_up(np.repeat(rng.random((12, 1)), 4, axis=1)), TWO)
    assert "M0, M1, M2 and M3 share the best mean rank" in verdict(same)


def test_few_sets_are_judged_by_the_test_that_can_find_something():
    errors = 0.1 + 0.001 * np.random.default_rng(4).random((6, 5)) + np.arange(5)
    ranking = rank(made_up(errors), TWO)
    assert ranking.test == "nemenyi"  # Wilcoxon's least p is 2 / 64, and Holm takes it ten times
    assert [entrant.method for entrant in ranking.equals_of_first()] == ["M1", "M2"]
    assert "6 data sets are too few for Wilcoxon's" in verdict(ranking)


def test_ties_of_seven_decimals_share_their_ranks():
    errors = np.array([[0.1, 0.1 + 1e-9, 0.2]] * 4)
    ranking = rank(made_up(errors), TWO)
    assert list(ranking.mean_ranks) == [1.5, 1.5, 3.0]
    assert list(ranking.wins) == [4, 4, 0]


def test_kinds_sizes_and_imbalances_choose_sets():
    table = made_up(np.random.default_rng(5).random((9, 3)), kinds=["tables"] * 6 + ["texts"] * 3)
    assert len(rank(table, replace(TWO, kind="texts")).units) == 3
    assert [unit[0].name for unit in rank(table, replace(TWO, size="over 2,000")).units] == ["set 2", "set 5", "set 8"]
    assert [unit[0].name for unit in rank(table, replace(TWO, imbalance="under 10 %")).units] == [
        "set 0",
        "set 3",
        "set 6",
    ]


def test_each_group_has_its_own_ranking_and_test():
    rng = np.random.default_rng(11)
    errors = 0.1 + 0.01 * rng.random((30, 3)) + [0.0, 0.02, 0.05]
    errors[::3, 2] = 0.01  # M2 is the best where the rarest class has under 10 % and there are up to 500 items
    table = made_up(errors)
    whole = rank(table, TWO)
    assert whole.names[0] == "M0"
    groups = group_rankings(table, whole)
    first = {(group.by, group.group): group.ranking.names[0] for group in groups}
    assert first["share of the rarest class", "under 10 %"] == first["labelled items", "up to 500"] == "M2"
    assert first["share of the rarest class", "over 30 %"] == "M0"
    assert [group.group for group in groups if group.by == "test samples"] == table.parts[1:]
    worse = [group.group for group in groups if group.told_from_first(whole.entrants[0])]
    assert worse == ["under 10 %", "up to 500"]
    said = " ".join(where(whole, groups))
    assert (
        f"Of {len(groups)} groups of test samples and data sets, M0 has the best mean rank in {len(groups) - 2}" in said
    )
    assert "M0 is worse than the first, by the test, in 2 of them: share of the rarest class under 10 % (M2); " in said


def test_shifts_are_ranked_over_the_sets_that_have_them():
    table = made_up(np.random.default_rng(12).random((12, 3)))
    table.by_shift[:8, :, 6] = np.nan  # few sets have samples so far from their training part
    last = next(g for g in group_rankings(table, rank(table, TWO)) if g.group == "0.5 and more")
    assert len(last.ranking.units) == 4
    np.testing.assert_allclose(sorted(last.ranking.errors[0]), sorted(table.by_shift[8, :, 6]))
