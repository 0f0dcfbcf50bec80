"""Ranks of methods over data sets, against scipy's Friedman test and Demšar's worked example."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from headcount.exceptions import DataError
from headcount.significance import compare_ranks

# Demšar (2006), table 6: AUC of four classifiers on 14 sets; ranks and statistics are worked out there.
AUC = """.763 .768 .771 .798 .599 .591 .590 .569 .954 .971 .968 .967 .628 .661 .654 .657 .882 .888 .886 .898 .936 .931 .916 .931
.661 .668 .609 .685 .583 .583 .563 .625 .775 .838 .866 .875 1.000 1.000 1.000 1.000 .940 .962 .965 .962 .619 .666 .614 .669
.972 .981 .9751 .975 .957 .978 .946 .970"""


def demsar():
    return -np.array([float(x) for x in AUC.split()]).reshape(14, 4)


def test_the_worked_example_of_demsar():
    result = compare_ranks(demsar(), ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"], test="nemenyi")
    np.testing.assert_allclose(result.mean_ranks, [3.143, 2.0, 2.893, 1.964], atol=5e-4)
    assert result.critical_difference == pytest.approx(1.25, abs=0.005)
    assert compare_ranks(demsar(), alpha=0.1, test="nemenyi").critical_difference == pytest.approx(1.12, abs=0.005)
    assert result.groups() == [["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]]


def test_friedman_is_that_of_scipy_with_ties_and_without():
    for errors in (demsar(), np.random.default_rng(0).random((9, 5)), np.random.default_rng(0).integers(0, 3, (20, 4))):
        result = compare_ranks(errors)
        chi2 = stats.friedmanchisquare(*np.asarray(errors, dtype=float).T).statistic
        n, k = np.shape(errors)
        assert result.statistic == pytest.approx((n - 1) * chi2 / (n * (k - 1) - chi2))
        assert result.p_value == pytest.approx(stats.f.sf(result.statistic, k - 1, (k - 1) * (n - 1)))


def test_pairs_are_tested_by_wilcoxon_and_corrected_by_holm():
    rng = np.random.default_rng(3)
    errors = rng.random((25, 1)) + [0.0, 0.02, 0.2] + 0.1 * rng.random((25, 3))
    result = compare_ranks(errors, ["a", "b", "c"])
    raw = sorted(stats.wilcoxon(errors[:, i] - errors[:, j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2)))
    assert result.p_pairs[0, 2] == pytest.approx(
        max(3 * raw[0], 2 * raw[1]) if raw[1] * 2 > raw[0] * 3 else 3 * raw[0], rel=1
    )
    assert result.p_pairs[0, 1] == pytest.approx(max(raw[2], 2 * raw[1]))
    assert (result.p_pairs == result.p_pairs.T).all()
    assert "b" in result.summary()
    assert compare_ranks(np.ones((5, 3))).p_value == 1.0


def test_false_positives_are_as_rare_as_alpha_says():
    """400 simulations of 4 methods that are alike on 20 sets: standard error 1.1 points."""
    rng = np.random.default_rng(5)
    found = np.mean([compare_ranks(rng.random((20, 4))).p_value < 0.05 for _ in range(400)])
    assert 0.02 <= found <= 0.08


def test_summary_in_words():
    rng = np.random.default_rng(0)
    base = rng.random((30, 1))
    alike = compare_ranks(base + 0.1 * rng.random((30, 3)), ["a", "b", "c"])
    assert alike.summary().startswith("Over 30 data sets Friedman's test does not tell the 3 methods apart (p = ")
    best = compare_ranks(base + [0.0, 0.0, 1.0, 2.0] + 0.1 * rng.random((30, 4)), ["a", "b", "c", "d"])
    assert "The best by mean rank is " in best.summary()
    assert best.summary().endswith("c 3.00, d 4.00.")


@pytest.mark.parametrize(
    ("errors", "names", "sentence"),
    [
        ([[1.0]], None, "at least two methods"),
        ([[1.0, np.nan], [1.0, 2.0]], None, "finite numbers"),
        (np.ones((3, 2)), ["a", "a"], "each needs one of its own"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(errors, names, sentence):
    with pytest.raises(DataError, match=sentence):
        compare_ranks(errors, names)
    with pytest.raises(DataError, match="'wilcoxon' or 'nemenyi'"):
        compare_ranks(np.ones((3, 2)), test="t")


def test_wilcoxons_test_counts_all_signs_with_ties_and_zeros_too():
    rng = np.random.default_rng(13)
    for n, digits in ((6, 1), (9, 1), (9, 9), (11, 1)):
        for _ in range(20):
            differences = rng.normal(0.3, 1.0, n).round(digits)
            ranks = stats.rankdata(np.abs(differences))
            moved = ranks[differences != 0.0]
            signs = np.array(list(product([0.0, 1.0], repeat=len(moved))))
            sums, own = signs @ moved, ranks[differences > 0.0].sum()
            expected = min(1.0, 2.0 * min((sums <= own + 1e-9).mean(), (sums >= own - 1e-9).mean()))
            assert compare_ranks(np.column_stack([differences, np.zeros(n)])).p_pairs[0, 1] == pytest.approx(expected)
    for n in (20, 50, 51, 80):
        differences = rng.normal(0.2, 1.0, n)
        pairs = compare_ranks(np.column_stack([differences, np.zeros(n)])).p_pairs
        assert pairs[0, 1] == pytest.approx(stats.wilcoxon(differences).pvalue)
