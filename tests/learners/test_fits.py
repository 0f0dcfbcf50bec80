"""Fits are done once, and are bit for bit what a plain fit gives."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from headcount.learners import FitCache, Fits
from headcount.learners.forests import size_of_forest
from tests.conftest import blobs


class Counting(LogisticRegression):
    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def _from_zero():
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


def test_without_remembering_every_fit_is_a_new_one():
    fits = Fits(X, Y)
    assert fits.fit(Counting()) is not fits.fit(Counting())


def test_a_scope_forgets_its_fits_but_not_the_cut_rows():
    fits = Fits(X, Y, remember=True)
    fits.scope().fit(Counting(), ROWS)
    fits.scope().fit(Counting(), ROWS)
    assert Counting.fits == 2
    assert fits.part(ROWS)[0] is fits.scope().part(ROWS)[0]
    assert fits.splits(0.4, Y, 0)[0][0] is fits.scope().splits(0.4, Y, 0)[0][0]
    assert fits.splits(0.4, Y, None)[0][0] is not fits.splits(0.4, Y, None)[0][0]


def test_a_cache_in_memory_goes_by_content():
    cache = FitCache()
    a = Fits(X, Y, cache).fit(Counting(), ROWS)
    assert Fits(X.copy(), Y.copy(), cache).fit(Counting(), ROWS) is a
    assert Counting.fits == 1
    changed = X.copy()
    changed[0, 0] += 1e-9
    for data in ((changed, Y), (X, 1 - Y)):
        Fits(*data, cache).fit(Counting(), ROWS)
    assert Counting.fits == 3


def test_a_cache_does_not_outlive_a_new_version_of_the_libraries(monkeypatch):
    cache = FitCache()
    Fits(X, Y, cache).fit(Counting(), ROWS)
    monkeypatch.setattr("sklearn.__version__", "99.0")
    Fits(X, Y, cache).fit(Counting(), ROWS)
    assert Counting.fits == 2


def test_fits_hold_blas_to_one_thread():
    from threadpoolctl import threadpool_info

    seen = []

    class Looking(GaussianNB):
        def fit(self, X, y):
            seen.extend(i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas")
            return super().fit(X, y)

    before = [i["num_threads"] for i in threadpool_info()]
    Fits(X, Y).fit(Looking())
    assert set(seen) == {1}
    assert [i["num_threads"] for i in threadpool_info()] == before


def test_a_cache_on_disk_outlives_the_object(tmp_path):
    first = Fits(X, Y, FitCache(tmp_path)).fit(GaussianNB(), ROWS)
    fits = Fits(X, Y, FitCache(tmp_path))
    fits._fitted = None  # a fit would fail
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
def test_forests_that_can_not_be_cut_are_not(options):
    assert size_of_forest(RandomForestClassifier(20, **options)) == 0
    assert size_of_forest(LogisticRegression()) == 0
