"""Estimates with intervals, and their differences: reference values, coverage, and refusals with the reason."""

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

WITH_INTERVALS = [ACC, PACC, HDy, SLD]
SLD_OPTIONS = {quantifier: {} for quantifier in (ACC, CC, HDy, PACC, PCC)} | {SLD: {"calibration": "bcts"}}


def fitted(quantifier, k=2, n=300, seed=0, separation=1.2):
    codes, P = scored_items(n, k, seed, separation)
    return quantifier(frozen(range(k)), **SLD_OPTIONS[quantifier]).fit(P, codes)


def plain_sld(k=2, n=300):
    codes, P = scored_items(n, k, 0, 1.2)
    return SLD(frozen(range(k)), prior="uniform").fit(P, codes)


def target_sample(n=400, k=2, seed=1, shares=None, separation=1.2):
    return scored_items(n, k, seed, separation, shares)[1]


def skip_more_than_two_classes(quantifier, k):
    if quantifier.max_classes is not None and k > quantifier.max_classes:
        pytest.skip(f"{quantifier.__name__} is defined for two classes")


every_quantifier = pytest.mark.parametrize("quantifier", WITH_INTERVALS)
every_method = pytest.mark.parametrize("method", ["delta", "bootstrap"])
every_estimand = pytest.mark.parametrize("estimand", ["population", "sample"])


@every_quantifier
@every_method
@every_estimand
@pytest.mark.parametrize("k", [2, 3])
def test_intervals_contain_the_estimate_and_stay_in_the_simplex(quantifier, method, estimand, k):
    skip_more_than_two_classes(quantifier, k)
    q = fitted(quantifier, k)
    for shares in (None, np.eye(k)[0], np.eye(k)[-1] * 0.98 + 0.02 / k):
        target = target_sample(k=k, shares=shares)
        result = estimate(q, target, method=method, estimand=estimand, random_state=0, n_replicates=200)
        np.testing.assert_allclose(result.shares, q.predict(target), atol=1e-12)
        assert (result.low <= result.shares).all()
        assert (result.shares <= result.high).all()
        assert (result.low >= 0).all()
        assert (result.high <= 1).all()
        assert (result.high - result.low > 1e-4).all()  # never a single point, not even at 0 and 1


def test_an_interval_of_two_classes_equals_a_grid_search_by_hand():
    """PACC: the variance at each share, degrees of freedom and skewness from the formulas, and the accepted shares of a grid."""
    codes, P = scored_items(200, 2, 0, 1.2)
    target = target_sample()
    q = PACC(frozen([0, 1])).fit(P, codes)
    scores = [P[codes == j, 1] for j in (0, 1)]
    m, sizes, n = [s.mean() for s in scores], np.array([len(s) for s in scores]), len(target)
    values = [(s - m[0]) / (m[1] - m[0]) for s in scores]  # items of class 0 have the mean 0, of class 1 the mean 1
    centre = (target[:, 1].mean() - m[0]) / (m[1] - m[0])
    spread = np.array([v.var(ddof=1) for v in values])
    third = np.array([((v - v.mean()) ** 3).mean() for v in values])
    share = q.predict(target)[1]
    implied = (1 - share) * spread[0] + share * spread[1] + share * (1 - share)
    n /= max(
        1.0, target[:, 1].var() / (m[1] - m[0]) ** 2 / implied
    )  # items that vary more than the classes explain count less
    z = norm.ppf(0.975)
    grid = np.linspace(0, 1, 20_001)
    inside = []
    for p in grid:
        shares, gaps = np.array([1 - p, p]), np.array([-p, 1 - p])
        parts = (shares / n + shares**2 / sizes) * spread
        variance = parts.sum() + p * (1 - p) / n
        degrees = variance**2 / (parts**2 / (sizes - 1)).sum()
        cumulant = (shares * (third + 3 * gaps * spread + gaps**3)).sum() / n**2 - (shares**3 * third / sizes**2).sum()
        along = -(shares**2 * third / sizes * (1 / n + shares / sizes)).sum()
        shift = (cumulant * (z**2 - 1) / 6 - along * z**2 / 2) / variance**1.5
        quantile, root = student.ppf(0.975, degrees), (centre - p) / np.sqrt(variance)
        inside.append(-quantile + shift <= root <= quantile + shift)
    result = estimate(q, target)
    assert result.low[1] == pytest.approx(grid[inside].min(), abs=1e-4)
    assert result.high[1] == pytest.approx(grid[inside].max(), abs=1e-4)
    assert result.low[0] == pytest.approx(1 - result.high[1])


@pytest.mark.kernels
def test_likelihood_ratio_intervals_equal_a_grid_search():
    target = target_sample(shares=[0.9, 0.1])
    q = plain_sld()
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    likelihood = np.log(2 * target @ np.vstack([1 - grid, grid])).sum(axis=0)
    inside = grid[2 * (likelihood.max() - likelihood) <= norm.ppf(0.975) ** 2]
    result = estimate(q, target, assume="calibrated")
    assert result.low[1] == pytest.approx(inside[0], abs=1e-4)
    assert result.high[1] == pytest.approx(inside[-1], abs=1e-4)
    assert result.method == "likelihood ratio"


@pytest.mark.kernels
def test_likelihood_ratio_intervals_of_three_classes_equal_a_grid_search():
    """The likelihood at each share of the third class, maximised over a grid of the first, one class being absent."""
    target = target_sample(120, 3, shares=[0.5, 0.5, 0.0])
    q = plain_sld(3)
    grid = np.linspace(0, 1, 201)
    first, third = (axis.ravel() for axis in np.meshgrid(grid, grid))
    on = first + third <= 1.0 + 1e-12
    shares = np.column_stack([first, np.maximum(1.0 - first - third, 0.0), third])[on]
    likelihood = np.log(3 * target @ shares.T).sum(axis=0)
    profile = np.array([likelihood[third[on] == v].max() for v in grid])
    inside = grid[2 * (likelihood.max() - profile) <= norm.ppf(0.975) ** 2]
    result = estimate(q, target, assume="calibrated")
    assert result.low[2] == pytest.approx(inside[0], abs=6e-3)
    assert result.high[2] == pytest.approx(inside[-1], abs=6e-3)


@every_quantifier
def test_intervals_for_the_sample_are_narrower_than_for_the_population(quantifier):
    q = fitted(quantifier, n=5000)
    widths = [
        np.ptp([result.low[1], result.high[1]])
        for result in (estimate(q, target_sample(), estimand=e) for e in ("sample", "population"))
    ]
    assert widths[0] < 0.95 * widths[1]


@every_quantifier
@every_method
def test_more_target_items_or_labelled_items_narrow_the_interval(quantifier, method):
    width = {}
    for n_labelled in (100, 5000):
        for n_target in (200, 5000):
            q = fitted(quantifier, n=n_labelled)
            result = estimate(q, target_sample(n_target), method=method, random_state=0, n_replicates=300)
            width[n_labelled, n_target] = result.high[1] - result.low[1]
    assert width[5000, 5000] < 0.6 * width[5000, 200]
    assert width[5000, 5000] < 0.6 * width[100, 5000]


@every_quantifier
def test_simultaneous_intervals_are_wider_and_follow_bonferroni(quantifier):
    skip_more_than_two_classes(quantifier, 3)
    q = fitted(quantifier, 3)
    out = q.outputs(target_sample(600, 3))
    samples = Samples.from_matrix(np.arange(600).reshape(6, 100))
    plain = estimate(q, out, samples)
    wider = [estimate(q, out, samples, simultaneous=scope) for scope in ("classes", "samples", "both")]
    for narrow, wide in zip([plain, *wider[:2]], [*wider[:2], wider[2]], strict=True):
        assert ((wide.high - wide.low) >= (narrow.high - narrow.low) - 1e-12).all()
    bonferroni = estimate(q, out, samples, level=1 - 0.05 / 18)
    np.testing.assert_allclose(wider[2].high, bonferroni.high, atol=1e-12)


@every_quantifier
@every_method
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
    assert frame.columns.tolist() == ["sample", "class", "share", "share_low", "share_high", "n"]
    assert len(frame) == 6


@every_quantifier
def test_the_same_seed_gives_the_same_interval_in_any_worker(quantifier):
    q = fitted(quantifier)
    out = q.outputs(target_sample())

    def bootstrap(seed):
        interval = estimate(q, out, method="bootstrap", random_state=seed, n_replicates=200)
        return interval.low, interval.high

    expected = bootstrap(3)
    assert not np.array_equal(bootstrap(4), expected)
    for backend in ("threading", "loky"):
        with joblib.parallel_config(backend=backend, n_jobs=2):
            task = joblib.delayed(estimate)(q, out, method="bootstrap", random_state=3, n_replicates=200)
            for result in joblib.Parallel()([task, task]):
                assert np.array_equal((result.low, result.high), expected)


@pytest.mark.kernels
def test_the_bootstrap_of_sld_agrees_with_its_likelihood():
    q = plain_sld()
    target = target_sample(150, shares=[0.7, 0.3])
    weighted = Samples(np.arange(150), [0, 150], weights=np.tile([0.5, 1.5, 0.0], 50))
    for samples in (Samples.whole(150), weighted):
        ratio, bootstrap = (
            estimate(q, target, samples, method=m, assume="calibrated", random_state=0, n_replicates=100)
            for m in ("auto", "bootstrap")
        )
        assert (bootstrap.high - bootstrap.low)[0, 1] == pytest.approx((ratio.high - ratio.low)[0, 1], rel=0.5)
    with pytest.raises(DataError, match="is for the population"):
        estimate(q, target, method="bootstrap", assume="calibrated", estimand="sample")


@every_quantifier
@every_method
def test_unequal_weights_widen_the_interval(quantifier, method):
    q = fitted(quantifier)
    out = q.outputs(target_sample(400))
    equal = Samples(np.arange(400), [0, 400], weights=np.full(400, 7.0))
    unequal = Samples(np.arange(400), [0, 400], weights=np.tile([0.1, 1.9], 200))
    options = {"method": method, "random_state": 0, "n_replicates": 500}
    plain, same, wider = (estimate(q, out, s, **options) for s in (Samples.whole(400), equal, unequal))
    np.testing.assert_allclose(same.high, plain.high, atol=1e-6)
    assert (wider.high - wider.low > plain.high - plain.low).all()


@pytest.mark.parametrize("k", [2, 3])
@every_quantifier
def test_the_joint_region_contains_the_estimate_but_not_distant_shares(quantifier, k):
    skip_more_than_two_classes(quantifier, k)
    q = fitted(quantifier, k, n=900, separation=2.0)
    result = estimate(q, target_sample(900, k, separation=2.0))
    assert result.contains(result.shares)
    assert not result.contains(np.eye(k)[0])
    many = estimate(q, target_sample(900, k, separation=2.0), Samples.from_matrix(np.arange(900).reshape(2, 450)))
    assert many.contains(many.shares).tolist() == [True, True]


def test_repr_shows_estimand_level_method_and_items():
    text = repr(estimate(fitted(PACC), target_sample()))
    assert text.startswith("Shares in the population, with 0.95 intervals (PACC, delta)\n  0 ")
    assert "400 items" in text
    q = fitted(PACC)
    assert "more rows" in repr(
        estimate(q, target_sample(400), Samples.from_matrix(np.arange(400).reshape(20, 20)), estimand="sample")
    )


def test_estimate_uses_the_best_estimator_of_a_search():
    X, y = blobs(400, 2, seed=0)
    search = QuantifierSearch(
        PACC(LogisticRegression()),
        {"classifier__C": [0.1, 1.0]},
        protocol=ArtificialPrevalence(3, sample_size=50),
        random_state=0,
    ).fit(X, y)
    assert np.array_equal(estimate(search, X).high, estimate(search.best_estimator_, X).high)


@pytest.mark.parametrize("quantifier", [CC, PCC])
def test_counting_has_no_interval(quantifier):
    """Even without a shift the counted share is off by mistakes that do not balance."""
    for options in ({}, {"method": "bootstrap"}, {"estimand": "sample"}):
        with pytest.raises(DataError, match="Use ACC, PACC or SLD"):
            estimate(fitted(quantifier), target_sample(), **options)
    with pytest.raises(DataError, match=r"assume must be one of None, 'calibrated'; got 'no-shift'"):
        estimate(fitted(quantifier), target_sample(), assume="no-shift")


def test_a_method_without_interval_gives_the_reason():
    with pytest.raises(DataError, match="never looks at the items"):
        estimate(MLPE().fit(target_sample(), np.arange(400) % 2), target_sample())
    with pytest.raises(DataError, match=r"without calibration .* assume='calibrated'"):
        estimate(plain_sld(), target_sample())
    with pytest.raises(DataError, match="methods that maximise a likelihood"):
        estimate(fitted(PACC), target_sample(), assume="calibrated")


def test_an_uninformative_classifier_gives_a_very_wide_interval():
    generator = np.random.default_rng(0)
    P = np.column_stack([p := generator.uniform(0.45, 0.55, 60), 1 - p])
    q = PACC(frozen([0, 1])).fit(P, np.arange(60) % 2)
    result = estimate(q, P)
    assert result.high[1] - result.low[1] > 0.9


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
def test_invalid_options_raise_a_sentence(options, words):
    with pytest.raises(DataError, match=words):
        estimate(fitted(PACC), target_sample(), **options)


def test_anything_but_a_fitted_quantifier_is_refused():
    with pytest.raises(DataError, match="Expected a fitted quantifier"):
        estimate(LogisticRegression(), target_sample())
    with pytest.raises(NotFittedError):
        estimate(PACC(), target_sample())


@every_quantifier
def test_a_difference_has_an_interval_and_a_p_value(quantifier):
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


def test_errors_of_shared_labelled_items_cancel_in_a_difference():
    """With few labelled items, estimates by the same quantifier have a much narrower difference than by two quantifiers."""
    first, second = fitted(PACC, n=60, seed=0), fitted(PACC, n=60, seed=5)
    a, b = (target_sample(5000, seed=s, shares=[0.6, 0.4]) for s in (1, 2))
    shared = difference(estimate(first, a), estimate(first, b))
    separate = difference(estimate(first, a), estimate(second, b))
    assert shared.high[1] - shared.low[1] < 0.5 * (separate.high[1] - separate.low[1])


def test_estimates_that_can_not_be_compared_raise_a_sentence():
    q = fitted(PACC)
    single, pair = (
        estimate(q, target_sample()),
        estimate(q, target_sample(), Samples.from_matrix(np.arange(400).reshape(2, 200))),
    )
    with pytest.raises(DataError, match="one sample each"):
        difference(single, pair)
    with pytest.raises(DataError, match="same estimand"):
        difference(single, estimate(q, target_sample(), estimand="sample"))
    with pytest.raises(DataError, match="no statistic to compare by"):
        difference(single, estimate(plain_sld(), target_sample(), assume="calibrated"))


@every_quantifier
@every_method
@every_estimand
@pytest.mark.parametrize("k", [2, 3])
def test_identical_items_give_intervals_of_positive_width(quantifier, method, estimand, k):
    """A perfect classifier and 30 items of one class, or a single item: no interval is a point."""
    skip_more_than_two_classes(quantifier, k)
    P = np.eye(k)[np.arange(120) % k]
    q = quantifier(frozen(range(k)), **SLD_OPTIONS[quantifier]).fit(P, np.arange(120) % k)
    for target in (np.eye(k)[np.zeros(30, dtype=int)], np.eye(k)[:1]):
        result = estimate(q, target, method=method, estimand=estimand, random_state=0, n_replicates=200)
        assert (result.high - result.low > 1e-3).all()


@pytest.mark.parametrize(("quantifier", "n"), [(PACC, 2), (PACC, 5), (ACC, 3), (ACC, 10)])
def test_intervals_of_small_samples_cover_the_truth(quantifier, n):
    covered = []
    for seed in range(150):
        generator = np.random.default_rng(seed)
        codes = (generator.random(n) < 0.4).astype(int)
        q = fitted(quantifier, n=300, seed=seed)
        scores = 1.2 * (1.2 * np.eye(2)[codes] + generator.standard_normal((n, 2)))
        target = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        result = estimate(q, target)
        covered.append(result.low[1] <= 0.4 <= result.high[1])
    assert np.mean(covered) >= 0.88


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")
@pytest.mark.parametrize("quantifier", [PACC, SLD])
def test_shares_of_indistinguishable_classes_are_only_known_together(quantifier):
    codes, P = scored_items(300, 3, seed=0)
    P[:, 1] = P[:, 2] = (P[:, 1] + P[:, 2]) / 2
    result = estimate(quantifier(frozen(range(3)), **SLD_OPTIONS[quantifier]).fit(P, codes), P)
    assert result.low[1:].tolist() == [0, 0]
    assert (result.high[1:] > 0.6).all()  # together they have about two thirds, and one may have all of it
    together = 1.0 - np.array([result.high[0], result.low[0]])
    assert 0.5 < together[0] < together[1] < 0.8


@pytest.mark.filterwarnings("ignore::headcount.exceptions.IdentifiabilityWarning")
@pytest.mark.parametrize("quantifier", WITH_INTERVALS)
def test_nothing_is_said_where_all_posteriors_are_equal(quantifier):
    P = np.full((60, 2), 0.5)
    q = quantifier(frozen([0, 1]), **SLD_OPTIONS[quantifier]).fit(P, np.arange(60) % 2)
    a, b = estimate(q, P[:30]), estimate(q, P[:20])
    assert (a.low.tolist(), a.high.tolist()) == ([0, 0], [1, 1])
    assert a.contains([1.0, 0.0])
    assert difference(a, b).p_value.tolist() == [1, 1]


def test_the_bootstrap_of_a_weighted_sample_agrees_with_the_delta_method():
    q = fitted(PACC, n=1000, separation=2.0)
    codes, P = scored_items(400, 2, 3, 2.0)
    weighted = Samples(np.arange(400), [0, 400], weights=np.where(codes == 1, 5.0, 0.2))
    delta, bootstrap = (
        estimate(q, P, weighted, estimand="sample", method=m, random_state=0) for m in ("delta", "bootstrap")
    )
    np.testing.assert_allclose(bootstrap.low, delta.low, atol=0.03)
    np.testing.assert_allclose(bootstrap.high, delta.high, atol=0.03)


def test_an_item_of_weight_zero_is_ignored_even_if_it_is_impossible():
    P = np.array([[1.0, 0.0]] * 20 + [[0.0, 1.0]])
    samples = Samples(np.arange(21), [0, 21], weights=[1.0] * 20 + [0.0])
    assert estimate(plain_sld(), P, samples, assume="calibrated").shares.tolist() == [[1, 0]]


def test_errors_cancel_only_if_the_labelled_items_are_the_same():
    q = fitted(PACC, n=60, seed=0)
    first = estimate(q, target_sample(2000, seed=1))
    codes, P = scored_items(60, 2, 5, 1.2)
    q.fit(P, codes)  # in place: the same object, other labelled items
    in_place = difference(first, estimate(q, target_sample(2000, seed=2)))
    separate = difference(first, estimate(fitted(PACC, n=60, seed=5), target_sample(2000, seed=2)))
    np.testing.assert_allclose(in_place.p_value, separate.p_value)
    copied = difference(first, estimate(fitted(PACC, n=60, seed=0), target_sample(2000, seed=2)))
    assert copied.high[1] - copied.low[1] < in_place.high[1] - in_place.low[1]


def test_estimates_at_the_same_end_of_the_range_do_not_differ():
    q = fitted(PACC, n=2000, separation=3.0)
    a, b = (estimate(q, np.tile([p, 1 - p], (50, 1))) for p in (0.999, 0.9999))
    assert difference(a, b).p_value.tolist() == [1, 1]
    for level in (95, float("nan"), "x"):
        with pytest.raises(DataError, match="level must be between 0 and 1"):
            difference(a, b, level=level)


def test_numpy_scalars_are_accepted_and_impossible_requests_refused():
    q = fitted(PACC)
    result = estimate(q, target_sample(), level=np.float32(0.95), n_replicates=np.int64(500))
    with pytest.raises(DataError, match="Shares of 2 classes"):
        result.contains([0.2, 0.3, 0.5])
    with pytest.raises(DataError, match=r"too few for level=0.9999"):
        estimate(q, target_sample(), method="bootstrap", level=0.9999)
    with pytest.raises(DataError, match="method must be one of"):
        estimate(q, target_sample(), method=["delta"])
    months = estimate(q, target_sample(), Samples.from_groups(np.repeat(["may", "june"], 200)))
    assert "june" in repr(months)


def test_estimates_are_tables_in_notebooks():
    answer = estimate(fitted(PACC), target_sample(), Samples.from_groups(np.repeat(["<may>", "june"], 200)))
    assert "&lt;may&gt;" in answer._repr_html_()
    assert "Shares in the population" in answer._repr_html_()
    frame = answer.to_frame()
    assert frame["sample"].tolist() == ["<may>", "<may>", "june", "june"]
    np.testing.assert_array_equal(frame["share_low"], answer.low.ravel())
    assert estimate(fitted(PACC), target_sample()).to_frame()["n"].tolist() == [400, 400]
