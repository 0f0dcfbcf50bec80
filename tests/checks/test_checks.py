"""Checks without labels: no alarm under pure label shift, an alarm at an unseen class, and verdicts in words."""

import numpy as np
import pytest
from benchmarks.design_worlds import Side, draw
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from headcount import ACC, CC, PACC, SLD, ArtificialPrevalence, Outputs, QuantifierSearch, Samples
from headcount.checks import check, check_counted, label_shift_test
from headcount.checks.labelled_cells import LabelledCells
from headcount.exceptions import DataError
from tests.conftest import blobs, frozen, scored_items

CENTRES = 3.5 / np.sqrt(2) * np.eye(3, 10)


def cell_codes(cells, P):
    """Return the cell of each item with these posteriors."""
    return cells.representation.codes(Outputs(np.arange(P.shape[1]), len(P), P.argmax(axis=1), P))


def draw_items(codes, generator):
    """Draw ten features: unit Gaussians about three centres 3.5 apart (two classes can be classified with 96 % accuracy).

    The third class may be absent from training, as a new topic would be.
    """
    return CENTRES[codes] + generator.standard_normal((len(codes), 10))


def rejection_rate(simulations, shares, unseen=0.0, n_labelled=1000, n_target=1000, seed=0):
    """Share of simulations in which the test rejects at 0.05; each has new labelled items, a new fit and a new target."""
    generator = np.random.default_rng(seed)
    rejected = 0
    for _ in range(simulations):
        y = np.arange(2 * n_labelled) % 2
        q = PACC(LogisticRegression(), validation=0.5, random_state=0).fit(draw_items(y, generator), y)
        codes = generator.choice(2, n_target, p=shares)
        codes[: int(unseen * n_target)] = 2
        rejected += label_shift_test(q, draw_items(codes, generator)).p_value[0] < 0.05
    return rejected / simulations


def test_an_unseen_class_is_rejected_but_not_pure_label_shift():
    assert rejection_rate(100, (0.5, 0.5)) <= 0.12
    assert rejection_rate(50, (0.9, 0.1)) <= 0.16
    assert rejection_rate(50, (0.5, 0.5), unseen=0.2) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.98, 0.02)], ids=str)
def test_the_rate_of_false_alarms_is_4_to_6_percent(shares):
    """2,000 simulations, Monte Carlo error 0.5 points."""
    assert 0.04 <= rejection_rate(2000, shares, seed=1) <= 0.06


@pytest.mark.slow
def test_an_unseen_class_of_20_percent_of_1000_items_is_detected_in_80_percent():
    assert rejection_rate(400, (0.5, 0.5), unseen=0.2, seed=2) >= 0.8


def test_many_samples_of_three_classes_equal_one_by_one():
    codes, P = scored_items(1200, 3, seed=0, separation=1.5)
    q = PACC(frozen(range(3))).fit(P[:600], codes[:600])
    test = label_shift_test(q, P[600:], Samples.from_matrix(np.arange(600).reshape(2, 300)))
    assert test.p_value.shape == (2,)
    assert test.shares.shape == (2, 3)
    assert "2 samples" in repr(test)
    alone = label_shift_test(q, P[600:900])
    assert alone.p_value[0] == pytest.approx(test.p_value[0])


def test_labelled_items_may_be_passed():
    codes, P = scored_items(1000, 2, seed=0, separation=1.2)
    q = SLD(frozen([0, 1]), prior="uniform").fit(P, codes)
    with pytest.raises(DataError, match=r"SLD keeps no posteriors of labelled items .* labelled=\(X, y\)"):
        label_shift_test(q, P)
    given = label_shift_test(q, P[500:], labelled=(P[:500], codes[:500]))
    kept = label_shift_test(PACC(frozen([0, 1])).fit(P[:500], codes[:500]), P[500:])
    assert given.p_value[0] == pytest.approx(kept.p_value[0])
    with pytest.raises(DataError, match="ACC keeps no posteriors"):
        label_shift_test(ACC(frozen([0, 1])).fit(P, codes), P)


def test_few_labelled_items_are_no_error():
    codes, P = scored_items(30, 2, seed=0)
    test = label_shift_test(PACC(frozen([0, 1])).fit(P, codes), P)
    assert test.p_value[0] > 0.05
    few = np.array([0] * 20 + [1] * 20 + [2, 2])
    report = check(PACC(frozen(range(3))).fit(np.eye(3)[few], few), np.eye(3)[few[:20]])
    assert report.verdict == "not checked"
    assert np.isnan(report.p_label_shift)
    assert "Nothing unusual" not in repr(report)
    assert "too few items" in repr(report)


def test_verdicts_and_their_advice():
    generator = np.random.default_rng(0)
    y = np.arange(2000) % 2
    q = PACC(LogisticRegression(), random_state=0).fit(draw_items(y, generator), y)
    trusted = check(q, draw_items(y[:1000], generator))
    assert trusted.verdict == "trust"
    assert "Nothing unusual: scores and items look like" in repr(trusted)
    unseen = check(q, draw_items(np.repeat([0, 1, 2], [400, 300, 300]), generator))
    assert unseen.verdict == "do not trust"
    assert "items of a new kind" in unseen.advice[-1]
    shifted = check(q, draw_items(np.repeat([0, 1], [950, 50]), generator))
    assert shifted.distance > 0.3
    assert "just counting the classifier's answers would be far off" in repr(shifted)
    assert trusted.separation > 0.5


def test_precision_is_no_matter_of_the_verdict():
    codes, P = scored_items(2000, 2, seed=0, separation=0.4)
    report = check(PACC(frozen([0, 1])).fit(P[:1000], codes[:1000]), P[1000:])
    assert report.verdict == "trust"
    assert report.separation < 0.1
    assert "can tell the two classes apart" not in repr(report)  # 1,000 items show that it does, a little
    generator = np.random.default_rng(0)
    blind = generator.dirichlet([5.0, 5.0], 1000)
    report = check(PACC(frozen([0, 1])).fit(blind[:500], codes[:500]), blind[500:])
    assert "do not show that the classifier can tell the two classes apart" in repr(report)
    assert "merge" not in repr(report)
    assert report.verdict == "trust"


def test_the_verdict_of_a_group_does_not_depend_on_others():
    codes, P = scored_items(1600, 2, seed=3, separation=1.2)
    cells = LabelledCells(P[:600], codes[:600])
    parts = [P[600 + 100 * g : 700 + 100 * g] for g in range(10)]
    counts = np.array([np.bincount(cell_codes(cells, part), minlength=cells.n_cells) for part in parts]) * 1.0
    counts[0] = np.roll(counts[0], 5)
    sums, shares = np.array([part.sum(axis=0) for part in parts]), np.full((10, 2), 0.5)
    together = check_counted(cells, counts, sums, shares, np.arange(2))
    alone = [check_counted(cells, counts[[g]], sums[[g]], shares[[g]], np.arange(2))[0] for g in range(10)]
    assert [repr(one) for one in together] == [repr(one) for one in alone]
    assert together[0].verdict == "do not trust"


def test_miscalibrated_posteriors_are_reported_for_methods_that_adjust():
    """Posteriors five times too sure, as naive Bayes gives: SLD goes by them, PACC does not."""
    codes, P = scored_items(8000, 2, seed=1, separation=0.8)
    sure = P**5 / (P**5).sum(axis=1, keepdims=True)
    target = np.concatenate([np.flatnonzero(codes[4000:] == 1)[:1600], np.flatnonzero(codes[4000:] == 0)[:400]])
    target, labelled = target + 4000, (sure[:4000], codes[:4000])
    wrong = check(SLD(frozen([0, 1]), prior="uniform").fit(*labelled), sure[target], labelled=labelled)
    assert wrong.verdict == "caution"
    assert wrong.off > 0.05
    assert "relies on the classifier's probabilities" in repr(wrong)
    assert check(PACC(frozen([0, 1])).fit(*labelled), sure[target]).verdict == "trust"


def test_invalid_input_raises_a_sentence():
    codes, P = scored_items(100, 2, seed=0)
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        check(PACC(frozen([0, 1])).fit(P, codes), P, level=5)
    with pytest.raises(DataError, match="keeps no posteriors"):
        check(CC(frozen([0, 1])).fit(P, codes), P)


def test_a_sample_too_small_to_test_is_not_trusted():
    codes, P = scored_items(600, 2, seed=0, separation=1.5)
    report = check(PACC(frozen([0, 1])).fit(P, codes), P[:10])
    assert report.verdict == "not checked"
    assert "too few items" in repr(report)


def test_the_scale_of_weights_does_not_matter():
    codes, P = scored_items(1100, 2, seed=0, separation=1.2)
    q = PACC(frozen([0, 1])).fit(P[:600], codes[:600])
    p_values = [
        label_shift_test(q, P[600:], Samples(np.arange(500), [0, 500], weights=np.full(500, w))).p_value[0]
        for w in (0.01, 1.0, 100.0)
    ]
    assert p_values == pytest.approx([label_shift_test(q, P[600:]).p_value[0]] * 3)


def test_check_uses_the_best_estimator_of_a_search():
    generator = np.random.default_rng(0)
    y = np.arange(1000) % 2
    protocol = ArtificialPrevalence(3, sample_size=50, random_state=0)
    search = QuantifierSearch(PACC(), {"classifier__C": [1.0]}, protocol=protocol, random_state=0).fit(
        draw_items(y, generator), y
    )
    assert check(search, draw_items(y, generator)).verdict == "trust"
    with pytest.raises(NotFittedError):
        check(PACC(), draw_items(y, generator))
    with pytest.raises(DataError, match="has no items"):
        label_shift_test(search, draw_items(y, generator), Samples([0, 1], [0, 2, 2]))


def draw_decisions(k, right, sizes, generator):
    """Draw decisions on items, of which the share ``right`` is correct; return the decisions and the true codes."""
    codes = np.repeat(np.arange(k), sizes)
    wrong = (codes + generator.integers(1, k, len(codes))) % k
    return np.where(generator.random(len(codes)) < right, codes, wrong), codes


def check_decisions(k, right, labelled, sizes, generator, shares=None, adjusts=True):
    """Check the decisions on a target with these class sizes, given ``labelled`` decisions of each class."""
    labelled_decisions, codes = draw_decisions(k, right, [labelled] * k, generator)
    cells = LabelledCells(np.eye(k)[labelled_decisions], codes, decided=True)
    counts = np.zeros((1, cells.n_cells))
    target_decisions, _ = draw_decisions(k, right, sizes, generator)
    n_decided = np.bincount(target_decisions, minlength=k)
    counts[0, cell_codes(cells, np.eye(k))] = n_decided
    shares = cells.test(counts, counts.sum(axis=1)).shares if shares is None else np.array([shares])
    return check_counted(cells, counts, n_decided[None, :], shares, np.arange(k), adjusts=adjusts)[0]


@pytest.mark.parametrize("k", [2, 3])
def test_decisions_that_are_a_mixture_of_the_classes_are_not_rejected(k):
    generator = np.random.default_rng(0)
    alarms = 0
    for n in range(100):  # all of one class, where chance alone can exceed every mixture, or of two
        report = check_decisions(k, 0.8, 300, [500, 60 * (n % 2), *[0] * (k - 2)], generator)
        alarms += report.p_label_shift < 0.05
        assert report.verdict in ("not checked", "caution", "do not trust")
    assert alarms <= 10
    assert check_decisions(k, 0.8, 300, [100] * k, generator).verdict == "not checked"


def test_decisions_that_no_mixture_explains_are_rejected():
    generator = np.random.default_rng(0)
    decisions, codes = draw_decisions(2, 0.8, [300, 300], generator)
    cells = LabelledCells(np.eye(2)[decisions], codes, decided=True)
    counts = np.zeros((1, cells.n_cells))
    counts[0, cell_codes(cells, np.eye(2))] = 499, 1  # items of the first class alone would give 400
    report = check_counted(cells, counts, np.array([[499.0, 1.0]]), np.array([[1.0, 0.0]]), np.arange(2))[0]
    assert report.verdict == "do not trust"
    assert "No combination of the known classes explains what the classifier says of these items" in report.advice[-1]


def test_few_labelled_decisions_are_enough_for_a_check():
    report = check_decisions(2, 0.9, 10, [100, 50], np.random.default_rng(0))
    assert report.verdict == "not checked"
    assert "Nothing speaks against the shares" in report.advice[-1]


def test_counted_shares_that_are_far_off_need_caution():
    generator = np.random.default_rng(0)
    report = check_decisions(2, 0.75, 1000, [2000, 0], generator, shares=[0.75, 0.25], adjusts=False)
    assert report.verdict == "caution"
    assert report.off == pytest.approx(0.25, abs=0.05)
    assert "off (by 25 points)" in " ".join(report.advice) or "off (by 24 points)" in " ".join(report.advice)
    codes, P = scored_items(2000, 2, 0, separation=1.0)
    target = P[codes == 1]
    assert check(CC(frozen([0, 1])).fit(P, codes), target, labelled=(P, codes)).verdict == "caution"
    assert check(PACC(frozen([0, 1])).fit(P, codes), target).verdict == "trust"


@pytest.mark.slow
@pytest.mark.parametrize("apart", [2.0, 3.5, 6.0])
@pytest.mark.parametrize(
    ("labelled", "shares"),
    [
        ([500, 500], [0.5, 0.5]),
        ([500, 500], [0.95, 0.05]),
        ([334, 333, 333], [0.6, 0.3, 0.1]),
        ([125, 125], [0.8, 0.2]),
        ([450, 50], [0.5, 0.5]),
    ],
)
def test_false_alarms_are_about_as_rare_as_the_level(apart, labelled, shares):
    generator, k = np.random.default_rng(0), len(labelled)
    centres = apart / np.sqrt(2) * np.eye(k)

    def posteriors(codes):
        scores = (centres[codes] + generator.standard_normal((len(codes), k))) @ centres.T
        P = np.exp(scores - scores.max(axis=1, keepdims=True))
        return P / P.sum(axis=1, keepdims=True)

    alarms = 0
    for _ in range(1500):
        codes = np.repeat(np.arange(k), labelled)
        cells = LabelledCells(posteriors(codes), codes)
        target_cells = cell_codes(cells, posteriors(generator.choice(k, 1000, p=shares)))
        alarms += (
            cells.test(np.bincount(target_cells, minlength=cells.n_cells)[None] * 1.0, np.array([1000.0])).p_value[0]
            < 0.05
        )
    assert alarms / 1500 < 0.075


def test_an_almost_perfect_classifier_does_not_hide_an_unseen_class():
    """The scores of an unseen class, near 0.5, fall into cells that hold hardly any labelled items."""
    generator = np.random.default_rng(0)

    def draw_sample(*sizes):
        return np.repeat([-3.0, 3.0, 0.0][: len(sizes)], sizes)[:, None] + generator.standard_normal((sum(sizes), 1))

    q = PACC(LogisticRegression(C=1000), random_state=0).fit(draw_sample(1000, 1000), np.repeat([0, 1], 1000))
    assert check(q, draw_sample(500, 500)).verdict == "trust"
    assert check(q, draw_sample(300, 300, 300)).verdict == "do not trust"
    assert check(q, draw_sample(15, 14)).verdict == "not checked"  # too few items to test
    codes = generator.integers(0, 10, 6000)
    X = 2.5 * generator.standard_normal((10, 20))[codes] + generator.standard_normal((6000, 20))
    ten_classes = PACC(LogisticRegression(), random_state=0).fit(X[:4000], codes[:4000])
    assert {check(ten_classes, X[start : start + 200]).verdict for start in range(4000, 6000, 200)} == {"trust"}


def test_labelled_items_must_contain_all_classes():
    codes, P = scored_items(300, 2, 0)
    q = PACC(frozen([0, 1])).fit(P, codes)
    with pytest.raises(DataError, match="hold none of class 1"):
        check(q, P, labelled=(P[codes == 0], codes[codes == 0]))


def test_counted_shares_of_few_items_are_not_flagged():
    """Without a standard error, as with few items of each class, chance alone must not look like changed shares."""
    n_flagged = 0
    for seed in range(100):
        codes, P = scored_items(150, 3, seed, separation=1.4)
        cells = LabelledCells(P, codes)
        _, target = scored_items(60, 3, 1000 + seed, separation=1.4)
        counts = np.bincount(cell_codes(cells, target), minlength=cells.n_cells)[None] * 1.0
        report = check_counted(
            cells, counts, target.sum(axis=0)[None], target.mean(axis=0)[None], np.arange(3), adjusts=False
        )[0]
        n_flagged += any("estimate is off" in sentence for sentence in report.advice)
    assert n_flagged <= 5


def test_few_validation_items_beside_many_labelled_ones_raise_no_alarm():
    verdicts = []
    for seed in range(12):
        X, y = blobs(2100, 3, seed=seed)
        few, many = slice(0, 100), slice(100, None)
        q = PACC(GaussianNB(), validation=0.4, random_state=0).fit(X[few], y[few])
        verdicts.append(check(q, blobs(500, 3, seed=100 + seed)[0], labelled=(X[many], y[many])).verdict)
    assert verdicts.count("trust") >= 10


def test_clusters_raise_no_alarm():
    """Items of one author are alike in what has nothing to do with the classes: without clusters the items look changed."""
    from headcount import SurveyDesign

    generator = np.random.default_rng(0)

    def drawn(n_clusters):
        c = np.repeat(np.arange(n_clusters), 10)
        y = (generator.random(len(c)) < 0.5).astype(int)
        noise = generator.standard_normal((n_clusters, 3))[c] + generator.standard_normal((len(c), 3))
        return np.column_stack([generator.standard_normal(len(c)) + 2.0 * y, noise]), y, c

    alarms, plain = [], []
    for _ in range(12):
        (X, y, c), (Z, _, C) = drawn(50), drawn(50)
        quantifier = PACC(LogisticRegression(), random_state=0).fit(X, y, design=SurveyDesign(clusters=c))
        alarms.append(check(quantifier, Z, design=SurveyDesign(clusters=C)).verdict != "trust")
        plain.append(check(PACC(LogisticRegression(), random_state=0).fit(X, y), Z).verdict != "trust")
    assert sum(alarms) <= 1
    assert sum(plain) >= 3


@pytest.mark.parametrize("learner", [GaussianNB(), RandomForestClassifier(30, min_samples_leaf=5, random_state=0)])
def test_clusters_raise_no_alarm_with_other_learners_and_a_new_class_is_found(learner):
    """10 simulations each; `benchmarks.designs_check` has more."""
    generator = np.random.default_rng(1)
    side, alarms, found = Side(60, 10, 0.5), [], []
    for _ in range(10):
        labelled = draw(generator, side, [0.5, 0.5], "labelled", wide=True)
        new = draw(generator, side, [0.7, 0.3], "new", wide=True)
        quantifier = PACC(learner, random_state=0).fit(labelled.X, labelled.y, design=labelled.design)
        alarms.append(check(quantifier, new.X, design=new.design).verdict != "trust")
        unseen = new.X + np.outer(new.design.clusters < 20, [0.0, 4.0, 0.0])
        found.append(check(quantifier, unseen, design=new.design).verdict != "trust")
    assert sum(alarms) <= 1
    assert sum(found) >= 7


def test_weights_that_depend_on_the_items_raise_no_alarm():
    """Labelled items with a large first feature were drawn four times as often, new ones were not."""
    generator = np.random.default_rng(3)
    alarms, plain = [], []
    for _ in range(15):
        labelled = draw(generator, Side(1200, weights="informative"), [0.5, 0.5], "labelled", wide=True)
        new = draw(generator, Side(800), [0.7, 0.3], "new", wide=True)
        quantifier = PACC(GaussianNB(), random_state=0)
        alarms.append(check(quantifier.fit(labelled.X, labelled.y, design=labelled.design), new.X).verdict != "trust")
        plain.append(check(quantifier.fit(labelled.X, labelled.y), new.X).verdict != "trust")
    assert sum(alarms) <= 1
    assert sum(plain) >= 2
