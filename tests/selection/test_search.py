"""The search: the candidates it tries, the fits they share, the scores it reports, and the candidate it chooses."""

import threading
import warnings
from functools import partial

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
    NewtonLogisticRegression,
    QuantifierSearch,
    UniformPrevalence,
    evaluate,
)
from headcount._recording import recorded_warnings
from headcount.errors import ErrorMeasure, ae, get_error, rae, register_error
from headcount.exceptions import DataError, SearchError, SearchWarning, UnknownNameError
from headcount.learners import FitCache, Fits
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


def test_scores_equal_those_of_fitting_and_evaluating_by_hand():
    fitted = search([CC(LogisticRegression()), PACC(LogisticRegression(), random_state=5)], scoring=["ae", "rae"]).fit(
        X, LABELS
    )
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=LABELS, random_state=0)
    assert len(fitted.results_) == 12
    for row in fitted.results_.itertuples():
        q = {"CC": CC(LogisticRegression()), "PACC": PACC(LogisticRegression(), random_state=5)}[row.quantifier]
        q = q.set_params(**row.params).fit(X[train], LABELS[train])
        table = evaluate(q, X[held_out], LABELS[held_out], PROTOCOL)
        assert row.ae == table.ae.mean()
        assert row.rae == table.rae.mean()
    best = fitted.results_["ae"].idxmin()
    assert fitted.best_index_ == best
    assert fitted.best_params_ == fitted.results_.params[best]
    assert fitted.best_score_ == fitted.results_.ae[best]
    assert fitted.results_["rank"].min() == fitted.results_["rank"][best] == 1


def test_best_estimator_equals_a_plain_fit_on_all_data():
    fitted = search(CC(LogisticRegression())).fit(X, LABELS)
    plain = CC(LogisticRegression()).set_params(**fitted.best_params_).fit(X, LABELS)
    assert np.array_equal(fitted.best_estimator_.classifier_.coef_, plain.classifier_.coef_)
    assert np.array_equal(fitted.predict(X[:50]), plain.predict(X[:50]))


@pytest.fixture(autouse=True)
def _from_zero():
    Counting.fits = 0


def test_each_setting_is_fitted_once_on_each_part():
    search(all_six(Counting()), refit=False).fit(X, LABELS)
    assert Counting.fits == 6 * (1 + 5)  # on the training part, and for each of the folds of that
    Counting.fits = 0
    halves = [
        type(q)(Counting()) if type(q) in (CC, PCC, SLD) else q.set_params(validation=0.4) for q in all_six(Counting())
    ]
    search(halves, refit=False).fit(X, LABELS)
    assert Counting.fits == 6 * 2  # on the training part, and on the training part of that
    Counting.fits = 0
    folds = [CC(Counting()), ACC(Counting(), validation=5), PACC(Counting(), validation=3)]
    search(folds, {"classifier__C": [1.0]}, refit=False).fit(X, LABELS)
    assert Counting.fits == 1 + 5 + 3
    Counting.fits = 0
    refitted = [CC(Counting()), ACC(Counting(), refit=True), PACC(Counting(), validation=3, refit=True)]
    search(refitted, {"classifier__C": [1.0]}, refit=False).fit(X, LABELS)
    assert Counting.fits == 1 + 5 + 3


def test_refit_each_shares_fits():
    fitted = search(all_six(Counting()), {"classifier__C": [1.0]}, refit_each=True).fit(X, LABELS)
    assert Counting.fits == 2 * (1 + 5)
    assert [type(q).__name__ for q in fitted.best_estimators_] == ["CC", "PCC", "ACC", "PACC", "SLD", "HDy"]
    assert any(fitted.best_estimator_ is q for q in fitted.best_estimators_)
    assert fitted.best_estimators_[0].classifier_ is fitted.best_estimators_[4].classifier_
    assert (
        fitted.best_estimators_[2].classifier_ is fitted.best_estimators_[3].classifier_
    )  # so that items are scored once
    assert fitted.best_estimators_[2].classifier_ is fitted.best_estimators_[5].classifier_


def test_refit_each_refits_the_best_setting_of_each_quantifier():
    fitted = search([CC(LogisticRegression()), PCC(LogisticRegression())], refit_each=True).fit(X, LABELS)
    for name, q in zip(("CC", "PCC"), fitted.best_estimators_, strict=True):
        rows = fitted.results_[fitted.results_.quantifier == name]
        best = rows.params[rows.ae.idxmin()]
        assert {key: q.get_params()[key] for key in best} == best


def test_settings_that_do_not_change_the_classifier_share_its_fit():
    grid = {"classifier__C": [0.1, 1.0], "bins": [(4, 8), (10, 20)], "n_candidates": [11, 101]}
    fitted = search(HDy(Counting()), grid, refit=False).fit(X, LABELS)
    assert (len(fitted.results_), Counting.fits) == (8, 2 * 5)


def test_smaller_forests_are_cut_from_the_largest(monkeypatch):
    grid = {"classifier__n_estimators": [2, 9, 5], "classifier__max_depth": [2, None]}
    trees = []
    grow = RandomForestClassifier.fit
    monkeypatch.setattr(
        RandomForestClassifier, "fit", lambda self, X, y: trees.append(self.n_estimators) or grow(self, X, y)
    )
    search(CC(RandomForestClassifier(random_state=0)), grid, refit=False).fit(X, LABELS)
    assert trees == [9, 9]
    fitted = search(CC(RandomForestClassifier(random_state=0)), grid).fit(X, LABELS)
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=LABELS, random_state=0)
    for row in fitted.results_.itertuples():
        q = CC(RandomForestClassifier(random_state=0)).set_params(**row.params).fit(X[train], LABELS[train])
        assert row.ae == evaluate(q, X[held_out], LABELS[held_out], PROTOCOL).ae.mean()
    assert fitted.results_.param_classifier__n_estimators.tolist() == [2, 9, 5, 2, 9, 5]


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_scores_do_not_depend_on_the_number_of_jobs(n_jobs):
    one, more = (
        search(all_six(LogisticRegression()), scoring=["ae", "accuracy"], n_jobs=n).fit(X, LABELS)
        for n in (None, n_jobs)
    )
    columns = ["quantifier", "ae", "accuracy", "rank", "error"]
    assert one.results_[columns].equals(more.results_[columns])
    assert np.array_equal(one.predict(X), more.predict(X))


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_give_the_same_scores_as_threads(backend):
    expected = search().fit(X, LABELS)
    with joblib.parallel_config(backend=backend, n_jobs=2):
        fitted = search().fit(X, LABELS)
    assert np.array_equal(fitted.results_.ae, expected.results_.ae)
    assert np.array_equal(fitted.predict(X), expected.predict(X))


def test_decision_measures_are_computed_on_the_held_out_items():
    fitted = search(
        [CC(LogisticRegression()), PACC(LinearSVC(random_state=0), validation=0.4)],
        {"classifier__C": [0.01, 1.0]},
        scoring=["f1", "accuracy"],
    )
    y = np.where(np.arange(400) % 5 == 0, "pos", LABELS)  # now 'neg' is rarer
    fitted.fit(X, y)
    train, held_out = train_test_split(np.arange(400), test_size=0.4, stratify=y, random_state=0)
    for row in fitted.results_[fitted.results_.quantifier == "CC"].itertuples():
        decided = LogisticRegression(C=row.param_classifier__C).fit(X[train], y[train]).predict(X[held_out])
        assert row.f1 == pytest.approx(1 - f1_score(y[held_out], decided, pos_label="neg"))
        assert row.accuracy == pytest.approx((decided != y[held_out]).mean())
    for row in fitted.results_[
        fitted.results_.quantifier == "PACC"
    ].itertuples():  # the calibrated one, fitted on the inner split
        seed = int(np.random.SeedSequence(0).generate_state(1)[0])
        inner, _ = train_test_split(train, test_size=0.4, stratify=y[train], random_state=seed)
        svm = CalibratedClassifierCV(LinearSVC(C=row.param_classifier__C, random_state=0), method="sigmoid", cv=5)
        decided = svm.fit(X[inner], y[inner]).predict(X[held_out])
        assert row.accuracy == pytest.approx((decided != y[held_out]).mean())


def test_minority_class_is_that_of_all_data():
    """A tie in the held-out part is broken by what is rarer in all of it: 'pos' here, though 'neg' sorts first."""
    y = np.array(["neg"] * 201 + ["pos"] * 199)
    splitter = PredefinedSplit(np.where((np.arange(400) < 150) | (np.arange(400) >= 250), 0, -1))
    fitted = search(CC(LogisticRegression()), {"classifier__C": [1.0]}, scoring="f1", test_size=splitter).fit(X, y)
    train, held_out = next(splitter.split())
    decided = LogisticRegression().fit(X[train], y[train]).predict(X[held_out])
    assert fitted.best_score_ == pytest.approx(1 - f1_score(y[held_out], decided, pos_label="pos"))


def test_another_seed_gives_another_split_and_other_samples():
    a, b = (search(random_state=seed, protocol=None, grid={"classifier__C": [1.0]}).fit(X, LABELS) for seed in (0, 1))
    assert a.best_score_ != b.best_score_
    for make in (np.random.RandomState, np.random.default_rng):
        same = [search(random_state=make(3)).fit(X, LABELS).results_.ae.tolist() for _ in range(2)]
        assert same[0] == same[1]
    search(random_state=None).fit(X, LABELS)


def test_refit_names_the_scoring_that_decides():
    fitted = search(scoring=["ae", "accuracy"], refit="accuracy").fit(X, LABELS)
    assert fitted.best_score_ == fitted.results_.accuracy.min()
    assert search(scoring=["nkld", "ae"]).fit(X, LABELS).best_score_ == pytest.approx(
        search(scoring="nkld").fit(X, LABELS).results_.nkld.min()
    )


def largest_error(true, estimated):
    return np.abs(true - estimated).max(axis=1)


@pytest.mark.parametrize(
    ("scoring", "names"),
    [
        (largest_error, ["largest_error"]),
        (rae, ["rae"]),  # a registered function stands for its measure, which knows the sample sizes
        (get_error("nkld"), ["nkld"]),
        (["ae", largest_error, get_error("rae"), "ae", ae], ["ae", "largest_error", "rae"]),
    ],
)
def test_scoring_takes_functions_and_measures(scoring, names):
    fitted = search(scoring=scoring).fit(X, LABELS)
    assert fitted.best_score_ == fitted.results_[names[0]].min()
    assert set(names) <= set(fitted.results_.columns)
    assert clone(fitted).fit(X, LABELS).best_score_ == fitted.best_score_


def test_a_function_as_scoring_scores_like_the_measure_it_computes():
    def twice_ae(true, estimated):
        return 2 * ae(true, estimated)

    fitted = search(scoring=["ae", twice_ae], refit="twice_ae").fit(X, LABELS)
    np.testing.assert_allclose(fitted.results_["twice_ae"], 2 * fitted.results_["ae"])
    assert fitted.best_index_ == fitted.results_["ae"].idxmin()


def test_equal_scores_share_the_mean_of_their_ranks_and_the_first_is_chosen():
    fitted = search(MLPE(), {}).fit(X, LABELS)
    assert fitted.results_["rank"].tolist() == [1.0]
    twins = [CC(LogisticRegression()), CC(LogisticRegression()), MLPE()]
    fitted = search(twins, {}, refit_each=True).fit(X, LABELS)
    assert fitted.results_["rank"].tolist() == [1.5, 1.5, 3.0]
    assert fitted.best_index_ == 0


def test_search_and_results_can_be_shown_in_a_notebook():
    for quantifier in (PACC(LogisticRegression()), [CC(LogisticRegression()), PACC(LogisticRegression())]):
        new = search(quantifier)
        assert "QuantifierSearch" in new._repr_html_()
        fitted = new.fit(X, LABELS)
        assert "QuantifierSearch" in fitted._repr_html_()
        assert "<table" in fitted.results_._repr_html_()


class Halving(MLPE):
    """A quantifier that is fitted through the documented hook, whatever its family."""

    def _fit(self, fits):
        return super()._fit(Fits(fits.X[::2], fits.y[::2]))


def test_a_quantifier_with_the_hook_is_fitted_through_it():
    fitted = search([Halving(), MLPE()], {}, refit_each=True).fit(X, LABELS)
    expected = [(LABELS[rows] == "pos").mean() for rows in (slice(None, None, 2), slice(None))]
    assert [q.predict(X)[1] for q in fitted.best_estimators_] == pytest.approx(expected)


def test_scores_are_averaged_over_folds():
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    fitted = search(CC(LogisticRegression()), {"classifier__C": [1.0]}, test_size=folds).fit(X, LABELS)
    scores = []
    for train, held_out in folds.split(X, Y):
        q = CC(LogisticRegression()).fit(X[train], LABELS[train])
        scores.append(evaluate(q, X[held_out], LABELS[held_out], PROTOCOL).ae.mean())
    assert fitted.best_score_ == pytest.approx(np.mean(scores), abs=1e-15)
    assert len(search(test_size=3).fit(X, LABELS).results_) == 6


def test_a_failing_candidate_is_reported_and_the_others_go_on():
    grid = {"classifier__C": [-1.0, 1.0]}
    with pytest.warns(
        SearchWarning, match=r"1 of 2 candidates of the search failed .* candidate 0, InvalidParameterError: The 'C'"
    ):
        fitted = search(CC(LogisticRegression()), grid).fit(X, LABELS)
    assert fitted.results_.error[0].startswith("InvalidParameterError: The 'C' parameter of LogisticRegression")
    assert np.isnan(fitted.results_.ae[0])
    assert np.isnan(fitted.results_["rank"][0])
    assert fitted.best_params_ == {"classifier__C": 1.0}
    assert fitted.results_.error[1] == ""


def test_search_in_which_all_candidates_fail_raises_with_the_reason():
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
def test_errors_that_cannot_be_pickled_are_reported_from_any_backend(backend):
    with (
        joblib.parallel_config(backend=backend, n_jobs=2),
        pytest.warns(SearchWarning, match="TwoArgumentsError: one and two"),
    ):
        fitted = search(CC(), {"classifier": [Failing(), LogisticRegression()]}).fit(X, LABELS)
    assert fitted.best_index_ == 1


def test_a_score_that_is_not_finite_is_a_failure(monkeypatch):
    monkeypatch.setattr("headcount.errors.registry._REGISTRY", {})
    register_error(ErrorMeasure("odd", "odd", "none at C = 10", lambda p, q: np.full(len(p), np.nan)))
    with pytest.raises(SearchError, match="The score 'odd' is not a finite number"):
        search(scoring="odd").fit(X, LABELS)


def test_measure_with_higher_is_better_is_maximised(monkeypatch):
    monkeypatch.setattr("headcount.errors.registry._REGISTRY", {})
    register_error(ErrorMeasure("gain", "gain", "one minus AE", lambda p, q: 1 - ae(p, q), lower_is_better=False))
    register_error(ErrorMeasure("ae", "AE", "absolute error", ae))
    fitted = search(scoring=["gain", "ae"]).fit(X, LABELS)
    assert fitted.best_score_ == fitted.results_.gain.max()
    assert fitted.best_index_ == fitted.results_.ae.idxmin()


def test_warnings_of_candidates_are_recorded_and_not_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = search(CC(LogisticRegression(C=1e6)), {"classifier__max_iter": [1, 1000]}, n_jobs=2, refit=False).fit(
            X, LABELS
        )
    assert "ConvergenceWarning" in fitted.results_.warnings[0]
    assert fitted.results_.converged.tolist() == [False, True]
    cache = FitCache()
    both = [CC(LogisticRegression(C=1e6, max_iter=1)), PCC(LogisticRegression(C=1e6, max_iter=1))]
    for _ in range(2):
        shared = search(both, {}, refit=False, memory=cache).fit(X, LABELS)
        assert shared.results_.warnings.str.contains("ConvergenceWarning").all()
        assert not shared.results_.converged.any()
    assert fitted.results_.warnings[1] == ""
    with pytest.warns(ConvergenceWarning):  # what is fitted in the end warns as ever
        search(CC(LogisticRegression(C=1e6)), {"classifier__max_iter": [1]}).fit(X, LABELS)


def test_recording_warnings_does_not_affect_other_threads_or_filters():
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
    fitted = search(CC(LogisticRegression())).fit(X, LABELS)
    assert (fitted.results_.fit_seconds > 0).all()
    assert (fitted.results_.score_seconds > 0).all()


def test_fitted_search_can_be_evaluated_as_a_quantifier():
    fitted = search().fit(X, LABELS)
    plain = fitted.best_estimator_
    a, b = evaluate([fitted, plain], X, LABELS, PROTOCOL)
    assert np.array_equal(a.estimated, b.estimated)
    assert fitted.needs == {"posteriors"}
    assert fitted.classifier_ is plain.classifier_
    assert np.array_equal(fitted.solve(fitted.reduce(fitted.outputs(X))), plain.aggregate(plain.outputs(X)))
    assert repr(clone(fitted)) == repr(search())
    assert clone(fitted).set_params(quantifier__classifier__C=3.0).quantifier.classifier.C == 3.0


def test_order_of_classes_is_that_of_a_frozen_classifier():
    codes, P = scored_items(400, 2, seed=0)
    names = np.array(["pos", "neg"])
    fitted = search([CC(frozen(names)), PACC(frozen(names))], {"random_state": [0]}).fit(P, names[codes])
    assert fitted.classes_.tolist() == ["pos", "neg"]
    assert fitted.results_.ae.max() < 0.2
    plain = PACC(frozen(names)).fit(P, names[codes])
    assert evaluate(fitted, P, names[codes], PROTOCOL).ae.mean() < 0.1
    np.testing.assert_allclose(fitted.predict(P), plain.predict(P), atol=0.05)


def test_classifiers_that_cannot_be_hashed_are_fitted():
    identity = make_pipeline(FunctionTransformer(lambda Z: Z), LogisticRegression())
    assert CC(identity).fit(X, LABELS).predict(X).shape == (2,)
    fitted = search(CC(identity), {"classifier__logisticregression__C": [0.1, 1.0]}, memory=FitCache()).fit(X, LABELS)
    assert len(fitted.results_) == 2


def test_second_fit_removes_the_results_of_the_first():
    fitted = search().fit(X, LABELS)
    fitted.set_params(refit=False).fit(X[:, :2], LABELS)
    assert not hasattr(fitted, "best_estimator_")
    assert not hasattr(fitted, "classifier_")


def test_a_quantifier_that_always_fails_has_no_best_estimator():
    with pytest.warns(SearchWarning):
        fitted = search([CC(Failing()), CC(LogisticRegression())], {}, refit_each=True).fit(X, LABELS)
    assert fitted.best_estimators_[0] is None
    assert fitted.best_estimators_[1] is fitted.best_estimator_
    assert fitted.results_.classifier.tolist() == ["Failing", "LogisticRegression"]


def test_a_clone_uses_the_same_cache():
    cache = FitCache()
    assert clone(search(memory=cache)).memory is cache


def test_parameters_apply_only_to_quantifiers_that_have_them():
    grid = {"classifier__var_smoothing": [1e-9, 1e-3], "solver": ["newton", "em"]}
    fitted = search([CC(GaussianNB()), SLD(GaussianNB()), MLPE()], grid).fit(X, LABELS)
    assert fitted.results_.quantifier.value_counts().to_dict() == {"SLD": 4, "CC": 2, "MLPE": 1}


def test_grid_may_hold_estimators():
    grid = [
        {"classifier": [LogisticRegression(), GaussianNB()]},
        {"classifier": [LinearSVC(random_state=0)], "classifier__C": [0.1]},
    ]
    fitted = search(PACC(), grid).fit(X, LABELS)
    assert len(fitted.results_) == 3
    mixed = {"classifier": [LogisticRegression(), GaussianNB()], "classifier__C": [0.1, 1.0]}
    assert len(search(CC(LogisticRegression()), mixed).fit(X, LABELS).results_) == 3
    assert (
        search(PACC())
        .fit(X, LABELS)
        .results_.ae.equals(search(PACC(NewtonLogisticRegression())).fit(X, LABELS).results_.ae)
    )
    assert not hasattr(grid[0]["classifier"][0], "coef_")


def test_search_works_with_any_protocol_and_any_number_of_classes():
    X3, y3 = blobs(300, 3, seed=0)
    fitted = search(
        [ACC(LogisticRegression()), SLD(LogisticRegression())],
        protocol=UniformPrevalence(50, sample_size=30, random_state=0),
    )
    assert fitted.fit(X3, y3).predict(X3).shape == (3,)
    assert search(protocol=None, grid={"classifier__C": [1.0]}).fit(X, LABELS).best_score_ < 0.2
    X8, y8 = blobs(800, 8, seed=0)
    assert search(SLD(), {}, protocol=None).fit(X8, y8).predict(X8).shape == (8,)


def test_selection_does_not_depend_on_the_test_data(tmp_path):
    """The whole job, in one process each: with shuffled test labels and another test seed, the same is selected."""
    X_test, y_test = blobs(300, 2, seed=9)
    chosen, errors = [], []
    for shuffled in (False, True):
        y_now = np.random.default_rng(0).permutation(y_test) if shuffled else y_test
        test_protocol = ArtificialPrevalence(5, sample_size=50, random_state=int(shuffled))
        test_protocol.draw(y_now)  # whatever the test draws first changes nothing either
        fitted = search(all_six(LogisticRegression()), refit_each=True).fit(X, Y)
        errors.append([table.ae.mean() for table in evaluate(fitted.best_estimators_, X_test, y_now, test_protocol)])
        chosen.append((fitted.best_params_, fitted.best_score_, fitted.results_.ae.tolist()))
    assert chosen[0] == chosen[1]
    assert errors[0] != errors[1]  # the test labels do matter, to the test


def test_cache_saves_the_fits_of_the_next_search(tmp_path):
    Counting.fits = 0
    for memory in (FitCache(), tmp_path, str(tmp_path / "other")):
        expected = search(CC(Counting()), memory=memory).fit(X, LABELS)
        fits = Counting.fits
        again = search([CC(Counting()), PCC(Counting())], memory=memory).fit(X, LABELS)
        assert Counting.fits == fits + (
            again.best_index_ != expected.best_index_ and type(again.best_estimator_) is PCC
        )
        assert np.array_equal(again.results_.ae[:6], expected.results_.ae)


def test_progress_bar_is_shown_on_request_and_goes_to_stderr(capfd):
    search().fit(X, LABELS)
    assert capfd.readouterr() == ("", "")
    search(progress=True).fit(X, LABELS)
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "Searching" in shown.err


def test_predict_after_refit_false_raises_a_clear_error():
    fitted = search(refit=False).fit(X, LABELS)
    with pytest.raises(DataError, match="refit=False"):
        fitted.predict(X)
    assert fitted.best_params_ in fitted.results_.params.tolist()
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
        ({"scoring": partial(ae)}, DataError, "that has a __name__"),
        (
            {"scoring": [lambda p, q: ae(p, q), lambda p, q: rae(p, q, 40)]},
            DataError,
            "Two scorings are named '<lambda>'",
        ),
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
def test_invalid_parameters_raise_clear_errors(options, error, words):
    with pytest.raises(error, match=words):
        search(**options).fit(X, LABELS)
