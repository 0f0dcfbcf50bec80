"""AutoQuantifier: which candidates are tried, how they are ranked, and which one is kept."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from headcount import (
    ACC,
    CC,
    PACC,
    SLD,
    ArtificialPrevalence,
    AutoQuantifier,
    estimate,
)
from headcount.auto import held_out_scores
from headcount.auto.cross_fitting import CrossFits, mean_outputs
from headcount.auto.learners import LEARNERS, features_for, kind_of, learner_named
from headcount.auto.ranking import Tried, optimism, ranked
from headcount.auto.trials import draw_trials, errors_in_trials
from headcount.checks import check
from headcount.exceptions import DataError, SearchError, UnknownNameError
from headcount.learners import BoostedTrees, Outputs, Vote, validation_parts
from headcount.learners.folds_besides import FoldsBesides
from headcount.modelfile import Columns, Model, load_model, save_model
from tests.conftest import blobs, scored_items
from tests.modelfile.test_modelfile import texts


def quick_auto(**options):
    return AutoQuantifier(**{"methods": ["CC", "PACC", "SLD"], "learners": ["lr"], "random_state": 0, **options})


X, Y = blobs(400, 2, 0)


def test_predictions_are_those_of_the_best_estimator():
    auto = quick_auto().fit(X, Y)
    best = auto.best_estimator_
    assert auto.needs == best.needs
    assert auto.classifier_ is best.classifier_
    np.testing.assert_array_equal(auto.predict(X), best.predict(X))
    np.testing.assert_array_equal(auto.aggregate(auto.outputs(X)), best.aggregate(best.outputs(X)))
    assert estimate(auto, X).shares.shape == (2,)
    assert check(auto, X).verdict in ("trust", "caution")


def test_auto_quantifier_follows_the_estimator_contract():
    auto = quick_auto(budget=5.0)
    assert clone(auto).get_params() == auto.get_params()
    with pytest.raises(NotFittedError):
        auto.predict(X)
    with pytest.raises(AttributeError, match="before fit"):
        _ = auto.classifier_
    assert auto.fit(X, Y) is auto
    with pytest.raises(ValueError, match="'budget' parameter of AutoQuantifier"):
        quick_auto(budget=-1.0).fit(X, Y)


def test_the_same_seed_gives_the_same_choice_for_any_number_of_jobs():
    sequential, parallel = (quick_auto(methods=None, n_jobs=n).fit(X, Y) for n in (1, 2))
    columns = [name for name in sequential.ranking_.columns if name != "seconds"]
    assert sequential.ranking_[columns].equals(parallel.ranking_[columns])
    np.testing.assert_array_equal(sequential.predict(X), parallel.predict(X))


def test_the_ranking_has_standard_errors_and_chances_of_being_best():
    ranking = quick_auto(methods=None).fit(X, Y).ranking_
    assert set(ranking.method) == {"CC", "PCC", "PACC", "SLD", "SELSE"}
    assert ranking.kept.sum() == 1
    assert ranking.ae.is_monotonic_increasing
    assert ranking.behind[0] == 0
    assert ranking.p_best.sum() == pytest.approx(1.0)
    assert (ranking.behind_se[1:] < ranking.se[1:] + ranking.se[0]).all()
    assert (ranking.n_settings == 3).all()
    assert ranking.expected.notna().tolist() == ranking.kept.tolist()


def test_equal_candidates_share_the_chance_of_being_best():
    noise = np.random.default_rng(0).random(16)
    tried = [Tried(name, "lr", {}, noise + shift, True) for name, shift in (("a", 0.0), ("b", 0.0), ("c", 1.0))]
    by_name = ranked(tried, tried[0], 0.5).set_index("method")
    assert by_name.p_best.to_dict() == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert by_name.behind["c"] == pytest.approx(1.0)
    assert by_name.behind_se["c"] == pytest.approx(0.0)
    alone = Tried("a", "lr", {}, np.array([0.1]), True)
    (row,) = ranked([alone], alone, 0.1).to_dict("records")
    assert row["ae"] == 0.1
    assert np.isnan(row["se"])


def test_a_row_is_the_best_setting():
    settings = [Tried("PACC", "lr", {"C": C}, np.full(4, error), True, 2.0) for C, error in ((1.0, 0.3), (10.0, 0.2))]
    (row,) = ranked(settings, settings[1], 0.2).to_dict("records")
    assert (row["settings"], row["n_settings"], row["seconds"]) == ({"C": 10.0}, 2, 4.0)


def test_the_least_of_equal_candidates_is_too_low_by_its_optimism():
    """Candidates that are all equal, so that the least mean of a data set is luck: the correction takes most of it away."""
    generator = np.random.default_rng(0)
    least, corrected = [], []
    for _ in range(400):
        of_data = generator.normal(0.0, 1.0, (5, 1))  # what these labelled items do to each candidate
        errors = 10.0 + of_data + generator.normal(0.0, np.sqrt(2.0), (5, 16))
        least.append(errors.mean(axis=1).min())
        corrected.append(least[-1] + optimism(errors))
    assert np.mean(least) < 9.0
    assert 9.5 < np.mean(corrected) < 10.2


def test_a_trial_draws_every_class_as_often_as_it_is_there():
    labels = np.repeat(["b", "a", "c"], [5, 40, 300])
    classes = np.array(["c", "b", "a"])
    codes = np.array([{"c": 0, "b": 1, "a": 2}[label] for label in labels])
    trials = draw_trials(labels, codes, classes, None, np.random.SeedSequence(0))
    for trial in trials:
        assert np.bincount(codes[trial.labelled]).tolist() == [300, 5, 40]
        shares = [
            np.bincount(codes[trial.samples[s]], minlength=3) / trial.samples.sizes[s]
            for s in range(len(trial.samples))
        ]
        np.testing.assert_allclose(shares, trial.true)
    assert any((a.labelled != b.labelled).any() for a, b in pairwise(trials))


def test_errors_in_trials_are_what_other_labelled_and_new_items_give():
    """The mean error in trials against that on 60 draws of labelled and of new items from the same source."""
    expected = []
    for seed in range(60):
        (y, P), (z, Q) = (scored_items(300, 2, one, separation=1.5) for one in (seed, 1000 + seed))
        learnt = PACC().fit(Outputs.from_posteriors(P, [0, 1]), y)
        samples, true = ArtificialPrevalence(11, repeats=1, sample_size=150, random_state=seed).draw(z)
        expected.append(np.abs(learnt.aggregate(Outputs.from_posteriors(Q, [0, 1]), samples) - true).mean())
    found = []
    for seed in range(12):
        y, P = scored_items(300, 2, seed, separation=1.5)
        trials = draw_trials(y, y, np.array([0, 1]), None, np.random.SeedSequence(seed))
        found.append(errors_in_trials(PACC(), Outputs.from_posteriors(P, [0, 1]), y, trials).mean())
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.15)


def test_sld_without_calibration_can_be_tried():
    y, P = scored_items(300, 2, 0, separation=1.5)
    trials = draw_trials(y, y, np.array([0, 1]), None, np.random.SeedSequence(0))
    outputs = Outputs.from_posteriors(P, [0, 1])
    errors = errors_in_trials(SLD(), outputs, y, trials)
    np.testing.assert_allclose(errors, errors_in_trials(SLD(prior=[1 - y.mean(), y.mean()]), outputs, y, trials))


def test_cross_fitted_outputs_are_in_the_order_of_the_items_and_by_others():
    labels = np.array(["no", "yes"])[Y]
    folds = list(validation_parts(4, Y, 0))
    fits = CrossFits(X, labels, np.array(["yes", "no"]), features_for("numbers", X, 400), folds, {})
    classifier = learner_named("lr").settings("numbers", 0)[0][1]
    outputs = fits.outputs(classifier)
    train, held_out = folds[1]
    features = features_for("numbers", X, 400).fit(X[train])
    expected = (
        clone(classifier)
        .fit(features.transform(X[train]), labels[train])
        .predict_proba(features.transform(X[held_out]))
    )
    np.testing.assert_array_equal(outputs.posteriors[held_out], expected[:, ::-1])


def test_a_vote_is_judged_by_the_mean_of_its_members_and_kept_as_one_classifier():
    auto = AutoQuantifier(methods=["SLD"], learners=["vote"], random_state=0).fit(X, Y)
    assert auto.ranking_.learner.tolist() == ["vote"]
    vote = auto.best_estimator_.classifier_.classifiers_[0][-1]
    assert isinstance(vote, Vote)
    assert [type(member).__name__ for member in vote.members_] == [
        "NewtonLogisticRegression",
        "RandomForestClassifier",
        "BoostedTrees",
    ]
    a, b = (Outputs.from_posteriors(P, ["x", "y"]) for P in ([0.1, 0.6], [0.7, 0.8]))
    np.testing.assert_allclose(mean_outputs([a, b]).posteriors[:, 1], [0.4, 0.7])


def test_a_member_that_fails_fails_the_vote_with_its_reason(monkeypatch):
    def fail(self, X, y, sample_weight=None):
        raise ValueError("no trees today")

    monkeypatch.setattr(BoostedTrees, "fit", fail)
    auto = AutoQuantifier(methods=["SLD"], random_state=0).fit(X, Y)
    reasons = {entry["learner"]: entry["reason"] for entry in auto.skipped_ if "method" in entry}
    assert reasons == {"boosting": "ValueError: no trees today", "vote": "ValueError: no trees today"}


def test_of_many_items_a_part_makes_the_choice_and_all_of_them_the_answer(monkeypatch):
    from headcount.auto import quantifier as module

    monkeypatch.setattr(module, "_MOST_TO_CHOOSE_ON", 200)
    seen = []
    original = AutoQuantifier._cross_fits

    def noted(self, X, labels, codes, rows, seed, fit_params):
        seen.append(np.bincount(codes[rows]) / len(rows))
        assert len(rows) == 200
        return original(self, X, labels, codes, rows, seed, fit_params)

    monkeypatch.setattr(AutoQuantifier, "_cross_fits", noted)
    auto = quick_auto(methods=["PACC"]).fit(X, Y)
    np.testing.assert_allclose(seen[0], np.bincount(Y) / len(Y), atol=0.01)
    assert len(auto.best_estimator_.validation_codes_) == len(X)


def test_a_method_without_interval_is_ranked_but_not_kept():
    skewed = ArtificialPrevalence(2, repeats=1, sample_size=50, random_state=0)
    auto = quick_auto(methods=[CC(), PACC(random_state=3)], protocol=skewed).fit(X, Y)
    assert type(auto.best_estimator_) is PACC
    assert auto.best_estimator_.random_state == 3
    assert auto.ranking_.set_index("method").interval.to_dict() == {"CC": False, "PACC": True}
    without_interval = quick_auto(methods=["CC"], intervals=False).fit(X, Y)
    assert type(without_interval.best_estimator_) is CC
    with pytest.raises(DataError, match="None of the methods 'CC' has an interval"):
        quick_auto(methods=["CC"]).fit(X, Y)


def test_candidates_over_the_time_budget_are_skipped_with_the_reason():
    auto = quick_auto(methods=["PACC"], learners=None, budget=1e-6).fit(*blobs(600, 2, 0))
    assert len(auto.ranking_) == 1
    over_budget = [entry for entry in auto.skipped_ if entry["reason"] == "the time budget was spent"]
    assert {entry["learner"] for entry in over_budget} == {"lr", "forest", "boosting", "vote"}
    assert {"learner": "nb", "reason": "not for numbers"} in auto.skipped_


def test_four_classes_with_string_labels():
    items, codes = blobs(900, 4, 2)
    names = np.array(["d", "a", "c", "b"])[codes]
    auto = quick_auto(methods=["PACC", "SLD", "HDy"]).fit(items, names)
    assert auto.classes_.tolist() == ["a", "b", "c", "d"]
    assert {"method": "HDy", "reason": "it is for two classes, and the labels hold 4"} in auto.skipped_
    truth = np.array([(names == label).mean() for label in auto.classes_])
    assert np.abs(auto.predict(items) - truth).max() < 0.06


def test_features_of_texts_are_learnt_without_the_validation_items():
    documents, y = texts(300)
    documents = [
        f"{text} w{i % 23}" for i, text in enumerate(documents)
    ]  # words that are not equally frequent in all folds
    auto = quick_auto(methods=["PACC"], learners=["lr", "nb"]).fit(documents, y)
    assert auto.kind_ == "text"
    fitted = auto.best_estimator_
    weights = [one[0].idf_ for one in fitted.classifier_.classifiers_]
    assert len(weights) == 5
    assert not np.array_equal(weights[0], weights[1])  # each learnt without the items of its fold
    assert len(fitted.validation_codes_) == 300
    assert np.abs(auto.predict(documents)[1] - y.mean()) < 0.1


def test_missing_values_are_filled():
    X_missing = X.copy()
    X_missing[::7, 0] = np.nan
    assert np.abs(quick_auto(methods=["PACC"]).fit(X_missing, Y).predict(X_missing)[1] - Y.mean()) < 0.1


def test_the_kind_of_items_determines_features_and_learners():
    assert kind_of(["a", "b"]) == "text"
    assert kind_of(np.array(["a", "b"], dtype=object)) == "text"
    assert kind_of([[1.0], [2.0]]) == "numbers"
    assert kind_of(np.zeros((3, 4))) == "numbers"
    assert kind_of(np.zeros((3, 300))) == "embeddings"
    assert kind_of(csr_matrix(np.zeros((3, 4)))) == "embeddings"
    assert [features_for("text", [], n).min_count for n in (99, 100, 5000)] == [1, 2, 2]
    assert not features_for("embeddings", csr_matrix(np.eye(3)), 3).with_mean
    forest = learner_named("Forest")
    assert forest.unsuited("numbers", 10**6) == "slow on more than 50,000 items"
    assert [learner.name for learner in LEARNERS if not learner.unsuited("text", 10)] == ["lr", "nb", "svm"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("MLPE", "MLPE works without a classifier"),
        ("HDx", "HDx works without a classifier"),
        ("Ensemble", "Ensemble is made of other quantifiers"),
        ("SVM(KLD)", r"SVM\(KLD\) trains a classifier of its own"),
    ],
)
def test_a_method_for_which_no_classifier_can_be_chosen_is_refused_with_the_reason(name, reason):
    with pytest.raises(
        UnknownNameError, match=rf"^{reason}, so no classifier .* Choose .*'PACC'.* or fit .* in Python"
    ):
        quick_auto(methods=[name]).fit(X, Y)


def test_methods_for_two_classes_are_refused_for_three_with_what_to_do_instead():
    three = blobs(300, 3, 0)
    message = (
        r"^MS2 can't be used: it is for two classes, and the labels hold 3 \(0, 1, 2\)\. HDy can't .* Choose a method for any "
        r"number of classes, such as 'CC', .*'SLD'; .* OneVsRest\(MS2\(\)\)\.fit\(X, y\)\.$"
    )
    with pytest.raises(DataError, match=message):
        quick_auto(methods=["MS2", "HDy"]).fit(*three)


def test_invalid_input_raises_a_sentence():
    with pytest.raises(UnknownNameError, match="There is no learner 'x'"):
        quick_auto(learners=["x"]).fit(X, Y)
    with pytest.raises(DataError, match="learners is empty"):
        quick_auto(learners=[]).fit(X, Y)
    with pytest.raises(DataError, match="methods is empty"):
        quick_auto(methods=[]).fit(X, Y)
    y_rare = np.where(np.arange(400) == 7, 2, Y)
    with pytest.raises(DataError, match=r"y holds 1 item of class 2 \(1 of 3 classes have fewer than 5\)"):
        quick_auto().fit(X, y_rare)
    with pytest.raises(DataError, match="200 different labels"):
        quick_auto().fit(X, np.arange(400) // 2)
    with pytest.raises(
        SearchError, match="No method with an interval could be fitted; the first reason: ValueError: Negative values"
    ):
        quick_auto(methods=["SLD"], learners=["nb"]).fit(X, Y)
    assert type(quick_auto(methods=[SLD(calibration="bcts")]).fit(X, Y).best_estimator_) is SLD


def test_held_out_scores_are_those_of_the_validation_items():
    for validation in (0.4, 5):
        outputs, codes = held_out_scores(ACC(validation=validation, random_state=0).fit(X, Y))
        kept = PACC(validation=validation, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(outputs.posteriors, kept.validation_outputs_.posteriors)
        np.testing.assert_array_equal(codes, kept.validation_codes_)
    without_scores = (
        kept,
        CC().fit(X, Y),
        ACC(LinearSVC(), random_state=0).fit(X, Y),
        ACC(validation=3, refit=True, random_state=0).fit(X, Y),
    )
    assert [held_out_scores(quantifier) for quantifier in without_scores] == [None] * 4


def test_a_quantifier_that_does_not_separate_classes_is_not_kept(monkeypatch):
    from headcount.auto import quantifier as module

    monkeypatch.setattr(module, "_separation", lambda fitted: None if isinstance(fitted, SLD) else 0.01)
    auto = quick_auto(methods=["ACC", "PACC", "SLD"]).fit(X, Y)
    assert isinstance(auto.best_estimator_, SLD)
    rows = auto.ranking_.to_dict("records")
    sld = next(row["ae"] for row in rows if row["method"] == "SLD")
    better = [row for row in rows if row["method"] != "SLD" and row["ae"] < sld]
    reasons = [entry["reason"] for entry in auto.skipped_]
    assert len([reason for reason in reasons if "hardly tells some classes apart" in reason]) == len(better)
    monkeypatch.setattr(module, "_separation", lambda fitted: 0.01)
    auto = quick_auto(methods=["ACC", "PACC"]).fit(X, Y)  # none separates the classes: the least error decides
    assert type(auto.best_estimator_).__name__ == auto.ranking_.to_dict("records")[0]["method"]


def test_separation_is_about_zero_if_two_classes_look_alike():
    from headcount.auto.quantifier import _separation

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    apart = np.array([[3.0, 0], [0, 3.0], [-3.0, -3.0]])[y] + rng.standard_normal((900, 2))
    alike = np.array([[3.0, 0], [0, 3.0], [0, 3.0]])[y] + rng.standard_normal((900, 2))
    assert _separation(PACC(random_state=0).fit(apart, y)) > 0.5
    assert _separation(PACC(random_state=0).fit(alike, y)) < 0.05
    assert _separation(SLD(prior="uniform").fit(apart, y)) is None


def test_all_learners_are_tried_before_any_second_setting():
    auto = quick_auto(learners=["lr", "svm"])
    auto.kind_, auto.skipped_, auto._seed = "numbers", [], 0
    assert [one.learner.name for one in auto._settings(400)] == ["lr", "svm", "lr", "svm", "lr", "svm", "svm"]


@pytest.mark.parametrize("method", ["ACC", "PACC", "PCC", "CC", "SLD"])
def test_any_chosen_method_can_be_checked_and_saved(method, tmp_path):
    auto = quick_auto(methods=[method], intervals=method not in ("CC", "PCC")).fit(X, Y)
    assert check(auto, X).verdict in ("trust", "caution")
    save_model(Model(auto, Columns("numbers", tuple("abcd"), "y")), tmp_path / "m.headcount")
    loaded = load_model(tmp_path / "m.headcount")
    assert loaded.method == method
    assert loaded.held_out() is not None
    np.testing.assert_array_equal(loaded.quantifier.predict(X), auto.predict(X))
    with pytest.raises(DataError, match="save_model takes a Model, not AutoQuantifier"):
        save_model(auto, tmp_path / "n.headcount")


def test_held_out_zero_keeps_no_held_out_scores():
    auto = quick_auto(methods=["CC"], intervals=False, held_out=0).fit(X, Y)
    assert auto.held_out_ is None


def test_two_settings_of_one_method_have_a_row_each():
    auto = quick_auto(methods=[PACC(validation=0.3), PACC(validation=0.5)]).fit(X, Y)
    assert len(set(auto.ranking_.method)) == 2
    assert all(name.startswith("PACC(") for name in auto.ranking_.method)


def test_held_out_scores_of_a_split_that_can_not_be_repeated():
    for seed in (3, np.random.RandomState(3)):
        auto = quick_auto(methods=[ACC(random_state=seed)]).fit(X, Y)
        np.testing.assert_array_equal(auto.held_out_[1], auto.best_estimator_.validation_codes_)


@pytest.mark.parametrize("validation", [5, 0.3])
def test_the_kept_quantifier_is_validated_as_asked(validation):
    best = quick_auto(methods=["PACC"], validation=validation).fit(X, Y).best_estimator_
    assert best.validation == validation
    assert len(best.validation_codes_) == (len(X) if validation == 5 else 120)


def test_items_kept_aside_by_methods_without_validation_did_not_train_them():
    auto = quick_auto(methods=["CC"], intervals=False).fit(X, Y)
    outputs, codes = auto.held_out_
    assert 79 <= len(codes) <= 81  # a fifth of all items
    there = auto.best_estimator_.classifier_.predict_proba(X)
    rows = [int(np.flatnonzero((there == row).all(axis=1))[0]) for row in outputs.posteriors]
    np.testing.assert_array_equal(Y[rows], codes)


def test_the_order_of_rows_and_names_of_classes_change_little():
    expected = quick_auto(methods=["PACC"]).fit(X, Y).predict(X)
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(quick_auto(methods=["PACC"]).fit(X[order], Y[order]).predict(X), expected, atol=0.05)
    renamed = quick_auto(methods=["PACC"]).fit(X, np.array(["no", "yes"])[Y])
    np.testing.assert_allclose(renamed.predict(X), expected, atol=1e-12)


def test_few_items_of_a_class_make_fewer_folds():
    y = np.where(np.arange(400) < 6, 2, Y)
    splits = list(FoldsBesides(0.4, 5, 0).split(X, y))
    assert len(splits) == FoldsBesides(0.4, 5, 0).get_n_splits(X, y) == 4
    assert all((y[held_out] == 2).sum() == 1 for _, held_out in splits)
    assert clone(PACC(validation=FoldsBesides(0.4))).validation == FoldsBesides(0.4)


def test_sample_weights_reach_the_learners():
    weights = np.where(Y == 1, 20.0, 1.0)
    auto = quick_auto(methods=["CC"], learners=["lr"], intervals=False, held_out=0.0)
    pipeline = auto.fit(X, Y, sample_weight=weights).best_estimator_.classifier_
    expected = clone(pipeline).fit(X, Y, classifier__sample_weight=weights)
    np.testing.assert_array_equal(pipeline[-1].coef_, expected[-1].coef_)
    assert not np.array_equal(pipeline[-1].coef_, clone(pipeline).fit(X, Y)[-1].coef_)
    kept = quick_auto(methods=["PACC"], learners=["lr"]).fit(X, Y, sample_weight=weights).best_estimator_
    weighted, plain = (q.classifier_.classifiers_[0][-1].coef_ for q in (kept, clone(kept).fit(X, Y)))
    assert not np.array_equal(weighted, plain)


def test_the_order_of_classes_is_kept():
    items, codes = blobs(600, 3, 2)
    labels = np.array(["low", "middle", "high"])[codes]
    auto = quick_auto(methods=["PACC"], learners=["lr"], classes=["low", "middle", "high"]).fit(items, labels)
    assert auto.best_estimator_.classes_.tolist() == ["low", "middle", "high"]
    assert auto.classes_.tolist() == ["low", "middle", "high"]
