"""AutoQuantifier: what is tried, what is kept, what is said of it."""

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
from headcount.modelfile import Columns, Model, load_model, save_model
from tests.conftest import blobs, frozen, scored_items
from tests.modelfile.test_modelfile import texts


def quick(**more):
    return AutoQuantifier(**{"methods": ["CC", "PACC", "SLD"], "learners": ["lr"], "random_state": 0, **more})


X, Y = blobs(400, 2, 0)


def test_the_chosen_one_answers_as_itself():
    auto = quick().fit(X, Y)
    best = auto.best_estimator_
    assert auto.needs == best.needs
    assert auto.classifier_ is best.classifier_
    np.testing.assert_array_equal(auto.predict(X), best.predict(X))
    np.testing.assert_array_equal(auto.aggregate(auto.outputs(X)), best.aggregate(best.outputs(X)))
    assert estimate(auto, X).shares.shape == (2,)
    assert check(auto, X).verdict in ("trust", "caution")


def test_the_contract():
    auto = quick(budget=5.0)
    assert clone(auto).get_params() == auto.get_params()
    with pytest.raises(NotFittedError):
        auto.predict(X)
    with pytest.raises(AttributeError, match="before fit"):
        _ = auto.classifier_
    assert auto.fit(X, Y) is auto
    with pytest.raises(ValueError, match="'budget' parameter of AutoQuantifier"):
        quick(budget=-1.0).fit(X, Y)


def test_the_same_seed_gives_the_same_choice_for_any_number_of_jobs():
    one, two = (quick(methods=None, n_jobs=n).fit(X, Y) for n in (1, 2))
    columns = [name for name in one.ranking_.columns if name != "seconds"]
    assert one.ranking_[columns].equals(two.ranking_[columns])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


def test_the_ranking_knows_how_sure_it_is():
    ranking = quick(methods=None).fit(X, Y).ranking_
    assert set(ranking.method) == {"CC", "PCC", "ACC", "PACC", "SLD", "HDy"}
    assert ranking.ae.is_monotonic_increasing
    assert ranking.behind[0] == 0
    assert ranking.p_best.sum() == pytest.approx(1.0)
    assert (ranking.behind_se[1:] < ranking.se[1:] + ranking.se[0]).all()
    assert (ranking.n_settings == 10).all()


def test_equal_candidates_share_the_chance_and_a_clear_winner_has_it():
    generator = np.random.default_rng(0)
    noise, pools = generator.random((3, 400)), generator.random((3, 20, 60))
    found = ranked(
        [
            Tried(name, "lr", {}, noise[i] + shift, True, 0.0, 1, pools[i] + shift)
            for i, (name, shift) in enumerate([("a", 0), ("b", 0), ("c", 1)])
        ],
        np.full((400, 2), 0.5),
        np.random.SeedSequence(0),
    )
    by_name = found.set_index("method")
    assert by_name.p_best["c"] == 0.0
    assert 0.02 < by_name.p_best["a"] < 0.98
    assert by_name.behind["c"] / by_name.behind_se["c"] > 20
    alone = Tried("a", "lr", {}, np.array([0.1]), True, 0.0, 1, np.array([[0.1], [0.1]]))
    (row,) = ranked([alone], np.array([[0.5, 0.5]]), np.random.SeedSequence(0)).to_dict("records")
    assert np.isnan([row["se"], row["behind_se"], row["p_best"]]).all()


def test_other_pools_hold_the_same_shares():
    y = np.array([0] * 40 + [1] * 20 + [2] * 10)
    samples, true = UniformPrevalence(100, sample_size=30, random_state=0).draw(y)
    again, shares = drawn_again(samples, true, y, np.random.default_rng(0))
    counted = np.array([np.bincount(y[rows], minlength=3) / 30 for rows in again])
    np.testing.assert_allclose(counted, shares)
    first, last = again[: len(again) // POOLS], again[len(again) - len(again) // POOLS :]
    assert any((a != b).any() for a, b in zip(first, last, strict=True))
    weighted = Samples(samples.indices, samples.indptr, np.arange(samples.indices.size) + 1.0)
    twice, _ = drawn_again(weighted, true, y, np.random.default_rng(0))
    np.testing.assert_array_equal(twice.indices, again.indices)
    np.testing.assert_array_equal(twice.factors_of(0), weighted.factors_of(0))


def test_the_standard_error_is_how_much_other_held_out_items_change_the_means():
    """Two methods over one classifier, judged on a hundred held-out parts: how much their difference varies, and what is said."""
    generator = np.random.default_rng(0)
    differences, said = [], []
    y, P = scored_items(400, 2, 0, separation=1.2)
    q = [method(frozen([0, 1])).fit(P, y) for method in (PACC, PCC)]
    for seed in range(1, 101):
        y, P = scored_items(600, 2, seed, separation=1.2)
        samples, true = ArtificialPrevalence(11, repeats=5, sample_size=200, random_state=generator).draw(y)
        again, shares = drawn_again(samples, true, y, generator)
        tried = [
            Tried(type(one).__name__, "", {}, ae(true, one.aggregate(one.outputs(P), samples)), True, 0.0, 1, pools)
            for one in q
            for pools in [ae(shares, one.aggregate(one.outputs(P), again)).reshape(POOLS, -1)]
        ]
        found = ranked(tried, true, np.random.SeedSequence(0)).set_index("method")
        differences.append(found.ae["PCC"] - found.ae["PACC"])
        said.append(found.behind_se.max())
    assert 0.75 < np.mean(said) / np.std(differences) < 1.35


def test_what_has_no_interval_is_ranked_but_not_kept():
    skewed = ArtificialPrevalence(2, repeats=3, sample_size=50, random_state=0)
    auto = quick(methods=[CC(), PACC(random_state=3)], protocol=skewed).fit(X, Y)
    assert type(auto.best_estimator_) is PACC
    assert auto.best_estimator_.random_state == 3
    assert auto.ranking_.set_index("method").interval.to_dict() == {"CC": False, "PACC": True}
    free = quick(methods=["CC"], intervals=False).fit(X, Y)
    assert type(free.best_estimator_) is CC
    with pytest.raises(DataError, match="None of the methods 'CC' has an interval"):
        quick(methods=["CC"]).fit(X, Y)


def test_a_spent_budget_skips_and_says_so():
    auto = quick(methods=["PACC"], learners=None, budget=1e-6).fit(X, Y)
    assert len(auto.ranking_) == 1
    spent = [one for one in auto.skipped_ if one["reason"] == "the time budget was spent"]
    assert {one["learner"] for one in spent} == {"lr", "forest", "svm"}
    assert {"learner": "nb", "reason": "not for numbers"} in auto.skipped_


def test_many_classes_and_strings():
    items, codes = blobs(900, 4, 2)
    names = np.array(["d", "a", "c", "b"])[codes]
    auto = quick(methods=["PACC", "SLD", "HDy"]).fit(items, names)
    assert auto.classes_.tolist() == ["a", "b", "c", "d"]
    assert {"method": "HDy", "reason": "defined for 2 classes, not 4"} in auto.skipped_
    truth = np.array([(names == label).mean() for label in auto.classes_])
    assert np.abs(auto.predict(items) - truth).max() < 0.06


def test_texts_with_features_learnt_without_the_validation_part():
    words, y = texts(300)
    auto = quick(methods=["PACC"], learners=["lr", "nb"]).fit(words, y)
    assert auto.kind_ == "text"
    fitted = auto.best_estimator_
    assert fitted.classifier_[0].idf_.shape == (len(fitted.classifier_[0].vocabulary_),)
    assert len(fitted.validation_codes_) == 120
    assert np.abs(auto.predict(words)[1] - y.mean()) < 0.1


def test_missing_numbers_are_filled():
    holes = X.copy()
    holes[::7, 0] = np.nan
    assert np.abs(quick(methods=["PACC"]).fit(holes, Y).predict(holes)[1] - Y.mean()) < 0.1


def test_kinds_of_items():
    assert kind_of(["a", "b"]) == "text"
    assert kind_of(np.array(["a", "b"], dtype=object)) == "text"
    assert kind_of([[1.0], [2.0]]) == "numbers"
    assert kind_of(np.zeros((3, 4))) == "numbers"
    assert kind_of(np.zeros((3, 300))) == "embeddings"
    assert kind_of(csr_matrix(np.zeros((3, 4)))) == "embeddings"
    assert [features_for("text", [], n).min_count for n in (100, 500, 5000)] == [1, 2, 5]
    assert not features_for("embeddings", csr_matrix(np.eye(3)), 3).with_mean
    forest = learner_named("Forest")
    assert forest.unsuited("numbers", 10**6) == "slow on more than 50,000 items"
    assert [learner.unsuited("text", 10) for learner in LEARNERS] == ["", "", "not for text", ""]


def test_sentences():
    with pytest.raises(UnknownNameError, match="There is no learner 'x'"):
        quick(learners=["x"]).fit(X, Y)
    with pytest.raises(DataError, match="learners is empty"):
        quick(learners=[]).fit(X, Y)
    with pytest.raises(DataError, match="MLPE can't be tried"):
        quick(methods=["MLPE"]).fit(X, Y)
    with pytest.raises(DataError, match="no method left to try of 'HDy' for 3"):
        quick(methods=["HDy"]).fit(*blobs(300, 3, 0))
    lonely = np.where(np.arange(400) == 7, 2, Y)
    with pytest.raises(DataError, match=r"y holds 1 item of class 2 \(1 of 3 classes have fewer than 5\)"):
        quick().fit(X, lonely)
    with pytest.raises(DataError, match="200 different labels"):
        quick().fit(X, np.arange(400) // 2)
    with pytest.raises(
        SearchError, match="No method with an interval could be fitted; the first reason: ValueError: Negative values"
    ):
        quick(methods=["SLD"], learners=["nb"]).fit(X, Y)
    assert type(quick(methods=[SLD(calibration="bcts")]).fit(X, Y).best_estimator_) is SLD


def test_held_out_scores_are_those_of_the_validation_part():
    outputs, codes = held_out_scores(ACC(random_state=0).fit(X, Y), X, Y)
    kept = PACC(random_state=0).fit(X, Y)
    np.testing.assert_array_equal(outputs.posteriors, kept.validation_outputs_.posteriors)
    np.testing.assert_array_equal(codes, kept.validation_codes_)
    without = (
        kept,
        CC().fit(X, Y),
        ACC(LinearSVC(), random_state=0).fit(X, Y),
        ACC(validation=3, random_state=0).fit(X, Y),
    )
    assert [held_out_scores(one, X, Y) for one in without] == [None] * 4


def test_what_does_not_tell_classes_apart_is_not_kept(monkeypatch):
    from headcount.auto import quantifier as module

    monkeypatch.setattr(module, "_separation", lambda fitted: None if isinstance(fitted, SLD) else 0.01)
    auto = quick(methods=["ACC", "PACC", "SLD"]).fit(X, Y)
    assert isinstance(auto.best_estimator_, SLD)
    rows = auto.ranking_.to_dict("records")
    sld = next(row["ae"] for row in rows if row["method"] == "SLD")
    better = [row for row in rows if row["method"] != "SLD" and row["ae"] < sld]
    reasons = [one["reason"] for one in auto.skipped_]
    assert len([reason for reason in reasons if "does not tell some classes apart" in reason]) == len(better)
    monkeypatch.setattr(module, "_separation", lambda fitted: 0.01)
    auto = quick(methods=["ACC", "PACC"]).fit(X, Y)  # if none does, the best by error is kept all the same
    assert type(auto.best_estimator_).__name__ == auto.ranking_.to_dict("records")[0]["method"]


def test_separation_is_zero_where_two_classes_look_alike():
    from headcount.auto.quantifier import _separation

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 900)
    apart = np.array([[3.0, 0], [0, 3.0], [-3.0, -3.0]])[y] + rng.standard_normal((900, 2))
    alike = np.array([[3.0, 0], [0, 3.0], [0, 3.0]])[y] + rng.standard_normal((900, 2))
    assert _separation(PACC(random_state=0).fit(apart, y)) > 0.5
    assert _separation(PACC(random_state=0).fit(alike, y)) < 0.05
    assert _separation(SLD(prior="uniform").fit(apart, y)) is None


def test_a_short_time_is_spent_on_all_learners():
    auto = quick(learners=["lr", "svm"])
    auto.kind_, auto.skipped_, auto.classes_ = "numbers", [], np.array([0, 1])
    first = [candidate.learner for candidate in auto._candidates(400, 0)[: 2 * 3]]
    assert first == ["lr"] * 3 + ["svm"] * 3


@pytest.mark.parametrize("method", ["ACC", "PACC", "PCC", "CC", "SLD"])
def test_whatever_is_chosen_can_be_checked_and_kept(method, tmp_path):
    auto = quick(methods=[method], intervals=method not in ("CC", "PCC")).fit(X, Y)
    assert check(auto, X).verdict in ("trust", "caution")
    save_model(Model(auto, Columns("numbers", tuple("abcd"), "y")), tmp_path / "m.headcount")
    again = load_model(tmp_path / "m.headcount")
    assert again.method == method
    assert again.held_out() is not None
    np.testing.assert_array_equal(again.quantifier.predict(X), auto.predict(X))
    with pytest.raises(DataError, match="save_model takes a Model, not AutoQuantifier"):
        save_model(auto, tmp_path / "n.headcount")


def test_nothing_is_left_aside_if_so_asked():
    auto = quick(methods=["CC"], intervals=False, held_out=0).fit(X, Y)
    assert auto.held_out_ is None


def test_methods_of_one_class_have_a_row_each():
    auto = quick(methods=[PACC(validation=0.3), PACC(validation=0.5)]).fit(X, Y)
    assert len(set(auto.ranking_.method)) == 2
    assert all(name.startswith("PACC(") for name in auto.ranking_.method)


def test_held_out_items_are_those_that_were_held_out():
    own = quick(methods=[ACC(random_state=3)]).fit(X, Y)
    np.testing.assert_array_equal(own.held_out_[1], own.best_estimator_.validation_codes_)
    moved = quick(methods=[ACC(random_state=np.random.RandomState(3))]).fit(X, Y)
    assert moved.held_out_ is None  # the split can't be made again
