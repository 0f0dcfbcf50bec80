"""Intervals: what they are made of, that they hold, and that what has none is refused with the reason."""

import joblib
import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from headcount import (
    ACC,
    CC,
    MLPE,
    PACC,
    PCC,
    SLD,
    ArtificialPrevalence,
    HDy,
    QuantifierSearch,
    Samples,
    difference,
    estimate,
)
from headcount.exceptions import DataError
from tests.conftest import blobs, frozen, scored_items

WITH_INTERVALS = [ACC, PACC, SLD]


def fitted(quantifier, k=2, n=300, seed=0, separation=1.2):
    codes, P = scored_items(n, k, seed, separation)
    options = {"prior": "uniform"} if quantifier is SLD else {}
    return quantifier(frozen(range(k)), **options).fit(P, codes)


def target_sample(n=400, k=2, seed=1, shares=None, separation=1.2):
    return scored_items(n, k, seed, separation, shares)[1]


every = pytest.mark.parametrize("quantifier", WITH_INTERVALS)
both_ways = pytest.mark.parametrize("method", ["delta", "bootstrap"])
whose = pytest.mark.parametrize("estimand", ["population", "sample"])


@every
@both_ways
@whose
@pytest.mark.parametrize("k", [2, 3])
def test_intervals_surround_the_estimate_inside_the_simplex(quantifier, method, estimand, k):
    q = fitted(quantifier, k)
    for shares in (None, np.eye(k)[0], np.eye(k)[-1] * 0.98 + 0.02 / k):
        target = target_sample(k=k, shares=shares)
        answer = estimate(q, target, method=method, estimand=estimand, random_state=0, n_replicates=200)
        np.testing.assert_allclose(answer.shares, q.predict(target), atol=1e-12)
        assert (answer.low <= answer.shares).all()
        assert (answer.shares <= answer.high).all()
        assert (answer.low >= 0).all()
        assert (answer.high <= 1).all()
        assert (answer.high - answer.low > 1e-4).all()  # never a point, not even at 0 and 1


def test_the_delta_method_by_hand():
    """Two classes, PACC: the variance of each mean, and the roots of Fieller's quadratic found by a search."""
    codes, P = scored_items(200, 2, 0, 1.2)
    target = target_sample()
    q = PACC(frozen([0, 1])).fit(P, codes)
    f, t = (P[codes == j, 1] for j in (0, 1))
    n, share = len(target), q.predict(target)[1]
    smoothed = (n * share + 1) / (n + 2)
    spread = (1 - smoothed) * f.var(ddof=1) + smoothed * t.var(ddof=1)
    spread += smoothed * (1 - smoothed) * (t.mean() - f.mean()) ** 2
    of_target = target[:, 1].var() / n  # more than half of what the classes' own spread gives, or that would be taken
    assert of_target > spread / n / 2
    of_f, of_t = f.var(ddof=1) / len(f), t.var(ddof=1) / len(t)
    terms = np.array([of_target, (1 - share) ** 2 * of_f, share**2 * of_t])
    degrees = terms.sum() ** 2 / (terms**2 / [n - 1, len(f) - 1, len(t) - 1]).sum()
    z = student.ppf(0.975, degrees)

    def standardised(p):
        variance = of_target + (1 - p) ** 2 * of_f + p**2 * of_t
        return abs(target[:, 1].mean() - (1 - p) * f.mean() - p * t.mean()) / np.sqrt(variance)

    grid = np.linspace(0, 1, 100_001)
    inside = grid[standardised(grid) <= z]
    answer = estimate(q, target)
    assert answer.low[1] == pytest.approx(inside[0], abs=2e-5)
    assert answer.high[1] == pytest.approx(inside[-1], abs=2e-5)
    assert answer.low[0] == pytest.approx(1 - answer.high[1])


@pytest.mark.kernels
def test_the_likelihood_ratio_by_hand():
    target = target_sample(shares=[0.9, 0.1])
    q = fitted(SLD)
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    likelihood = np.log(2 * target @ np.vstack([1 - grid, grid])).sum(axis=0)
    inside = grid[2 * (likelihood.max() - likelihood) <= norm.ppf(0.975) ** 2]
    answer = estimate(q, target)
    assert answer.low[1] == pytest.approx(inside[0], abs=1e-4)
    assert answer.high[1] == pytest.approx(inside[-1], abs=1e-4)


@every
def test_the_sample_is_known_better_than_the_population(quantifier):
    q = fitted(quantifier, n=5000)
    widths = [
        np.ptp([a.low[1], a.high[1]])
        for a in (estimate(q, target_sample(), estimand=e) for e in ("sample", "population"))
    ]
    assert widths[0] < 0.95 * widths[1]


@every
@both_ways
def test_both_sides_count(quantifier, method):
    """More items of the target narrow the interval; so do more labelled ones, but for SLD: its labelled side is the classifier."""
    width = {}
    for n_labelled in (100, 5000):
        for n_target in (200, 5000):
            q = fitted(quantifier, n=n_labelled)
            answer = estimate(q, target_sample(n_target), method=method, random_state=0, n_replicates=300)
            width[n_labelled, n_target] = answer.high[1] - answer.low[1]
    assert width[5000, 5000] < 0.6 * width[5000, 200]
    if quantifier is not SLD:
        assert width[5000, 5000] < 0.6 * width[100, 5000]


@every
def test_level_and_simultaneous_intervals_widen(quantifier):
    q = fitted(quantifier, 3)
    out = q.outputs(target_sample(600, 3))
    samples = Samples.from_matrix(np.arange(600).reshape(6, 100))
    plain = estimate(q, out, samples)
    wider = [estimate(q, out, samples, simultaneous=what) for what in ("classes", "samples", "both")]
    for narrow, wide in zip([plain, *wider[:2]], [*wider[:2], wider[2]], strict=True):
        assert ((wide.high - wide.low) >= (narrow.high - narrow.low) - 1e-12).all()
    bonferroni = estimate(q, out, samples, level=1 - 0.05 / 18)
    np.testing.assert_allclose(wider[2].high, bonferroni.high, atol=1e-12)


@every
@both_ways
def test_many_samples_at_once_equal_one_by_one_and_carry_names(quantifier, method):
    q = fitted(quantifier)
    target = target_sample(300)
    groups = np.repeat(["may", "june", "july"], 100)
    together = estimate(q, target, Samples.from_groups(groups), method=method, random_state=0, n_replicates=200)
    assert together.names == ("july", "june", "may")
    assert together.shares.shape == together.low.shape == (3, 2)
    if method == "delta":
        alone = estimate(q, target[groups == "june"])
        np.testing.assert_allclose(together.high[1], alone.high, atol=1e-9)
    frame = together.to_frame()
    assert frame.columns.tolist() == ["sample", "class", "share", "low", "high", "n"]
    assert len(frame) == 6


@every
def test_the_same_seed_gives_the_same_interval_anywhere(quantifier):
    q = fitted(quantifier)
    out = q.outputs(target_sample())

    def bootstrap(seed):
        answer = estimate(q, out, method="bootstrap", random_state=seed, n_replicates=200)
        return answer.low, answer.high

    expected = bootstrap(3)
    assert not np.array_equal(bootstrap(4), expected)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            again = joblib.delayed(estimate)(q, out, method="bootstrap", random_state=3, n_replicates=200)
            for found in joblib.Parallel()([again, again]):
                assert np.array_equal((found.low, found.high), expected)


@pytest.mark.kernels
@pytest.mark.parametrize("estimand", ["population", "sample"])
def test_the_bootstrap_of_sld_agrees_with_its_likelihood(estimand):
    q = fitted(SLD)
    target = target_sample(150, shares=[0.7, 0.3])
    weighted = Samples(np.arange(150), [0, 150], weights=np.tile([0.5, 1.5, 0.0], 50))
    for samples in (Samples.whole(150), weighted):
        a, b = (
            estimate(q, target, samples, method=m, estimand=estimand, random_state=0, n_replicates=100)
            for m in ("delta", "bootstrap")
        )
        assert (b.high - b.low)[0, 1] == pytest.approx((a.high - a.low)[0, 1], rel=0.5)


@every
@both_ways
def test_weights_count_as_fewer_items(quantifier, method):
    q = fitted(quantifier)
    out = q.outputs(target_sample(400))
    equal = Samples(np.arange(400), [0, 400], weights=np.full(400, 7.0))
    unequal = Samples(np.arange(400), [0, 400], weights=np.tile([0.1, 1.9], 200))
    options = {"method": method, "random_state": 0, "n_replicates": 500}
    plain, same, fewer = (estimate(q, out, s, **options) for s in (Samples.whole(400), equal, unequal))
    np.testing.assert_allclose(same.high, plain.high, atol=1e-6)
    assert (fewer.high - fewer.low > plain.high - plain.low).all()


@pytest.mark.parametrize("k", [2, 3])
@every
def test_the_joint_region_holds_the_estimate_and_not_what_is_far(quantifier, k):
    q = fitted(quantifier, k, n=900, separation=2.0)
    answer = estimate(q, target_sample(900, k, separation=2.0))
    assert answer.contains(answer.shares)
    assert not answer.contains(np.eye(k)[0])
    many = estimate(q, target_sample(900, k, separation=2.0), Samples.from_matrix(np.arange(900).reshape(2, 450)))
    assert many.contains(many.shares).tolist() == [True, True]


def test_an_estimate_can_be_read_by_a_person():
    text = repr(estimate(fitted(PACC), target_sample()))
    assert text.startswith("Shares in the population, with 0.95 intervals (PACC, delta)\n  0 ")
    assert "400 items" in text
    q = fitted(PACC)
    assert "more rows" in repr(
        estimate(q, target_sample(400), Samples.from_matrix(np.arange(400).reshape(20, 20)), estimand="sample")
    )


def test_a_search_is_taken_by_its_best():
    X, y = blobs(400, 2, seed=0)
    search = QuantifierSearch(
        PACC(LogisticRegression()),
        {"classifier__C": [0.1, 1.0]},
        protocol=ArtificialPrevalence(3, sample_size=50),
        random_state=0,
    ).fit(X, y)
    assert np.array_equal(estimate(search, X).high, estimate(search.best_estimator_, X).high)


def test_counting_has_no_interval_unless_nothing_has_changed():
    target = target_sample()
    for quantifier in (CC, PCC):
        q = fitted(quantifier)
        with pytest.raises(DataError, match=r"is biased as soon as .* assume='no-shift'"):
            estimate(q, target)
        with pytest.raises(DataError, match="no interval for the sample itself"):
            estimate(q, target, assume="no-shift", estimand="sample")
        answer = estimate(q, target, assume="no-shift")
        assert (answer.low < answer.shares).all()
        with pytest.raises(DataError, match="no joint region"):
            answer.contains([0.5, 0.5])
    n, share = 400, fitted(CC).predict(target)[1]
    wilson = (share + 1.96**2 / (2 * n)) / (1 + 1.96**2 / n)
    answer = estimate(fitted(CC), target, assume="no-shift")
    assert (answer.low[1] + answer.high[1]) / 2 == pytest.approx(wilson, abs=1e-4)


@pytest.mark.parametrize(("quantifier", "words"), [(HDy, "biased where labelled"), (MLPE, "never looks at the items")])
def test_what_has_no_interval_says_why(quantifier, words):
    q = MLPE().fit(target_sample(), np.arange(400) % 2) if quantifier is MLPE else fitted(quantifier)
    with pytest.raises(DataError, match=words):
        estimate(q, target_sample())


def test_a_classifier_that_tells_nothing_rules_nothing_out():
    generator = np.random.default_rng(0)
    P = np.column_stack([p := generator.uniform(0.45, 0.55, 60), 1 - p])
    q = PACC(frozen([0, 1])).fit(P, np.arange(60) % 2)
    answer = estimate(q, P)
    assert answer.high[1] - answer.low[1] > 0.9


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": 95}, "level must be between 0 and 1"),
        ({"estimand": "pile"}, "estimand must be one of 'population', 'sample'"),
        ({"method": "magic"}, "method must be one of"),
        ({"assume": "luck"}, "assume must be one of"),
        ({"simultaneous": True}, "simultaneous must be one of"),
        ({"n_replicates": 5}, "at least 100"),
        ({"samples": [[0, 999]]}, "row number 999"),
    ],
)
def test_wrong_input_gets_a_sentence(options, words):
    with pytest.raises(DataError, match=words):
        estimate(fitted(PACC), target_sample(), **options)


def test_what_is_no_fitted_quantifier_gets_a_sentence():
    with pytest.raises(DataError, match="Expected a fitted quantifier"):
        estimate(LogisticRegression(), target_sample())
    with pytest.raises(NotFittedError):
        estimate(PACC(), target_sample())


@every
def test_differences(quantifier):
    q = fitted(quantifier, n=2000, separation=2.0)
    a, b = (
        estimate(q, target_sample(800, seed=s, shares=shares, separation=2.0))
        for s, shares in ((1, [0.7, 0.3]), (2, [0.4, 0.6]))
    )
    change = difference(a, b)
    assert change.low[1] < 0.3 < change.high[1]
    assert change.p_value[1] < 1e-6
    assert change.change[0] == pytest.approx(-change.change[1])
    same = difference(a, estimate(q, target_sample(800, seed=3, shares=[0.7, 0.3], separation=2.0)))
    assert same.p_value[1] > 0.01
    assert same.low[1] < 0 < same.high[1]
    assert "p = " in repr(change)
    assert (
        np.ptp([difference(a, b, level=0.5).low[1], difference(a, b, level=0.5).high[1]])
        < change.high[1] - change.low[1]
    )


def test_errors_of_a_shared_labelled_side_cancel():
    """Few labelled items: with one quantifier the difference is known much better than with one for each."""
    one, other = fitted(PACC, n=60, seed=0), fitted(PACC, n=60, seed=5)
    a, b = (target_sample(5000, seed=s, shares=[0.6, 0.4]) for s in (1, 2))
    shared = difference(estimate(one, a), estimate(one, b))
    apart = difference(estimate(one, a), estimate(other, b))
    assert shared.high[1] - shared.low[1] < 0.5 * (apart.high[1] - apart.low[1])


def test_differences_that_can_not_be_taken_get_a_sentence():
    q = fitted(PACC)
    one, pair = (
        estimate(q, target_sample()),
        estimate(q, target_sample(), Samples.from_matrix(np.arange(400).reshape(2, 200))),
    )
    with pytest.raises(DataError, match="one sample each"):
        difference(one, pair)
    with pytest.raises(DataError, match="same estimand"):
        difference(one, estimate(q, target_sample(), estimand="sample"))
    with pytest.raises(DataError, match="no covariance"):
        difference(one, estimate(fitted(CC), target_sample(), assume="no-shift"))


@every
@both_ways
@whose
@pytest.mark.parametrize("k", [2, 3])
def test_items_that_are_all_alike_leave_room_for_doubt(quantifier, method, estimand, k):
    """A perfect classifier and 30 items of one class, or a single item: no interval is a point."""
    P = np.eye(k)[np.arange(120) % k]
    options = {"prior": "uniform"} if quantifier is SLD else {}
    q = quantifier(frozen(range(k)), **options).fit(P, np.arange(120) % k)
    for target in (np.eye(k)[np.zeros(30, dtype=int)], np.eye(k)[:1]):
        answer = estimate(q, target, method=method, estimand=estimand, random_state=0, n_replicates=200)
        if quantifier is not SLD or estimand == "population":  # a sample of sure items has nothing left to doubt
            assert (answer.high - answer.low > 1e-3).all()


@pytest.mark.parametrize(("quantifier", "n"), [(PACC, 2), (PACC, 5), (ACC, 3), (ACC, 10)])
def test_small_samples_get_wide_intervals(quantifier, n):
    held = []
    for seed in range(150):
        generator = np.random.default_rng(seed)
        codes = (generator.random(n) < 0.4).astype(int)
        q = fitted(quantifier, n=300, seed=seed)
        scores = 1.2 * (1.2 * np.eye(2)[codes] + generator.standard_normal((n, 2)))
        target = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        answer = estimate(q, target)
        held.append(answer.low[1] <= 0.4 <= answer.high[1])
    assert np.mean(held) >= 0.88


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")
@pytest.mark.parametrize("quantifier", [PACC, SLD])
def test_classes_that_can_not_be_told_apart_can_have_any_share(quantifier):
    codes, P = scored_items(300, 3, seed=0)
    P[:, 1] = P[:, 2] = (P[:, 1] + P[:, 2]) / 2
    options = {"prior": "uniform"} if quantifier is SLD else {}
    answer = estimate(quantifier(frozen(range(3)), **options).fit(P, codes), P)
    assert answer.low.tolist() == [0, 0, 0]
    assert answer.high.tolist() == [1, 1, 1]


def test_a_weighted_sample_is_bootstrapped_by_its_weights():
    q = fitted(PACC, n=1000, separation=2.0)
    codes, P = scored_items(400, 2, 3, 2.0)
    weighted = Samples(np.arange(400), [0, 400], weights=np.where(codes == 1, 5.0, 0.2))
    a, b = (estimate(q, P, weighted, estimand="sample", method=m, random_state=0) for m in ("delta", "bootstrap"))
    np.testing.assert_allclose(b.low, a.low, atol=0.03)
    np.testing.assert_allclose(b.high, a.high, atol=0.03)


def test_an_impossible_item_without_weight_does_no_harm():
    P = np.array([[1.0, 0.0]] * 20 + [[0.0, 1.0]])
    samples = Samples(np.arange(21), [0, 21], weights=[1.0] * 20 + [0.0])
    assert estimate(fitted(SLD), P, samples).shares.tolist() == [[1, 0]]


def test_a_difference_knows_whether_the_labelled_side_is_the_same():
    q = fitted(PACC, n=60, seed=0)
    first = estimate(q, target_sample(2000, seed=1))
    codes, P = scored_items(60, 2, 5, 1.2)
    q.fit(P, codes)  # in place: the same object, other labelled items
    in_place = difference(first, estimate(q, target_sample(2000, seed=2)))
    apart = difference(first, estimate(fitted(PACC, n=60, seed=5), target_sample(2000, seed=2)))
    np.testing.assert_allclose(in_place.p_value, apart.p_value)
    copied = difference(first, estimate(fitted(PACC, n=60, seed=0), target_sample(2000, seed=2)))
    assert copied.high[1] - copied.low[1] < in_place.high[1] - in_place.low[1]


def test_shares_that_are_both_at_an_end_do_not_differ():
    q = fitted(PACC, n=2000, separation=3.0)
    a, b = (estimate(q, np.tile([p, 1 - p], (50, 1))) for p in (0.999, 0.9999))
    assert difference(a, b).p_value.tolist() == [1, 1]
    for level in (95, float("nan"), "x"):
        with pytest.raises(DataError, match="level must be between 0 and 1"):
            difference(a, b, level=level)


def test_more_odd_input_gets_a_sentence():
    q = fitted(PACC)
    answer = estimate(q, target_sample(), level=np.float32(0.95), n_replicates=np.int64(500))
    with pytest.raises(DataError, match="Shares of 2 classes"):
        answer.contains([0.2, 0.3, 0.5])
    with pytest.raises(DataError, match=r"too few for level=0.9999"):
        estimate(q, target_sample(), method="bootstrap", level=0.9999)
    with pytest.raises(DataError, match="method must be one of"):
        estimate(q, target_sample(), method=["delta"])
    months = estimate(q, target_sample(), Samples.from_groups(np.repeat(["may", "june"], 200)))
    assert "june" in repr(months)
