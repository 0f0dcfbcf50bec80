"""The search: what it tries, what it shares, what it reports, and that it chooses by what it says it chooses by."""

import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC

from headcount import (
    ACC,
    CC,
    MLPE,
    PACC,
    PCC,
    SLD,
    ArtificialPrevalence,
    HDy,
    QuantifierSearch,
    UniformPrevalence,
    evaluate,
)
from headcount._recording import recorded_warnings
from headcount.errors import ErrorMeasure, ae, register_error
from headcount.exceptions import DataError, SearchError, SearchWarning, UnknownNameError
from headcount.learners import FitCache
from tests.conftest import blobs, frozen, scored_items

X, Y = blobs(400, 2, seed=0)
LABELS = np.array(["neg", "pos"])[Y]
PROTOCOL = ArtificialPrevalence(5, repeats=4, sample_size=40, random_state=0)
GRID = {"classifier__C": [0.001, 0.1, 10.0], "classifier__class_weight": [None, "balanced"]}


class Counting(LogisticRegression):
    """Counts its fits, in all threads."""

    fits = 0
    lock = threading.Lock()

    def fit(self, X, y):
        with self.lock:
            type(self).fits += 1
        return super().fit(X, y)


def search(quantifier=None, grid=GRID, **options):
    options = {"protocol": PROTOCOL, "random_state": 0} | options
    return QuantifierSearch(quantifier or PACC(LogisticRegression()), grid, **options)


def all_six(classifier):
    return [CC(classifier), PCC(classifier), ACC(classifier), PACC(classifier), SLD(classifier), HDy(classifier)]


def test_scores_are_those_of_fitting_and_evaluating_by_hand():
    found = search([CC(LogisticRegression()), PACC(LogisticRegression(), random_state=5)], scoring=["ae", "rae"]).fit(
        X, LABELS
    )
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=LABELS, random_state=0)
    assert len(found.results_) == 12
    for row in found.results_.itertuples():
        q = {"CC": CC(LogisticRegression()), "PACC": PACC(LogisticRegression(), random_state=5)}[row.quantifier]
        q = q.set_params(**row.params).fit(X[train], LABELS[train])
        table = evaluate(q, X[held_out], LABELS[held_out], PROTOCOL)
        assert row.ae == table.ae.mean()
        assert row.rae == table.rae.mean()
    best = found.results_["ae"].idxmin()
    assert found.best_index_ == best
    assert found.best_params_ == found.results_.params[best]
    assert found.best_score_ == found.results_.ae[best]
    assert found.results_["rank"].min() == found.results_["rank"][best] == 1


def test_the_best_is_fitted_again_on_all_data_as_a_plain_fit_would():
    found = search(CC(LogisticRegression())).fit(X, LABELS)
    plain = CC(LogisticRegression()).set_params(**found.best_params_).fit(X, LABELS)
    assert np.array_equal(found.best_estimator_.classifier_.coef_, plain.classifier_.coef_)
    assert np.array_equal(found.predict(X[:50]), plain.predict(X[:50]))


@pytest.fixture(autouse=True)
def _from_zero():
    Counting.fits = 0


def test_each_setting_is_fitted_once_for_each_part_it_is_needed_on():
    search(all_six(Counting()), refit=False).fit(X, LABELS)
    assert Counting.fits == 6 * 2  # on the training part, and on the training part of that
    Counting.fits = 0
    folds = [CC(Counting()), ACC(Counting(), validation=5), PACC(Counting(), validation=3)]
    search(folds, {"classifier__C": [1.0]}, refit=False).fit(X, LABELS)
    assert Counting.fits == 1 + 5 + 3


def test_refitting_each_shares_fits_too():
    found = search(all_six(Counting()), {"classifier__C": [1.0]}, refit_each=True).fit(X, LABELS)
    assert Counting.fits == 2 + 2
    assert [type(q).__name__ for q in found.best_estimators_] == ["CC", "PCC", "ACC", "PACC", "SLD", "HDy"]
    assert any(found.best_estimator_ is q for q in found.best_estimators_)
    assert found.best_estimators_[0].classifier_ is found.best_estimators_[4].classifier_


def test_refitting_each_takes_the_best_of_each():
    found = search([CC(LogisticRegression()), PCC(LogisticRegression())], refit_each=True).fit(X, LABELS)
    for name, q in zip(("CC", "PCC"), found.best_estimators_, strict=True):
        own = found.results_[found.results_.quantifier == name]
        best = own.params[own.ae.idxmin()]
        assert {key: q.get_params()[key] for key in best} == best


def test_settings_of_the_aggregation_share_the_fit():
    grid = {"classifier__C": [0.1, 1.0], "bins": [(4, 8), (10, 20)], "n_candidates": [11, 101]}
    found = search(HDy(Counting()), grid, refit=False).fit(X, LABELS)
    assert (len(found.results_), Counting.fits) == (8, 2)


def test_forests_are_cut_from_the_largest(monkeypatch):
    grid = {"classifier__n_estimators": [2, 9, 5], "classifier__max_depth": [2, None]}
    trees = []
    grow = RandomForestClassifier.fit
    monkeypatch.setattr(
        RandomForestClassifier, "fit", lambda self, X, y: trees.append(self.n_estimators) or grow(self, X, y)
    )
    search(CC(RandomForestClassifier(random_state=0)), grid, refit=False).fit(X, LABELS)
    assert trees == [9, 9]
    found = search(CC(RandomForestClassifier(random_state=0)), grid).fit(X, LABELS)
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=LABELS, random_state=0)
    for row in found.results_.itertuples():
        q = CC(RandomForestClassifier(random_state=0)).set_params(**row.params).fit(X[train], LABELS[train])
        assert row.ae == evaluate(q, X[held_out], LABELS[held_out], PROTOCOL).ae.mean()
    assert found.results_.param_classifier__n_estimators.tolist() == [2, 9, 5, 2, 9, 5]


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_any_number_of_jobs_gives_the_same_figures(n_jobs):
    one, more = (
        search(all_six(LogisticRegression()), scoring=["ae", "accuracy"], n_jobs=n).fit(X, LABELS)
        for n in (None, n_jobs)
    )
    columns = ["quantifier", "ae", "accuracy", "rank", "error"]
    assert one.results_[columns].equals(more.results_[columns])
    assert np.array_equal(one.predict(X), more.predict(X))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_give_the_same_figures(backend):
    expected = search().fit(X, LABELS)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        found = search().fit(X, LABELS)
    assert np.array_equal(found.results_.ae, expected.results_.ae)
    assert np.array_equal(found.predict(X), expected.predict(X))


def test_decisions_are_judged_on_the_items_of_the_held_out_part():
    found = search(
        [CC(LogisticRegression()), PACC(LinearSVC(random_state=0))],
        {"classifier__C": [0.01, 1.0]},
        scoring=["f1", "accuracy"],
    )
    y = np.where(np.arange(400) % 5 == 0, "pos", LABELS)  # now 'neg' is rarer
    found.fit(X, y)
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=y, random_state=0)
    for row in found.results_[found.results_.quantifier == "CC"].itertuples():
        decided = LogisticRegression(C=row.param_classifier__C).fit(X[train], y[train]).predict(X[held_out])
        assert row.f1 == pytest.approx(1 - f1_score(y[held_out], decided, pos_label="neg"))
        assert row.accuracy == pytest.approx((decided != y[held_out]).mean())
    for row in found.results_[
        found.results_.quantifier == "PACC"
    ].itertuples():  # the calibrated one, fitted on the inner split
        seed = int(np.random.SeedSequence(0).generate_state(1)[0])
        inner, _ = train_test_split(train, test_size=0.4, stratify=y[train], random_state=seed)
        svm = CalibratedClassifierCV(LinearSVC(C=row.param_classifier__C, random_state=0), method="sigmoid", cv=5)
        decided = svm.fit(X[inner], y[inner]).predict(X[held_out])
        assert row.accuracy == pytest.approx((decided != y[held_out]).mean())


def test_the_minority_class_is_that_of_all_data():
    """A tie in the held-out part is broken by what is rarer in all of it: 'pos' here, though 'neg' sorts first."""
    y = np.array(["neg"] * 201 + ["pos"] * 199)
    splitter = PredefinedSplit(np.where((np.arange(400) < 150) | (np.arange(400) >= 250), 0, -1))
    found = search(CC(LogisticRegression()), {"classifier__C": [1.0]}, scoring="f1", test_size=splitter).fit(X, y)
    train, held_out = next(splitter.split())
    decided = LogisticRegression().fit(X[train], y[train]).predict(X[held_out])
    assert found.best_score_ == pytest.approx(1 - f1_score(y[held_out], decided, pos_label="pos"))


def test_other_seeds_split_and_draw_otherwise():
    a, b = (search(random_state=seed, protocol=None, grid={"classifier__C": [1.0]}).fit(X, LABELS) for seed in (0, 1))
    assert a.best_score_ != b.best_score_
    for make in (np.random.RandomState, np.random.default_rng):
        same = [search(random_state=make(3)).fit(X, LABELS).results_.ae.tolist() for _ in range(2)]
        assert same[0] == same[1]
    search(random_state=None).fit(X, LABELS)


def test_which_scoring_decides():
    found = search(scoring=["ae", "accuracy"], refit="accuracy").fit(X, LABELS)
    assert found.best_score_ == found.results_.accuracy.min()
    assert search(scoring=["nkld", "ae"]).fit(X, LABELS).best_score_ == pytest.approx(
        search(scoring="nkld").fit(X, LABELS).results_.nkld.min()
    )


def test_folds_average_over_all_data():
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    found = search(CC(LogisticRegression()), {"classifier__C": [1.0]}, test_size=folds).fit(X, LABELS)
    scores = []
    for train, held_out in folds.split(X, Y):
        q = CC(LogisticRegression()).fit(X[train], LABELS[train])
        scores.append(evaluate(q, X[held_out], LABELS[held_out], PROTOCOL).ae.mean())
    assert found.best_score_ == pytest.approx(np.mean(scores), abs=1e-15)
    assert len(search(test_size=3).fit(X, LABELS).results_) == 6


def test_a_failing_candidate_is_reported_and_the_others_go_on():
    grid = {"classifier__C": [-1.0, 1.0]}
    with pytest.warns(
        SearchWarning, match=r"1 of 2 candidates of the search failed .* candidate 0, InvalidParameterError: The 'C'"
    ):
        found = search(CC(LogisticRegression()), grid).fit(X, LABELS)
    assert found.results_.error[0].startswith("InvalidParameterError: The 'C' parameter of LogisticRegression")
    assert np.isnan(found.results_.ae[0])
    assert np.isnan(found.results_["rank"][0])
    assert found.best_params_ == {"classifier__C": 1.0}
    assert found.results_.error[1] == ""


def test_all_failing_raises_with_the_reason():
    with pytest.raises(
        SearchError, match=r"All 2 candidates of the search failed; the first: .*'C' parameter .* must be a float"
    ):
        search(CC(LogisticRegression()), {"classifier__C": [-1.0, -2.0]}).fit(X, LABELS)


class TwoArgumentsError(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class Failing(LogisticRegression):
    def fit(self, X, y):
        raise TwoArgumentsError("one", "two")


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_an_error_that_can_not_be_pickled_is_reported_from_anywhere(backend):
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.warns(SearchWarning, match="TwoArgumentsError: one and two"),
    ):
        found = search(CC(), {"classifier": [Failing(), LogisticRegression()]}).fit(X, LABELS)
    assert found.best_index_ == 1


def test_a_score_that_is_no_number_is_a_failure(monkeypatch):
    monkeypatch.setattr("headcount.errors.registry._REGISTRY", {})
    register_error(ErrorMeasure("odd", "odd", "none at C = 10", lambda p, q: np.full(len(p), np.nan)))
    with pytest.raises(SearchError, match="The score 'odd' is not a finite number"):
        search(scoring="odd").fit(X, LABELS)


def test_a_measure_of_which_more_is_better_is_maximised(monkeypatch):
    monkeypatch.setattr("headcount.errors.registry._REGISTRY", {})
    register_error(ErrorMeasure("gain", "gain", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False))
    register_error(ErrorMeasure("ae", "AE", "absolute error", ae))
    found = search(scoring=["gain", "ae"]).fit(X, LABELS)
    assert found.best_score_ == found.results_.gain.max()
    assert found.best_index_ == found.results_.ae.idxmin()


def test_warnings_of_candidates_are_recorded_not_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = search(CC(LogisticRegression(C=1e6)), {"classifier__max_iter": [1, 1000]}, n_jobs=2, refit=False).fit(
            X, LABELS
        )
    assert "ConvergenceWarning" in found.results_.warnings[0]
    cache = FitCache()
    both = [CC(LogisticRegression(C=1e6, max_iter=1)), PCC(LogisticRegression(C=1e6, max_iter=1))]
    for _ in range(2):
        shared = search(both, {}, refit=False, memory=cache).fit(X, LABELS)
        assert shared.results_.warnings.str.contains("ConvergenceWarning").all()
    assert found.results_.warnings[1] == ""
    with pytest.warns(ConvergenceWarning):  # what is fitted in the end warns as ever
        search(CC(LogisticRegression(C=1e6)), {"classifier__max_iter": [1]}).fit(X, LABELS)


def test_recording_leaves_other_threads_and_filters_alone():
    before = list(warnings.filters), warnings.showwarning
    with warnings.catch_warnings(record=True) as outside:
        warnings.simplefilter("always")
        with recorded_warnings() as caught:
            other = threading.Thread(target=lambda: warnings.warn("from elsewhere", UserWarning, stacklevel=1))
            other.start()
            other.join()
            with recorded_warnings() as inner:
                warnings.warn("mine", UserWarning, stacklevel=1)
    assert ([str(w) for w in inner], caught) == (["mine"], [])
    assert [str(w.message) for w in outside] == ["from elsewhere"]
    assert (list(warnings.filters), warnings.showwarning) == before


def test_times_are_recorded():
    found = search(CC(LogisticRegression())).fit(X, LABELS)
    assert (found.results_.fit_seconds > 0).all()
    assert (found.results_.score_seconds > 0).all()


def test_a_search_is_a_quantifier_that_evaluate_takes():
    found = search().fit(X, LABELS)
    plain = found.best_estimator_
    a, b = evaluate([found, plain], X, LABELS, PROTOCOL)
    assert np.array_equal(a.estimated, b.estimated)
    assert found.needs == {"posteriors"}
    assert found.classifier_ is plain.classifier_
    assert np.array_equal(found.solve(found.reduce(found.outputs(X))), plain.aggregate(plain.outputs(X)))
    assert repr(clone(found)) == repr(search())
    assert clone(found).set_params(quantifier__classifier__C=3.0).quantifier.classifier.C == 3.0


def test_a_frozen_classifier_keeps_its_order_of_classes():
    codes, P = scored_items(400, 2, seed=0)
    names = np.array(["pos", "neg"])
    fitted = search([CC(frozen(names)), PACC(frozen(names))], {"random_state": [0]}).fit(P, names[codes])
    assert fitted.classes_.tolist() == ["pos", "neg"]
    assert fitted.results_.ae.max() < 0.2
    plain = PACC(frozen(names)).fit(P, names[codes])
    assert evaluate(fitted, P, names[codes], PROTOCOL).ae.mean() < 0.1
    np.testing.assert_allclose(fitted.predict(P), plain.predict(P), atol=0.05)


def test_what_can_not_be_hashed_is_fitted_all_the_same():
    identity = make_pipeline(FunctionTransformer(lambda Z: Z), LogisticRegression())
    assert CC(identity).fit(X, LABELS).predict(X).shape == (2,)
    found = search(CC(identity), {"classifier__logisticregression__C": [0.1, 1.0]}, memory=FitCache()).fit(X, LABELS)
    assert len(found.results_) == 2


def test_a_second_fit_forgets_the_first():
    found = search().fit(X, LABELS)
    found.set_params(refit=False).fit(X[:, :2], LABELS)
    assert not hasattr(found, "best_estimator_")
    assert not hasattr(found, "classifier_")


def test_a_quantifier_that_always_fails_leaves_its_place_empty():
    with pytest.warns(SearchWarning):
        found = search([CC(Failing()), CC(LogisticRegression())], {}, refit_each=True).fit(X, LABELS)
    assert found.best_estimators_[0] is None
    assert found.best_estimators_[1] is found.best_estimator_
    assert found.results_.classifier.tolist() == ["Failing", "LogisticRegression"]


def test_a_clone_uses_the_same_cache():
    cache = FitCache()
    assert clone(search(memory=cache)).memory is cache


def test_keys_that_only_some_quantifiers_have_apply_to_those():
    grid = {"classifier__var_smoothing": [1e-9, 1e-3], "solver": ["newton", "em"]}
    found = search([CC(GaussianNB()), SLD(GaussianNB()), MLPE()], grid).fit(X, LABELS)
    assert found.results_.quantifier.value_counts().to_dict() == {"SLD": 4, "CC": 2, "MLPE": 1}


def test_estimators_may_be_settings_themselves():
    grid = [
        {"classifier": [LogisticRegression(), GaussianNB()]},
        {"classifier": [LinearSVC(random_state=0)], "classifier__C": [0.1]},
    ]
    found = search(PACC(), grid).fit(X, LABELS)
    assert len(found.results_) == 3
    mixed = {"classifier": [LogisticRegression(), GaussianNB()], "classifier__C": [0.1, 1.0]}
    assert len(search(CC(LogisticRegression()), mixed).fit(X, LABELS).results_) == 3
    assert (
        search(PACC()).fit(X, LABELS).results_.ae.equals(search(PACC(LogisticRegression())).fit(X, LABELS).results_.ae)
    )
    assert not hasattr(grid[0]["classifier"][0], "coef_")


def test_any_protocol_and_any_number_of_classes():
    X3, y3 = blobs(300, 3, seed=0)
    found = search(
        [ACC(LogisticRegression()), SLD(LogisticRegression())],
        protocol=UniformPrevalence(50, sample_size=30, random_state=0),
    )
    assert found.fit(X3, y3).predict(X3).shape == (3,)
    assert search(protocol=None, grid={"classifier__C": [1.0]}).fit(X, LABELS).best_score_ < 0.2
    X8, y8 = blobs(800, 8, seed=0)
    assert search(SLD(), {}, protocol=None).fit(X8, y8).predict(X8).shape == (8,)


def test_selection_sees_nothing_of_the_test_data(tmp_path):
    """The whole job, in one process each: with shuffled test labels and another test seed, the same is selected."""
    X_test, y_test = blobs(300, 2, seed=9)
    chosen, errors = [], []
    for shuffled in (False, True):
        y_now = np.random.default_rng(0).permutation(y_test) if shuffled else y_test
        test_protocol = ArtificialPrevalence(5, sample_size=50, random_state=int(shuffled))
        test_protocol.draw(y_now)  # whatever the test draws first changes nothing either
        found = search(all_six(LogisticRegression()), refit_each=True).fit(X, Y)
        errors.append([table.ae.mean() for table in evaluate(found.best_estimators_, X_test, y_now, test_protocol)])
        chosen.append((found.best_params_, found.best_score_, found.results_.ae.tolist()))
    assert chosen[0] == chosen[1]
    assert errors[0] != errors[1]  # the test labels do matter, to the test


def test_a_cache_spares_the_fits_of_the_next_search(tmp_path):
    Counting.fits = 0
    for memory in (FitCache(), tmp_path, str(tmp_path / "other")):
        expected = search(CC(Counting()), memory=memory).fit(X, LABELS)
        fits = Counting.fits
        again = search([CC(Counting()), PCC(Counting())], memory=memory).fit(X, LABELS)
        assert Counting.fits == fits + (
            again.best_index_ != expected.best_index_ and type(again.best_estimator_) is PCC
        )
        assert np.array_equal(again.results_.ae[:6], expected.results_.ae)


def test_progress_is_shown_where_a_person_is_looking_and_nowhere_else(capfd):
    search().fit(X, LABELS)
    assert capfd.readouterr() == ("", "")
    search(progress=True).fit(X, LABELS)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "Searching" in shown.err


def test_without_refitting_there_is_nothing_to_predict_with():
    found = search(refit=False).fit(X, LABELS)
    with pytest.raises(DataError, match="refit=False"):
        found.predict(X)
    assert found.best_params_ in found.results_.params.tolist()
    with pytest.raises(NotFittedError):
        search().predict(X)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"quantifier": LogisticRegression()}, ValueError, "'quantifier' parameter of QuantifierSearch must be"),
        ({"quantifier": [CC(), LogisticRegression()]}, DataError, "Expected a quantifier or a list of them"),
        ({"grid": {"classifier__D": [1]}}, DataError, "The grid names 'classifier__D', which no quantifier"),
        ({"grid": {"classifier__C": []}}, ValueError, "non-empty"),
        ({"scoring": "aee"}, UnknownNameError, "Did you mean 'ae'"),
        ({"scoring": []}, DataError, "must name at least one error measure"),
        ({"scoring": [["ae"]]}, DataError, "must name at least one error measure"),
        ({"grid": []}, DataError, "The grid is empty"),
        ({"grid": {1: [1]}}, DataError, "keys of the grid must be names"),
        ({"memory": "/proc/nowhere"}, DataError, "Fits can't be kept in /proc/nowhere"),
        ({"test_size": 0.001}, DataError, "test_size=0.001 can't split 400 items"),
        (
            {
                "quantifier": CC(RandomForestClassifier(random_state=0)),
                "grid": {"classifier__n_estimators": ["ten", -3]},
            },
            SearchError,
            "'n_estimators'",
        ),
        ({"scoring": ["ae"], "refit": "rae"}, DataError, "refit='rae' must be one of the scorings"),
        ({"test_size": 1.5}, ValueError, "'test_size' parameter of QuantifierSearch must be"),
        ({"protocol": "app"}, ValueError, "'protocol' parameter of QuantifierSearch must be"),
        ({"random_state": -1}, DataError, "random_state must be"),
    ],
)
def test_wrong_parameters_get_a_sentence(options, error, words):
    with pytest.raises(error, match=words):
        search(**options).fit(X, LABELS)
