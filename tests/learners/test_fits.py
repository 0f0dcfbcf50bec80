"""Each classifier is fitted once, bit for bit as a plain fit, with the given parameters for fit."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from headcount import PACC, SMM, DMy, SVMperf
from headcount.exceptions import ClassifierError, DataError
from headcount.learners import FitCache, Fits, with_posteriors
from headcount.learners.forests import size_of_forest
from tests.conftest import blobs


class Counting(LogisticRegression):
    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _reset_count():
    Counting.fits = 0


X, Y = blobs(200, 2, seed=0)
ROWS = np.arange(0, 200, 2)


def test_the_same_classifier_on_the_same_rows_is_fitted_once():
    fits = Fits(X, Y, remember=True)
    a = fits.fit(Counting(C=2.0), ROWS)
    assert fits.fit(Counting(C=2.0), ROWS.copy()) is a
    assert Counting.fits == 1
    assert fits.seconds > 0
    fits.fit(Counting(C=3.0), ROWS)
    fits.fit(Counting(C=2.0))
    fits.fit(Counting(C=2.0), ROWS[1:])
    assert Counting.fits == 4
    assert np.array_equal(a.coef_, LogisticRegression(C=2.0).fit(X[ROWS], Y[ROWS]).coef_)


def test_without_remember_every_fit_is_a_new_one():
    fits = Fits(X, Y)
    assert fits.fit(Counting()) is not fits.fit(Counting())


class CountingScores(LogisticRegression):
    """Counts the items that it scores, in all of its copies."""

    scored = 0

    def predict_proba(self, X):
        type(self).scored += len(X)
        return super().predict_proba(X)


@pytest.mark.parametrize(("remember", "times"), [(True, 1), (False, 3)])
def test_methods_over_the_same_classifier_score_the_validation_items_once(remember, times):
    CountingScores.scored = 0
    fits = Fits(X, Y, remember=remember)
    methods = [method(CountingScores(), random_state=0) for method in (PACC, DMy, SMM)]
    fitted = [clone(one).fit_through(fits) for one in methods]
    assert CountingScores.scored == times * len(Y)
    for one, shared in zip(methods, fitted, strict=True):
        alone = clone(one).fit(X, Y)
        assert np.array_equal(alone.M_, shared.M_)
        assert np.array_equal(alone.validation_outputs_.posteriors, shared.validation_outputs_.posteriors)


def test_scores_of_other_needs_or_of_other_classes_are_not_mixed_up():
    fits = Fits(X, Y, remember=True)
    classifier, rows = fits.fit(LogisticRegression()), np.arange(20)
    ascending, descending = (fits.score(classifier, rows, {"posteriors"}, np.array(c)) for c in ([0, 1], [1, 0]))
    assert np.array_equal(ascending.posteriors, descending.posteriors[:, ::-1])
    decided = fits.score(classifier, rows, {"decisions"}, np.array([0, 1]))
    assert decided.posteriors is None
    assert len(fits.score(classifier, rows[:5], {"decisions"}, np.array([0, 1]))) == 5


def test_a_scope_forgets_its_fits_but_shares_splits_and_parts():
    fits = Fits(X, Y, remember=True)
    fits.scope().fit(Counting(), ROWS)
    fits.scope().fit(Counting(), ROWS)
    assert Counting.fits == 2
    assert fits.part(ROWS)[0] is fits.scope().part(ROWS)[0]
    assert fits.splits(0.4, Y, 0)[0][0] is fits.scope().splits(0.4, Y, 0)[0][0]
    assert fits.splits(0.4, Y, None)[0][0] is not fits.splits(0.4, Y, None)[0][0]


def test_a_cache_in_memory_is_keyed_by_content():
    cache = FitCache()
    a = Fits(X, Y, cache).fit(Counting(), ROWS)
    assert Fits(X.copy(), Y.copy(), cache).fit(Counting(), ROWS) is a
    assert Counting.fits == 1
    changed = X.copy()
    changed[0, 0] += 1e-9
    for data in ((changed, Y), (X, 1 - Y)):
        Fits(*data, cache).fit(Counting(), ROWS)
    assert Counting.fits == 3


def test_a_new_version_of_a_library_is_a_new_key_of_the_cache(monkeypatch):
    cache = FitCache()
    Fits(X, Y, cache).fit(Counting(), ROWS)
    monkeypatch.setattr("sklearn.__version__", "99.0")
    Fits(X, Y, cache).fit(Counting(), ROWS)
    assert Counting.fits == 2


def test_fits_run_with_one_blas_thread():
    from threadpoolctl import threadpool_info

    seen = []

    class RecordingThreads(GaussianNB):
        def fit(self, X, y):
            seen.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
            return super().fit(X, y)

    before = [i["num_threads"] for i in threadpool_info()]
    Fits(X, Y).fit(RecordingThreads())
    assert set(seen) == {1}
    assert [i["num_threads"] for i in threadpool_info()] == before


def test_a_cache_on_disk_is_read_by_a_new_object(tmp_path):
    first = Fits(X, Y, FitCache(tmp_path)).fit(GaussianNB(), ROWS)
    fits = Fits(X, Y, FitCache(tmp_path))
    fits._fit_now = None  # a fit would fail
    again = fits.fit(GaussianNB(), ROWS)
    assert np.array_equal(first.theta_, again.theta_)
    import pickle

    assert pickle.loads(pickle.dumps(FitCache(tmp_path))).location == tmp_path


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_smaller_forests_are_cut_from_larger_ones_bit_for_bit(forest):
    fits = Fits(X, Y, remember=True)
    big = fits.fit(forest(30, random_state=3), ROWS)
    for k in (1, 7, 30):
        small = fits.fit(forest(k, random_state=3), ROWS)
        plain = forest(k, random_state=3).fit(X[ROWS], Y[ROWS])
        assert len(small.estimators_) == small.n_estimators == k
        assert small.get_params() == plain.get_params()
        assert np.array_equal(small.predict_proba(X), plain.predict_proba(X))
        assert np.array_equal(small.predict(X), plain.predict(X))
        assert np.array_equal(small.feature_importances_, plain.feature_importances_)
        assert vars(small).keys() == vars(plain).keys()
        assert all(a is b for a, b in zip(small.estimators_, big.estimators_, strict=False))
    other = fits.fit(forest(7, max_depth=2, random_state=3), ROWS)
    assert max(tree.get_depth() for tree in other.estimators_) <= 2


@pytest.mark.parametrize(
    "options", [{"random_state": None}, {"warm_start": True, "random_state": 0}, {"oob_score": True, "random_state": 0}]
)
def test_forests_without_a_seed_or_with_shared_state_are_not_cut(options):
    assert size_of_forest(RandomForestClassifier(20, **options)) == 0
    assert size_of_forest(LogisticRegression()) == 0


WEIGHTS = np.random.default_rng(0).uniform(0.1, 5.0, 200)


@pytest.mark.parametrize("form", [np.asarray, list, pd.Series])
@pytest.mark.parametrize("rows", [None, ROWS])
def test_sample_weights_are_cut_to_the_rows_that_are_fitted(form, rows):
    given = slice(None) if rows is None else rows
    fitted = Fits(X, Y, fit_params={"sample_weight": form(WEIGHTS)}).fit(LogisticRegression(), rows)
    expected = LogisticRegression().fit(X[given], Y[given], sample_weight=WEIGHTS[given])
    assert np.array_equal(fitted.coef_, expected.coef_)
    assert not np.array_equal(fitted.coef_, LogisticRegression().fit(X[given], Y[given]).coef_)


def test_parameters_without_an_entry_for_each_item_are_passed_as_they_are():
    seen = {}

    class Recording(GaussianNB):
        def fit(self, X, y, *, names, folder, weights):
            seen.update(names=names, folder=folder, weights=weights)
            return super().fit(X, y)

    params = {"names": ["a", "b"], "folder": "here", "weights": WEIGHTS}
    Fits(X, Y, fit_params=params).fit(Recording(), ROWS)
    assert (seen["names"], seen["folder"]) == (["a", "b"], "here")
    assert np.array_equal(seen["weights"], WEIGHTS[ROWS])


def test_parameters_that_are_none_count_as_not_given():
    fits = Fits(X, Y, fit_params={"sample_weight": None})
    assert np.array_equal(fits.fit(GaussianNB()).theta_, GaussianNB().fit(X, Y).theta_)
    fits.fit(SVMperf())


class Keys(FitCache):
    def __init__(self):
        super().__init__()
        self.keys = []

    def get(self, key, make):
        self.keys.append(key)
        return super().get(key, make)


def test_fit_parameters_are_part_of_the_cache_key_only_when_given():
    cache = Keys()
    for params in (None, {}, {"sample_weight": None}):
        Fits(X, Y, cache, fit_params=params).fit(GaussianNB())
    assert len(set(cache.keys)) == 1
    weighted = [Fits(X, Y, cache, fit_params={"sample_weight": w}).fit(GaussianNB()) for w in (WEIGHTS, WEIGHTS.copy())]
    assert weighted[0] is weighted[1]
    other = Fits(X, Y, cache, fit_params={"sample_weight": WEIGHTS + 1}).scope().fit(GaussianNB())
    assert len(set(cache.keys)) == 3
    assert not np.array_equal(other.theta_, weighted[0].theta_)


def test_fit_parameters_that_have_no_hash_keep_fits_out_of_the_cache():
    class Calling(GaussianNB):
        def fit(self, X, y, callback):
            callback()
            return super().fit(X, y)

    calls = []
    cache = Keys()
    for name in ("first", "second"):
        Fits(X, Y, cache, fit_params={"callback": lambda name=name: calls.append(name)}).fit(Calling())
    assert calls == ["first", "second"]
    assert cache.keys == []


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_smaller_forests_are_cut_from_larger_weighted_ones_bit_for_bit(forest):
    fits = Fits(X, Y, remember=True, fit_params={"sample_weight": WEIGHTS})
    fits.fit(forest(12, random_state=3), ROWS)
    fits._fit_now = None  # another fit would fail
    small = fits.fit(forest(5, random_state=3), ROWS)
    plain = forest(5, random_state=3).fit(X[ROWS], Y[ROWS], sample_weight=WEIGHTS[ROWS])
    assert np.array_equal(small.predict_proba(X), plain.predict_proba(X))


@pytest.mark.parametrize(
    ("classifier", "name"),
    [
        (KNeighborsClassifier(), "KNeighborsClassifier"),
        (SVMperf(), "SVMperf"),
        (SVMperf(path=[0.1, 1.0]), "SVMperf"),
        (CalibratedClassifierCV(KNeighborsClassifier()), "KNeighborsClassifier"),
    ],
    ids=str,
)
@pytest.mark.parametrize("remember", [False, True])
def test_a_classifier_that_does_not_take_a_fit_parameter_is_an_error(classifier, name, remember):
    fits = Fits(X, Y, remember=remember, fit_params={"sample_weight": WEIGHTS})
    with pytest.raises(ClassifierError, match=f"The fit method of {name} takes no 'sample_weight'"):
        fits.fit(classifier)


def test_sample_weights_of_another_length_are_an_error():
    for name in ("sample_weight", "naive__sample_weight"):
        with pytest.raises(DataError, match=f"{name} has 100 entries for 200 items"):
            Fits(X, Y, fit_params={name: WEIGHTS[:100]})


def test_fit_parameters_reach_the_steps_of_a_pipeline():
    pipeline = Pipeline([("scale", StandardScaler()), ("naive", GaussianNB())])
    fitted = Fits(X, Y, fit_params={"naive__sample_weight": WEIGHTS}).fit(pipeline, ROWS)
    expected = clone(pipeline).fit(X[ROWS], Y[ROWS], naive__sample_weight=WEIGHTS[ROWS])
    assert np.array_equal(fitted.predict_proba(X), expected.predict_proba(X))
    assert not np.array_equal(fitted.predict_proba(X), clone(pipeline).fit(X[ROWS], Y[ROWS]).predict_proba(X))


def test_sample_weights_reach_a_calibrated_classifier_and_its_calibration():
    learner = with_posteriors(LinearSVC(random_state=0), Y[ROWS], 2)
    fitted = Fits(X, Y, fit_params={"sample_weight": WEIGHTS}).fit(learner, ROWS)
    expected = CalibratedClassifierCV(LinearSVC(random_state=0), cv=5).fit(
        X[ROWS], Y[ROWS], sample_weight=WEIGHTS[ROWS]
    )
    assert np.array_equal(fitted.predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("request_", [True, "item_weight"])
def test_sample_weights_reach_a_calibrated_classifier_with_metadata_routing(request_):
    """The parameters arrive under the classifier's own names: a quantifier has resolved the classifier's request."""
    with sklearn.config_context(enable_metadata_routing=True):
        svm = LinearSVC(random_state=0).set_fit_request(sample_weight=request_)
        fits = Fits(X, Y, fit_params={"sample_weight": WEIGHTS})
        fitted = fits.fit(with_posteriors(svm, Y, 2))
        assert svm.get_metadata_routing().fit.requests == {"sample_weight": request_}
    expected = CalibratedClassifierCV(LinearSVC(random_state=0), cv=5).fit(X, Y, sample_weight=WEIGHTS)
    assert np.array_equal(fitted.predict_proba(X), expected.predict_proba(X))


def test_a_frozen_classifier_is_not_fitted_whatever_the_fit_parameters():
    fitted = GaussianNB().fit(X, Y)
    frozen = Fits(X, Y, fit_params={"sample_weight": WEIGHTS}).fit(FrozenEstimator(fitted), ROWS)
    assert np.array_equal(frozen.theta_, fitted.theta_)
