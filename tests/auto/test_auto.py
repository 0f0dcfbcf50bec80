"""AutoQuantifier: which candidates are tried, how they are ranked, and which one is kept."""

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
    PCC,
    SLD,
    ArtificialPrevalence,
    AutoQuantifier,
    Samples,
    UniformPrevalence,
    estimate,
)
from headcount.auto import held_out_scores
from headcount.auto.learners import LEARNERS, features_for, kind_of, learner_named
from headcount.auto.pools import POOLS, drawn_again
from headcount.auto.ranking import Tried, ranked
from headcount.checks import check
from headcount.errors import ae
from headcount.exceptions import DataError, SearchError, UnknownNameError
from headcount.learners import validation_parts
from headcount.learners.folds_besides import FoldsBesides
from headcount.modelfile import Columns, Model, load_model, save_model
from tests.conftest import blobs, frozen, scored_items
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
    assert set(ranking.method) == {"CC", "PCC", "PACC", "SLD"}
    assert ranking.kept.sum() == 1
    assert ranking.ae.is_monotonic_increasing
    assert ranking.behind[0] == 0
    assert ranking.p_best.sum() == pytest.approx(1.0)
    assert (ranking.behind_se[1:] < ranking.se[1:] + ranking.se[0]).all()
    assert (ranking.n_settings == 10).all()


def test_equal_candidates_share_the_chance_of_being_best():
    generator = np.random.default_rng(0)
    noise, pools = generator.random((3, 400)), generator.random((3, 20, 60))
    ranking = ranked(
        [
            Tried(name, "lr", {}, noise[i] + shift, True, 0.0, 1, pools[i] + shift)
            for i, (name, shift) in enumerate([("a", 0), ("b", 0), ("c", 1)])
        ],
        np.full((400, 2), 0.5),
        np.random.SeedSequence(0),
    )
    by_name = ranking.set_index("method")
    assert by_name.p_best["c"] == 0.0
    assert 0.02 < by_name.p_best["a"] < 0.98
    assert by_name.behind["c"] / by_name.behind_se["c"] > 20
    single = Tried("a", "lr", {}, np.array([0.1]), True, 0.0, 1, np.array([[0.1], [0.1]]))
    (row,) = ranked([single], np.array([[0.5, 0.5]]), np.random.SeedSequence(0)).to_dict("records")
    assert np.isnan([row["se"], row["behind_se"], row["p_best"]]).all()


def test_bootstrap_pools_keep_the_shares_of_the_samples():
    y = np.array([0] * 40 + [1] * 20 + [2] * 10)
    samples, true = UniformPrevalence(100, sample_size=30, random_state=0).draw(y)
    redrawn, shares = drawn_again(samples, true, y, np.random.default_rng(0))
    redrawn_shares = np.array([np.bincount(y[rows], minlength=3) / 30 for rows in redrawn])
    np.testing.assert_allclose(redrawn_shares, shares)
    first, last = redrawn[: len(redrawn) // POOLS], redrawn[len(redrawn) - len(redrawn) // POOLS :]
    assert any((a != b).any() for a, b in zip(first, last, strict=True))
    weighted = Samples(samples.indices, samples.indptr, np.arange(samples.indices.size) + 1.0)
    redrawn_weighted, _ = drawn_again(weighted, true, y, np.random.default_rng(0))
    np.testing.assert_array_equal(redrawn_weighted.indices, redrawn.indices)
    np.testing.assert_array_equal(redrawn_weighted.factors_of(0), weighted.factors_of(0))


def test_the_standard_error_matches_the_spread_over_held_out_parts():
    """Two methods over one classifier, evaluated on 100 held-out parts: the spread of their difference and its standard error."""
    generator = np.random.default_rng(0)
    differences, standard_errors = [], []
    y, P = scored_items(400, 2, 0, separation=1.2)
    quantifiers = [method(frozen([0, 1])).fit(P, y) for method in (PACC, PCC)]
    for seed in range(1, 101):
        y, P = scored_items(600, 2, seed, separation=1.2)
        samples, true = ArtificialPrevalence(11, repeats=5, sample_size=200, random_state=generator).draw(y)
        redrawn, shares = drawn_again(samples, true, y, generator)
        tried = [
            Tried(type(q).__name__, "", {}, ae(true, q.aggregate(q.outputs(P), samples)), True, 0.0, 1, pools)
            for q in quantifiers
            for pools in [ae(shares, q.aggregate(q.outputs(P), redrawn)).reshape(POOLS, -1)]
        ]
        ranking = ranked(tried, true, np.random.SeedSequence(0)).set_index("method")
        differences.append(ranking.ae["PCC"] - ranking.ae["PACC"])
        standard_errors.append(ranking.behind_se.max())
    assert 0.75 < np.mean(standard_errors) / np.std(differences) < 1.35


def test_a_method_without_interval_is_ranked_but_not_kept():
    skewed = ArtificialPrevalence(2, repeats=3, sample_size=50, random_state=0)
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
    assert {entry["learner"] for entry in over_budget} == {"lr", "forest", "svm"}
    assert {"learner": "nb", "reason": "not for numbers"} in auto.skipped_


def test_few_items_choose_no_learner_and_all_of_them_validate():
    items, codes = blobs(300, 2, 0)
    few = AutoQuantifier(random_state=0).fit(items, codes)
    assert set(few.ranking_.learner) == {"lr"}
    assert {entry["learner"] for entry in few.skipped_} == {"nb", "forest", "svm"}
    assert len(few.best_estimator_.validation_codes_) == 300
    named = AutoQuantifier(learners=["lr", "svm"], random_state=0).fit(items, codes)
    assert set(named.ranking_.learner) == {"lr", "svm"}


def test_four_classes_with_string_labels():
    items, codes = blobs(900, 4, 2)
    names = np.array(["d", "a", "c", "b"])[codes]
    auto = quick_auto(methods=["PACC", "SLD", "HDy"]).fit(items, names)
    assert auto.classes_.tolist() == ["a", "b", "c", "d"]
    assert {"method": "HDy", "reason": "defined for 2 classes, not 4"} in auto.skipped_
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
    assert len(fitted.validation_codes_) == 180  # 60 %: the others judged the candidates
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
    assert [learner.unsuited("text", 10) for learner in LEARNERS] == ["", "", "not for text", ""]


def test_invalid_input_raises_a_sentence():
    with pytest.raises(UnknownNameError, match="There is no learner 'x'"):
        quick_auto(learners=["x"]).fit(X, Y)
    with pytest.raises(DataError, match="learners is empty"):
        quick_auto(learners=[]).fit(X, Y)
    with pytest.raises(DataError, match="MLPE can't be tried"):
        quick_auto(methods=["MLPE"]).fit(X, Y)
    with pytest.raises(DataError, match="no method left to try of 'HDy' for 3"):
        quick_auto(methods=["HDy"]).fit(*blobs(300, 3, 0))
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
    auto.kind_, auto.skipped_, auto.classes_ = "numbers", [], np.array([0, 1])
    first = [candidate.learner for candidate in auto._candidates(400, 0)[: 2 * 3]]
    assert first == ["lr"] * 3 + ["svm"] * 3


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


@pytest.mark.parametrize("method", ["PACC", "ACC", "SLD", "HDy"])
@pytest.mark.parametrize("validation", [5, 0.3])
def test_items_that_judged_the_winner_do_not_validate_it(method, validation, monkeypatch):
    judged = []
    original = AutoQuantifier._fold
    rows = np.arange(len(X), dtype=float)
    items = np.column_stack([X, rows])  # the last column tells items apart

    def noted(self, X, labels, codes, seed, fit_params):
        fold = original(self, X, labels, codes, seed, fit_params)
        _, held_out = next(validation_parts(0.4, codes, seed, "test_size"))
        np.testing.assert_array_equal(fold.y, labels[held_out])
        judged.append(set(held_out.tolist()))
        return fold

    monkeypatch.setattr(AutoQuantifier, "_fold", noted)
    for labels in (Y, np.array(["b", "a"])[Y]):
        auto = quick_auto(methods=[method], validation=validation).fit(items, labels)
        best = auto.best_estimator_
        codes = np.unique(labels, return_inverse=True)[1]
        splits = list(best.validation.split(items, codes))
        validated = np.concatenate([held_out for _, held_out in splits])
        np.testing.assert_array_equal(codes[validated], best.validation_codes_)
        assert len(set(validated.tolist())) == len(validated)
        assert judged[-1].isdisjoint(validated.tolist())
        for train, held_out in splits:  # they train instead, and nothing is in both parts
            assert judged[-1] <= set(train.tolist())
            assert set(train.tolist()).isdisjoint(held_out.tolist())
        if validation == 5:
            assert len(validated) + len(judged[-1]) == len(X)


def test_items_kept_aside_by_methods_without_validation_did_not_judge_them():
    auto = quick_auto(methods=["CC"], intervals=False).fit(X, Y)
    _, judged = FoldsBesides(0.4, random_state=auto._seed).parts(Y)
    outputs, codes = auto.held_out_
    assert 79 <= len(codes) <= 81  # a fifth of all items
    there = auto.best_estimator_.classifier_.predict_proba(X)
    rows = [int(np.flatnonzero((there == row).all(axis=1))[0]) for row in outputs.posteriors]
    assert set(rows).isdisjoint(judged.tolist())
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
