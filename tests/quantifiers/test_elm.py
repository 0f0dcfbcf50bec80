"""Explicit loss minimisation (ELM): its presets, searches over C, and fits along a path of C."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from headcount import CC, ELM, ArtificialPrevalence, QuantifierSearch, SVMperf
from headcount.exceptions import UnknownNameError
from headcount.learners import FitCache, Fits
from headcount.quantifiers import list_methods, method_named
from tests.conftest import blobs

PRESETS = [method for method in list_methods() if method.name.startswith("SVM(")]
CS = [0.1, 1.0, 10.0, 100.0]
SMALL = ArtificialPrevalence(5, repeats=2, sample_size=30, random_state=0)


def test_elm_counts_the_decisions_of_its_classifier():
    X, y = blobs(200, 2, seed=0)
    q = ELM(SVMperf(loss="kld", C=10)).fit(X, y)
    np.testing.assert_allclose(q.predict(X)[1], (SVMperf(loss="kld", C=10).fit(X, y).predict(X) == 1).mean())
    default = ELM().fit(X, y)
    assert isinstance(default.classifier_, SVMperf)
    assert default.classifier_.loss == "ae"
    np.testing.assert_array_equal(ELM(LogisticRegression()).fit(X, y).predict(X), CC().fit(X, y).predict(X))


@pytest.mark.parametrize("method", PRESETS, ids=lambda method: method.name)
def test_presets_have_the_names_of_the_paper(method):
    q = method.make()
    assert method.name == f"SVM({q.classifier.loss.upper()})"
    assert method_named(method.name.lower()) is method
    X, codes = blobs(300, 2, seed=1)
    y = np.array(["no", "yes"])[codes]
    q.set_params(classifier__C=100.0).fit(X, y)
    rows = np.flatnonzero(codes == 1)[:100]
    assert q.predict(X[rows])[1] > 0.7
    with pytest.raises(ValueError, match="Only binary classification"):
        method.make().fit(*blobs(60, 3, seed=0))


def test_an_unknown_name_raises_the_list_of_methods():
    with pytest.raises(UnknownNameError, match=r"There is no method 'SVM\(X\)'. There are: 'MLPE', 'CC'.*'SVM\(RAE\)'"):
        method_named("SVM(X)")


@pytest.mark.parametrize("path", [None, CS])
def test_a_search_over_c_equals_separate_fits(path):
    X, y = blobs(400, 2, seed=2)
    quantifiers = [ELM(SVMperf(loss="ae", path=path)), ELM(SVMperf(loss="q", path=path))]
    search = QuantifierSearch(quantifiers, {"classifier__C": CS}, protocol=SMALL, random_state=0).fit(X, y)
    coefficients = np.asarray(search.best_estimator_.classifier_.coef_)
    alone = SVMperf(**search.best_estimator_.classifier.get_params()).fit(X, y)
    assert np.array_equal(coefficients, alone.coef_)
    assert len(search.results_) == 2 * len(CS)


def test_a_path_is_fitted_only_once(monkeypatch, tmp_path):
    X, y = blobs(300, 2, seed=3)
    calls = []
    original = SVMperf.iter_path
    monkeypatch.setattr(SVMperf, "iter_path", lambda self, X, y: calls.append(self) or original(self, X, y))
    monkeypatch.setattr(SVMperf, "fit", lambda *_: pytest.fail("fitted alone"))
    for cache in (None, FitCache(), FitCache(tmp_path)):
        calls.clear()
        fits = Fits(X, y, cache, remember=True)
        fitted = [fits.fit(SVMperf(C=C, path=CS)) for C in CS]
        remembered = Fits(X, y, cache, remember=True).fit(SVMperf(C=10.0, path=CS)) if cache else fitted[2]
        assert len(calls) == 1
        assert [svm.C for svm in fitted] == CS
        assert np.array_equal(remembered.coef_, fitted[2].coef_)


def test_a_fit_of_a_path_gives_only_the_warnings_of_its_c():
    X, y = blobs(300, 2, seed=4)
    fits = Fits(X, y, remember=True)
    settings = {"path": [1e-3, 1e4], "max_iter": 10}
    fits.fit(SVMperf(C=1e-3, **settings))
    with pytest.warns(Warning, match="C=10000"):
        fits.fit(SVMperf(C=1e4, **settings))


def test_a_c_that_is_not_on_the_path_is_fitted_separately():
    X, y = blobs(200, 2, seed=5)
    for order in ([10.0, 1.0], [1.0, 10.0]):
        fits = Fits(X, y, FitCache())
        fitted = {C: fits.fit(SVMperf(C=C, path=[0.1, 10.0])) for C in order}
        for C, svm in fitted.items():
            assert np.array_equal(svm.coef_, SVMperf(C=C, path=[0.1, 10.0]).fit(X, y).coef_)


def test_a_search_over_elm_uses_svmperf_by_default():
    X, y = blobs(300, 2, seed=6)
    search = QuantifierSearch(ELM(), {"classifier__loss": ["kld", "ae"]}, protocol=SMALL, random_state=0).fit(X, y)
    assert isinstance(search.best_estimator_.classifier, SVMperf)
