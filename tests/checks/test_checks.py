"""Checks without labels: quiet under pure label shift, loud when a class was never seen, and worded for a person."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from headcount import ACC, CC, PACC, SLD, ArtificialPrevalence, Outputs, QuantifierSearch, Samples
from headcount.checks import check, check_counted, label_shift_test
from headcount.checks.label_shift import LabelledCells
from headcount.exceptions import DataError
from tests.conftest import frozen, scored_items

CENTRES = 3.5 / np.sqrt(2) * np.eye(3, 10)


def cell_codes(cells, P):
    """The cell of each item with these posteriors."""
    return cells.representation.codes(Outputs(np.arange(P.shape[1]), len(P), P.argmax(axis=1), P))


def items(codes, generator):
    """Ten features, unit Gaussians about three centres 3.5 apart (a classifier of two of them is right in 96 % of the items).

    The third class may never have been seen in training, as a new topic would be.
    """
    return CENTRES[codes] + generator.standard_normal((len(codes), 10))


def alarms(simulations, shares, unseen=0.0, n_labelled=1000, n_target=1000, seed=0):
    """Share of simulations in which the test rejects at 0.05: new labelled items, a new fit and a new target each time."""
    generator = np.random.default_rng(seed)
    rejected = 0
    for _ in range(simulations):
        y = np.arange(2 * n_labelled) % 2
        q = PACC(LogisticRegression(), validation=0.5, random_state=0).fit(items(y, generator), y)
        codes = generator.choice(2, n_target, p=shares)
        codes[: int(unseen * n_target)] = 2
        rejected += label_shift_test(q, items(codes, generator)).p_value[0] < 0.05
    return rejected / simulations


def test_quiet_under_label_shift_and_loud_at_an_unseen_class():
    assert alarms(100, (0.5, 0.5)) <= 0.12
    assert alarms(50, (0.9, 0.1)) <= 0.16
    assert alarms(50, (0.5, 0.5), unseen=0.2) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.9, 0.1), (0.98, 0.02)], ids=str)
def test_false_alarms_are_5_percent_give_or_take_1(shares):
    """2,000 simulations, Monte Carlo error 0.5."""
    assert 0.04 <= alarms(2000, shares, seed=1) <= 0.06


@pytest.mark.slow
def test_an_unseen_class_of_20_percent_of_1000_items_is_found_in_80_percent():
    assert alarms(400, (0.5, 0.5), unseen=0.2, seed=2) >= 0.8


def test_many_samples_at_once_and_any_number_of_classes():
    codes, P = scored_items(1200, 3, seed=0, separation=1.5)
    q = PACC(frozen(range(3))).fit(P[:600], codes[:600])
    test = label_shift_test(q, P[600:], Samples.from_matrix(np.arange(600).reshape(2, 300)))
    assert test.p_value.shape == (2,)
    assert test.shares.shape == (2, 3)
    assert "2 samples" in repr(test)
    alone = label_shift_test(q, P[600:900])
    assert alone.p_value[0] == pytest.approx(test.p_value[0])


def test_labelled_items_may_be_handed_in():
    codes, P = scored_items(1000, 2, seed=0, separation=1.2)
    q = SLD(frozen([0, 1]), prior="uniform").fit(P, codes)
    with pytest.raises(DataError, match=r"SLD keeps no posteriors of labelled items .* labelled=\(X, y\)"):
        label_shift_test(q, P)
    given = label_shift_test(q, P[500:], labelled=(P[:500], codes[:500]))
    kept = label_shift_test(PACC(frozen([0, 1])).fit(P[:500], codes[:500]), P[500:])
    assert given.p_value[0] == pytest.approx(kept.p_value[0])
    with pytest.raises(DataError, match="ACC keeps no posteriors"):
        label_shift_test(ACC(frozen([0, 1])).fit(P, codes), P)


def test_too_few_labelled_items_get_a_sentence():
    codes, P = scored_items(30, 2, seed=0)
    with pytest.raises(DataError, match="too few labelled items"):
        label_shift_test(PACC(frozen([0, 1])).fit(P, codes), P)


def test_verdicts_in_words():
    generator = np.random.default_rng(0)
    y = np.arange(2000) % 2
    q = PACC(LogisticRegression(), random_state=0).fit(items(y, generator), y)
    fine = check(q, items(y[:1000], generator))
    assert fine.verdict == "trust"
    assert "look like a mixture" in repr(fine)
    unseen = check(q, items(np.repeat([0, 1, 2], [400, 300, 300]), generator))
    assert unseen.verdict == "do not trust"
    assert "a class never seen in training" in unseen.advice[-1]
    far = check(q, items(np.repeat([0, 1], [950, 50]), generator))
    assert far.distance > 0.3
    assert "counting decisions would be badly off" in repr(far)
    assert fine.separation > 0.5


def test_a_weak_classifier_is_said_to_be_one():
    codes, P = scored_items(2000, 2, seed=0, separation=0.4)
    report = check(PACC(frozen([0, 1])).fit(P[:1000], codes[:1000]), P[1000:])
    assert report.verdict in ("caution", "do not trust")
    assert "hardly tells some classes apart" in repr(report)


def test_wrong_input_gets_a_sentence():
    codes, P = scored_items(100, 2, seed=0)
    with pytest.raises(DataError, match="level must be between 0 and 1"):
        check(PACC(frozen([0, 1])).fit(P, codes), P, level=5)
    with pytest.raises(DataError, match="keeps no posteriors"):
        check(CC(frozen([0, 1])).fit(P, codes), P)


def test_what_can_not_be_tested_is_not_trusted():
    codes, P = scored_items(600, 2, seed=0, separation=1.5)
    report = check(PACC(frozen([0, 1])).fit(P, codes), P[:10])
    assert report.verdict == "caution"
    assert "too few items" in repr(report)


def test_the_scale_of_weights_does_not_matter():
    codes, P = scored_items(1100, 2, seed=0, separation=1.2)
    q = PACC(frozen([0, 1])).fit(P[:600], codes[:600])
    p_values = [
        label_shift_test(q, P[600:], Samples(np.arange(500), [0, 500], weights=np.full(500, w))).p_value[0]
        for w in (0.01, 1.0, 100.0)
    ]
    assert p_values == pytest.approx([label_shift_test(q, P[600:]).p_value[0]] * 3)


def test_a_search_is_checked_by_its_best():
    generator = np.random.default_rng(0)
    y = np.arange(1000) % 2
    protocol = ArtificialPrevalence(3, sample_size=50, random_state=0)
    search = QuantifierSearch(PACC(), {"classifier__C": [1.0]}, protocol=protocol, random_state=0).fit(
        items(y, generator), y
    )
    assert check(search, items(y, generator)).verdict == "trust"
    with pytest.raises(NotFittedError):
        check(PACC(), items(y, generator))
    with pytest.raises(DataError, match="has no items"):
        label_shift_test(search, items(y, generator), Samples([0, 1], [0, 2, 2]))


def test_among_many_groups_a_false_alarm_is_as_rare_as_in_one():
    """Under mere shifts of shares, 20 groups at a time: some group is called wrong about as often as one group alone would be."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 600)
        P1 = 1.0 / (1.0 + np.exp(-(2.0 * (2 * y - 1) + rng.standard_normal(600) * 1.5)))
        cells = LabelledCells(np.column_stack([1 - P1, P1]), y)
        counts, sums = [], []
        for share in np.linspace(0.1, 0.9, 20):
            t = (rng.random(300) < share).astype(int)
            Q1 = 1.0 / (1.0 + np.exp(-(2.0 * (2 * t - 1) + rng.standard_normal(300) * 1.5)))
            Q = np.column_stack([1 - Q1, Q1])
            counts.append(np.bincount(cell_codes(cells, Q), minlength=cells.n_cells))
            sums.append(Q.sum(axis=0))
        shares = np.full((20, 2), 0.5)
        reports = check_counted(cells, np.array(counts, dtype=float), np.array(sums), shares, np.array([0, 1]))
        assert sum(report.p_label_shift < 0.05 for report in reports) <= 12
        alarms += any(
            "mixture of the training classes (p" in sentence for report in reports for sentence in report.advice
        )
    assert alarms <= 8  # 40 times 5 % is 2; without the correction it would be about 25


def decisions(k, right, sizes, generator):
    """Decided classes of labelled items, as many as said of each class, of which a share is right; and the classes."""
    codes = np.repeat(np.arange(k), sizes)
    wrong = (codes + generator.integers(1, k, len(codes))) % k
    return np.where(generator.random(len(codes)) < right, codes, wrong), codes


def judged(k, right, labelled, pile, generator, shares=None, adjusts=True):
    said, codes = decisions(k, right, [labelled] * k, generator)
    cells = LabelledCells(np.eye(k)[said], codes, decided=True)
    counts = np.zeros((1, cells.n_cells))
    found, _ = decisions(k, right, pile, generator)
    decided = np.bincount(found, minlength=k)
    counts[0, cell_codes(cells, np.eye(k))] = decided
    shares = cells.test(counts, counts.sum(axis=1)).shares if shares is None else np.array([shares])
    return check_counted(cells, counts, decided[None, :], shares, np.arange(k), adjusts=adjusts)[0]


@pytest.mark.parametrize("k", [2, 3])
def test_decisions_that_are_a_mixture_are_not_contradicted(k):
    generator = np.random.default_rng(0)
    alarms = 0
    for n in range(100):  # all of one class, where chance alone goes beyond what mixtures can be, or of two
        report = judged(k, 0.8, 300, [500, 60 * (n % 2), *[0] * (k - 2)], generator)
        alarms += report.p_label_shift < 0.05
        assert report.verdict in ("not checked", "caution", "do not trust")
    assert alarms <= 10
    assert judged(k, 0.8, 300, [100] * k, generator).verdict == "not checked"


def test_decisions_that_no_mixture_explains():
    generator = np.random.default_rng(0)
    said, codes = decisions(2, 0.8, [300, 300], generator)
    cells = LabelledCells(np.eye(2)[said], codes, decided=True)
    counts = np.zeros((1, cells.n_cells))
    counts[0, cell_codes(cells, np.eye(2))] = 499, 1  # of items of the first class alone, 400 would be
    report = check_counted(cells, counts, np.array([[499.0, 1.0]]), np.array([[1.0, 0.0]]), np.arange(2))[0]
    assert report.verdict == "do not trust"
    assert "The decisions do not look like any mixture" in report.advice[-1]


def test_few_labelled_decisions_will_do():
    report = judged(2, 0.9, 10, [100, 50], np.random.default_rng(0))
    assert report.verdict == "not checked"
    assert "Nothing speaks against the shares" in report.advice[-1]


def test_shares_that_were_counted_and_not_adjusted():
    generator = np.random.default_rng(0)
    said = judged(2, 0.75, 1000, [2000, 0], generator, shares=[0.75, 0.25], adjusts=False)
    assert said.verdict == "caution"
    assert said.off == pytest.approx(0.25, abs=0.05)
    assert "25 points off" in " ".join(said.advice) or "24 points off" in " ".join(said.advice)
    codes, P = scored_items(2000, 2, 0, separation=1.0)
    ones = P[codes == 1]
    assert check(CC(frozen([0, 1])).fit(P, codes), ones, labelled=(P, codes)).verdict == "caution"
    assert check(PACC(frozen([0, 1])).fit(P, codes), ones).verdict == "trust"


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
def test_false_alarms_are_as_rare_as_is_said(apart, labelled, shares):
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
        found = cell_codes(cells, posteriors(generator.choice(k, 1000, p=shares)))
        alarms += (
            cells.test(np.bincount(found, minlength=cells.n_cells)[None] * 1.0, np.array([1000.0])).p_value[0] < 0.05
        )
    assert alarms / 1500 < 0.075


def test_a_classifier_that_hardly_errs_does_not_blind_the_check():
    """The middling scores of an unseen class fall into cells that labelled items hardly ever reach."""
    generator = np.random.default_rng(0)

    def pile(*sizes):
        return np.repeat([-3.0, 3.0, 0.0][: len(sizes)], sizes)[:, None] + generator.standard_normal((sum(sizes), 1))

    q = PACC(LogisticRegression(C=1000), random_state=0).fit(pile(1000, 1000), np.repeat([0, 1], 1000))
    assert check(q, pile(500, 500)).verdict == "trust"
    assert check(q, pile(300, 300, 300)).verdict == "do not trust"
    assert check(q, pile(15, 14)).verdict == "caution"  # too few to tell anything
    codes = generator.integers(0, 10, 6000)
    X = 2.5 * generator.standard_normal((10, 20))[codes] + generator.standard_normal((6000, 20))
    many = PACC(LogisticRegression(), random_state=0).fit(X[:4000], codes[:4000])
    assert {check(many, X[start : start + 200]).verdict for start in range(4000, 6000, 200)} == {"trust"}


def test_labelled_items_must_hold_all_classes():
    codes, P = scored_items(300, 2, 0)
    q = PACC(frozen([0, 1])).fit(P, codes)
    with pytest.raises(DataError, match="hold none of class 1"):
        check(q, P, labelled=(P[codes == 0], codes[codes == 0]))


def test_counted_shares_of_few_items_are_not_called_off():
    """Where no standard error is known, as with few items of each class, chance alone must not look like changed shares."""
    said = 0
    for seed in range(100):
        codes, P = scored_items(150, 3, seed, separation=1.4)
        cells = LabelledCells(P, codes)
        _, pile = scored_items(60, 3, 1000 + seed, separation=1.4)
        counts = np.bincount(cell_codes(cells, pile), minlength=cells.n_cells)[None] * 1.0
        report = check_counted(
            cells, counts, pile.sum(axis=0)[None], pile.mean(axis=0)[None], np.arange(3), adjusts=False
        )[0]
        said += any("points off" in sentence for sentence in report.advice)
    assert said <= 5
