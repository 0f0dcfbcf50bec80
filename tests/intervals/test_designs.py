"""Intervals under survey designs: coverage with clusters and weights, comparisons, replicates, what is refused."""

import numpy as np
import pytest
from scipy.stats import norm

from headcount import (
    ACC,
    CC,
    PACC,
    SLD,
    DyS,
    EDy,
    EDyMAP,
    HDy,
    KDEyCS,
    KDEyML,
    MMDy,
    Outputs,
    Samples,
    SurveyDesign,
    difference,
    differences,
    estimate,
)
from headcount.exceptions import DataError, HeadcountWarning
from headcount.intervals.trend import trend

SEPARATION = 1.5


def clustered(generator, n_clusters, size, correlation, share):
    """Draw classes and scores that are alike within clusters: codes, outputs, clusters."""
    clusters = np.repeat(np.arange(n_clusters), size)
    n = len(clusters)

    def alike():
        shared, own = generator.standard_normal(n_clusters)[clusters], generator.standard_normal(n)
        return np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * own

    codes = (alike() < norm.ppf(share)).astype(int)
    scores = alike() + SEPARATION * (codes - 0.5)
    return codes, outputs_of(scores), clusters


def outputs_of(scores):
    p = 1 / (1 + np.exp(-SEPARATION * scores))
    return Outputs.from_posteriors(np.column_stack([1 - p, p]), [0, 1])


def fitted(generator, quantifier, size=5, correlation=0.5, n_clusters=60):
    codes, outputs, clusters = clustered(generator, n_clusters, size, correlation, 0.5)
    return quantifier.fit(outputs, codes, design=SurveyDesign(clusters=clusters))


@pytest.mark.parametrize("method", [PACC, ACC])
def test_clusters_are_counted_on_both_sides(method):
    generator = np.random.default_rng(0)
    held, held_plain = [], []
    for _ in range(120):
        codes, labelled, labelled_clusters = clustered(generator, 60, 10, 0.5, 0.5)
        _, target, clusters = clustered(generator, 60, 10, 0.5, 0.3)
        answer = estimate(
            method().fit(labelled, codes, design=SurveyDesign(clusters=labelled_clusters)),
            target,
            design=SurveyDesign(clusters=clusters),
        )
        plain = estimate(method().fit(labelled, codes), target)
        held.append(answer.low[1] <= 0.3 <= answer.high[1])
        held_plain.append(plain.low[1] <= 0.3 <= plain.high[1])
    assert np.mean(held) >= 0.88
    assert np.mean(held_plain) <= 0.85


def test_weights_undo_a_selection_within_classes_and_between_them():
    """Items with a high score were drawn four times as often: without weights the share is wrong."""
    generator = np.random.default_rng(1)

    def selected(n, share):
        codes = (generator.random(n) < share).astype(int)
        scores = generator.standard_normal(n) + SEPARATION * (codes - 0.5)
        kept = generator.random(n) < np.where(scores > 0, 1.0, 0.25)
        return codes[kept], outputs_of(scores[kept]), np.where(scores[kept] > 0, 1.0, 4.0)

    held, off, off_plain = [], [], []
    for _ in range(60):
        codes, labelled, weights = selected(1500, 0.5)
        _, target, target_weights = selected(1500, 0.3)
        quantifier = PACC().fit(labelled, codes, design=SurveyDesign(weights))
        answer = estimate(quantifier, target, design=SurveyDesign(target_weights))
        held.append(answer.low[1] <= 0.3 <= answer.high[1])
        off.append(answer.shares[1] - 0.3)
        off_plain.append(PACC().fit(labelled, codes).aggregate(target)[0, 1] - 0.3)
    assert np.mean(held) >= 0.86
    assert abs(np.mean(off)) < 0.01
    assert abs(np.mean(off_plain)) > 0.05


def test_equal_weights_and_single_clusters_change_next_to_nothing():
    generator = np.random.default_rng(2)
    codes, labelled, _ = clustered(generator, 400, 1, 0.0, 0.5)
    _, target, _ = clustered(generator, 300, 1, 0.0, 0.3)
    plain = estimate(PACC().fit(labelled, codes), target)
    quantifier = PACC().fit(labelled, codes, design=SurveyDesign(np.full(400, 2.0)))
    answer = estimate(quantifier, target, design=SurveyDesign(np.full(300, 3.0)))
    np.testing.assert_allclose(answer.shares, plain.shares, atol=1e-9)
    np.testing.assert_allclose([answer.low, answer.high], [plain.low, plain.high], atol=0.01)
    np.testing.assert_allclose(answer.design.effects, 1.0, atol=0.1)


def test_a_population_that_is_drawn_whole_leaves_what_varies_within_classes():
    generator = np.random.default_rng(3)
    quantifier = fitted(generator, PACC())
    _, target, clusters = clustered(generator, 60, 5, 0.5, 0.3)
    whole = estimate(quantifier, target, design=SurveyDesign(clusters=clusters, population_size=300))
    part = estimate(quantifier, target, design=SurveyDesign(clusters=clusters))
    half = estimate(quantifier, target, design=SurveyDesign(clusters=clusters, population_clusters=120))
    within = part.evidence.B[0] @ np.einsum("l,lab->ab", part.shares, part.evidence.S[0]) @ part.evidence.B[0].T
    left = within[1, 1] / (within[1, 1] + part.shares[0] * part.shares[1])
    of_part, of_whole, of_half = (answer.design.target[0, 1, 1] for answer in (part, whole, half))
    assert of_whole == pytest.approx(left * of_part)
    assert of_half == pytest.approx((of_part + of_whole) / 2)
    assert whole.high[1] - whole.low[1] < part.high[1] - part.low[1]


@pytest.mark.parametrize(("fraction", "size"), [(0.5, 5), (0.95, 1)])
def test_intervals_hold_for_the_shares_of_a_finite_population(fraction, size):
    """240 simulations, Monte Carlo error 1.4; with the correction of a mean of known numbers they would hold in 75 to 90 %."""
    generator = np.random.default_rng(10)
    held, n_clusters = [], 80 if size > 1 else 300
    for _ in range(240):
        codes, labelled, of_labelled = clustered(generator, 4 * n_clusters, size, 0.5 if size > 1 else 0.0, 0.5)
        y, population, clusters = clustered(
            generator, round(n_clusters / fraction), size, 0.5 if size > 1 else 0.0, 0.3
        )
        drawn = np.isin(clusters, generator.choice(clusters.max() + 1, n_clusters, replace=False))
        quantifier = PACC().fit(labelled, codes, design=SurveyDesign(clusters=of_labelled))
        sizes = {"population_clusters": clusters.max() + 1}
        answer = estimate(
            quantifier,
            population.take(np.flatnonzero(drawn)),
            design=SurveyDesign(clusters=clusters[drawn], **sizes),
        )
        held.append(answer.low[1] <= y.mean() <= answer.high[1])
    assert np.mean(held) >= 0.91


@pytest.mark.parametrize("method", [SLD, HDy, DyS, KDEyML, EDy, KDEyCS, PACC])
def test_weights_of_labelled_items_are_as_good_as_repeating_them(method):
    generator = np.random.default_rng(11)
    codes, labelled, _ = clustered(generator, 300, 1, 0.0, 0.5)
    _, target, _ = clustered(generator, 300, 1, 0.0, 0.3)
    weights = generator.choice([1.0, 3.0], 300)
    more = {"calibration": "bcts"} if method is SLD else {}
    rows = np.repeat(np.arange(300), weights.astype(int))
    weighted = method(**more).fit(labelled, codes, design=SurveyDesign(weights))
    repeated = method(**more).fit(labelled.take(rows), codes[rows])
    plain = method(**more).fit(labelled, codes)
    with_weights, with_copies, without = (one.aggregate(target)[0, 1] for one in (weighted, repeated, plain))
    # Methods that compare items with each other leave an item out, but not its copies.
    assert with_weights == pytest.approx(with_copies, abs=5e-3)
    assert abs(with_weights - without) > 2 * abs(with_weights - with_copies)
    width, usual = (np.ptp([one.low[1], one.high[1]]) for one in (estimate(weighted, target), estimate(plain, target)))
    assert usual < width < 1.5 * usual


def test_intervals_hold_where_weights_undo_a_selection_for_methods_over_densities_too():
    """100 simulations of each method: without the weights they hold next to never."""
    generator = np.random.default_rng(12)
    methods = {"SLD": SLD(calibration="bcts"), "KDEyML": KDEyML(), "HDy": HDy(), "EDy": EDy()}
    held = {name: [] for name in methods}
    widths = {name: [] for name in methods}
    for _ in range(100):
        codes, labelled, _ = clustered(generator, 1500, 1, 0.0, 0.5)
        _, target, _ = clustered(generator, 800, 1, 0.0, 0.3)
        scores = labelled.posteriors[:, 1]
        kept = np.flatnonzero(generator.random(1500) < np.where(scores > 0.5, 1.0, 0.25))
        weights = np.where(scores > 0.5, 1.0, 4.0)[kept]
        for name, quantifier in methods.items():
            quantifier.fit(labelled.take(kept), codes[kept], design=SurveyDesign(weights))
            answer = estimate(quantifier, target)
            held[name].append(answer.low[1] <= 0.3 <= answer.high[1])
            widths[name].append(answer.high[1] - answer.low[1])
    for name in methods:
        assert np.mean(held[name]) >= 0.89, name
        assert np.mean(widths[name]) <= 0.2, name


def test_a_group_of_one_cluster_rules_nothing_out_and_the_others_are_not_touched():
    generator = np.random.default_rng(13)
    quantifier = fitted(generator, PACC())
    _, target, clusters = clustered(generator, 61, 5, 0.5, 0.3)
    samples = Samples.from_groups(np.where(clusters == 60, "lonely", "others"))
    with pytest.warns(HeadcountWarning, match="One cluster only: all items of sample 'lonely' are in one"):
        answer = estimate(quantifier, target, samples, design=SurveyDesign(clusters=clusters))
    assert answer.low[0].tolist() == [0.0, 0.0]
    assert answer.high[0].tolist() == [1.0, 1.0]
    assert np.isnan(answer.design.effects[0]).all()
    alone = estimate(quantifier, target.take(samples[1]), design=SurveyDesign(clusters=clusters[samples[1]]))
    np.testing.assert_allclose(answer.low[1], alone.low)
    np.testing.assert_allclose(answer.high[1], alone.high)


@pytest.mark.parametrize("quantifier", [HDy(), SLD(calibration="bcts"), PACC()])
def test_replicates_of_clusters_agree_with_the_linearised_interval(quantifier):
    generator = np.random.default_rng(4)
    fitted(generator, quantifier)
    _, target, clusters = clustered(generator, 60, 5, 0.5, 0.4)
    design = SurveyDesign(clusters=clusters)
    linearised = estimate(quantifier, target, design=design)
    drawn = estimate(quantifier, target, design=design, method="bootstrap", random_state=0)
    width = linearised.high[1] - linearised.low[1]
    assert drawn.high[1] - drawn.low[1] == pytest.approx(width, rel=0.2)


def test_comparisons_raise_no_false_alarms_under_clusters():
    generator = np.random.default_rng(5)
    alarms, plain_alarms, families = [], [], []
    for _ in range(60):
        quantifier = fitted(generator, PACC(), size=10)
        drawn = [clustered(generator, 60, 10, 0.5, 0.5) for _ in range(3)]
        months = [estimate(quantifier, outputs, design=SurveyDesign(clusters=c)) for _, outputs, c in drawn]
        plain = PACC().fit(*reversed(clustered(generator, 60, 10, 0.5, 0.5)[:2]))
        alarms.append(difference(*months[:2]).p_value[1] < 0.05)
        plain_alarms.append(difference(*(estimate(plain, outputs) for _, outputs, _ in drawn[:2])).p_value[1] < 0.05)
        families.append((differences(months).p_value < 0.05).any())
        assert trend(months).p_value.shape == (2,)
    assert np.mean(alarms) <= 0.12
    assert np.mean(families) <= 0.12
    assert np.mean(plain_alarms) >= 0.2


def test_means_and_covariances_count_the_design():
    generator = np.random.default_rng(6)
    quantifier = fitted(generator, PACC(), size=10)
    _, target, clusters = clustered(generator, 60, 10, 0.5, 0.4)
    answer = estimate(quantifier, target, design=SurveyDesign(clusters=clusters))
    mean = answer.mean([0.0, 1.0])
    assert (mean.low, mean.high) == pytest.approx((answer.low[1], answer.high[1]))
    assert answer.covariance()[1, 1] == pytest.approx(answer.design.covariance[0, 1, 1])
    assert answer.contains(answer.shares)


def test_a_design_of_the_labelled_side_alone_needs_no_items_of_the_target():
    generator = np.random.default_rng(7)
    quantifier = fitted(generator, PACC(), size=10)
    _, target, _ = clustered(generator, 600, 1, 0.0, 0.4)
    from_items = estimate(quantifier, target)
    from_sums = estimate(quantifier, quantifier.reduce(target, products=True))
    np.testing.assert_allclose(from_sums.low[0], from_items.low, atol=1e-9)
    plain = PACC().fit(quantifier.validation_outputs_, quantifier.validation_codes_)
    assert np.ptp([from_items.low[1], from_items.high[1]]) > 1.2 * np.ptp(
        [*estimate(plain, target).low[1:], *estimate(plain, target).high[1:]]
    )


def test_what_a_design_can_not_be_counted_for_is_refused():
    generator = np.random.default_rng(8)
    codes, outputs, clusters = clustered(generator, 60, 5, 0.5, 0.5)
    design = SurveyDesign(clusters=clusters)
    quantifier = PACC().fit(outputs, codes, design=design)
    with pytest.raises(DataError, match="methods that learn from validation items"):
        CC().fit(outputs, codes, design=design)
    with pytest.raises(DataError, match="learns from labelled items without weights"):
        MMDy().fit(outputs, codes, design=SurveyDesign(np.ones(300)))
    with pytest.raises(DataError, match="methods that learn from validation items"):
        SLD().fit(outputs, codes, design=SurveyDesign(np.ones(300)))
    with pytest.raises(DataError, match="The size of a population is of new items"):
        PACC().fit(outputs, codes, design=SurveyDesign(clusters=clusters, population_size=9000))
    in_one = np.where(codes == 1, 0, clusters + 1)
    with pytest.raises(DataError, match="labelled items of class 1 that PACC learns from are in one cluster"):
        PACC().fit(outputs, codes, design=SurveyDesign(clusters=in_one))
    with pytest.raises(DataError, match="Expected a SurveyDesign"):
        PACC().fit(outputs, codes, design=clusters)
    with pytest.raises(DataError, match="Expected a SurveyDesign"):
        estimate(quantifier, outputs, design={"clusters": clusters})
    with pytest.raises(DataError, match="The design is of 300 items, but there are 299 items"):
        estimate(quantifier, outputs.take(np.arange(299)), design=design)
    with pytest.raises(DataError, match="The design is of 300 items, but there are 299 labelled items"):
        PACC().fit(outputs.take(np.arange(299)), codes[:299], design=design)
    with pytest.raises(DataError, match="shares of the population are estimated"):
        estimate(quantifier, outputs, design=design, estimand="sample")
    with pytest.raises(DataError, match="is of single items, which these statistics do not hold"):
        estimate(quantifier, quantifier.reduce(outputs, products=True), design=design)
    few = np.arange(60)
    with pytest.warns(HeadcountWarning, match="Few clusters: 12 of a sample"):
        estimate(quantifier, outputs.take(few), design=design.take(few))


def test_folds_keep_clusters_together():
    generator = np.random.default_rng(9)
    codes, _, clusters = clustered(generator, 40, 5, 0.5, 0.5)
    X = generator.standard_normal((200, 2)) + codes[:, None]
    for validation in (5, 0.4):
        quantifier = PACC(validation=validation, random_state=0).fit(X, codes, design=SurveyDesign(clusters=clusters))
        folds = quantifier.validation_folds_
        assert all(len(np.unique(folds[quantifier.validation_design_.clusters == c])) <= 1 for c in range(40))


SHARE_THAT_MOVES = float(
    np.mean(
        [
            (min(s + 0.05, 1.0) - s) / 0.05
            for s in np.clip(0.5 + 0.45 * norm.ppf((np.arange(20_000) + 0.5) / 20_000), 0.02, 0.98)
        ]
    )
)
"""Mean move of the authors' shares for a drift of 0.05, in parts of it: those near 1 can't rise as much."""


def months_of_authors(generator, n_authors, drift):
    """Return codes, outputs, authors and months of reviews by authors who write in both months and do not change their mind."""
    share = np.clip(0.5 + 0.45 * generator.standard_normal(n_authors), 0.02, 0.98)
    authors = np.tile(np.repeat(np.arange(n_authors), 4), 2)
    months = np.repeat([0, 1], 4 * n_authors)
    codes = (generator.random(len(authors)) < np.clip(share[authors] + drift * months, 0.0, 1.0)).astype(int)
    scores = 1.5 * generator.standard_normal(len(codes)) + 3.0 * codes - 1.5
    return codes, outputs_of(scores), authors, months


@pytest.mark.parametrize("compared", ["difference", "differences", "trend"])
def test_clusters_with_items_in_both_samples_make_a_difference_more_certain(compared):
    generator = np.random.default_rng(11)
    quantifier = fitted(generator, PACC(), n_clusters=400)
    for _ in range(2):
        _, outputs, authors, months = months_of_authors(generator, 80, 0.0)
        samples = Samples.from_groups(months)
        # With other names in the second month the two are taken to have no author in common.
        estimates = [
            estimate(quantifier, outputs, samples, design=SurveyDesign(clusters=names))
            for names in (authors, authors + 1000 * months)
        ]
        if compared == "difference":
            found = [difference(e.take(0), e.take(1)) for e in estimates]
        elif compared == "differences":
            found = [differences(e) for e in estimates]
        else:
            found = [slope_of_three(quantifier, outputs, authors, months, same) for same in (True, False)]
        width, apart = (float(np.ptp([np.atleast_2d(one.low)[0, 1], np.atleast_2d(one.high)[0, 1]])) for one in found)
        assert width < 0.95 * apart


def test_differences_of_samples_that_share_clusters_hold():
    generator = np.random.default_rng(12)
    held, n = 0, 300
    for _ in range(n):
        quantifier = fitted(generator, PACC(), n_clusters=80)
        _, outputs, authors, months = months_of_authors(generator, 60, 0.05)
        design = SurveyDesign(clusters=authors)
        answer = estimate(quantifier, outputs, Samples.from_groups(months), design=design)
        found = difference(answer.take(0), answer.take(1))
        held += found.low[1] <= 0.05 * SHARE_THAT_MOVES <= found.high[1]
    assert 0.92 <= held / n <= 0.99  # Monte Carlo error 1.3 points


def slope_of_three(quantifier, outputs, authors, months, same):
    """Return the trend over three parts of the reviews, whose authors have the same names in all of them or not."""
    thirds = (np.arange(len(months)) % 4) % 3
    names = authors if same else authors + 1000 * thirds
    return trend(estimate(quantifier, outputs, Samples.from_groups(thirds), design=SurveyDesign(clusters=names)))


def test_effective_sizes_are_kept_where_vectors_are_taken_at_other_shares():
    generator = np.random.default_rng(13)
    quantifier = fitted(generator, SLD(calibration="bcts"), size=10, correlation=0.8)
    _, outputs, clusters = clustered(generator, 60, 10, 0.8, 0.3)
    answer = estimate(quantifier, outputs, design=SurveyDesign(clusters=clusters))
    known = answer.evidence_for(0.95)
    assert (known.sizes < 0.7 * answer.evidence.sizes).all()
    moved = known.at((known.inside() + 0.5) / 2.0)
    np.testing.assert_array_equal(moved.sizes, known.sizes)
    np.testing.assert_array_equal(moved.n, known.n)


@pytest.mark.parametrize("method", [PACC, EDyMAP, SLD])
def test_multiplying_all_weights_by_a_number_changes_nothing(method):
    generator = np.random.default_rng(14)
    options = {"calibration": "bcts"} if method is SLD else {}
    quantifier = fitted(generator, method(**options))
    _, outputs, clusters = clustered(generator, 60, 5, 0.5, 0.3)
    weights = generator.choice([0.5, 1.0, 3.0], 300)
    one, other = (
        estimate(quantifier, outputs, design=SurveyDesign(weights=w, clusters=clusters))
        for w in (weights, 2e6 * weights)
    )
    np.testing.assert_allclose(one.shares, other.shares, atol=1e-6)
    np.testing.assert_allclose(one.low, other.low, atol=1e-6)
