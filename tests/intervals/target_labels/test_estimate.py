"""`estimate(..., labels=...)`: both answers, their coverage by simulation, the test of both, and what is refused."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from headcount import ACC, CC, PACC, SLD, BayesianCC, HDx, HDy, KDEyML, Samples, estimate
from headcount.exceptions import DataError, HeadcountWarning


def draw(y, generator, moved=0.0):
    """Draw items of these classes, two features each; those of class 0 are moved towards the others."""
    centres = np.array([[-1.2, 0.0], [1.2, 0.0], [0.0, 1.8]])
    X = centres[y] + generator.standard_normal((len(y), 2))
    X[y == 0, 0] += moved
    return X


def labels_of(y, n, generator):
    """Label n items, drawn at random."""
    rows = generator.choice(len(y), n, replace=False)
    return rows, y[rows]


@pytest.fixture(scope="module")
def source():
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, 400)
    return draw(y, generator), y


@pytest.fixture(scope="module")
def target():
    generator = np.random.default_rng(2)
    y = (generator.random(900) < 0.25).astype(int)
    return draw(y, generator), y, labels_of(y, 60, generator)


@pytest.mark.parametrize(
    "quantifier",
    [
        ACC(random_state=0),
        PACC(random_state=0),
        PACC(validation=0.4, random_state=0),
        SLD(calibration="bcts", random_state=0),
        HDy(random_state=0),
        HDx(),
        KDEyML(random_state=0),
    ],
    ids=lambda quantifier: str(quantifier)[:30],
)
def test_both_answers_and_the_test_of_both_families(quantifier, source, target):
    X, y, labels = target
    answer = estimate(quantifier.fit(*source), X, labels=labels)
    truth = y.mean()
    for one in (answer.design_based, answer.label_shift, answer.source_only):
        assert one.low[1] < truth < one.high[1]
        assert np.isclose(one.shares.sum(), 1.0)
    widths = [(one.high - one.low)[1] for one in (answer.design_based, answer.label_shift, answer.source_only)]
    assert widths[1] < min(widths[0], widths[2])
    assert answer.shares is answer.design_based.shares
    assert answer.contradiction.p_value[0] > 0.01
    assert 0.03 < answer.contradiction.detectable[0, 1] < 0.3
    assert answer.n_labels.tolist() == [60]


def test_answers_with_few_unlabelled_items_are_those_of_the_labels(source):
    generator = np.random.default_rng(3)
    y = generator.integers(0, 2, 40)
    q = PACC(random_state=0).fit(*source)
    answer = estimate(q, draw(y, generator), labels=y, estimand="sample")
    assert np.allclose(answer.shares[1], y.mean())
    assert np.allclose(answer.high - answer.low, 0.0)
    assert np.allclose(answer.label_shift.shares[1], y.mean())


@pytest.mark.parametrize("quantifier", [CC(), BayesianCC(random_state=0), CC(LinearSVC()), SLD()])
def test_methods_without_an_interval_still_have_a_design_based_answer(quantifier, source, target):
    X, y, labels = target
    answer = estimate(quantifier.fit(*source), X, labels=labels)
    assert answer.low[1] < y.mean() < answer.high[1]
    assert answer.label_shift is None
    assert answer.contradiction is None
    assert answer.why_no_label_shift.endswith((".", "calibrated."))


def test_predictions_make_the_design_based_interval_shorter_than_that_of_the_labels_alone(source, target):
    X, _, labels = target
    answer = estimate(PACC(random_state=0).fit(*source), X, labels=labels)
    (assisted,) = answer.assisted
    assert (assisted.high - assisted.low)[1] < 0.85 * (assisted.high_alone - assisted.low_alone)[1]


def test_drift_leaves_the_design_based_answer_right_and_is_found(source):
    generator = np.random.default_rng(4)
    y = (generator.random(900) < 0.25).astype(int)
    X = draw(y, generator, moved=1.2)
    answer = estimate(PACC(random_state=0).fit(*source), X, labels=labels_of(y, 100, generator))
    assert answer.low[1] < y.mean() < answer.high[1]
    assert answer.source_only.low[1] > y.mean()
    assert answer.contradiction.p_value[0] < 0.001


def test_samples_have_answers_of_their_own_and_few_labels_are_said(source, target):
    X, y, (rows, _) = target
    samples = Samples.from_lists([np.arange(450), np.arange(450, 900)], names=["a", "b"])
    few = [*rows[rows < 450], *rows[rows >= 450][:4]]
    labels = {int(i): int(y[i]) for i in few}
    with pytest.warns(HeadcountWarning, match=r"Sample b: 4 labels: .* at least 10.* Label 6 more"):
        answer = estimate(PACC(random_state=0).fit(*source), X, samples, labels=labels)
    assert np.isnan(answer.shares[1]).all()
    assert np.isnan(answer.contradiction.p_value).tolist() == [False, True]
    assert answer.n_labels.tolist() == [len(few) - 4, 4]
    assert np.isfinite(answer.label_shift.shares).all()  # also from four labels
    frame = answer.to_frame()
    assert frame["labels"].tolist() == [len(few) - 4] * 2 + [4] * 2
    assert frame["sample"].tolist() == ["a", "a", "b", "b"]
    assert "a " in repr(answer)
    assert "-" in repr(answer)


def test_labels_of_one_class_give_an_answer_and_a_warning(source):
    generator = np.random.default_rng(9)
    X = draw(np.zeros(700, dtype=int), generator)
    with pytest.warns(HeadcountWarning, match="All 30 labels are of the class 0"):
        answer = estimate(PACC(random_state=0).fit(*source), X, labels=(np.arange(30), np.zeros(30, dtype=int)))
    assert answer.low[1] == 0.0
    assert 0.02 < answer.high[1] < 0.2
    assert 0.0 < answer.label_shift.high[1] < 0.2


def test_a_class_that_no_label_is_of_cannot_be_ruled_in():
    generator = np.random.default_rng(5)
    y, absent = np.repeat([0, 1, 2], 100), generator.integers(0, 2, 600)
    q = PACC(random_state=0).fit(draw(y, generator), y)
    answer = estimate(q, draw(absent, generator), labels=labels_of(absent, 50, generator))
    assert answer.low[2] == 0.0
    assert answer.high[2] > 0.0
    assert answer.label_shift.low[2] == 0.0


def test_unequal_probabilities_are_allowed_for(source):
    held, pooled = [], []
    for seed in range(40):
        generator = np.random.default_rng([6, seed])
        y = (generator.random(800) < 0.3).astype(int)
        X = draw(y, generator)
        chances = np.where(X[:, 0] > 0.0, 0.16, 0.04)  # those that look positive are drawn four times as often
        rows = np.flatnonzero(generator.random(800) < chances)
        q = PACC(random_state=0).fit(*source)
        answer = estimate(q, X, labels=(rows, y[rows]), probabilities=chances)
        held.append(answer.low[1] <= 0.3 <= answer.high[1])
        pooled.append(answer.label_shift.low[1] <= 0.3 <= answer.label_shift.high[1])
        assert answer.label_shift.high[1] - answer.label_shift.low[1] < answer.high[1] - answer.low[1]
    assert np.mean(held) >= 0.85
    assert np.mean(pooled) >= 0.85


def test_equal_probabilities_change_little(source, target):
    X, _, labels = target
    q = PACC(random_state=0).fit(*source)
    plain, given = estimate(q, X, labels=labels), estimate(q, X, labels=labels, probabilities=np.full(60, 60 / 900))
    assert np.allclose(plain.shares, given.shares, atol=1e-9)
    assert np.allclose(plain.label_shift.shares, given.label_shift.shares, atol=1e-9)


def test_strata_are_drawn_from_separately(source, target):
    X, y, _ = target
    strata = (X[:, 0] > 0.0).astype(int)
    rows = np.concatenate([np.flatnonzero(strata == h)[:30] for h in (0, 1)])
    answer = estimate(PACC(random_state=0).fit(*source), X, labels=(rows, y[rows]), strata=strata)
    assert answer.low[1] < y.mean() < answer.high[1]
    assert answer.label_shift.low[1] < y.mean() < answer.label_shift.high[1]


def test_means_over_classes_have_intervals_in_both_answers():
    generator = np.random.default_rng(7)
    y, new = np.repeat([0, 1, 2], 150), generator.choice(3, 900, p=[0.5, 0.3, 0.2])
    q = PACC(random_state=0).fit(draw(y, generator), y)
    answer = estimate(q, draw(new, generator), labels=labels_of(new, 80, generator))
    for one in (answer.design_based, answer.label_shift):
        mean = one.mean()
        assert mean.low < new.mean() < mean.high
        assert np.allclose(one.covariance().sum(axis=1), 0.0, atol=1e-9)


def test_what_cannot_go_with_labels_is_refused(source, target):
    X, _, labels = target
    q = PACC(random_state=0).fit(*source)
    for more, words in (
        ({"method": "bootstrap"}, "omit method='bootstrap'"),
        ({"assume": "calibrated"}, "omit assume='calibrated'"),
        ({"samples": Samples([0, 1], [0, 2], weights=[1.0, 2.0])}, "weights or counts"),
        ({"samples": [[int(labels[0][0])] * 2]}, "several times"),
    ):
        with pytest.raises(DataError, match=words):
            estimate(q, X, more.pop("samples", None), labels=labels, **more)
    with pytest.raises(DataError, match="added up"):
        estimate(q, q.reduce(q.outputs(X), products=True), labels=labels)
    with pytest.raises(DataError, match="pass labels too"):
        estimate(q, X, probabilities=np.full(len(X), 0.5))


def coverage(shares, n_source, n_labels, learner, method, simulations, estimand="population"):
    """Return how often each answer held all shares, mean widths, and how often the test raised an alarm."""
    held, widths, alarms = np.zeros(2), np.zeros(2), 0
    p, k = np.array(shares), len(shares)
    for seed in range(simulations):
        generator = np.random.default_rng([8, seed])
        y = np.concatenate([np.repeat(np.arange(k), 5), generator.integers(0, k, n_source - 5 * k)])
        new = generator.choice(k, 800, p=p)
        q = method(learner, random_state=seed).fit(draw(y, generator), y)
        answer = estimate(q, draw(new, generator), labels=labels_of(new, n_labels, generator), estimand=estimand)
        truth = p if estimand == "population" else np.bincount(new, minlength=k) / 800
        for i, one in enumerate((answer.design_based, answer.label_shift)):
            held[i] += ((one.low <= truth + 1e-12) & (truth - 1e-12 <= one.high)).mean()
            widths[i] += (one.high - one.low).mean()
        alarms += answer.contradiction.p_value[0] < 0.05
    return held / simulations, widths / simulations, alarms / simulations


def test_coverage_and_false_alarms_in_a_small_simulation():
    held, widths, alarms = coverage((0.8, 0.2), 200, 40, GaussianNB(), PACC, 60)
    assert (held >= 0.88).all()
    assert widths[1] < 0.8 * widths[0]
    assert alarms <= 0.15


@pytest.mark.slow
@pytest.mark.parametrize("estimand", ["population", "sample"])
@pytest.mark.parametrize(
    ("shares", "n_source", "n_labels", "learner", "method"),
    [
        ((0.8, 0.2), 300, 50, LogisticRegression(), PACC),
        ((0.97, 0.03), 300, 100, LogisticRegression(), SLD),
        ((0.9, 0.1), 60, 20, LogisticRegression(), PACC),
        ((0.7, 0.25, 0.05), 400, 100, GaussianNB(), ACC),
        ((0.7, 0.3, 0.0), 400, 60, LogisticRegression(), PACC),
    ],
)
def test_coverage_and_false_alarms_in_a_large_simulation(shares, n_source, n_labels, learner, method, estimand):
    chosen = (lambda c, **more: SLD(c, calibration="bcts", **more)) if method is SLD else method
    held, widths, alarms = coverage(shares, n_source, n_labels, learner, chosen, 600, estimand)
    assert (held >= 0.925).all()  # 93 %, less half a Monte Carlo error of about 1 %
    assert widths[1] < widths[0]
    assert alarms <= 0.07 + 0.01
