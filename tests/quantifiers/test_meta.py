"""Methods made of several quantifiers, against the same things done by hand."""

from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from headcount import (
    ACC,
    CC,
    PACC,
    SLD,
    ArtificialPrevalence,
    BayesianCC,
    Ensemble,
    HDy,
    MedianQuantifier,
    OneVsRest,
    Outputs,
    QuantifierSearch,
    Samples,
    estimate,
    evaluate,
)
from headcount.exceptions import DataError
from headcount.learners import FitCache, Fits
from headcount.quantifiers import list_methods
from tests.conftest import blobs, frozen, scored_items

CALLS = Counter()


class Counted(LogisticRegression):
    """Logistic regression that counts its fits and scorings."""

    def fit(self, X, y, sample_weight=None):
        CALLS["fit"] += 1
        return super().fit(X, y, sample_weight)

    def predict_proba(self, X):
        CALLS["score"] += 1
        return super().predict_proba(X)


@pytest.fixture(autouse=True)
def no_calls():
    CALLS.clear()


def samples_of(n, count=12, size=60):
    return Samples.from_matrix(np.random.default_rng(0).integers(0, n, (count, size)))


# ------------------------------------------------------------------------------------------------ ensembles


def test_an_ensemble_is_the_mean_of_members_trained_under_their_shares():
    X, y = blobs(400, 3, seed=0)
    q = Ensemble(PACC(LogisticRegression()), n_members=6, selection=None, random_state=0).fit(X, y)
    target, _ = blobs(200, 3, seed=1)
    expected = np.mean([member.predict(target) for member in q.members_], axis=0)
    np.testing.assert_allclose(q.predict(target), expected, atol=1e-12)
    median = np.median([member.predict(target) for member in q.members_], axis=0)
    np.testing.assert_allclose(q.set_params(aggregation="median").predict(target), median / median.sum(), atol=1e-12)
    for member, shares in zip(q.members_, q.training_shares_, strict=True):
        items = member.validation_items_
        assert len(np.unique(items, axis=0)) == len(items)  # no copies
        np.testing.assert_allclose(np.bincount(member.validation_codes_) / len(items), shares)
        assert np.bincount(member.validation_codes_).min() >= 5
    assert q.training_shares_.max() > 0.5
    assert np.ptp(q.training_shares_, axis=0).min() > 0.2


def test_members_take_all_items_of_a_class_whose_drawn_share_is_larger_than_its_own():
    X, y = blobs(600, 2, seed=0)
    q = Ensemble(CC(GaussianNB()), n_members=30, random_state=1).fit(X, y)
    there, counts = np.bincount(y), np.array([member.classifier_.class_count_ for member in q.members_])
    assert (counts <= there).all()
    assert (counts >= 5).all()
    assert ((counts == there).sum(axis=1) >= 1).all()  # the shares sum to 1: of two classes, one has at least its own
    assert (counts.min(axis=1) < 100).any()
    np.testing.assert_allclose(counts / counts.sum(axis=1, keepdims=True), q.training_shares_)


def test_selection_by_training_shares_takes_the_nearest_members_for_each_sample():
    codes, P = scored_items(500, 3, seed=0, separation=1.2)
    q = Ensemble(ACC(frozen([0, 1, 2])), n_members=9, selection="ptr", n_selected=4, random_state=0).fit(P, codes)
    pool, samples = scored_items(400, 3, seed=1, separation=1.2)[1], samples_of(400)
    estimates = np.array([[member.predict(pool[rows]) for rows in samples] for member in q.members_])
    for s, shares in enumerate(q.aggregate(q.outputs(pool), samples)):
        preliminary = estimates[:, s].mean(axis=0)
        nearest = np.argsort([np.linalg.norm(t - preliminary) for t in q.training_shares_])[:4]
        np.testing.assert_allclose(shares, estimates[nearest, s].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("k", [2, 3])
def test_selection_by_similar_posteriors_takes_members_whose_items_have_such_histograms(k):
    codes, P = scored_items(500, k, seed=0, separation=1.2)
    q = Ensemble(ACC(frozen(range(k))), n_members=8, selection="ds", n_selected=3, random_state=0).fit(P, codes)
    pool, samples = (
        scored_items(400, k, seed=1, separation=1.2, shares=np.r_[0.7, np.full(k - 1, 0.3 / (k - 1))])[1],
        samples_of(400),
    )

    def histograms(rows):
        columns = [1] if k == 2 else range(k)
        return [np.histogram(rows[:, j], bins=10, range=(0, 1))[0] / len(rows) for j in columns]

    training = [histograms(member.validation_items_) for member in q.members_]
    estimates = np.array([[member.predict(pool[rows]) for rows in samples] for member in q.members_])
    for s, shares in enumerate(q.aggregate(q.outputs(pool), samples)):
        of_sample = histograms(pool[samples[s]])
        far = [sum(1 - np.sqrt(a * b).sum() for a, b in zip(of_sample, one, strict=True)) for one in training]
        np.testing.assert_allclose(shares, estimates[np.argsort(far)[:3], s].mean(axis=0), atol=1e-12)


def test_selection_by_accuracy_keeps_the_members_with_the_least_error_on_held_out_items():
    X, y = blobs(500, 2, seed=0)
    settings = {"n_members": 10, "random_state": 0}
    kept = Ensemble(CC(LogisticRegression()), selection="accuracy", n_selected=3, **settings).fit(X, y)
    assert len(kept.members_) == len(kept.training_shares_) == 3
    everyone = Ensemble(CC(LogisticRegression()), selection="accuracy", n_selected=10, **settings).fit(X, y)
    assert [c.classifier_.n_iter_.tolist() for c in everyone.members_]
    X_new, y_new = blobs(4000, 2, seed=9)
    protocol = ArtificialPrevalence(21, repeats=10, sample_size=200, random_state=0)
    errors = [evaluate(member, X_new, y_new, protocol).ae.mean() for member in everyone.members_]
    best = [evaluate(member, X_new, y_new, protocol).ae.mean() for member in kept.members_]
    assert np.mean(best) < np.mean(errors) - 0.005


def test_a_pool_is_scored_once_by_each_classifier():
    X, y = blobs(300, 2, seed=0)
    q = Ensemble(PACC(Counted(), validation=0.4), n_members=4, random_state=0).fit(X, y)
    CALLS.clear()
    result = evaluate(q, X, y, ArtificialPrevalence(5, repeats=3, sample_size=50, random_state=0))
    assert CALLS["score"] == 4
    assert result.ae.mean() < 0.1
    shared = Ensemble(PACC(frozen([0, 1])), n_members=4, random_state=0).fit(*scored_items(100, 2, seed=0)[::-1])
    first, *others = shared.outputs(scored_items(50, 2, seed=1)[1]).members
    assert all(other is first for other in others)


def test_the_same_seed_gives_the_same_ensemble_and_remembered_fits_are_not_repeated():
    X, y = blobs(300, 2, seed=0)
    q = Ensemble(PACC(Counted(), validation=3), n_members=3, random_state=5)
    fits = Fits(X, y, remember=True)
    first = clone(q).fit_through(fits)
    assert CALLS["fit"] == 9
    assert fits.seconds > 0
    second = clone(q).fit_through(fits)
    assert CALLS["fit"] == 9
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    np.testing.assert_array_equal(first.predict(X), clone(q).fit(X, y).predict(X))
    assert not np.array_equal(first.predict(X), clone(q).set_params(random_state=6).fit(X, y).predict(X))


def test_sample_weights_reach_the_members():
    X, y = blobs(200, 2, seed=0)
    weights = np.where(X[:, 0] > 0, 5.0, 0.1)
    q = Ensemble(CC(LogisticRegression()), n_members=2, random_state=0)
    assert not np.array_equal(clone(q).fit(X, y).predict(X), clone(q).fit(X, y, sample_weight=weights).predict(X))


# ------------------------------------------------------------------------------------------------ medians


def test_a_median_is_that_of_the_settings_and_fits_are_shared():
    X, y = blobs(300, 3, seed=0)
    target, _ = blobs(150, 3, seed=1)
    q = MedianQuantifier([ACC(Counted()), PACC(Counted())], {"classifier__C": [0.01, 1.0]}, random_state=3).fit(X, y)
    assert CALLS["fit"] == 10  # two strengths in five folds, for both methods
    CALLS.clear()
    outputs = q.outputs(target)
    assert CALLS["score"] == 10
    alone = [
        method(LogisticRegression(C=C), random_state=m.random_state).fit(X, y).predict(target)
        for m, (method, C) in zip(q.members_, [(ACC, 0.01), (ACC, 1.0), (PACC, 0.01), (PACC, 1.0)], strict=True)
    ]
    median = np.median(alone, axis=0)
    np.testing.assert_allclose(q.aggregate(outputs)[0], median / median.sum(), atol=1e-9)


def test_a_median_over_learners_and_defaults():
    X, y = blobs(300, 2, seed=0)
    learners = MedianQuantifier(SLD(), {"classifier": [LogisticRegression(), GaussianNB()]}).fit(X, y)
    assert [type(m.classifier_).__name__ for m in learners.members_] == ["LogisticRegression", "GaussianNB"]
    assert [m.classifier.C for m in MedianQuantifier().fit(X, y).members_] == [0.01, 0.1, 1.0, 10.0, 100.0]
    mixed = MedianQuantifier([CC(), HDy()], [{"classifier__C": [1.0]}, {"bins": [(8,)]}]).fit(X, y)
    assert len(mixed.members_) == 4  # and each method with the settings that it has
    with pytest.raises(DataError, match="The grid names 'bims', which no quantifier"):
        MedianQuantifier(HDy(), {"bims": [(8,)]}).fit(X, y)
    with pytest.raises(DataError, match="Expected a quantifier"):
        MedianQuantifier([LogisticRegression()]).fit(X, y)


# ------------------------------------------------------------------------------------------------ one versus rest

TWO_CLASSES = [method for method in list_methods() if method.quantifier.max_classes == 2]


@pytest.mark.parametrize("method", TWO_CLASSES, ids=lambda method: method.name)
def test_one_versus_rest_is_the_method_for_each_class_scaled(method):
    X, y = blobs(400, 4, seed=0)
    names = np.array(["d", "a", "c", "b"])
    target, _ = blobs(200, 4, seed=1)
    inner = method.make()
    q = OneVsRest(inner, random_state=0).fit(X, names[y])
    assert q.classes_.tolist() == ["a", "b", "c", "d"]
    single = []
    for member, label in zip(q.members_, "abcd", strict=True):
        alone = clone(inner)
        if "random_state" in alone.get_params():
            alone.set_params(random_state=member.random_state)
        single.append(alone.fit(X, (names[y] == label).astype(int)).predict(target)[1])
    np.testing.assert_allclose(q.predict(target), np.array(single) / np.sum(single), atol=1e-12)
    two = OneVsRest(inner, random_state=0).fit(X[y < 2], y[y < 2])
    assert len(two.members_) == 1


def test_one_versus_rest_of_ready_made_posteriors_sums_up_those_of_the_rest():
    codes, P = scored_items(600, 3, seed=0)
    target = scored_items(200, 3, seed=1)[1]
    given = OneVsRest(HDy()).fit(Outputs.from_posteriors(P, [0, 1, 2]), codes)
    solid = OneVsRest(HDy(frozen([0, 1, 2]))).fit(P, codes)
    single = []
    for j in range(3):
        pair = np.column_stack([1 - P[:, j], P[:, j]])
        alone = HDy(frozen([0, 1])).fit(pair, (codes == j).astype(int))
        single.append(alone.predict(np.column_stack([1 - target[:, j], target[:, j]]))[1])
    expected = np.array(single) / np.sum(single)
    np.testing.assert_allclose(solid.predict(target), expected, atol=1e-12)
    np.testing.assert_allclose(given.predict(Outputs.from_posteriors(target, [0, 1, 2])), expected, atol=1e-12)
    in_folds = Outputs.from_folds([Outputs.from_posteriors(target, [0, 1, 2])] * 2)
    np.testing.assert_allclose(given.aggregate(in_folds)[0], expected, atol=1e-12)


def test_classes_that_no_member_sees_share_equally():
    codes, P = scored_items(60, 3, seed=0)
    q = OneVsRest(CC(frozen([0, 1, 2]))).fit(P, codes)
    q._combine(np.zeros((3, 1, 1)), None)
    np.testing.assert_allclose(q._combine(np.zeros((3, 2, 1)), None), np.full((2, 3), 1 / 3))


# ------------------------------------------------------------------------------------------------ all of them


def metas():
    return [
        Ensemble(PACC(LogisticRegression()), n_members=3, random_state=0),
        MedianQuantifier(PACC(LogisticRegression()), {"classifier__C": [0.1, 1.0]}, random_state=0),
        OneVsRest(HDy(LogisticRegression()), random_state=0),
    ]


every_meta = pytest.mark.parametrize("q", metas(), ids=lambda q: type(q).__name__)


@every_meta
def test_inner_parameters_are_set_by_their_path_and_searched(q):
    X, y = blobs(200, 3, seed=0)
    new = clone(q).set_params(quantifier__classifier__C=0.5)
    assert new.quantifier.classifier.C == 0.5
    assert q.quantifier.classifier.C == 1.0
    small = ArtificialPrevalence(3, repeats=2, sample_size=20, random_state=0)
    protocol = small if len(np.unique(y)) == 2 else None
    search = QuantifierSearch(
        clone(q), {"quantifier__classifier__max_iter": [50, 200]}, protocol=protocol, memory=FitCache(), random_state=0
    ).fit(X, y)
    assert set(search.best_params_) == {"quantifier__classifier__max_iter"}
    np.testing.assert_allclose(search.predict(X).sum(), 1.0)


@every_meta
def test_folds_texts_and_pickles(q):
    import pickle

    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts, y = ["good film", "bad film", "dull plot"] * 20, ["pos", "neg", "neutral"] * 20
    learner = make_pipeline(CountVectorizer(), LogisticRegression())
    fitted = clone(q).set_params(quantifier__classifier=learner)
    if isinstance(q, MedianQuantifier):
        fitted.set_params(grid={})
    fitted.fit(texts, y)
    assert fitted.predict(["good film", "good film"]).argmax() == 2
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(texts[:7]), fitted.predict(texts[:7]))
    batches = [fitted.outputs(texts[:30]), fitted.outputs(texts[30:])]
    joined = Outputs.concatenated(batches)
    np.testing.assert_allclose(fitted.aggregate(joined), fitted.aggregate(fitted.outputs(texts)), atol=1e-12)
    np.testing.assert_allclose(fitted.aggregate(joined.take(np.arange(7)))[0], fitted.predict(texts[:7]), atol=1e-12)


@every_meta
def test_what_they_do_not_have_is_said(q):
    X, y = blobs(150, 3, seed=0)
    fitted = clone(q).fit(X, y)
    with pytest.raises(DataError, match=f"No interval for {type(q).__name__}"):
        estimate(fitted, X)
    with pytest.raises(DataError, match="keeps no validation items"):
        estimate(fitted, X, method="bootstrap")
    out = fitted.outputs(X)
    assert "members" in repr(out)
    wrong = Outputs(out.classes, out.n_items, members=out.members[:1])
    with pytest.raises(DataError, match="These outputs are of 1 members"):
        fitted.aggregate(wrong)
    with pytest.raises(DataError, match="members must be outputs for the same 3 items"):
        Outputs(out.classes, 3, members=out.members)


def test_two_class_methods_refuse_more_classes_as_members():
    X, y = blobs(150, 3, seed=0)
    with pytest.raises(DataError, match="HDy is defined for two classes"):
        Ensemble(HDy(), n_members=2).fit(X, y)
    nested = Ensemble(OneVsRest(HDy(LogisticRegression())), n_members=2, random_state=0).fit(X, y)
    np.testing.assert_allclose(nested.predict(X).sum(), 1.0)
    with pytest.raises(DataError, match="n_selected=3 members can't be selected of n_members=2"):
        Ensemble(CC(), n_members=2, n_selected=3, selection="ptr").fit(X, y)


def test_a_rare_class_has_members_too():
    X, y = blobs(200, 2, seed=0)
    rows = np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:3]]
    q = Ensemble(PACC(GaussianNB()), n_members=3, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_allclose(q.predict(X).sum(), 1.0)
    assert isinstance(MedianQuantifier([BayesianCC(n_draws=100), ACC()], {}).fit(X, y).members_[0], BayesianCC)
