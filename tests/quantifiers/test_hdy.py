"""HDy against a plain version with numpy's histograms, one sample and one candidate share at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount import HDy, Outputs, Samples
from headcount.exceptions import DataError, IdentifiabilityWarning
from headcount.quantifiers.histograms import Histograms
from tests.conftest import blobs, frozen, scored_items


def hdy_in_numpy(P_validation, codes, sample, bins, n_candidates=101):
    estimates = []
    for b in bins:
        h0, h1, q = (
            np.histogram(values, bins=b, range=(0, 1))[0] / len(values)
            for values in (P_validation[codes == 0, 1], P_validation[codes == 1, 1], sample)
        )
        candidates = np.linspace(0, 1, n_candidates)
        distances = [np.sqrt(max(0, 1 - np.sqrt(q * (a * h1 + (1 - a) * h0)).sum())) for a in candidates]
        estimates.append(candidates[int(np.argmin(np.round(distances, 12)))])
    return np.median(estimates)


@pytest.mark.kernels
@pytest.mark.parametrize("bins", [tuple(range(10, 111, 10)), (8,), (5, 20, 7)])
def test_hdy_equals_the_plain_version(bins):
    codes, P = scored_items(500, 2, seed=0, separation=1.2)
    q = HDy(frozen([0, 1]), bins=bins).fit(P, codes)
    for seed in range(6):
        _, sample = scored_items(80, 2, seed=10 + seed, separation=1.2, shares=[seed / 5, 1 - seed / 5])
        assert q.predict(sample)[1] == pytest.approx(hdy_in_numpy(P, codes, sample[:, 1], bins), abs=1e-9)


@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_histograms_count_every_item_once_and_fold_exactly(values):
    bins = (10, 20, 30, 60, 80)
    histograms = Histograms(bins)
    out = Outputs.from_posteriors(values, [0, 1])
    counted = histograms.reduce(out, Samples.whole(len(values))).sums
    for b in bins:
        folded = histograms.folded(counted, b)
        assert folded.shape == (1, b)
        assert folded.sum() == len(values)
        alone = Histograms((b,)).reduce(out, Samples.whole(len(values))).sums
        np.testing.assert_array_equal(folded, alone)


def test_a_posterior_on_the_edge_of_two_bins_is_in_the_upper_one():
    values = np.arange(0, 101) / 100
    out = Outputs.from_posteriors(values, [0, 1])
    for b in (10, 50, 90, 100):
        sums = Histograms((b,)).reduce(out, Samples.whole(101)).sums[0]
        bins = np.floor(np.round(values * b, 6)).clip(max=b - 1).astype(int)
        np.testing.assert_array_equal(sums, np.bincount(bins, minlength=b))


def test_classes_with_equal_histograms_warn():
    P = np.tile([[0.3, 0.7], [0.6, 0.4]], (10, 1))
    with pytest.warns(IdentifiabilityWarning, match="the same histograms"):
        q = HDy(frozen([0, 1])).fit(P, np.repeat([0, 1], 10))
    assert q.predict(P)[1] == pytest.approx(0.5)


def test_only_histograms_that_do_not_fold_from_another_are_counted():
    assert Histograms(range(10, 111, 10)).counted == (60, 70, 80, 90, 100, 110)
    assert Histograms([10, 10]).counted == (10,)


@pytest.mark.kernels
def test_weighted_items_count_by_their_weight():
    out = Outputs.from_posteriors([0.05, 0.95], [0, 1])
    sums = Histograms([2]).reduce(out, Samples([0, 1], [0, 2], weights=[3.0, 0.5])).sums
    assert sums.tolist() == [[3.0, 0.5]]


def test_the_middle_is_taken_if_all_shares_fit_equally_well():
    P = np.column_stack([np.repeat([0.95, 0.05], 10), np.repeat([0.05, 0.95], 10)])
    q = HDy(frozen([0, 1])).fit(P, np.repeat([0, 1], 10))
    assert q.predict([[0.5, 0.5]])[1] == pytest.approx(0.5)  # in a bin that is empty in both classes
    finer = HDy(frozen([0, 1]), n_candidates=1001).fit(P, np.repeat([0, 1], 10))
    assert finer.predict(np.repeat(P[[0, 10]], [125, 875], axis=0))[1] == pytest.approx(0.875)


@pytest.mark.parametrize("bins", [(), (1,), (10, 0), (10.5,), [[10]], "ten"])
def test_invalid_bins_raise_a_sentence(bins):
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ValueError, match="bins"):
        HDy(bins=bins).fit(X, y)


def test_parameters_out_of_range_and_three_classes_raise_a_sentence():
    X, y = blobs(60, 2, seed=0)
    with pytest.raises(ValueError, match="'n_candidates' parameter of HDy must be an int in the range"):
        HDy(n_candidates=1).fit(X, y)
    with pytest.raises(DataError, match="two classes"):
        HDy().fit(*blobs(60, 3, seed=0))
