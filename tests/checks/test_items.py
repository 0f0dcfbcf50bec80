"""The check of the items themselves: no alarm under pure label shift, one at an unseen class or new words, and what differs."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from headcount import ACC, PACC, Outputs
from headcount.checks import ItemFindings, LabelledItems, check, item_features
from headcount.checks.item_features import equal_items, fill_missing, term_names
from headcount.checks.verdict import Findings, verdict_of
from headcount.exceptions import DataError

CENTRES = 3.5 * np.array([[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1]])


def draw_points(codes, generator):
    """Draw points of the plane about centres 3.5 apart; the sixth class may be absent from training."""
    return CENTRES[codes] + generator.standard_normal((len(codes), 2))


def reports(simulations, unseen, validation, seed=0, n_labelled=500, n_target=1000):
    generator = np.random.default_rng(seed)
    found = []
    for s in range(simulations):
        y = np.arange(n_labelled) % 5
        q = PACC(LogisticRegression(), validation=validation, random_state=s).fit(draw_points(y, generator), y)
        codes = generator.choice(5, n_target, p=generator.dirichlet(np.ones(5)))
        codes[: int(unseen * n_target)] = 5
        found.append(check(q, draw_points(codes, generator)))
    return found


@pytest.mark.parametrize("validation", [0.4, 5])
def test_items_of_an_unseen_class_are_found_and_changed_shares_are_not(validation):
    clean = reports(25, 0.0, validation)
    assert sum(report.p_items < 0.025 for report in clean) <= 3
    assert sum(report.verdict == "trust" for report in clean) >= 21
    unseen = reports(10, 0.2, validation)
    assert sum(report.verdict == "trust" for report in unseen) <= 1
    assert np.median([report.p_items for report in unseen]) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("validation", [0.4, 5])
def test_false_alarms_of_both_tests_together_are_rarer_than_7_percent(validation):
    """400 simulations, Monte Carlo error 1.1 points."""
    clean = reports(400, 0.0, validation, seed=1)
    assert np.mean([report.verdict != "trust" for report in clean]) <= 0.07


def draw_texts(labels, generator, extra=()):
    """Draw texts: words of the class, common words, and maybe others."""
    texts = []
    for label in labels:
        own = [f"{label}{i}" for i in generator.integers(0, 30, 4)]
        common = [f"word{i}" for i in generator.integers(0, 200, 12)]
        other = list(generator.choice(extra, 2)) if len(extra) else []
        texts.append(" ".join(own + common + other))
    return texts


def test_new_words_that_leave_the_scores_a_mixture_need_caution_and_are_named():
    generator = np.random.default_rng(0)
    y = np.array(["good", "bad"])[np.arange(400) % 2]
    q = PACC(make_pipeline(TfidfVectorizer(), LogisticRegression()), random_state=0).fit(draw_texts(y, generator), y)
    target = np.array(["good"] * 300 + ["bad"] * 100)
    assert check(q, draw_texts(target, generator)).verdict == "trust"
    report = check(q, draw_texts(target, generator, ["tablet", "charger"]))
    assert report.verdict == "caution"
    assert {"tablet", "charger"} <= set(report.differs)
    assert "tablet" in repr(report)
    assert "though their scores do not" in repr(report)


def test_columns_that_differ_are_named():
    generator = np.random.default_rng(0)
    y = np.arange(600) % 2
    X = pd.DataFrame(generator.standard_normal((1000, 3)), columns=["age", "height", "weight"])
    X.loc[:599, "age"] += 2.0 * y
    X.loc[600:, "weight"] += 1.0
    q = PACC(LogisticRegression(), random_state=0).fit(X[:600], y)
    report = check(q, X[600:])
    assert report.p_items < 0.01
    assert report.differs[0] == "weight"


def test_items_are_checked_only_where_they_are_at_hand():
    generator = np.random.default_rng(0)
    y = np.arange(400) % 5
    X = draw_points(y, generator)
    q = PACC(LogisticRegression(), random_state=0).fit(X, y)
    assert np.isnan(check(q, q.outputs(X)).p_items)
    assert np.isnan(check(q, X[:20]).p_items)
    assert check(q, X, labelled=(X, y)).p_items > 0.01
    assert np.isnan(check(q, X, labelled=(q.outputs(X), y)).p_items)
    assert check(PACC(LogisticRegression(), random_state=0).fit(csr_matrix(X), y), csr_matrix(X)).p_items > 0.01
    refitted = PACC(LogisticRegression(), validation=5, refit=True, random_state=0).fit(X, y)
    with pytest.raises(DataError, match=r"refit=True\) has scores of labelled items by the folds"):
        check(refitted, X)


def test_features_of_items():
    assert item_features(["a film", "a book"]).is_texts
    assert item_features(pd.DataFrame({"a": ["x"], "b": [1.0]})).names == ("b",)
    assert item_features(pd.DataFrame({"a": ["x"]})).names == ()
    mixed = pd.DataFrame({"a": ["x", None], "b": [1.0, np.nan], "day": ["2024-01-01", "2024-01-08"]})
    assert item_features(mixed).n_numbers == 1
    terms = term_names(np.unique(item_features(mixed).X[:, :-1].indices), mixed)
    assert sorted(terms) == ["a = x", "a is missing", "day: Monday"]
    assert item_features(np.array([["x", "y"]])) is None
    assert item_features(np.zeros(3)) is None
    missing = item_features(np.array([[1.0, np.inf], [2.0, 3.0], [1e300, 4.0]])).X
    assert np.isnan(missing).tolist() == [[False, True], [False, False], [True, False]]
    assert fill_missing(missing)[0, 1] < 3.0
    assert fill_missing(np.full((2, 1), np.nan)).tolist() == [[0.0], [0.0]]
    assert item_features(csr_matrix(np.eye(3)), np.array([0, 2])).X.shape == (2, 3)


def test_equal_items_are_of_one_group():
    texts = item_features(["Good film!", "a bad film", "film good", "bad film, bad", "bad bad film"])
    assert equal_items(texts).tolist() == [0, 1, 0, 2, 2]
    numbers = item_features([[0.0, np.nan], [-0.0, np.nan], [0.0, 1.0]])
    assert equal_items(numbers, numbers).tolist() == [0, 0, 1, 0, 0, 1]
    counts = csr_matrix((np.array([1.0, 0.0, 1.0]), np.array([0, 2, 0]), np.array([0, 2, 3])), shape=(2, 3))
    assert equal_items(item_features(counts)).tolist() == [0, 0]


def repeated_points(generator, random_state, labelled_too=False):
    """Check points of a pool of 300 that are drawn with replacement."""
    y, known = np.arange(300) % 5, np.arange(300) % 5
    q = PACC(LogisticRegression(), validation=0.4, random_state=random_state).fit(draw_points(y, generator), y)
    X = draw_points(known, generator)
    if labelled_too:
        rows = generator.integers(0, 60, 300) * 5 + known
        X = X[rows]
    pool = draw_points(generator.choice(5, 300, p=generator.dirichlet(np.ones(5))), generator)
    return check(q, pool[generator.integers(0, 300, 1000)], labelled=(X, known))


@pytest.mark.parametrize("labelled_too", [False, True])
def test_points_drawn_with_replacement_raise_no_alarm(labelled_too):
    generator = np.random.default_rng(0)
    p_values = np.array([repeated_points(generator, s, labelled_too).p_items for s in range(20)])
    assert (p_values < 0.025).sum() <= 1
    assert (p_values < 0.25).sum() <= 9


def test_texts_that_are_copied_raise_no_alarm_and_new_words_still_do():
    generator = np.random.default_rng(1)
    y = np.array(["good", "bad"])[np.arange(400) % 2]
    q = PACC(make_pipeline(TfidfVectorizer(), LogisticRegression()), random_state=0).fit(draw_texts(y, generator), y)
    alarms = []
    for extra in ((), (), (), (), (), ("tablet", "charger")):
        pool = draw_texts(generator.choice(["good", "bad"], 250, p=[0.7, 0.3]), generator, extra)
        copied = [text.upper() + " !" for text in generator.choice(pool, 300)]
        report = check(q, [*generator.choice(pool, 300), *copied])
        alarms.append(report.p_items < 0.025)
        assert extra or report.p_label_shift > 0.005
    assert sum(alarms[:-1]) <= 1
    assert alarms[-1]


def test_items_of_few_values_are_tested_as_independent_ones():
    generator = np.random.default_rng(0)

    def answers(codes):
        return np.clip(np.round(draw_points(codes, generator) / 3.0), -1, 1)

    y = np.arange(500) % 3
    q = PACC(LogisticRegression(), validation=0.4, random_state=0).fit(answers(y), y)
    codes = generator.choice(3, 1000, p=[0.6, 0.2, 0.2])
    assert check(q, answers(codes)).p_items > 0.025
    codes[:300] = 4
    assert check(q, answers(codes)).p_items < 0.025


def test_copies_of_one_item_are_not_tested():
    generator = np.random.default_rng(0)
    y = np.arange(400) % 5
    X = draw_points(y, generator)
    q = PACC(LogisticRegression(), random_state=0).fit(X, y)
    assert np.isnan(check(q, np.repeat(draw_points(y[:1], generator), 500, axis=0)).p_items)
    X[y == 2] = X[2]
    assert np.isnan(check(q, draw_points(y, generator), labelled=(X, y)).p_items)


def test_copies_make_a_sample_as_noisy_as_fewer_items():
    assert ItemFindings().effective_size(1000) == 1000
    assert ItemFindings(copies=1.0).effective_size(1000) == pytest.approx(1.0)
    # 100 items, each ten times: 9 of the 999 others are equal to an item
    assert ItemFindings(copies=9 / 999).effective_size(1000) == pytest.approx(100.0)


def test_missing_numbers_are_the_same_value_on_both_sides():
    generator = np.random.default_rng(0)
    y = np.arange(600) % 2
    p_values = []
    for s in range(8):
        X = generator.standard_normal((1200, 3)) + np.tile(y, 2)[:, None]
        q = PACC(LogisticRegression(), validation=0.4, random_state=s).fit(X[:300], y[:300])
        seen = np.where(generator.random(X.shape) < 0.2, np.nan, X)
        labelled = item_features(seen[:600])
        P = q.outputs(X, {"posteriors"}).posteriors
        p_values.append(LabelledItems(labelled, y, P[:600]).check(seen[600:], P[600:]).p_value)
    assert min(p_values) > 0.005


def found(p_scores=0.5, p_items=np.nan, **changed):
    figures = {"n_classes": 2, "miscalibrated": False, "differs": (), "distance": 0.0, "off": 0.0, "off_errors": 0.0}
    return verdict_of(
        Findings(
            p_scores, p_items, **(figures | {"separation_errors": 9.0, "adjusts": True, "decided": False} | changed)
        ),
        0.05,
    )


def test_each_test_has_half_of_the_level_where_both_are_made():
    assert found(0.04)[0] == "caution"
    assert found(0.04, 0.5)[0] == "trust"
    assert found(0.5, 0.04)[0] == "trust"
    assert found(0.004)[0] == "do not trust"
    assert found(0.5, 1e-9)[0] == "caution"
    assert found(0.02, 0.02)[0] == "do not trust"
    assert found(np.nan)[0] == "not checked"
    assert found(np.nan, 0.5) == (
        "trust",
        ["Nothing unusual: the items look like the labelled ones, in these shares; their scores could not be checked."],
    )


def test_a_method_is_not_blamed_where_no_shares_explain_the_scores():
    off = {"off": 0.1, "off_errors": 9.0}
    assert "The estimate is off" in found(0.5, **off)[1][0]
    verdict, advice = found(1e-6, **off)
    assert verdict == "do not trust"
    assert not any("The estimate is off" in sentence for sentence in advice)
    assert any("The estimate is off" in sentence for sentence in found(1e-6, **off, adjusts=False)[1])


def test_two_classes_are_not_to_be_merged():
    two, three = (" ".join(found(separation_errors=1.0, n_classes=k)[1]) for k in (2, 3))
    assert "tell the two classes apart" in two
    assert "merge" not in two
    assert "merge classes that look alike" in three


def test_advice_of_several_groups_has_one_reason():
    first, second = (found(0.5, p, differs=(word,))[1][0] for p, word in ((1e-4, "sequel"), (1e-3, "refund")))
    assert first != second
    assert first.reason == second.reason
    assert "(most in sequel)" in first
    assert first.figures not in first.reason
    copy = pickle.loads(pickle.dumps(first))
    assert (copy, copy.reason, copy.figures) == (first, first.reason, first.figures)


def test_labelled_items_of_folds_are_scored_by_one_classifier_each():
    generator = np.random.default_rng(0)
    y = np.arange(400) % 5
    q = ACC(LogisticRegression(), random_state=0).fit(draw_points(y, generator), y)
    assert q.outputs(draw_points(y, generator)).folds is not None
    report = check(q, draw_points(y, generator), labelled=(draw_points(y, generator), y))
    assert report.verdict == "trust"
    plain = Outputs.from_posteriors(np.eye(5)[y], range(5))
    assert check(ACC().fit(plain, y), plain, labelled=(plain, y)).verdict in ("trust", "not checked")
