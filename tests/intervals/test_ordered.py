"""Cumulative shares and quantiles of ordered classes, and differences of means: laws, agreement with single shares, coverage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headcount import ACC, CC, PACC, SLD, BayesianCC, EDy, SurveyDesign, difference, differences, estimate
from headcount.exceptions import DataError
from headcount.intervals import Figure, at_least, at_most, mean_of, quantile_positions, trend
from headcount.intervals.value_means import ShareEstimate
from tests.conftest import frozen, scored_items

pytestmark = pytest.mark.kernels
UP, DOWN = [0.1, 0.1, 0.2, 0.3, 0.3], [0.3, 0.3, 0.2, 0.1, 0.1]


def fitted(method=PACC, k=5, n=400, seed=0, classes=None, **options):
    codes, P = scored_items(n, k, seed, 1.5)
    labels = np.arange(k) if classes is None else np.array(classes)
    quantifier = method(frozen(labels), **options)
    return quantifier.fit(P, labels[codes])


def answered(quantifier, shares=UP, seed=1, n=300, **options):
    return estimate(quantifier, scored_items(n, len(shares), seed, 1.5, shares)[1], **options)


@pytest.mark.parametrize("method", [PACC, ACC, EDy, lambda c: SLD(c, calibration="bcts"), BayesianCC])
def test_cumulative_shares_begin_with_the_first_class_and_complement_each_other(method):
    answer = answered(fitted(method))
    cumulative = answer.cumulative
    np.testing.assert_allclose(cumulative.shares, np.cumsum(answer.shares))
    assert (cumulative.low[0], cumulative.high[0]) == pytest.approx((answer.low[0], answer.high[0]), abs=0.015)
    assert (1 - cumulative.high[-2], 1 - cumulative.low[-2]) == pytest.approx(
        (answer.low[-1], answer.high[-1]), abs=0.015
    )
    assert (cumulative.shares[-1], cumulative.low[-1], cumulative.high[-1]) == (1.0, 1.0, 1.0)
    for j in range(1, 5):
        above, below = answer.at_least(j), answer.at_most(j - 1)
        expected = 1 - below.share, 1 - below.high, 1 - below.low
        assert above[:3] == pytest.approx(expected, abs=2e-3)
        assert below[1:3] == pytest.approx((cumulative.low[j - 1], cumulative.high[j - 1]))


def test_a_cumulative_share_is_known_better_than_the_sum_of_its_shares():
    answer = answered(fitted(n=250), shares=[0.2] * 5)
    together = answer.at_least(2)
    apart = (answer.high - answer.low)[2:].sum()
    assert together.high - together.low < 0.8 * apart


@given(
    counts=st.lists(st.integers(0, 6), min_size=2, max_size=7).filter(any),
    q=st.floats(0.01, 0.99),
    reach=st.floats(0, 0.5),
)
def test_a_quantile_is_the_lowest_class_that_reaches_it_and_lies_in_its_interval(counts, q, reach):
    P = np.cumsum(counts)[None] / sum(counts)
    low, high = np.maximum(P - reach, 0.0), np.minimum(P + reach, 1.0)
    value, lowest, highest = (int(found[0]) for found in quantile_positions(P, low, high, q))
    assert value == min(j for j in range(len(counts)) if P[0, j] >= q - 1e-9)
    assert 0 <= lowest <= value <= highest < len(counts)
    # Whatever shares lie within the ends, their quantile is within the interval.
    for cumulative in (low[0].copy(), high[0].copy()):
        cumulative[-1] = 1.0
        assert lowest <= int(np.argmax(cumulative >= q - 1e-9)) <= highest
    assert reach > 0 or lowest == highest == value


def test_quantiles_are_classes_with_their_labels_and_move_with_the_shares():
    quantifier = fitted(n=800)
    up, down = answered(quantifier), answered(quantifier, DOWN)
    assert (int(up.quantile(0.5).value), int(down.quantile(0.5).value)) == (3, 1)
    low, middle, high = (int(up.quantile(q).value) for q in (0.05, 0.5, 0.95))
    assert low <= middle <= high
    for q in (0.25, 0.5, 0.75):
        found = up.quantile(q)
        assert found.low <= found.value <= found.high
    wider = answered(quantifier, level=0.999).quantile(0.4)
    assert wider.high - wider.low >= up.quantile(0.4).high - up.quantile(0.4).low


def test_many_samples_have_cumulative_shares_and_quantiles_each():
    quantifier = fitted(k=3)
    P = scored_items(300, 3, 1, 1.5)[1]
    rows = np.arange(300).reshape(3, 100)
    together = estimate(quantifier, P, rows)
    for s in range(3):
        alone = estimate(quantifier, P[rows[s]])
        np.testing.assert_allclose(together.cumulative.low[s], alone.cumulative.low, atol=1e-6)
        assert together.at_least(2).high[s] == pytest.approx(alone.at_least(2).high, abs=1e-6)
        assert together.quantile(0.5).value[s] == alone.quantile(0.5).value


def test_an_order_must_be_given_for_names_and_is_kept():
    grades = ["poor", "fair", "good"]
    codes, P = scored_items(300, 3, 0, 1.5)
    labels = np.array(grades)[codes]
    sorted_P = P[:, [1, 2, 0]]  # fair, good, poor
    nominal = estimate(PACC(frozen(["fair", "good", "poor"])).fit(sorted_P, labels), sorted_P)
    for ask in (lambda one: one.cumulative, lambda one: one.at_least("good"), lambda one: one.quantile(0.5)):
        with pytest.raises(DataError, match="only in alphabetical order: give the quantifier the classes from lowest"):
            ask(nominal)
    with pytest.raises(DataError, match="'fair', 'good', 'poor' are not numbers"):
        nominal.mean()
    ordered = PACC(frozen(["fair", "good", "poor"]), classes=grades).fit(sorted_P, labels)
    assert ordered.is_ordered
    answer = estimate(ordered, sorted_P)
    assert answer.classes.tolist() == grades
    assert answer.at_least("fair").share == pytest.approx(answer.shares[1:].sum())
    assert answer.quantile(0.5).value in grades
    with pytest.raises(
        DataError, match="There is no class 'great' for 'at least': the classes are 'poor', 'fair', 'good'"
    ):
        answer.at_least("great")
    for wrong in (0.0, 1.0, "half", True, np.nan):
        with pytest.raises(DataError, match="must be between 0 and 1"):
            answer.quantile(wrong)


@pytest.mark.parametrize("values", [["a", "b", "c", "d", "e"], [1, 2, None, 4, 5], [[1, 2], [3, 4]], "stars"])
def test_values_that_are_no_numbers_are_refused(values):
    with pytest.raises(DataError, match=r"must be numbers|finite value"):
        answered(fitted()).mean(values)


def test_a_likelihood_says_why_it_has_no_interval_of_cumulative_shares():
    answer = answered(fitted(SLD, prior="uniform"), assume="calibrated")
    assert "are of single shares" in answer.why_no_means
    share = answer.at_least(3)
    assert isinstance(share, ShareEstimate)
    assert share.share == pytest.approx(answer.shares[3:].sum())
    assert np.isnan(share.low)
    with pytest.raises(DataError, match="no interval of a quantile"):
        answer.quantile(0.5)
    assert answered(fitted()).why_no_means == ""


def test_a_bootstrap_of_any_method_has_intervals_of_means_and_cumulative_shares():
    quantifier = fitted(k=3)
    answer = answered(quantifier, [0.2, 0.3, 0.5], method="bootstrap", random_state=0)
    mean, share = answer.mean(), answer.at_least(1)
    assert mean.low < 1.3 < mean.high
    assert share.low < 0.8 < share.high


def test_cumulative_shares_under_a_design_are_wider_where_clusters_are_alike():
    generator = np.random.default_rng(0)
    codes = np.repeat(generator.choice(3, 60, p=[0.2, 0.3, 0.5]), 10)
    scores = 1.5 * (1.5 * np.eye(3)[codes] + generator.standard_normal((600, 3)))
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    quantifier = fitted(k=3)
    plain = estimate(quantifier, P).at_least(1)
    designed = estimate(quantifier, P, design=SurveyDesign(clusters=np.repeat(np.arange(60), 10))).at_least(1)
    assert designed.share == pytest.approx(plain.share)
    assert designed.high - designed.low > 1.4 * (plain.high - plain.low)


def test_labels_of_the_target_give_cumulative_shares_and_quantiles():
    quantifier = fitted(k=4, n=300)
    codes, P = scored_items(600, 4, 1, 1.5, [0.1, 0.2, 0.3, 0.4])
    answer = estimate(quantifier, P, labels={i: codes[i] for i in range(3, 600, 6)})
    for one in (answer.design_based, answer.label_shift):
        share = one.at_least(2)
        assert share.low < (codes >= 2).mean() < share.high
        assert share.high - share.low < 0.35
        assert one.quantile(0.5).low <= 2 <= one.quantile(0.5).high
    few = answer.design_based.at_most(0)
    assert (few.low, few.high) == pytest.approx((answer.design_based.low[0], answer.design_based.high[0]), abs=0.03)


# ---------------------------------------------------------------------------------------------------- differences


def pair(method=PACC, **options):
    quantifier = fitted(method, **options)
    return quantifier, answered(quantifier, DOWN), answered(quantifier, UP, seed=2)


@pytest.mark.parametrize("method", [PACC, ACC, lambda c: SLD(c, calibration="bcts")])
def test_the_difference_of_an_indicator_is_that_of_its_share(method):
    _, before, after = pair(method)
    plain = difference(before, after)
    figures = [Figure(f"class {j}", f"class {j}", np.eye(5)[j], True) for j in range(5)]
    together = difference(before, after, figures=figures)
    np.testing.assert_allclose(together.change, plain.change)
    np.testing.assert_allclose(together.low, plain.low, atol=0.01)
    np.testing.assert_allclose(together.high, plain.high, atol=0.01)
    assert together.classes.tolist() == [figure.title for figure in figures]


def test_a_difference_of_means_scales_turns_round_and_is_shorter_than_two_intervals():
    quantifier, before, after = pair()
    stars, scaled = mean_of(quantifier.classes_), mean_of(quantifier.classes_, [10, 8, 6, 4, 2])
    there, back = difference(before, after, figures=[stars, scaled]), difference(after, before, figures=stars)
    assert (there.change[0], there.low[0], there.high[0]) == pytest.approx(
        (-back.change[0], -back.high[0], -back.low[0]), abs=1e-4
    )
    assert (there.low[1], there.high[1]) == pytest.approx((-2 * there.high[0], -2 * there.low[0]), abs=1e-4)
    assert there.p_value[0] == pytest.approx(back.p_value[0], rel=0.01)
    assert there.low[0] < 1.2 < there.high[0]
    assert there.p_value[0] < 1e-4
    means = [one.mean() for one in (before, after)]
    assert there.high[0] - there.low[0] < sum(mean.high - mean.low for mean in means)


def test_nothing_changes_between_equal_samples_and_a_cumulative_share_says_so():
    quantifier = fitted()
    first, second = answered(quantifier, UP, seed=5), answered(quantifier, UP, seed=6)
    same = difference(first, second, figures=[mean_of(quantifier.classes_), at_least(quantifier.classes_, 3)])
    assert (same.low < 0).all()
    assert (same.high > 0).all()
    assert (same.p_value > 0.05).all()
    assert "+" in repr(same)
    assert "%" in repr(same).splitlines()[2]


def test_the_p_value_agrees_with_the_interval():
    quantifier, before, after = pair(n=200)
    figure = at_most(quantifier.classes_, 2)
    p = float(difference(before, after, figures=figure).p_value[0])
    for level, outside in ((1 - 1.2 * p, True), (1 - 0.8 * p, False)):
        change = difference(before, after, level=level, figures=figure)
        assert (change.low[0] > 0 or change.high[0] < 0) == outside


def test_families_and_trends_take_figures():
    quantifier = fitted(n=600)
    shares = [np.array(DOWN) * (1 - t) + np.array(UP) * t for t in (0.0, 0.33, 0.67, 1.0)]
    months = [answered(quantifier, p, seed=10 + i, n=500) for i, p in enumerate(shares)]
    figures = [mean_of(quantifier.classes_), at_least(quantifier.classes_, 3)]
    family = differences(months, figures=figures)
    assert family.change.shape == (3, 2)
    assert family.to_frame().columns[2] == "figure"
    alone = difference(months[0], months[3], figures=figures)
    np.testing.assert_allclose(family.change[2], alone.change)
    assert (family.high - family.low)[2, 0] >= alone.high[0] - alone.low[0]
    assert (family.p_value >= family.p_single - 1e-12).all()
    slope = trend(months, figures=figures)
    assert slope.low[0] < 1.2 / 3 < slope.high[0]
    assert slope.low[1] < 0.4 / 3 < slope.high[1]
    # The slope of the mean is that of its shares, with the errors of all of them together.
    assert slope.slope[0] == pytest.approx(float(trend(months).slope @ np.arange(5)))
    assert "mean" in repr(slope)
    assert "mean" in repr(family)


def test_figures_that_can_not_be_compared_are_refused():
    quantifier, before, after = pair()
    with pytest.raises(DataError, match="the same whatever the shares are"):
        difference(before, after, figures=at_least(quantifier.classes_, 0))
    with pytest.raises(DataError, match="is of 3 classes, and the estimates are of 5"):
        difference(before, after, figures=mean_of(np.arange(3)))
    with pytest.raises(DataError, match="must be made by mean_of, at_least or at_most"):
        difference(before, after, figures=["mean"])


def test_counting_has_no_interval_of_a_mean():
    with pytest.raises(DataError, match="No interval for CC"):
        answered(fitted(CC))


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["lr", "nb"])
def test_intervals_of_ordered_classes_hold(learner):
    """200 simulations a cell, whose Monte Carlo error is 1.5 points; the benchmark has more of them."""
    from benchmarks.ordered_intervals import run

    for row in run(5, learner, ["PACC", "ACC"], 200):
        which = f"{row['method']}, {row['setting']}"
        assert row["mean"] > 0.93 - 2 * row["error"], which
        assert row["cumulative"] > 0.93, which
        assert row["least"] > 0.93 - 2 * row["error"], which
        assert row["least quantile"] > 0.93 - 2 * row["error"], which


@pytest.mark.slow
def test_differences_of_means_hold():
    generator, held = np.random.default_rng(3), []
    for seed in range(200):
        p, q = generator.dirichlet(np.ones(4), 2)
        quantifier = fitted(k=4, n=200, seed=3 * seed)
        first, second = answered(quantifier, p, seed=3 * seed + 1), answered(quantifier, q, seed=3 * seed + 2)
        change = difference(first, second, figures=[mean_of(quantifier.classes_), at_least(quantifier.classes_, 2)])
        truth = np.array([(q - p) @ np.arange(4), (q - p)[2:].sum()])
        held.append((change.low <= truth) & (truth <= change.high))
    assert (np.mean(held, axis=0) > 0.91).all()
