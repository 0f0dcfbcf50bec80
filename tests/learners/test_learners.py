import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from headcount import Outputs
from headcount.exceptions import ClassifierError, DataError
from headcount.learners import FoldClassifiers, score, validation_parts, with_posteriors
from tests.conftest import blobs

BOTH = ("decisions", "posteriors")


def test_scores_are_the_classifiers_decisions_and_posteriors():
    X, y = blobs(100, 3, seed=0)
    names = np.array(["a", "b", "c"])
    classifier = LogisticRegression().fit(X, names[y])
    out = score(classifier, X, BOTH, names)
    assert np.array_equal(names[out.decisions], classifier.predict(X))
    assert np.array_equal(out.posteriors, classifier.predict_proba(X))
    assert (len(out), out.n_items) == (100, 100)
    reordered = score(classifier, X, BOTH, names[[2, 0, 1]])
    assert np.array_equal(reordered.posteriors, out.posteriors[:, [2, 0, 1]])
    assert np.array_equal(reordered.classes[reordered.decisions], names[out.decisions])


def test_score_computes_only_what_is_needed():
    X, y = blobs(50, 2, seed=0)
    classifier = LinearSVC().fit(X, y)
    assert score(classifier, X, ["decisions"], np.array([0, 1])).posteriors is None
    with pytest.raises(ClassifierError, match="LinearSVC has no 'predict_proba'"):
        score(FrozenEstimator(classifier), X, BOTH, np.array([0, 1]))


class WrongAnswers(ClassifierMixin, BaseEstimator):
    classes_ = np.array([0, 1])

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.full(len(X), 7)

    def predict_proba(self, X):
        return np.full((len(X) - 1, 2), 0.5)


def test_a_classifier_with_wrong_decisions_or_too_few_posteriors_is_an_error():
    with pytest.raises(ClassifierError, match="decided for labels outside its classes"):
        score(WrongAnswers(), np.eye(3), ["decisions"], WrongAnswers.classes_)
    with pytest.raises(ClassifierError, match="2 posteriors for 3 items"):
        score(WrongAnswers(), np.eye(3), ["posteriors"], WrongAnswers.classes_)


def test_outputs_from_posteriors_computed_elsewhere():
    out = Outputs.from_posteriors([0.2, 0.7], classes=["neg", "pos"])
    np.testing.assert_allclose(out.posteriors, [[0.8, 0.2], [0.3, 0.7]])
    assert out.decisions.tolist() == [0, 1]
    chosen = Outputs.from_posteriors([[0.5, 0.5]], ["neg", "pos"], decisions=["pos"])
    assert chosen.decisions.tolist() == [1]
    rounded = Outputs.from_posteriors([[0.333, 0.333, 0.333]], ["a", "b", "c"])
    assert len(rounded) == 1
    assert repr(Outputs(np.array([0, 1]), 3)) == "Outputs(3 items, classes 0, 1, neither decisions nor posteriors)"


def test_outputs_keep_a_copy_of_the_posteriors():
    P = np.array([[0.2, 0.8]])
    out = Outputs.from_posteriors(P, [0, 1])
    P[:] = 0
    assert out.posteriors.tolist() == [[0.2, 0.8]]


@pytest.mark.parametrize(
    ("P", "classes", "words"),
    [
        ([[0.5, np.nan]], [0, 1], "row 0 is"),
        ([[0.5, 0.5], [np.inf, 0.5]], [0, 1], "row 1 is"),
        ([[0.5, 0.4]], [0, 1], "sum to 1"),
        ([[1.2, -0.2]], [0, 1], "not negative"),
        ([[0.5, 0.5]], [0, 1, 2], "one column for each of the 3 classes"),
        (np.empty((0, 2)), [0, 1], "empty"),
        ([[1.0]], ["a"], "at least two classes"),
        ([[0.5, 0.5]], ["a", "a"], "each once"),
        ([["x", "y"]], ["a", "b"], "must be numbers"),
        ([0.5, 0.5], [0, 1, 2], "shape is"),
    ],
)
def test_invalid_posteriors_are_an_error(P, classes, words):
    with pytest.raises(DataError, match=words):
        Outputs.from_posteriors(P, classes)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"decisions": np.array([0, 10**9, 1])}, "positions in classes"),
        ({"decisions": np.array([0, -1, 1])}, "positions in classes"),
        ({"decisions": np.array([0.0, 1.0, 1.0])}, "positions in classes"),
        ({"decisions": np.array([0, 1])}, "2 decisions for 3 items"),
        ({"posteriors": np.full((3, 2), np.nan)}, "row 0 is"),
        ({"posteriors": np.full((3, 3), 1 / 3)}, "one column for each of the 2 classes"),
        ({"posteriors": np.full((2, 2), 0.5)}, "2 posteriors for 3 items"),
    ],
)
def test_outputs_from_the_constructor_are_checked_too(fields, words):
    with pytest.raises(DataError, match=words):
        Outputs(np.array(["a", "b"]), 3, **fields)


def test_posteriors_rounded_below_zero_are_accepted_and_masked_ones_are_an_error():
    out = Outputs.from_posteriors([1.0000000000000002, 0.5], [0, 1])
    assert out.posteriors.min() == 0
    with pytest.raises(DataError, match="masked"):
        Outputs.from_posteriors(np.ma.masked_array([[0.5, 0.5]], mask=[[0, 1]]), [0, 1])


@pytest.mark.parametrize("classes", [None, "ab", {"a", "b"}, ["a", None], ["a", float("nan")], [1, "1"], 5])
def test_invalid_classes_are_an_error(classes):
    with pytest.raises((DataError, TypeError)):
        Outputs.from_posteriors([[0.5, 0.5]], classes)


def test_needs_may_be_one_name_and_unknown_names_are_an_error():
    X, y = blobs(50, 2, seed=0)
    classifier = LogisticRegression().fit(X, y)
    assert score(classifier, X, "decisions", np.array([0, 1])).posteriors is None
    with pytest.raises(DataError, match="needs may name 'decisions', 'posteriors', 'embeddings'; got 'scores'"):
        score(classifier, X, ["scores"], np.array([0, 1]))


def test_missing_outputs_and_unknown_classes_are_an_error():
    with pytest.raises(DataError, match=r"no posteriors.*from_posteriors"):
        Outputs.from_decisions([0, 1], [0, 1]).need("posteriors")
    with pytest.raises(DataError, match="no decisions"):
        Outputs(np.array([0, 1]), 3).need("decisions")
    with pytest.raises(DataError, match="1 decisions for 2 items"):
        Outputs.from_posteriors([0.1, 0.2], [0, 1], decisions=[1])
    with pytest.raises(DataError, match="not among the classes"):
        Outputs.from_decisions(["1", "0"], [0, 1])
    with pytest.raises(DataError, match="was fitted for 0, 1, 2"):
        Outputs.from_decisions([0, 1], [0, 1]).aligned_to(np.array([0, 1, 2]))


def test_calibration_equals_scikit_learns():
    X, y = blobs(100, 2, seed=0)
    ours = with_posteriors(LinearSVC(random_state=0), y, 2).fit(X, y)
    theirs = CalibratedClassifierCV(LinearSVC(random_state=0), method="sigmoid", cv=5).fit(X, y)
    assert np.array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    plain = LogisticRegression()
    assert with_posteriors(plain, y, 2) is plain


def test_calibration_of_rare_classes_and_of_frozen_classifiers():
    X, y = blobs(60, 2, seed=0)
    assert with_posteriors(LinearSVC(), np.array([0] * 9 + [1] * 3), 2).cv == 3
    with pytest.raises(DataError, match="the rarest class has 1"):
        with_posteriors(LinearSVC(), np.array([0, 0, 1]), 2)
    with pytest.raises(ClassifierError, match="'decision_function'"):
        with_posteriors(BaseEstimator(), y, 2)
    with pytest.raises(DataError, match=r"LinearSVC has no predict_proba .* the rarest class has 0"):
        with_posteriors(FrozenEstimator(LinearSVC()), np.array([0, 0, 1, 1]), 3)
    frozen = FrozenEstimator(Perceptron().fit(X, y))
    before = frozen.coef_.copy()
    calibrated = with_posteriors(frozen, y, 2).fit(X + 1, y)
    assert np.array_equal(frozen.coef_, before)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_a_held_out_fraction_equals_scikit_learns_stratified_split():
    codes = np.repeat([0, 1, 2], [50, 30, 20])
    ((train, held_out),) = validation_parts(0.4, codes, 3)
    expected = train_test_split(np.arange(100), test_size=0.4, stratify=codes, random_state=3)
    assert np.array_equal(train, expected[0])
    assert np.array_equal(held_out, expected[1])
    assert np.bincount(codes[held_out]).tolist() == [20, 12, 8]
    ((again, _),) = validation_parts(0.4, codes, np.random.RandomState(3))
    assert np.array_equal(again, train)


def test_folds_and_splitters_cover_every_item_once():
    from sklearn.model_selection import KFold

    codes = np.repeat([0, 1], [30, 10])
    for validation in (5, KFold(4)):
        parts = list(validation_parts(validation, codes, 0))
        assert sorted(np.concatenate([held for _, held in parts])) == list(range(40))


@pytest.mark.parametrize(
    ("validation", "counts", "words"),
    [
        (0.4, [10, 1], "at least 2 labelled items"),
        (5, [10, 1], "need at least 2 labelled items"),
        (0.1, [40, 2], "without items of the rarest class"),
    ],
)
def test_splits_without_items_of_a_class_are_an_error(validation, counts, words):
    with pytest.raises(DataError, match=words):
        list(validation_parts(validation, np.repeat([0, 1], counts), 0))


def test_outputs_as_a_data_frame_have_a_row_for_each_item():
    outputs = Outputs.from_posteriors([[0.9, 0.1], [0.3, 0.7]], ["neg", "pos"], embeddings=np.ones((2, 3)))
    frame = outputs.to_frame()
    assert frame.columns.tolist() == ["decision", "posterior_neg", "posterior_pos"]
    assert frame["decision"].tolist() == ["neg", "pos"]
    np.testing.assert_array_equal(frame[["posterior_neg", "posterior_pos"]], outputs.posteriors)
    frame.iloc[:, 1:] = 0.0
    assert outputs.posteriors[0, 0] == 0.9
    assert Outputs.from_decisions([3, 7, 7], [3, 7]).to_frame().to_dict("list") == {"decision": [3, 7, 7]}
    assert Outputs(np.array([0, 1]), 3).to_frame().shape == (3, 0)


def test_outputs_in_a_notebook_show_the_share_and_the_mean_posterior_of_each_class():
    page = Outputs.from_posteriors([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]], ["neg", "pos"])._repr_html_()
    assert "3 items, decisions and posteriors" in page
    rows = re.findall(r"<td>(.*?)</td>\s*<td>(.*?)</td>\s*<td>(.*?)</td>", page)
    assert rows == [("neg", "0.6667", "0.6000"), ("pos", "0.3333", "0.4000")]
    assert "mean posterior" not in Outputs.from_decisions([3, 7, 7], [3, 7])._repr_html_()
    assert "neither decisions nor posteriors" in Outputs(np.array([0, 1]), 3)._repr_html_()


def test_labels_are_escaped_in_a_notebook():
    page = Outputs.from_decisions(["<b>"], ["<b>", "a & b"])._repr_html_()
    assert "<b>" not in page
    assert "<td>&lt;b&gt;</td>" in page
    assert "<td>a &amp; b</td>" in page


def test_a_notebook_shows_the_first_of_many_classes():
    page = Outputs.from_decisions([0], list(range(100)))._repr_html_()
    assert page.count("<td>") == 2 * 20
    assert "80 more rows" in page


def outputs_of_folds(n_items=4):
    generator = np.random.default_rng(0)
    folds = [
        Outputs.from_posteriors(generator.dirichlet([1, 1, 1], n_items), ["a", "b", "c"]),
        Outputs.from_posteriors(generator.dirichlet([1, 1, 1], n_items), ["c", "a", "b"]),
    ]
    return Outputs.from_folds(folds), folds


def test_outputs_of_folds_are_their_mean():
    outputs, folds = outputs_of_folds()
    second = folds[1].posteriors[:, [1, 2, 0]]
    np.testing.assert_allclose(outputs.posteriors, (folds[0].posteriors + second) / 2)
    np.testing.assert_array_equal(outputs.decisions, outputs.posteriors.argmax(axis=1))
    np.testing.assert_array_equal(outputs.folds[1].posteriors, second)
    assert repr(outputs) == "Outputs(4 items, classes 'a', 'b', 'c', decisions and posteriors of 2 folds)"
    assert len(outputs) == 4
    votes = [Outputs.from_decisions(labels, ["a", "b"]) for labels in (["a", "b"], ["b", "b"], ["a", "a"])]
    assert Outputs.from_folds(votes).decisions.tolist() == [0, 1]


def test_parts_and_joins_of_outputs_carry_the_folds():
    outputs, _ = outputs_of_folds()
    rows = np.array([2, 0])
    np.testing.assert_array_equal(outputs.take(rows).folds[1].posteriors, outputs.folds[1].posteriors[rows])
    halves = [outputs.take(np.array([0, 1])), outputs.take(np.array([2, 3]))]
    np.testing.assert_array_equal(Outputs.concatenated(halves).folds[1].posteriors, outputs.folds[1].posteriors)
    other = outputs.aligned_to(np.array(["b", "c", "a"]))
    np.testing.assert_array_equal(other.folds[0].posteriors, outputs.folds[0].posteriors[:, [1, 2, 0]])
    assert other.folds[0].classes.tolist() == ["b", "c", "a"]
    frame = outputs.to_frame()
    assert frame.shape == (4, 3 * 4)
    np.testing.assert_array_equal(frame["fold1_posterior_b"], outputs.folds[1].posteriors[:, 1])
    plain = Outputs(outputs.classes, 4, outputs.decisions)
    assert Outputs.concatenated([outputs, plain]).folds is None
    both = Outputs.from_folds([Outputs(outputs.classes, 4, fold.decisions) for fold in outputs.folds]).joined(
        Outputs.from_folds([Outputs(outputs.classes, 4, posteriors=fold.posteriors) for fold in outputs.folds])
    )
    np.testing.assert_array_equal(both.folds[1].posteriors, outputs.folds[1].posteriors)
    np.testing.assert_array_equal(both.folds[1].decisions, outputs.folds[1].decisions)


def test_folds_that_do_not_fit_together_raise_a_sentence():
    outputs, folds = outputs_of_folds()
    with pytest.raises(DataError, match="for the same 3 items; they hold 4"):
        Outputs(outputs.classes, 3, folds=tuple(folds))
    with pytest.raises(DataError, match="one or more classifiers"):
        Outputs(outputs.classes, 4, folds=())
    with pytest.raises(DataError, match="outputs of one or more"):
        Outputs(outputs.classes, 4, folds=(outputs,))
    with pytest.raises(DataError, match="different numbers of folds"):
        Outputs.concatenated([outputs, Outputs.from_folds(folds[:1])])


def test_fold_classifiers_have_no_embeddings():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    folds = FoldClassifiers([LogisticRegression().fit(X, y)] * 2)
    with pytest.raises(ClassifierError, match="no embeddings in common"):
        score(folds, X, {"embeddings"}, np.array([0, 1]))
