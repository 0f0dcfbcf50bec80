"""Tallies: merged batches give the same shares, intervals and checks as one pass over all items."""

import pickle

import numpy as np
import pytest

from headcount import ACC, CC, MLPE, PACC, PCC, SLD, HDy, Outputs, Samples, difference, differences, estimate
from headcount.checks import check
from headcount.checks.verdict import Advice
from headcount.exceptions import DataError
from headcount.stream import Recipe, Tally, compare_all_groups, compare_groups, estimate_groups
from headcount.stream.tally import InvalidScoresError
from headcount.stream.verdicts import advice_by_reason, verdict_summary
from tests.conftest import blobs, frozen, scored_items

pytestmark = pytest.mark.kernels


def fitted(method, k, n=400, **options):
    codes, P = scored_items(n, k, 1, separation=1.0)
    return method(frozen(range(k)), **options).fit(P, codes), P, codes


def target_sample(n, k, seed=3):
    shares = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    _, P = scored_items(n, k, seed, separation=1.0, shares=shares)
    groups = np.random.default_rng(seed).choice(["b", "a", "c"], n, p=[0.5, 0.3, 0.2])
    return P, groups


def tally_in_batches(recipe, P, groups, size):
    """Add each batch to a separate tally and merge the tallies."""
    merged = recipe.start()
    for start in range(0, len(P), size):
        part = recipe.start()
        values, group_codes = np.unique(groups[start : start + size], return_inverse=True)
        outputs = Outputs.from_posteriors(P[start : start + size], list(range(P.shape[1])))
        part.add(outputs, group_codes.astype(np.int32), values)
        merged = merged + part
    return merged


CASES = [(CC, 2, {}), (CC, 3, {}), (PCC, 3, {}), (ACC, 2, {}), (ACC, 4, {}), (PACC, 2, {}), (PACC, 4, {}), (HDy, 2, {})]


@pytest.mark.parametrize(("method", "k", "more"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_merged_batches_equal_one_pass(method, k, more):
    quantifier, _, _ = fitted(method, k, **more)
    P, groups = target_sample(3000, k)
    outputs, samples = Outputs.from_posteriors(P, list(range(k))), Samples.from_groups(groups)
    tally = tally_in_batches(Recipe(quantifier), P, groups, 700)
    streamed = estimate_groups(tally)
    assert streamed.names == ["a", "b", "c"]
    np.testing.assert_array_equal(streamed.n_items, samples.sizes)
    np.testing.assert_allclose(streamed.shares, quantifier.aggregate(outputs, samples), rtol=0, atol=1e-12)
    if method in (CC, PCC):
        assert streamed.note.startswith(f"{method.__name__} is biased as soon as the class shares differ")
        assert np.isnan(streamed.low).all()
        return
    assert streamed.note == ""
    for estimand in ("population", "sample"):
        streamed = estimate_groups(tally, estimand=estimand)
        one_pass = estimate(quantifier, outputs, samples, estimand=estimand)
        np.testing.assert_allclose(streamed.low, one_pass.low, rtol=0, atol=1e-11)
        np.testing.assert_allclose(streamed.high, one_pass.high, rtol=0, atol=1e-11)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("more", [{"prior": "uniform"}, {"calibration": "bcts"}], ids=["plain", "calibrated"])
def test_sld_in_batches_is_within_its_bound(k, more):
    quantifier, _, _ = fitted(SLD, k, **more)
    P, groups = target_sample(3000, k)
    outputs, samples = Outputs.from_posteriors(P, list(range(k))), Samples.from_groups(groups)
    tally = tally_in_batches(Recipe(quantifier), P, groups, 700)
    assume = None if "calibration" in more else "calibrated"
    streamed, one_pass = estimate_groups(tally, assume=assume), estimate(quantifier, outputs, samples, assume=assume)
    assert streamed.assume == assume
    assert 0 < streamed.precision == tally.precision < 2e-5
    np.testing.assert_allclose(streamed.shares, one_pass.shares, rtol=0, atol=2e-5)
    np.testing.assert_allclose(streamed.low, one_pass.low, rtol=0, atol=1e-4)
    np.testing.assert_allclose(streamed.high, one_pass.high, rtol=0, atol=1e-4)
    R = quantifier.calibrated(outputs).posteriors / quantifier.prior_
    for s, rows in enumerate(samples):
        exact, approximate = (np.log(R[rows] @ shares).mean() for shares in (one_pass.shares[s], streamed.shares[s]))
        assert exact - approximate <= streamed.precision + 1e-12


def test_checks_of_merged_batches_equal_those_of_one_pass():
    quantifier, P_labelled, codes = fitted(PACC, 3, n=900)
    P, groups = target_sample(3000, 3)
    tally = tally_in_batches(Recipe(quantifier, (P_labelled, codes)), P, groups, 500)
    streamed = estimate_groups(tally)
    for g, name in enumerate(streamed.names):
        report = check(quantifier, Outputs.from_posteriors(P[groups == name], [0, 1, 2]))
        assert (streamed.verdicts[g], streamed.advice[g]) == (report.verdict, report.advice)
        assert streamed.reports[g].p_label_shift == pytest.approx(report.p_label_shift, abs=1e-9)


def test_drifted_items_are_not_trusted():
    quantifier, P_labelled, codes = fitted(PACC, 2, n=2000)
    recipe = Recipe(quantifier, (P_labelled, codes))
    tally = recipe.start()
    tally.add(Outputs.from_posteriors(np.full((2000, 2), 0.5), [0, 1]))
    assert estimate_groups(tally).verdicts == ["do not trust"]


def test_decisions_without_posteriors_are_enough_for_acc():
    quantifier, _, _ = fitted(ACC, 2)
    tally = Recipe(quantifier).start()
    tally.add(
        Outputs.from_decisions([0, 1, 1, 0] * 20, [0, 1]), np.array([0, 0, 1, 1] * 20, dtype=np.int32), ["x", None]
    )
    result = estimate_groups(tally)
    assert result.names == ["x", None]
    assert result.n_items.tolist() == [40, 40]
    np.testing.assert_allclose(result.shares[0], quantifier.aggregate(Outputs.from_decisions([0, 1] * 20, [0, 1]))[0])
    assert result.verdicts == ["not checked", "not checked"]
    assert result.records()[2]["group"] == "(none)"


def test_groups_of_few_items_are_reported_but_not_estimated():
    quantifier, P_labelled, codes = fitted(PACC, 2)
    tally = Recipe(quantifier, (P_labelled, codes)).start()
    _, P = scored_items(103, 2, 0)
    tally.add(Outputs.from_posteriors(P, [0, 1]), (np.arange(103) >= 100).astype(np.int32), ["many", "few"])
    result = estimate_groups(tally)
    assert result.names == ["few", "many"]
    assert result.verdicts[0] == "too few items"
    assert "Too few items for an estimate (3 items)" in result.advice[0][0]
    assert np.isnan(result.shares[0]).all()
    assert np.isfinite(result.low[1]).all()
    frame = result.to_frame()
    assert frame.share.isna().sum() == 2
    assert estimate_groups(tally, min_items=3).verdicts[0] != "too few items"
    with pytest.raises(DataError, match="'few' has too few items"):
        compare_groups(result, "few", "many")
    assert estimate_groups(tally, min_items=1000).verdicts == ["too few items"] * 2


@pytest.mark.parametrize(("method", "more"), [(PACC, {}), (SLD, {"calibration": "bcts"})], ids=["PACC", "SLD"])
def test_comparing_two_groups_equals_the_difference_of_two_estimates(method, more):
    quantifier, _, _ = fitted(method, 2, **more)
    P, groups = target_sample(2000, 2)
    streamed = compare_groups(estimate_groups(tally_in_batches(Recipe(quantifier), P, groups, 600)), "a", "b")
    a, b = (estimate(quantifier, Outputs.from_posteriors(P[groups == name], [0, 1])) for name in "ab")
    one_pass = difference(a, b)
    for attribute in ("change", "low", "high"):
        np.testing.assert_allclose(getattr(streamed, attribute), getattr(one_pass, attribute), atol=1e-4)
    np.testing.assert_allclose(streamed.p_value, one_pass.p_value, atol=0.02)


def test_groups_without_intervals_are_not_compared():
    quantifier, _, _ = fitted(PCC, 2)
    P, groups = target_sample(500, 2)
    tally = tally_in_batches(Recipe(quantifier), P, groups, 500)
    for compare in (lambda found: compare_groups(found, "a", "b"), compare_all_groups):
        with pytest.raises(DataError, match="without intervals: PCC is biased"):
            compare(estimate_groups(tally))
        plain = tally_in_batches(Recipe(fitted(SLD, 2, prior="uniform")[0]), P, groups, 500)
        with pytest.raises(DataError, match="without intervals: without calibration SLD"):
            compare(estimate_groups(plain))
        with pytest.raises(DataError, match="calibrated posteriors give no interval of a difference"):
            compare(estimate_groups(plain, assume="calibrated"))
        with pytest.raises(DataError, match="All groups have too few items"):
            compare(estimate_groups(tally_in_batches(Recipe(fitted(PACC, 2)[0]), P, groups, 500), min_items=1000))
    with pytest.raises(DataError, match="There is no group 'z'; there are a, b, c"):
        compare_groups(estimate_groups(tally_in_batches(Recipe(fitted(PACC, 2)[0]), P, groups, 500)), "a", "z")


@pytest.mark.parametrize("against", ["first", "previous", "all"])
def test_comparing_all_groups_equals_the_differences_of_estimates(against):
    quantifier, _, _ = fitted(PACC, 3)
    P, groups = target_sample(2000, 3)
    found = estimate_groups(tally_in_batches(Recipe(quantifier), P, groups, 600))
    one_pass = differences(
        [estimate(quantifier, Outputs.from_posteriors(P[groups == g], [0, 1, 2])) for g in "abc"], against
    )
    streamed = compare_all_groups(found, against)
    pairs = {"first": ["ab", "ac"], "previous": ["ab", "bc"], "all": ["ab", "ac", "bc"]}
    assert [first + second for first, second in zip(streamed.first, streamed.second, strict=True)] == pairs[against]
    for attribute in ("change", "low", "high", "p_value", "p_single"):
        np.testing.assert_allclose(getattr(streamed, attribute), getattr(one_pass, attribute), rtol=1e-6, atol=1e-9)


def test_groups_to_compare_can_be_named_in_another_order_and_small_ones_are_left_out():
    quantifier, _, _ = fitted(PACC, 2)
    P, groups = target_sample(500, 2)
    groups = np.where(np.arange(500) < 3, "few", groups)
    found = estimate_groups(tally_in_batches(Recipe(quantifier), P, groups, 500))
    assert found.comparable == ["a", "b", "c"]
    named = compare_all_groups(found, names=["c", "a"])
    assert (named.first, named.second) == (["c"], ["a"])
    alone = compare_groups(found, "c", "a")
    np.testing.assert_allclose(named.change[0], alone.change)
    np.testing.assert_allclose(named.p_single[0], alone.p_value)
    assert set(compare_all_groups(found, "all").second) == {"b", "c"}
    with pytest.raises(DataError, match="'few' has too few items"):
        compare_all_groups(found, names=["a", "few"])
    with pytest.raises(DataError, match="at least two groups with enough items; there is 1 of 4"):
        compare_all_groups(found, names=["a"])
    with pytest.raises(DataError, match=r"against \(--against\) must be 'first', 'previous' or 'all'; got 'last'"):
        compare_all_groups(found, "last")


def test_only_likelihoods_have_intervals_that_assume_calibrated_posteriors():
    P, groups = target_sample(500, 2)
    for method in (PACC, PCC):
        tally = tally_in_batches(Recipe(fitted(method, 2)[0]), P, groups, 500)
        with pytest.raises(DataError, match=f"such as SLD, have intervals .* {method.__name__} does not"):
            estimate_groups(tally, assume="calibrated")
    with pytest.raises(DataError, match="assume must be one of None, 'calibrated'; got 'no-shift'"):
        estimate_groups(tally, assume="no-shift")


def test_mlpe_gives_the_training_shares_for_any_items():
    quantifier = MLPE().fit([[0.0]] * 4, [0, 0, 0, 1])
    tally = Recipe(quantifier).start()
    tally.add(Outputs(quantifier.classes_, 50, decisions=np.zeros(50, dtype=int)))
    assert estimate_groups(tally).shares.tolist() == [[0.75, 0.25]]


def test_rows_that_are_not_posteriors_are_refused():
    quantifier, _, _ = fitted(PACC, 2)
    for wrong in ([0.5, 0.6], [np.nan, 1.0], [-0.1, 1.1], [np.inf, 0.0]):
        C = np.array([[0.5, 0.5], wrong]).T.copy()
        with pytest.raises(InvalidScoresError) as caught:
            Recipe(quantifier).start().add_columns(C)
        assert caught.value.row == 1
    tally = Recipe(quantifier).start()
    tally.add_columns(np.array([[-1e-12], [1.0]]))
    assert tally.sums["method"].sums.tolist() == [[0.0, 1.0]]


def test_too_many_groups_and_an_empty_tally_are_refused():
    quantifier, _, _ = fitted(CC, 2)
    tally = Recipe(quantifier).start()
    with pytest.raises(DataError, match="no items"):
        estimate_groups(tally)
    with pytest.raises(DataError, match="more than 10,000 groups"):
        tally.add(Outputs.from_decisions([0] * 10_001, [0, 1]), np.arange(10_001, dtype=np.int32), list(range(10_001)))


def test_tallies_can_be_pickled():
    quantifier, P_labelled, codes = fitted(SLD, 2, calibration="bcts")
    P, groups = target_sample(500, 2)
    tally = tally_in_batches(Recipe(quantifier, (P_labelled, codes)), P, groups, 200)
    copy = pickle.loads(pickle.dumps(tally))
    np.testing.assert_array_equal(estimate_groups(copy).shares, estimate_groups(tally).shares)
    assert isinstance(copy, Tally)
    assert len(copy) == 3
    assert copy.n_items == 500
    assert "3 groups" in repr(estimate_groups(copy))


@pytest.mark.parametrize("method", [ACC, PACC, HDy, lambda **more: SLD(calibration="bcts", **more)])
def test_scores_of_one_classifier_can_be_added_to_a_cross_fitted_quantifier(method):
    X, y = blobs(300, 2, 0)
    q = method(random_state=0).fit(X, y)
    P = q.validation_outputs_.need("posteriors") if method is not ACC else np.eye(2)[q.validation_outputs_.decisions]
    by_columns, by_outputs = Recipe(q).start(), Recipe(q).start()
    by_columns.add_columns(np.ascontiguousarray(P.T))
    by_outputs.add(q.validation_outputs_)
    assert by_columns.n_items == by_outputs.n_items == 300
    groups = [estimate_groups(tally) for tally in (by_columns, by_outputs)]
    np.testing.assert_array_equal(groups[0].shares, groups[1].shares)
    np.testing.assert_array_equal(groups[0].low, groups[1].low)
    np.testing.assert_allclose(groups[0].shares, q.aggregate(q.validation_outputs_), atol=1e-3)


def test_outputs_of_another_number_of_folds_are_refused():
    X, y = blobs(300, 2, 0)
    five, three = (PACC(validation=k, random_state=0).fit(X, y) for k in (5, 3))
    with pytest.raises(DataError, match="of 3 fold classifiers, and the quantifier has 5"):
        Recipe(five).start().add(three.outputs(X))


def test_checks_of_cross_fitted_scores_count_all_folds():
    X, y = blobs(900, 3, 0)
    q = PACC(random_state=0).fit(X, y)
    tally = Recipe(q, (q.validation_outputs_.posteriors, q.validation_codes_)).start()
    outputs = q.outputs(blobs(500, 3, 1)[0])
    tally.add(outputs)
    cells = tally.recipe.cells.representation
    by_hand = np.mean([np.bincount(cells.codes(fold), minlength=cells.width(3)) for fold in outputs.folds], axis=0)
    np.testing.assert_allclose(tally.sums["cells"].sums[0], by_hand, atol=1e-8)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["trust"] * 12, "All 12 groups look fine: the shares can be used."),
        (["caution"] * 64, "All 64 groups need a look before their shares are used (caution)."),
        (["caution", "caution"], "Both groups need a look before their shares are used (caution)."),
        (["caution"], "Something looks unusual (caution): read why before you use the shares."),
        (["do not trust"], "These shares should not be used (do not trust): read why."),
        (["too few items"], "There are too few items for an estimate: use longer periods or larger groups."),
        (["too few items"] * 2, "All groups have too few items for an estimate: use longer periods or larger groups."),
        (["not checked"], "Whether the shares can be trusted was not checked. Because."),
        (
            ["trust", "caution", "do not trust", "do not trust", "too few items", "not checked"],
            "1 of 6 groups looks fine. 1 of 6 needs a look before its shares are used (caution). 2 of 6 have shares that should "
            "not be used (do not trust). 1 of 6 has too few items for an estimate. 1 of 6 could not be checked. Of 20 groups in "
            "which nothing is wrong, about one gets caution by chance.",
        ),
    ],
)
def test_verdicts_are_summarised_in_plain_words(verdicts, words):
    assert verdict_summary(verdicts, [["Because."]] * len(verdicts)) == words


def test_notes_come_after_reasons_for_warnings():
    far, new = (
        Advice("The shares are far off{}.", "31 points", is_note=True),
        Advice("There is a new kind{}.", "p = 0.01"),
    )
    reasons = advice_by_reason(["May", "June"], ["do not trust", "trust"], [[far, new], [far]])
    assert reasons == [
        ("There is a new kind.", [("May", "p = 0.01")]),
        ("The shares are far off.", [("May", "31 points"), ("June", "31 points")]),
    ]
    assert pickle.loads(pickle.dumps(far)).is_note
