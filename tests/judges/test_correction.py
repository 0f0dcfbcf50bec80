"""Judges corrected by human labels: laws, coverage, groups, bad input."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from headcount import JudgeCorrection
from headcount.exceptions import DataError
from headcount.judges.reports import kappa_interval

CLASSES = np.array(["bad", "fair", "good"])


def judged(n_items=600, n_labelled=100, seed=0, accuracy=0.8, n_judges=2, k=3):
    """True classes, a mapping of judges to their answers, and human labels of a random part."""
    generator = np.random.default_rng(seed)
    names = CLASSES if k == 3 else np.array([f"c{j:02d}" for j in range(k)])
    truth = generator.choice(names, n_items, p=np.arange(k, 0, -1) / (k * (k + 1) / 2))
    answers = {
        f"j{j}": np.where(generator.random(n_items) < accuracy, truth, generator.choice(names, n_items)).astype(object)
        for j in range(n_judges)
    }
    return truth, answers, with_labels(truth, n_labelled, generator)


def with_labels(truth, n_labelled, generator):
    human = np.full(len(truth), None, dtype=object)
    rows = generator.choice(len(truth), n_labelled, replace=False)
    human[rows] = truth[rows]
    return human


def test_it_is_a_scikit_learn_estimator_and_changes_nothing():
    _, answers, human = judged()
    correction = JudgeCorrection(level=0.9, half_width=0.03)
    assert clone(correction).get_params() == correction.get_params()
    before = {name: list(values) for name, values in answers.items()}, list(human)
    assert correction.fit(answers, human) is correction
    assert ({name: list(values) for name, values in answers.items()}, list(human)) == before
    result = correction.result_
    np.testing.assert_array_equal(correction.shares_, result.total.shares)
    np.testing.assert_array_equal(clone(correction).fit(answers, human).low_, correction.low_)
    assert result.level == 0.9
    assert correction.classes_.tolist() == CLASSES.tolist()


def test_renaming_classes_permutes_the_answer():
    _, answers, human = judged(seed=1)
    names = {"bad": "z", "fair": "y", "good": "x", None: None}
    result = JudgeCorrection().fit(answers, human).result_
    renamed = (
        JudgeCorrection()
        .fit(
            {name: [names[value] for value in values] for name, values in answers.items()},
            [names[value] for value in human],
        )
        .result_
    )
    assert renamed.classes.tolist() == ["x", "y", "z"]
    np.testing.assert_allclose(renamed.total.shares[::-1], result.total.shares, atol=1e-12)
    np.testing.assert_allclose(renamed.total.low[::-1], result.total.low, atol=1e-12)
    turned = result.in_class_order(["good", "fair", "bad"])
    np.testing.assert_allclose(turned.total.high, renamed.total.high)
    np.testing.assert_array_equal(turned.judges[0].confusion, renamed.judges[0].confusion)
    assert [r["class"] for r in turned.records()] == ["good", "fair", "bad"]
    with pytest.raises(DataError, match="must name each once"):
        result.in_class_order(["good", "bad"])


def test_forms_of_answers_and_labels_agree():
    truth, answers, human = judged(seed=2)
    expected = JudgeCorrection().fit(answers, human).shares_
    frame = pd.DataFrame(answers)
    codes = {"bad": 1.0, "fair": 2.0, "good": 3.0}
    scores = {name: (np.asarray(values)[:, None] == CLASSES).astype(float) for name, values in answers.items()}
    for given, labels in (
        (frame, human),
        (frame.to_numpy(), pd.Series(human)),
        (frame, [np.nan if value is None else value for value in human]),
        (frame, ["" if value is None else f" {value} " for value in human]),
        ({name: [str(v).upper() + " " for v in values] for name, values in answers.items()}, human),
        (scores, human),
    ):
        np.testing.assert_allclose(JudgeCorrection(CLASSES).fit(given, labels).shares_, expected)
    numbers = frame.replace(codes)
    labels = pd.Series(human).map(codes)  # floats, NaN where there is none
    fitted = JudgeCorrection().fit(numbers, labels)
    np.testing.assert_allclose(fitted.shares_, expected)
    assert [str(label) for label in fitted.classes_] == ["1", "2", "3"]
    one = JudgeCorrection().fit(answers["j0"], human).result_
    np.testing.assert_allclose(one.total.shares, JudgeCorrection().fit({"a": answers["j0"]}, human).shares_)
    assert one.judges[0].name == "judge"
    assert len(truth) == one.n_items


@pytest.mark.parametrize("k", [2, *(pytest.param(k, marks=pytest.mark.slow) for k in (3, 7, 23))])
def test_useless_constant_duplicate_and_abstaining_judges_cost_little(k):
    """Four such judges beside a good one, and alone: 80 draws, whose ratio of variances has a standard error of about 0.03."""
    generator = np.random.default_rng(k)
    truth, answers, _ = judged(600, 100, k, 0.7, 1, k)
    names = np.unique(truth)
    good = answers["j0"]
    useless = {
        "noise": generator.choice(names, 600),
        "constant": np.full(600, names[0]),
        "silent": np.where(generator.random(600) < 0.9, None, generator.choice(names, 600)),
    }
    useless["copy"] = useless["noise"].copy()
    shares = np.array([(truth == name).mean() for name in names])
    errors = {name: [] for name in ("alone", "useless", "good", "both")}
    for _ in range(80):
        human = with_labels(truth, 100, generator)
        of_useless = JudgeCorrection(names).fit(useless, human).result_.total
        errors["alone"].append(of_useless.shares_alone - shares)
        errors["useless"].append(of_useless.shares - shares)
        errors["good"].append(JudgeCorrection(names).fit({"good": good}, human).shares_ - shares)
        errors["both"].append(JudgeCorrection(names).fit({"good": good, **useless}, human).shares_ - shares)
    variance = {name: np.var(values, axis=0).sum() for name, values in errors.items()}
    assert variance["alone"] / variance["useless"] > 0.93
    assert variance["good"] / variance["both"] > 0.9
    assert variance["alone"] / variance["good"] > 1.15


def test_a_constant_judge_changes_nothing_at_all():
    _, _, human = judged()
    result = JudgeCorrection().fit({"same": ["good"] * 600}, human).result_
    np.testing.assert_allclose(result.total.shares, result.total.shares_alone)
    np.testing.assert_allclose(result.total.high, result.total.high_alone)
    assert result.kept.names == ()
    assert "the labels alone are as good" in result.kept.reason
    assert "same says 'good' of every item: it adds nothing." in result.warnings
    assert "same adds nothing" in result.sentences()[0]


def test_a_perfect_judge_gives_the_exact_shares_but_few_labels_can_not_prove_it():
    widths = []
    for n_labelled in (12, 60, 300):
        truth, _, human = judged(1000, n_labelled)
        result = JudgeCorrection(CLASSES).fit({"oracle": truth}, human).result_
        shares = np.array([(truth == name).mean() for name in CLASSES])
        np.testing.assert_allclose(result.total.shares, shares, atol=0.02)
        assert (result.total.low <= shares).all()
        assert (shares <= result.total.high).all()
        widths.append((result.total.high - result.total.low).mean())
        assert result.judges[0].accuracy[0] == 1.0
        assert result.judges[0].accuracy[1] < 1.0
        assert result.judges[0].kappa[1] < 1.0
        assert result.kept.names == ("oracle",)
    assert widths[0] > 0.05
    assert widths[2] < 0.02


def coverage(n_items, n_labelled, repetitions, k=3, estimand="sample", seed=3):
    truth, answers, _ = judged(n_items, 1, seed, 0.7, 3, k)
    names = np.unique(truth)
    shares = np.array([(truth == name).mean() for name in names])
    generator = np.random.default_rng(seed)
    inside = np.zeros((repetitions, k))
    for r in range(repetitions):
        chosen = np.arange(n_items)
        if estimand == "population":  # the items are themselves drawn from many
            chosen = generator.integers(0, n_items, 300)
        some = {name: values[chosen] for name, values in answers.items()}
        fitted = JudgeCorrection(names, estimand=estimand).fit(some, with_labels(truth[chosen], n_labelled, generator))
        inside[r] = (fitted.low_ <= shares + 1e-12) & (shares - 1e-12 <= fitted.high_)
    return inside.mean()


@pytest.mark.parametrize(("n_items", "n_labelled", "estimand"), [(400, 50, "sample"), (3000, 100, "population")])
def test_intervals_cover(n_items, n_labelled, estimand):
    assert 0.91 <= coverage(n_items, n_labelled, 100, estimand=estimand) <= 0.995  # standard error 0.013


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 4, 10])
@pytest.mark.parametrize("n_labelled", [20, 50, 100, 200])
def test_intervals_cover_at_length(k, n_labelled):
    assert 0.93 <= coverage(500, n_labelled, 2000, k) <= 0.985


def test_reports_of_judges_by_hand():
    _, answers, human = judged(seed=5)
    answers["j0"][:60] = None
    answers["j1"][:5] = "no idea"
    result = JudgeCorrection().fit(answers, human).result_
    first, second = result.judges
    values = pd.Series(answers["j0"])
    shares = [(values == name).mean() / values.notna().mean() for name in CLASSES]
    np.testing.assert_allclose(first.shares, shares)
    np.testing.assert_allclose(first.bias, first.shares - result.total.shares)
    np.testing.assert_allclose(
        [first.bias_low, first.bias_high], [shares - result.total.high, shares - result.total.low]
    )
    labelled = pd.Series(human).notna()
    table = pd.crosstab(human[labelled], values[labelled].fillna("none").to_numpy()).reindex(columns=[*CLASSES, "none"])
    np.testing.assert_array_equal(first.confusion, table.fillna(0).to_numpy())
    agreed = (values[labelled].to_numpy() == human[labelled]).mean()
    assert first.accuracy[0] == pytest.approx(agreed)
    from sklearn.metrics import cohen_kappa_score

    kappa = cohen_kappa_score(human[labelled].tolist(), values[labelled].fillna("none").tolist())
    assert first.kappa[0] == pytest.approx(kappa)
    assert first.kappa[1] < kappa < first.kappa[2]
    assert (first.n_answered, first.n_abstained, first.others) == (540, 60, {"": 60})
    assert second.others == {"no idea": 5}
    assert any(
        "j0 names no class for 60 of 600 items (10%; 60 empty, 0 other answers)" in text for text in result.warnings
    )
    frame = result.confusion_frame("j0")
    assert frame.loc["bad", "(no class)"] == first.confusion[0, 3]
    assert result.confusion_frame().equals(frame)
    with pytest.raises(DataError, match="There is no judge 'x'; the judges are 'j0', 'j1'"):
        result.confusion_frame("x")


def test_the_variance_of_kappa_by_hand():
    """Fleiss, Cohen and Everitt (1969), as a delta method over the cells of the table, with numerical derivatives."""
    counts = np.array([[50.0, 12.0, 3.0], [8.0, 30.0, 6.0], [2.0, 9.0, 40.0]])
    n, steps = counts.sum(), 1e-6

    def kappa(p):
        chance = p.sum(axis=1) @ p.sum(axis=0)
        return (np.trace(p) - chance) / (1.0 - chance)

    p = counts / n
    moves = [np.reshape(row, (3, 3)) for row in np.eye(9) * steps]
    slopes = np.array([(kappa(p + move) - kappa(p - move)) / (2.0 * steps) for move in moves])
    variance = (slopes**2 @ p.ravel() - (slopes @ p.ravel()) ** 2) / n
    table = np.column_stack([counts, np.zeros(3)])
    value, low, high = kappa_interval(table, 1.0, 0.95)
    assert value == pytest.approx(kappa(p))
    assert (high - low) / 2.0 == pytest.approx(1.96 * np.sqrt(variance), rel=0.03)


def test_kappas_interval_covers():
    generator = np.random.default_rng(0)
    n_items, inside = 5000, 0
    truth = generator.choice(2, n_items, p=[0.7, 0.3])
    judge = np.where(generator.random(n_items) < 0.85, truth, 1 - truth)
    from sklearn.metrics import cohen_kappa_score

    kappa = cohen_kappa_score(truth, judge)
    for _ in range(150):
        result = JudgeCorrection([0, 1]).fit({"j": judge}, with_labels(truth, 80, generator)).result_
        inside += result.judges[0].kappa[1] <= kappa <= result.judges[0].kappa[2]
    assert 0.9 <= inside / 150 <= 0.99  # standard error 0.018


def test_the_judges_to_keep_are_those_that_help():
    generator = np.random.default_rng(7)
    truth, answers, human = judged(2000, 200, 7, 0.9, 1)
    noise = {f"noise{j}": generator.choice(CLASSES, 2000) for j in range(4)}
    result = JudgeCorrection().fit({**noise, "good": answers["j0"]}, human).result_
    assert result.kept.names[0] == "good"
    assert len(result.kept.names) <= 2
    assert result.kept.effective_labels > 300
    assert re.match(r"Keep good.*: with .* 200 human labels tell as much as \d+ alone; the other", result.kept.reason)
    assert len(truth) == 2000


def test_the_promised_number_of_labels_gives_the_half_width():
    truth, answers, human = judged(4000, 150, 8, 0.8)
    correction = JudgeCorrection(half_width=0.03).fit(answers, human)
    needed = correction.result_.labels_needed
    assert 150 < needed < correction.result_.labels_needed_alone
    assert correction.result_.more_labels == needed - 150
    halves = []
    for seed in range(10):
        fitted = JudgeCorrection().fit(answers, with_labels(truth, needed, np.random.default_rng(seed)))
        halves.append(((fitted.high_ - fitted.low_) / 2).max())
    assert 0.85 <= np.mean(halves) / 0.03 <= 1.15


def test_groups_have_both_answers_side_by_side():
    generator = np.random.default_rng(9)
    groups = np.repeat(["a", "b", "c"], [800, 800, 400])
    chances = {"a": [0.7, 0.2, 0.1], "b": [0.2, 0.3, 0.5], "c": [0.1, 0.1, 0.8]}
    truth = np.concatenate([generator.choice(CLASSES, (groups == name).sum(), p=chances[name]) for name in "abc"])
    judge = np.where(generator.random(2000) < 0.85, truth, generator.choice(CLASSES, 2000))
    human = np.full(2000, None, dtype=object)
    for name, n in (("a", 100), ("b", 100), ("c", 4)):
        rows = generator.choice(np.flatnonzero(groups == name), n, replace=False)
        human[rows] = truth[rows]
    result = JudgeCorrection().fit({"j": judge}, human, by=groups).result_
    for group in result.groups:
        shares = np.array([(truth[groups == group.name] == label).mean() for label in CLASSES])
        assert group.n_items == (groups == group.name).sum()
        assert (group.shifted_low <= shares + 0.02).all()
        assert (shares <= group.shifted_high + 0.02).all()
        if group.name == "c":
            assert np.isnan(group.shares).all()
            assert group.n_labelled == 4
        else:
            assert (group.low <= shares + 0.02).all()
            assert (shares <= group.high + 0.02).all()
            assert group.effective_labels > 120
    assert any("in 1 of 3 groups: 'c'" in text for text in result.warnings)
    assert any("labelled at different rates" in text for text in result.warnings)
    records = result.records()
    assert [record["group"] for record in records[::3]] == ["all", "a", "b", "c"]
    assert records[-1]["share"] is None
    assert records[-1]["label_shift"] > 0.6
    json.dumps(result.to_dict(), allow_nan=False)
    assert "too few labels (4" in repr(result)


def test_a_judge_that_errs_otherwise_in_a_group_is_noticed():
    generator = np.random.default_rng(10)
    groups = np.arange(3000) % 2
    truth = generator.choice(["no", "yes"], 3000, p=[0.6, 0.4])
    lenient = np.where((groups == 1) & (generator.random(3000) < 0.6), "yes", truth)
    result = JudgeCorrection().fit({"j": lenient}, with_labels(truth, 600, generator), by=groups).result_
    shares = (truth[groups == 1] == "yes").mean()
    assert result.groups[1].low[1] <= shares <= result.groups[1].high[1]
    assert result.groups[1].shifted_low[1] > shares
    assert any("exclude each other" in text for text in result.warnings)


def test_rates_of_labelling_by_group_are_weighted_where_each_has_ten():
    generator = np.random.default_rng(11)
    groups = np.repeat([0, 1], 1000)
    truth = np.where(generator.random(2000) < np.array([0.1, 0.9])[groups], "yes", "no")
    inside = 0
    for _ in range(50):
        human = np.full(2000, None, dtype=object)
        for g, n in ((0, 20), (1, 150)):
            rows = generator.choice(np.flatnonzero(groups == g), n, replace=False)
            human[rows] = truth[rows]
        noise = generator.choice(["no", "yes"], 2000)
        result = JudgeCorrection().fit({"j": noise}, human, by=groups).result_
        inside += result.total.low[1] <= (truth == "yes").mean() <= result.total.high[1]
        assert not any("different rates" in text for text in result.warnings)
    assert inside >= 43


@pytest.mark.parametrize("positives", [0, 500])
def test_rogan_gladen_has_no_negative_bounds_and_always_a_width(positives):
    """One judge of two classes that made no mistake among 50 labels: nobody in the second group is positive, or everybody."""
    generator = np.random.default_rng(12)
    truth = np.concatenate(
        [generator.choice(["no", "yes"], 500), np.repeat(["yes", "no"], [positives, 500 - positives])]
    )
    human = np.full(1000, None, dtype=object)
    human[:50] = truth[:50]
    result = JudgeCorrection().fit({"j": truth}, human, by=np.repeat(["a", "b"], 500)).result_
    group = result.groups[1]
    assert (group.shifted_low >= 0.0).all()
    assert (group.shifted_high <= 1.0).all()
    assert (group.shifted_high - group.shifted_low > 0.005).all()
    assert group.shifted_low[1] <= positives / 500 <= group.shifted_high[1]
    assert np.isnan(group.shares).all()


@pytest.mark.parametrize("n_judges", [1, 2])
def test_the_label_shift_answer_covers(n_judges):
    """100 labels in one group, none in the other with other shares: 80 draws, standard error 0.018."""
    generator = np.random.default_rng(13)
    inside = []
    for _ in range(80):
        truth = np.concatenate(
            [generator.choice(CLASSES, 500, p=[0.5, 0.3, 0.2]), generator.choice(CLASSES, 500, p=[0.2, 0.2, 0.6])]
        )
        answers = {
            f"j{j}": np.where(generator.random(1000) < 0.75, truth, generator.choice(CLASSES, 1000))
            for j in range(n_judges)
        }
        human = np.full(1000, None, dtype=object)
        rows = generator.choice(500, 100, replace=False)
        human[rows] = truth[rows]
        group = JudgeCorrection().fit(answers, human, by=np.repeat([0, 1], 500)).result_.groups[1]
        shares = np.array([(truth[500:] == label).mean() for label in CLASSES])
        inside.append((group.shifted_low <= shares) & (shares <= group.shifted_high))
    assert 0.9 <= np.mean(inside) <= 0.995


def test_labels_that_are_no_random_draw_are_noticed():
    truth, answers, human = judged(seed=14)
    assert not JudgeCorrection().fit(answers, human).result_.warnings
    order = np.argsort(truth, kind="stable")
    first = np.full(600, None, dtype=object)
    first[order[300:420]] = truth[order[300:420]]  # in the order of a sorted file
    result = JudgeCorrection(CLASSES).fit(answers, first).result_
    assert "do not look like a random draw" in result.warnings[0]
    alarms = [
        any("random draw" in text for text in JudgeCorrection().fit(answers, judged(seed=14)[2]).result_.warnings),
        *(
            any(
                "random draw" in text
                for text in JudgeCorrection(CLASSES)
                .fit(answers, with_labels(truth, 60, np.random.default_rng(seed)))
                .result_.warnings
            )
            for seed in range(100)
        ),
    ]
    assert sum(alarms) <= 1


def test_all_labelled_means_that_the_shares_are_known():
    truth, answers, _ = judged()
    result = JudgeCorrection().fit(answers, truth).result_
    np.testing.assert_allclose(result.total.shares, [(truth == name).mean() for name in CLASSES])
    np.testing.assert_allclose(result.total.low, result.total.shares)
    np.testing.assert_allclose(result.total.high, result.total.shares)
    assert result.warnings[0] == "Every item has a human label: the shares are known, and no judge is needed for them."
    assert result.sentences() == ["All 600 items have a human label: the shares are known."]
    wider = JudgeCorrection(estimand="population").fit(answers, truth).result_
    assert (wider.total.high - wider.total.low > 0.03).all()


def test_free_texts_are_mapped():
    _, answers, human = judged(seed=15, n_judges=1)
    words = {"bad": "I think it is bad.", "fair": "so-so", "good": "Great!"}
    texts = [f"  {words[value].upper()}" for value in answers["j0"]]
    texts[0] = "As a language model, I can't say"
    plain = answers["j0"].copy()
    plain[0] = None
    mapping = {text: label for label, text in words.items()}
    mapped = JudgeCorrection(mapping=mapping).fit({"j0": texts}, human).result_
    np.testing.assert_allclose(mapped.total.shares, JudgeCorrection().fit({"j0": plain}, human).shares_)
    assert mapped.judges[0].others == {"As a language model, I can't say": 1}


def test_result_as_frames_json_html_and_plot(tmp_path):
    _, answers, human = judged(seed=16)
    result = JudgeCorrection().fit(answers, human).result_
    assert list(result.to_frame()["class"]) == CLASSES.tolist()
    assert list(result.judges_frame()["judge"]) == ["j0"] * 3 + ["j1"] * 3
    text = result.to_json(tmp_path / "r.json")
    assert json.loads(text) == json.loads((tmp_path / "r.json").read_text()) == result.to_dict()
    assert "<table" in result._repr_html_()
    lines = repr(result).splitlines()
    assert lines[0] == "Shares of 600 items, 100 with a human label, with 0.95 intervals"
    assert "labels alone" in lines[1]
    axes = result.plot()
    assert [text.get_text() for text in axes.get_xticklabels()] == CLASSES.tolist()
    assert axes.get_legend_handles_labels()[1][-2:] == ["corrected", "labels alone"]


def scores_of(k):
    return np.full((600, k), 1.0 / k)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": ["bad"] * 20 + [None] * 580}, "at least two classes are needed"),
        ({"labels": [None] * 600}, "and there are none"),
        ({"labels": ["bad"] * 4 + ["good"] * 4 + [None] * 592}, "8 items have a human label: at least 10 are needed"),
        ({"classes": ["bad", "good"]}, "The human label 'fair' is not among the classes 'bad', 'good'"),
        ({"classes": ["bad"]}, "must name at least two classes"),
        ({"answers": {}}, "There is no judge"),
        ({"answers": {"j": [None] * 600}}, "The judge 'j' gave no answer that is one of the classes"),
        ({"answers": {"j": ["bad"] * 599}}, "answers for 599 items"),
        ({"answers": {"j": ["bad"] * 600, "i": ["bad"]}}, "different numbers of items: j: 600, i: 1"),
        ({"answers": {"j": scores_of(2)}}, "has 2 scores for each item; 3 are needed"),
        ({"answers": {"j": 2.0 * scores_of(3)}}, "are not probabilities"),
        ({"answers": {"j": np.full((600, 3), np.nan)}}, "The judge 'j' has no scores"),
        ({"answers": {"j": np.full((600, 3), "x", dtype=object)}}, "The scores of the judge 'j' are not numbers"),
        ({"answers": np.zeros((600, 2, 3))}, "got an array of shape (600, 2, 3)"),
        ({"mapping": [("a", "bad"), (" A", "good")]}, "The map gives the answer 'a', ' A' more than once"),
        ({"mapping": {"a": "terrible"}}, "The map leads to 'terrible', which is not among the classes"),
        ({"level": 1.5}, "level must be between 0 and 1"),
        ({"half_width": 5.0}, "half_width (--half-width) must be between 0 and 0.5"),
        ({"estimand": "all"}, "estimand must be"),
        ({"ids": [0, *range(599)]}, "The item 0 is there twice (items 1 and 2)"),
        ({"ids": range(5)}, "There are 5 ids and 600 items"),
        ({"ids": [None] * 600}, "Item 1 has no id"),
        ({"by": ["a"]}, "by has 1 groups for 600 items"),
    ],
)
def test_bad_input_is_a_sentence(change, message):
    _, answers, human = judged(seed=17)
    given = {"answers": answers, "labels": human} | change
    settings = {
        name: given.pop(name) for name in ("classes", "mapping", "level", "half_width", "estimand") if name in given
    }
    with pytest.raises(DataError, match=re.escape(message)) as error:
        JudgeCorrection(**settings).fit(given.pop("answers"), given.pop("labels"), **given)
    assert "\n" not in str(error.value)


def test_an_item_that_is_labelled_twice_is_named():
    _, answers, human = judged(seed=18)
    labelled = [i for i, value in enumerate(human) if value is not None]
    ids = [str(i) for i in range(600)]
    ids[labelled[1]] = ids[labelled[0]]
    with pytest.raises(DataError, match=f"The item '{labelled[0]}' is labelled twice"):
        JudgeCorrection().fit(answers, human, ids=ids)


def test_labels_of_one_class_are_enough_if_the_classes_are_named():
    _, answers, _ = judged(seed=19)
    human = np.full(600, None, dtype=object)
    human[np.random.default_rng(0).choice(600, 30, replace=False)] = "bad"
    result = JudgeCorrection(CLASSES).fit(answers, human).result_
    np.testing.assert_allclose(result.total.shares, [1.0, 0.0, 0.0])
    assert (result.total.high - result.total.low > 0.05).all()
    assert any("No human label is 'fair', 'good'" in text for text in result.warnings)


def test_the_label_shift_answer_does_not_know_the_groups_of_labels():
    """The answer of a group under label shift depends on labels of all groups alike, not on where they are."""
    generator = np.random.default_rng(20)
    groups = np.arange(1200) % 2
    first = generator.choice(CLASSES, 1200, p=[0.8, 0.1, 0.1])
    truth = np.where(groups == 0, first, generator.choice(CLASSES, 1200, p=[0.1, 0.1, 0.8]))
    judge = np.where(generator.random(1200) < 0.8, truth, generator.choice(CLASSES, 1200))
    answers = {"a": judge, "b": np.where(generator.random(1200) < 0.3, None, judge)}
    human = with_labels(truth, 200, generator)
    result = JudgeCorrection().fit(answers, human, by=groups).result_
    moved = (
        JudgeCorrection()
        .fit(answers, human, by=["x" if g == 1 and h is None else "y" for g, h in zip(groups, human, strict=True)])
        .result_
    )
    unlabelled = groups == 1
    assert not np.isnan(result.groups[1].shares).any()
    assert np.isnan(moved.groups[0].shares).all()
    np.testing.assert_allclose(result.groups[1].shifted, moved.groups[0].shifted, atol=0.06)
    np.testing.assert_allclose(
        result.groups[1].shifted, [(truth[unlabelled] == label).mean() for label in CLASSES], atol=0.12
    )
    assert unlabelled.sum() == result.groups[1].n_items
